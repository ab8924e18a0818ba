"""Write app/static/messages.d.ts: the messages of app/console/protocol.py as TypeScript.

python tools/message_types.py
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE, TARGET = ROOT / "app" / "console" / "protocol.py", ROOT / "app" / "static" / "messages.d.ts"
NAMES = {  # what is not a class of the protocol
    "str": "string", "int": "number", "float": "number", "bool": "boolean", "Any": "any", "None": "null",
    "Packed": "PackedNumbers", "Axes": "Record<`yaxis${string}`, Partial<Axis>>", "Pair": "[string, string]",
    "Triple": "[string, string, string]", "Range": "[number, number]", "Zone": "[number, number, string]",
}  # fmt: skip
MORE = {"ControlValues": ["  [knob: string]: any;"]}  # members that Python has no form for
HEAD = """// Made by tools/message_types.py from app/console/protocol.py, which says what each field means; do not edit.
import type { MemoryKind, Mode, Regime } from "./component_types.js";
import type { Axis, Figure, PackedNumbers, Shape, Trace } from "./plot/figure_types.js";

export type * from "./component_types.js";
"""


def typescript(node: ast.expr) -> str:
    """A type in TypeScript."""
    match node:
        case ast.Constant(value=value):
            return "null" if value is None else f'"{value}"'
        case ast.Name(id=name):
            return NAMES.get(name, name)
        case ast.BinOp(left=left, right=right):
            return f"{typescript(left)} | {typescript(right)}"
        case ast.Subscript(value=ast.Name(id="list"), slice=item):
            text = typescript(item)
            return f"({text})[]" if "|" in text else f"{text}[]"
        case ast.Subscript(value=ast.Name(id="dict"), slice=ast.Tuple(elts=[_, item])):
            return f"Record<string, {typescript(item)}>"
        case ast.Subscript(value=ast.Name(id="Literal"), slice=choices):
            return " | ".join(map(typescript, choices.elts if isinstance(choices, ast.Tuple) else [choices]))
    raise ValueError(f"{ast.unparse(node)} has no form in TypeScript here")


def interface(kind: ast.ClassDef) -> list[str]:
    """One message."""
    base = next((b.id for b in kind.bases if isinstance(b, ast.Name) and b.id != "TypedDict"), "")
    optional = any(keyword.arg == "total" for keyword in kind.keywords)
    found = [f"export interface {kind.name}{f' extends {base}' if base else ''} {{"]
    for field in kind.body:
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        of, missing = field.annotation, optional
        if isinstance(of, ast.Subscript) and isinstance(of.value, ast.Name) and of.value.id == "NotRequired":
            of, missing = of.slice, True
        mark = "?" if missing else ""
        found.append(f"  {field.target.id}{mark}: {typescript(of)};")
    return [*found, *MORE.get(kind.name, []), "}"]


def text() -> str:
    """The whole file."""
    classes = [node for node in ast.parse(SOURCE.read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef)]
    return HEAD + "\n".join(line for kind in classes for line in interface(kind)) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
