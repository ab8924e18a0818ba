"""Uploaded tables, CSV or parquet, one row a frame, as named arrays.

Columns `stream`, `label` (or `y_true`), `severity`, `u_star` are what they say, in small letters or not; numbers and
times of frames are passed over, and a note says which; z_static_* and z_dyn_* are two branches; otherwise every other
column is a class, and its heading the class's name. Rows of one stream follow each other in time; shorter streams end
in frames of NaN. A column such as `truth` may be the label without being called so: words are, whole numbers are asked
about.
"""

from __future__ import annotations

import io
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from knob_core.csv_text import BLANK, at, decoded, number_of, rows
from knob_core.uploads.refusals import listed, readable, short
from knob_core.uploads.uploaded import Held

OWN = {
    "stream": "stream",
    "label": "labels",
    "labels": "labels",
    "y_true": "labels",
    "severity": "severity",
    "u_star": "u_star",
}
MAY_BE_LABEL = (
    "truth", "true", "target", "class", "y", "gt", "ground_truth", "groundtruth", "actual", "true_class", "true_label",
    "class_id", "label_id", "target_class", "annotation",
)  # fmt: skip
UNUSED = ("frame", "t", "time", "timestamp", "", "id", "row", "index")  # rows are in order already
PANDAS_INDEX = re.compile(r"unnamed:_\d+(\.\d+)*|__index_level_\d+__|level_\d+")
BRANCHES = ("z_static_", "z_dyn_")
MANY = 10  # rows over which no logit grows from each to the next

Columns = dict[str, np.ndarray]  # (rows,) each by its heading: float64, or text
Arranged = tuple[Held, tuple[str, ...], str]  # and sentences for the one who uploaded it, and what to ask about


def csv_table(name: str, content: bytes, label: str | None) -> Arranged:
    """A first line of words, or counted from 0 or 1, is the header; without one every column is a class."""
    text = decoded(name, content)
    lines = rows(name, text)
    line, first = next(lines, (0, []))
    if not line:
        raise ValueError(f"{name} is empty, expected one line a frame")
    places = [number_of(cell) for cell in first]
    counted = places in ([*range(len(first))], [*range(1, len(first) + 1)])  # pandas' names of nameless columns
    if counted:
        first = [f"{place:g}" for place in places]
    head, _, body = text.lstrip(BLANK).partition("\n")
    only_quoted = head.count('"') == 2 * len(first) and '"' not in body
    headed = counted or None in places or only_quoted
    names = first if headed else [f"class {i}" for i in range(len(first))]
    _require_once(name, names)
    columns = _columns(name, names, lines if headed else rows(name, text))
    return _arranged(name, columns, names, headed, label)


def _columns(name: str, names: Sequence[str], lines: Iterator[tuple[int, list[str]]]) -> Columns:
    """Numbers and words of the columns that are used."""
    kinds = [_kind(names, heading) for heading in names]
    numeric, worded = ([i for i, kind in enumerate(kinds) if kind == wanted] for wanted in ("number", "text"))
    numbers, words = array("d"), [list[str]() for _ in worded]
    for line, cells in lines:
        if len(cells) != len(names):
            raise ValueError(f"{at(name, line)} has {len(cells):,} cells, expected {len(names)}")
        try:
            numbers.extend([float(cells[i]) for i in numeric])
        except ValueError as error:
            wrong = next(cells[i] for i in numeric if number_of(cells[i]) is None)
            raise ValueError(f"{at(name, line)} holds {wrong[:40]!r}, expected a number") from error
        for i, column in zip(worded, words, strict=True):
            column.append(cells[i])
    table = np.array(numbers).reshape(-1, max(len(numeric), 1))
    found = {names[i]: table[:, place] for place, i in enumerate(numeric)}
    return found | {names[i]: np.array(column, str) for i, column in zip(worded, words, strict=True)}


def parquet(name: str, content: bytes, label: str | None) -> Arranged:
    """Flat columns of numbers; streams and labels may be text."""
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyarrow.parquet import read_table  # type: ignore[import-untyped]

    with readable(name, "a parquet table"):
        table = read_table(io.BytesIO(content), use_threads=False)
    names = table.schema.names
    _require_once(name, names)
    columns = {}
    for heading in names:
        kind, column = _kind(names, heading), table[heading]
        type_ = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if kind == "text" and (pa.types.is_string(type_) or pa.types.is_large_string(type_)):
            columns[heading] = np.array([(text or "").strip() for text in column.to_pylist()], str)
        elif kind and (pa.types.is_integer(type_) or pa.types.is_floating(type_)):
            with readable(f"{name}: column '{short(heading)}'", "numbers"):
                columns[heading] = np.asarray(column.cast(type_).to_numpy(), np.float64)
        elif kind:
            raise ValueError(f"{name} has a column '{short(heading)}' of {str(type_)[:40]}, expected numbers")
    return _arranged(name, columns, names, True, label)


def _kind(headings: Sequence[str], heading: str) -> str:
    """What a column holds, by its heading, "" for nothing used; t is a class where another letter stands before it."""
    if heading == "t" and next(each for each in headings if len(each) == 1) != "t":
        return "number"
    plain = _plain(heading)
    unused = plain in UNUSED or PANDAS_INDEX.fullmatch(plain)
    return "" if unused else "text" if _own(heading) in ("labels", "stream") or plain in MAY_BE_LABEL else "number"


def _plain(heading: str) -> str:
    """Without regard to case and blanks; one letter may be a class of an alphabet."""
    return heading if len(heading) == 1 else "_".join(heading.lower().split())


def _own(heading: str) -> str | None:
    """What a column is that is no class."""
    return OWN.get(_plain(heading))


def _require_once(name: str, names: Sequence[str]) -> None:
    """Refuse headings that are there twice, also as `label` and `labels`."""
    twice, times = Counter(_own(heading) or heading for heading in names).most_common(1)[0]
    if times > 1:
        raise ValueError(f"{name} has two columns of one name, '{short(twice)}'; rename or remove one")


def _arranged(name: str, columns: Columns, headings: Sequence[str], headed: bool, label: str | None) -> Arranged:
    """Columns as the arrays of streams, what is odd about them, and which column may be the label."""
    if not columns or not len(next(iter(columns.values()))):
        raise ValueError(f"{name} has no rows, expected one a frame")
    own = {what: columns[heading] for heading in columns if (what := _own(heading))}
    rest = {heading: columns[heading] for heading in headings if heading in columns and not _own(heading)}
    asked = _label_among(name, own, rest, label)
    if len(rest) < 2:
        raise ValueError(f"{name} has {len(rest)} columns of logits, expected at least 2 classes")
    _require_finite(name, own, rest)
    split = _splitter(name, own.pop("stream", None))
    held: Held = {key: split(column) for key, column in own.items()}
    if "labels" in held and held["labels"].dtype.kind == "f":
        held["labels"] = np.where(np.isnan(held["labels"]), -1, held["labels"])
    if "severity" in held:
        schedule = np.fmax.reduce(held["severity"], axis=0)  # (T,), of the longest stream
        if (held["severity"] != schedule).any(where=~np.isnan(held["severity"])):
            raise ValueError(f"{name}: severity differs between streams, expected one schedule for all")
        held["severity"] = schedule
    if any(heading.startswith(BRANCHES) for heading in rest):
        names = _branch_names(name, list(rest))
        for key, prefix in zip(("z_static", "z_dyn"), BRANCHES, strict=True):
            held[key] = split(np.stack([rest[prefix + each] for each in names], axis=-1))
    else:
        names, held["logits"] = list(rest), split(np.stack(list(rest.values()), axis=-1))
    if headed and names != [str(i) for i in range(len(names))]:
        held["classes"] = np.array(names, str)
    unused = [heading for heading in headings if heading not in columns]
    notes: tuple[str, ...] = (f"Columns that hold no logits, by their headings: {listed(unused)}.",) if unused else ()
    if growing := listed(_growing(names, held)):
        notes += (f"The numbers of {growing} only grow, and are taken as a class's logits: are they?",)
    return held, notes, asked


def _label_among(name: str, own: Columns, rest: Columns, label: str | None) -> str:
    """Take the label out of `rest`; the heading that is to be asked about, which is taken out, too, or "".

    `label` is the answer: the heading of the label, "" for none, None before anybody was asked.
    """
    asked = ""
    for heading in [each for each in rest if _plain(each) in MAY_BE_LABEL]:
        numbers, free = _as_numbers(rest[heading]), "labels" not in own
        if free and (heading == label or (label is None and numbers.dtype.kind == "U")):
            own["labels"] = rest.pop(heading)
        elif numbers.dtype.kind == "U":
            raise ValueError(f"{name}: column '{short(heading)}' holds words, expected numbers, or call it 'label'")
        elif free and label is None and not asked and _few_whole(numbers, len(rest) - 1):
            asked = heading
            del rest[heading]
        else:
            rest[heading] = numbers
    return asked


def _as_numbers(column: np.ndarray) -> np.ndarray:
    """A column of text as float64 where each is a number, else as it is."""
    if column.dtype.kind == "f":
        return column
    numbers = [number_of(text) for text in column.tolist()]
    return column if None in numbers else np.array(numbers, np.float64)


def _few_whole(numbers: np.ndarray, classes: int) -> bool:
    """Whether they may be classes' places, counted from 0 or from 1."""
    return bool(((numbers == np.rint(numbers)) & (numbers >= -1) & (numbers <= classes)).all())


def _growing(names: Sequence[str], held: Held) -> list[str]:
    """Classes whose numbers only grow, which are likely to be something else."""
    streams = [held[key] for key in ("logits", "z_static", "z_dyn") if key in held]  # (R, T, K) each
    grows = [(~(np.diff(z, axis=1) <= 0)).all(axis=(0, 1)) for z in streams if z.shape[1] >= MANY]
    return [names[int(k)] for k in np.flatnonzero(np.any(grows, axis=0))] if grows else []


def _branch_names(name: str, rest: list[str]) -> list[str]:
    """The classes that z_static_* and z_dyn_* name, which must be the same in the same order."""
    static, dyn = ([key.removeprefix(p) for key in rest if key.startswith(p)] for p in BRANCHES)
    others = [key for key in rest if not key.startswith(BRANCHES)]
    if others or static != dyn:
        found = f"z_static_* for {listed(static)}, z_dyn_* for {listed(dyn)}, other columns {listed(others) or 'none'}"
        raise ValueError(f"{name} has {found}, expected the same classes twice in the same order, and no others")
    return static


def _require_finite(name: str, own: Columns, rest: Columns) -> None:
    """Only a logit may be -inf, a class that was ruled out; only a label may be missing, or a whole frame."""
    nothing = np.all([np.isnan(x) for x in rest.values()], axis=0)  # (rows,)
    for heading, x in [*rest.items(), *own.items()]:
        if x.dtype.kind == "U" or heading == "labels":
            continue
        bad = (~(x < np.inf) if heading in rest else ~np.isfinite(x)) & ~nothing
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise ValueError(f"{name}: column '{short(heading)}' is {x[row]} in row {row + 1}, expected finite numbers")


def _splitter(name: str, stream: np.ndarray | None) -> Callable[[np.ndarray], np.ndarray]:
    """A function from rows (n, ...) to streams (R, T, ...); shorter ones end in NaN, or in empty text."""
    if stream is None:
        return lambda x: x[None]
    if stream.dtype.kind == "U" and (stream == "").any():
        raise ValueError(
            f"{name} names no stream in row {int((stream == '').argmax()) + 1}, expected one for each frame"
        )
    _, codes, counts = np.unique(_as_numbers(stream), return_inverse=True, return_counts=True)
    order = np.argsort(codes, kind="stable")
    frame = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)  # of each row, in that order

    def split(x: np.ndarray) -> np.ndarray:
        empty = "" if x.dtype.kind == "U" else np.nan
        streams = np.full((len(counts), counts.max(), *x.shape[1:]), empty, x.dtype)
        streams[codes[order], frame] = x[order]
        return streams

    return split
