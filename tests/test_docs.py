"""The guide is true and the site whole: examples run, commands exist, links and names lead somewhere."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from knob_core import cli

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(path.name for path in DOCS.glob("*.md"))


@pytest.fixture(scope="module")
def build() -> ModuleType:
    """docs/build.py, which is a script."""
    pytest.importorskip("pdoc", reason="the pages need the extra: pip install -e '.[docs]'")
    spec = importlib.util.spec_from_file_location("docs_build", DOCS / "build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FITS = "wrap.md"  # and compares with rivals, which takes long


@pytest.mark.parametrize("page", [pytest.param(p, marks=pytest.mark.slow) if p == FITS else p for p in PAGES])
def test_the_examples_of_a_page_run_in_an_empty_folder(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for example in re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL):
        exec(example, names)
    assert names or page not in ("install.md", "runtime.md", "wrap.md")


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_exist(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    for module in re.findall(r"(?:python|N) -m (\w[\w.]*)", text):
        assert importlib.util.find_spec(module) is not None, module
    assert set(re.findall(r"(?:^ +|`)knob (\w[\w-]*)", text, re.MULTILINE)) <= set(cli.COMMANDS)
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:^ +|`)make (\w+)", text, re.MULTILINE)) <= targets


def test_the_files_that_a_newcomer_is_shown_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:app|knob_core|train|tests|docs)/[\w/.]*)`", text)
    assert len(paths) > 15
    assert not [path for path in paths if not (ROOT / path).exists()]


def test_the_menu_lists_every_page(build: ModuleType) -> None:
    assert {f"{name}.md" for name in build.GUIDE} == set(PAGES)


def test_links_and_names_that_lead_nowhere_are_found(build: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<p id="x"><a href="#x">1</a><a href="b.html#y">2</a><a href="https://c.d">3</a>')
    (tmp_path / "b.html").write_text('<a href="c.html">4</a><img src="a.html">')
    assert list(build.broken_links(tmp_path)) == [
        "a.html: no place for the link 'b.html#y'",
        "b.html: no file for the link 'c.html'",
    ]
    said = build.unknown_names({"page": "knob_core.gate.run, `knob_core.gates` and knob_core.gate.runs"})
    assert list(said) == ["page: knob_core.gate.runs does not exist"]
    assert build.exists("knob_core.runtime.KnobStream.step") and not build.exists("knob_core.nothing")


def test_asterisks_of_words_stay_and_those_of_code_too(build: ModuleType) -> None:
    assert build.escape_asterisks("u* and `u*`\n    a * b") == "u\\* and `u*`\n    a * b"


@pytest.mark.slow
def test_the_site_is_built_without_a_complaint(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(DOCS / "build.py"), "--out", str(tmp_path / "site")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site/knob_core/runtime/knob_stream.html").read_text(encoding="utf-8")
    assert 'id="KnobStream.step"' in page and "one frame of every stream" in page.lower()
    assert 'href="knob_core/runtime.html' in (tmp_path / "site/runtime.html").read_text(encoding="utf-8")


TOKENS = ("tokens.txt", "tokens-admin.txt", "docs/tokens.txt", "token.txt", "my-tokens.txt", "tokens", "tokens.toml")


USUAL = ("secrets.json", "secrets.yaml", ".env", "a/key.pem", "a.p12", "b.pfx", ".htpasswd", "htpasswd", "id_ed25519",
         ".netrc", ".pypirc", "credentials.json", "token", "tokens.json", "tokens.yml")  # fmt: skip


def ignored(name: str) -> bool:
    done = subprocess.run(["git", "check-ignore", "--no-index", "-q", name], cwd=ROOT, check=False)
    return done.returncode == 0


@pytest.mark.parametrize("name", [*TOKENS, *USUAL, "secrets.toml", "a/secrets.toml"])
def test_git_keeps_out_secrets_in_files(name: str) -> None:
    assert ignored(name)


@pytest.mark.parametrize(
    "name", ["app/static/tokens.css", "app/static/tokens.js", "docs/tokens.md", "tokens.py", "tokenizer.json"]
)
def test_git_keeps_out_no_source_file_for_its_name(name: str) -> None:
    assert not ignored(name)


def test_git_keeps_out_what_a_killed_writer_left() -> None:
    assert ignored("assets/checkpoints/.knob-ode-s0-0123456789ab.part") and ignored("lock.part")
