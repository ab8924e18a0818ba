"""Build the guide and the API reference: `python docs/build.py` (or `make docs`) writes docs/site.

Guide pages are docs/*.md; the reference comes from the docstrings of `knob_core`. pdoc draws both in one style: it is
given a guide page as a module that has a docstring and nothing else. The build fails where a link leads nowhere, where
a page or a docstring names something of `knob_core` that does not exist, and where pdoc warns.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import pkgutil
import re
import shutil
import sys
import types
import typing
import warnings
from collections.abc import Iterator, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pdoc
import pdoc.doc
import pdoc.render

HERE = Path(__file__).resolve().parent
SITE = HERE / "site"
GUIDE = {  # file in docs/ -> title, in the order of the menu
    "index": "Knob",
    "install": "Install",
    "console": "The console",
    "tune": "Find a setting",
    "runtime": "In a running system",
    "serve": "Serve many streams",
    "wrap": "Wrap your own model",
    "train": "Train and evaluate",
    "team": "For a team",
    "how": "How it works",
    "stability": "How far the memory can go",
    "teaching": "Teaching",
    "teaching_answers": "Model answers",
}
PACKAGE = "knob_core"


class Page(HTMLParser):
    """The links and the anchors of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.add(value)
            elif name == "id" and value:
                self.anchors.add(value)


def guide_pages(folder: Path) -> dict[str, pdoc.doc.Module]:
    """Each page as a module whose docstring it is. Links between pages say .md in the source and .html in the site."""
    pages = {}
    for name in GUIDE:
        text = (folder / f"{name}.md").read_text(encoding="utf-8")
        module = types.ModuleType(name, re.sub(r"\]\((\w+)\.md(#[\w-]+)?\)", r"](\1.html\2)", text))
        module.__dict__["__docformat__"] = "markdown"
        pages[name] = pdoc.doc.Module(module)
    return pages


def reference_pages() -> dict[str, pdoc.doc.Module]:
    """Every public module of the package, whether or not its parent lists it in __all__."""
    package = importlib.import_module(PACKAGE)
    found = [PACKAGE, *(module.name for module in pkgutil.walk_packages(package.__path__, f"{PACKAGE}."))]
    without = (
        () if importlib.util.find_spec("ray") else (f"{PACKAGE}.serving.on_ray.",)
    )  # needs the extra knob-core[ray]
    public = [name for name in sorted(found) if "._" not in name and not name.startswith(without)]
    for module in map(importlib.import_module, public):
        for name in getattr(module, "__all__", ()):  # some are loaded only when asked for; pdoc does not ask
            setattr(module, name, getattr(module, name))
        resolve_named_tuples(module)
    return {name: pdoc.doc.Module.from_name(name) for name in public}


def resolve_named_tuples(module: types.ModuleType) -> None:
    """Types in place of their names: a NamedTuple's constructor has no module in which pdoc could look them up."""
    for item in vars(module).values():
        if isinstance(item, type) and issubclass(item, tuple) and item.__module__ == module.__name__:
            item.__new__.__annotations__ = typing.get_type_hints(item)


def escape_asterisks(docstring: str) -> str:
    """u* is a symbol of ours and no emphasis: a backslash before every asterisk outside of code."""
    lines = docstring.split("\n")
    for i, line in enumerate(lines):
        if not line.startswith("    "):  # an indented block is code
            parts = line.split("`")
            lines[i] = "`".join(part if k % 2 else part.replace("*", "\\*") for k, part in enumerate(parts))
    return "\n".join(lines)


def plain_docstrings(pages: Mapping[str, pdoc.doc.Module]) -> None:
    """Replace the docstrings of all public members by ones that Markdown shows as they stand in the source."""
    for page in pages.values():
        waiting: list[pdoc.doc.Doc] = [page]
        while waiting:
            item = waiting.pop()
            item.docstring = escape_asterisks(item.docstring)  # a cached property: setting it replaces it
            if isinstance(item, pdoc.doc.Namespace):
                waiting += item.own_members


def render(out: Path, guide: Mapping[str, pdoc.doc.Module], reference: Mapping[str, pdoc.doc.Module]) -> None:
    """Write all pages and the search index."""
    pages = {**guide, **reference}
    pdoc.render.configure(docformat="markdown", template_directory=HERE / "templates")
    pdoc.render.env.globals.update(guide=GUIDE, package=PACKAGE)
    if out.exists():
        shutil.rmtree(out)
    for name, page in pages.items():
        path = out / f"{name.replace('.', '/')}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(pdoc.render.html_module(page, pages), encoding="utf-8")
    for path in sorted((*HERE.glob("*.json"), *HERE.glob("*.conf"), *HERE.glob("*.yaml"))):  # offered by the guide
        shutil.copyfile(path, out / path.name)
    (out / "search.js").write_text(pdoc.render.search_index(pages), encoding="utf-8")


def broken_links(site: Path) -> Iterator[str]:
    """Links to files or places in files that are not there; addresses of other sites are not looked up."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        for link in sorted(page.links):
            if re.match(r"[a-z]+:", link):
                continue
            file, _, anchor = unquote(link).partition("#")
            target = (path.parent / file).resolve() if file else path
            if not target.is_file():
                yield f"{path.relative_to(site)}: no file for the link {link!r}"
            elif anchor and target in pages and anchor not in pages[target].anchors:
                yield f"{path.relative_to(site)}: no place for the link {link!r}"


def unknown_names(texts: Mapping[str, str]) -> Iterator[str]:
    """Names such as `knob_core.gate.run` that cannot be imported."""
    for where, text in texts.items():
        text = re.sub(r"\]\([^)]*\)", "]", text)  # links are checked in the finished pages
        for name in sorted(set(re.findall(rf"\b{PACKAGE}(?:\.[A-Za-z_]\w*)+", text))):
            if not exists(name) and not (HERE.parent / Path(*name.split("."))).with_suffix(".py").is_file():
                yield f"{where}: {name} does not exist"


def exists(name: str) -> bool:
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            if not hasattr(found, part) and part not in getattr(found, "__annotations__", {}):
                return False
            found = getattr(found, part, None)
        return True
    return False


def docstrings(pages: Mapping[str, pdoc.doc.Module]) -> dict[str, str]:
    """Everything each page says in words."""
    texts = {}
    for name, page in pages.items():
        members = [page, *page.flattened_own_members]
        inner = [m for item in members if isinstance(item, pdoc.doc.Class) for m in item.own_members]
        texts[name] = "\n".join(item.docstring for item in (*members, *inner))
    return texts


def build(out: Path, folder: Path = HERE) -> list[str]:
    """Write the site; what is wrong with it, one line each."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        guide, reference = guide_pages(folder), reference_pages()
        plain_docstrings(reference)
        render(out, guide, reference)
    complaints = [str(w.message) for w in said if "pdoc" in Path(w.filename).parts]
    return [*complaints, *broken_links(out), *unknown_names(docstrings({**guide, **reference}))]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python docs/build.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=SITE, metavar="DIR", help="default: docs/site")
    out = parser.parse_args(arguments).out
    sys.path.insert(0, str(HERE.parent))  # the reference is of this clone
    wrong = build(out)
    for line in wrong:
        print(f"docs: {line}", file=sys.stderr)
    print(f"{out}: {'has errors' if wrong else 'open index.html'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
