"""Where a map crosses a level: marching squares, cell by cell.

Between two neighbouring places the measure is taken as linear; a line enters and leaves a cell through its sides, and
of two ways through a saddle the mean of the four corners decides.
"""

from __future__ import annotations

import numpy as np


def iso_line(values: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """(x, y) along the line, in places of the columns and rows of values (A, B); NaN between its pieces."""
    v = np.asarray(values, np.float64) - level
    v = np.where(v == 0, 1e-12, v)  # a corner on the level counts as above
    corners = v[:-1, :-1], v[:-1, 1:], v[1:, 1:], v[1:, :-1]  # lower left, lower right, upper right, upper left
    whole = np.isfinite(np.stack(corners)).all(0)
    above = np.zeros(whole.shape, np.int64)
    for i, corner in enumerate(corners):
        above |= (corner > 0).astype(np.int64) << i
    pieces: list[np.ndarray] = []
    with np.errstate(divide="ignore", invalid="ignore"):
        cross = {  # side -> (x, y) of its crossing, from the cell's lower left corner
            "s": (_share(corners[0], corners[1]), 0.0),
            "e": (1.0, _share(corners[1], corners[2])),
            "n": (_share(corners[3], corners[2]), 1.0),
            "w": (0.0, _share(corners[0], corners[3])),
        }
    middle = np.stack(corners).mean(0) > 0
    for kind in range(1, 15):
        here = whole & (above == kind)
        if kind in (5, 10):  # saddles: two pieces that keep the middle on its side
            joined = (middle == (kind == 5)) & here
            for pair, where in (("wn", joined), ("es", joined), ("ws", here & ~joined), ("en", here & ~joined)):
                pieces.append(_pieces(cross, pair, where))
        else:
            pieces += [_pieces(cross, pair, here) for pair in _sides(kind)]
    points = _chained(np.concatenate(pieces))
    return points[:, 0], points[:, 1]


def _sides(kind: int) -> tuple[str, ...]:
    """One corner apart from the others: the two sides that meet in it; two of each: the sides between them."""
    corner = {1: "ws", 2: "es", 4: "en", 8: "wn"}
    if kind in corner or 15 - kind in corner:
        return (corner.get(kind) or corner[15 - kind],)
    return ("we",) if kind in (3, 12) else ("ns",)


def _share(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The part of the way from a to b at which 0 is crossed."""
    return a / (a - b)


def _pieces(cross: dict, pair: str, where: np.ndarray) -> np.ndarray:
    """(P, 2, 2): from one side to the other in every cell of `where`."""
    rows, columns = np.nonzero(where)
    ends = np.empty((len(rows), 2, 2))
    for i, side in enumerate(pair):
        for axis, origin in enumerate((columns, rows)):
            place = cross[side][axis]
            ends[:, i, axis] = origin + (place[rows, columns] if isinstance(place, np.ndarray) else place)
    return ends


def _chained(pieces: np.ndarray) -> np.ndarray:
    """Pieces (P, 2, 2) that share an end, one after the other: (N, 2), NaN after each line."""
    names = [tuple(tuple(np.round(end, 9)) for end in piece) for piece in pieces]
    meeting: dict[tuple, list[int]] = {}
    for place, ends in enumerate(names):
        for end in ends:
            meeting.setdefault(end, []).append(place)
    left, lines = set(range(len(names))), []
    loose = [place for place, ends in enumerate(names) if any(len(meeting[end]) == 1 for end in ends)]
    for start in (*loose, *range(len(names))):  # open lines from their ends, then closed ones from anywhere
        if start not in left:
            continue
        left.remove(start)
        first, last = names[start]
        if len(meeting[last]) == 1:
            first, last = last, first
        line = [first, last]
        while (following := [place for place in meeting[line[-1]] if place in left]) != []:
            a, b = names[following[0]]
            left.remove(following[0])
            line.append(b if a == line[-1] else a)
        lines.append(np.array([*line, (np.nan, np.nan)]))
    return np.concatenate(lines) if lines else np.empty((0, 2))
