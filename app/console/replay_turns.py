"""Replay a log of turns: `knob replay-turns FILE` computes every figure of the log anew and compares.

Streams that ship or can be computed are found by what the log says; for one's own, give the file with --upload.
A figure is the same where it differs by no more than 1e-9 of itself: frames run in other portions may round otherwise.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl

from app.console.live_run import LiveRun
from app.console.shown_stream import ShownStream
from app.console.turn_log import MEASURES, Turn, read
from knob_core.measures.operator import OperatorMeasures, known_truth, measure
from knob_core.settings import Settings

CLOSE = 1e-9  # relative


class Replayed(NamedTuple):
    """One turn and its figures, computed anew."""

    turn: Turn
    measures: OperatorMeasures | None

    @property
    def differing(self) -> list[str]:
        """The measures that are not the recorded ones, in words; none where none were recorded."""
        if self.turn.measures is None:
            return []
        both = (self.turn.measures, self.measures)
        then, now = ([getattr(m, name) if m else math.nan for name in MEASURES] for m in both)
        return [
            f"{name} {b:g}, recorded {a:g}"
            for name, a, b in zip(MEASURES, then, now, strict=True)
            if not (math.isnan(a) and math.isnan(b)) and not math.isclose(a, b, rel_tol=CLOSE, abs_tol=1e-12)
        ]


def replay(turns: Iterable[Turn], find: Callable[[str], ShownStream]) -> Iterator[Replayed]:
    """Turn after turn; a live run goes on from turn to turn, as it did."""
    run: LiveRun | None = None
    last: Settings | None = None
    for turn in turns:
        stream = find(turn.stream)
        if turn.live is None:
            run, last = None, turn.settings
            yield Replayed(
                turn,
                measure(stream.branches, stream.respond(turn.settings), stream.known, stream.without_knob.predicted),
            )
            continue
        if run is None or turn.live[0] < run.t:
            run, last = LiveRun(), turn.settings
        for frames, settings in zip(turn.live, (last or turn.settings, turn.settings), strict=True):
            run.due = frames - run.t
            run.advance(stream, settings)
        last = turn.settings
        if run.t <= 2:
            yield Replayed(turn, None)
            continue
        arrived, bare = run.window(stream.branches, stream.without_knob)
        yield Replayed(
            turn, measure(*run.window(stream.branches), known_truth(arrived, bare.predicted), bare.predicted)
        )


class Finder:
    """Streams by what a log calls them; each is made once."""

    def __init__(self, uploads: Sequence[Path] = ()) -> None:
        self.known: dict[str, ShownStream] = {}
        for path in uploads:
            stream = _uploaded(path)
            self.known[stream.source] = stream

    def __call__(self, source: str) -> ShownStream:
        if source not in self.known:
            self.known[source] = _found(source)
        return self.known[source]


def _uploaded(path: Path) -> ShownStream:
    from app.your_stream import uploaded_stream
    from knob_core.data import CLASSES
    from knob_core.uploads import read_logits, read_pictures

    files = [(path.name, path.read_bytes())]
    id, title = uploaded_stream.file_id(files), uploaded_stream.short_title([path.name])
    if path.suffix.lower() in (".npz", ".npy", ".csv", ".parquet"):
        return uploaded_stream.of_logits(id, title, read_logits(*files[0]))[0]
    return uploaded_stream.of_pictures(id, title, read_pictures(files, CLASSES), lambda share: None)[0]


def _found(source: str) -> ShownStream:
    """A stream that ships, or one that is computed now; raises ValueError where the log does not say which."""
    from app.console import compute_stream, link, stream_sources
    from app.server.background_jobs import Job

    if source.startswith("file="):
        name = dict(parse_qsl(source)).get("name", "")
        raise ValueError(f"the turns were made on a file, {name!r}: give it with --upload")
    choice = link.read_choice(source)
    if (key := stream_sources.shipped_key(choice)) is not None:
        return stream_sources.shipped_stream(key, choice.image)
    job = Job(choice, asked=math.inf)  # or it would stop because no page waits for it
    return stream_sources.computed_stream(choice, compute_stream.compute(job))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print every turn; 0 where all figures are the same, 1 where some differ, 2 where it cannot be replayed."""
    parser = argparse.ArgumentParser(prog="knob replay-turns", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("file", type=Path, help="a log of turns, from Export on the console")
    parser.add_argument("--upload", type=Path, action="append", default=[], help="the file that turns were made on")
    given = parser.parse_args(arguments)
    differ, count, end = 0, 0, 0.0
    try:
        turns = read(given.file.read_bytes())
        for replayed in replay(turns, Finder(given.upload)):
            turn = replayed.turn
            count, end = count + 1, turn.time
            differ += bool(replayed.differing)
            said = "; ".join(replayed.differing) or "the same"
            print(f"{turn.time:9.3f} s  {turn.knob} {turn.value}: {said}")
    except (OSError, ValueError) as error:
        print(f"cannot be replayed: {error}", file=sys.stderr)
        return 2
    verdict = "all figures are the same" if not differ else f"{differ} differ"
    print(f"{count} turns in {end:.1f} s: {verdict}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
