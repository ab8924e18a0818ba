"""Values and texts from outside (browser, link, file): numbers are clamped, counts checked, Markdown escaped.

And the other way: what is said of a fault names no folder of the server.
"""

from __future__ import annotations

import math
import os
import re

from knob_core.assets import ROOT

WORD_JOINER = "\u2060"
# The folders of an absolute path, up to the file's name; in quotes, as Python's own errors have it, also with blanks
START = r"(?:/|[A-Za-z]:\\)"
FOLDERS = re.compile(
    rf"(?<='){START}[^']*[/\\]|(?<=\"){START}[^\"]*[/\\]"
    rf"|(?<![\w.:/\\]){START}(?:[^\s/\\'\",;]+[/\\])+"
)


def clamp(value: object, bounds: tuple[float, float], otherwise: float) -> float:
    """A number within bounds; `otherwise` where it is no finite number."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return otherwise
    return min(bounds[1], max(bounds[0], number)) if math.isfinite(number) else otherwise


def whole(value: object, otherwise: int) -> int:
    """A count: an int in [0, 2^31); `otherwise` for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else otherwise


def escape_markdown(text: str) -> str:
    """Untrusted text for Markdown: shown as it is; no picture, link, formula or HTML in it takes effect.

    Plain addresses become links after escapes were taken away, so they are broken by a character without width.
    """
    broken = re.sub(r"://|www(?=\.)|@", lambda found: found[0] + WORD_JOINER, text.replace("\n", " "), flags=re.I)
    return re.sub(r"([\\`*_{}\[\]#!|<>~$:&])", r"\\\1", broken)


def fault_words(fault: object) -> str:
    """A fault for Markdown: a file of the project is named by its place in it, any other by its name alone."""
    return escape_markdown(FOLDERS.sub("", str(fault).replace(f"{ROOT}{os.sep}", "")))


def spreadsheet_cell(text: str) -> str:
    """Untrusted text for a CSV file: what a spreadsheet would take for a formula begins with an apostrophe."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t") else text


def spreadsheet_comment(text: str) -> str:
    """Untrusted text for a comment of a CSV file, on one line: a spreadsheet takes it apart at commas, too."""
    return re.sub(r"([,;]\s*)(?=[=+@-])", r"\1'", " ".join(text.replace('"', "'").split()))
