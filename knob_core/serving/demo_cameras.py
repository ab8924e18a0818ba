"""`knob demo-cameras`: simulated cameras that send change streams of the sample images to a running service.

Each camera shows pictures that change now and then, under a corruption whose severity comes and goes
(`knob_core.streams.change`), as JPEG files or raw pixels, at a steady rate, for ever or for a number of frames.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import itertools
import math
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from PIL import Image

from knob_core.client import AsyncStream, Lost
from knob_core.serving.options import HOST, PORT

CORRUPTIONS = ("shot_noise", "gaussian_noise", "defocus_blur", "fog", "snow", "contrast", "jpeg_compression", "frost")
GROUPS = ("north", "south")
FRAMES = 300  # of a plan; then the next one
SCALE = 4  # the sample images are small: sent larger, as a camera's would be


def frames(camera: int, seed: int = 0) -> Iterator[np.ndarray]:
    """(32, 32, 3) uint8, one frame after the other without an end."""
    from knob_core.data import load_sample
    from knob_core.streams import change
    from knob_core.streams.change_frames import ChangeFrames

    images, labels, _ = load_sample()
    corruption, part = CORRUPTIONS[camera % len(CORRUPTIONS)], 0
    while True:
        plan = change.plan(labels, "mixed", FRAMES, seed, stream=camera + 10_000 * part)
        made = ChangeFrames(images, plan, corruption, seed, stream=camera + 10_000 * part)
        for batch in made.batches():
            for frame in batch:
                yield (frame.permute(1, 2, 0).numpy() * 255).round().astype(np.uint8)
        part += 1


def jpeg(frame: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(frame).resize((32 * SCALE, 32 * SCALE), Image.Resampling.NEAREST).save(file, "JPEG", quality=90)
    return file.getvalue()


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser("knob demo-cameras", description=__doc__)
    found.add_argument("--url", default=f"http://{HOST}:{PORT}", help="of the service; default: %(default)s")
    found.add_argument("--token", help="a camera's or an operator's")
    found.add_argument("--streams", type=int, default=8, help="cameras; default: %(default)s")
    found.add_argument("--rate", type=float, default=10.0, help="frames/s of each; default: %(default)s")
    found.add_argument("--frames", type=int, help="of each, then stop; default: without an end")
    found.add_argument("--raw", action="store_true", help="send pixels instead of JPEG files")
    found.add_argument("--give-up", type=float, default=60.0, help="s without a service; default: %(default)s")
    found.add_argument("--seed", type=int, default=0)
    return found


async def _camera(given: argparse.Namespace, number: int, replies: Counter[str]) -> None:
    options = {"group": GROUPS[number % len(GROUPS)], "token": given.token, "give_up": given.give_up}
    async with AsyncStream(given.url, f"camera-{number}", **options) as stream:
        reading = asyncio.create_task(_read(stream, replies))
        try:
            await _send(given, number, stream)
            while stream.session.waiting and not reading.done():
                await asyncio.sleep(0.05)
        finally:
            reading.cancel()


async def _send(given: argparse.Namespace, number: int, stream: AsyncStream) -> None:
    source, due = frames(number, given.seed), time.monotonic()
    for _ in itertools.count() if given.frames is None else range(given.frames):
        frame = await asyncio.to_thread(next, source)
        await stream.send(frame if given.raw else jpeg(frame))
        due = max(due + 1 / given.rate, time.monotonic() - 1.0)
        await asyncio.sleep(max(0.0, due - time.monotonic()))


async def _read(stream: AsyncStream, replies: Counter[str]) -> None:
    with contextlib.suppress(Lost):  # which who sends is told, too
        while True:
            replies[(await stream.reply())["type"]] += 1


async def _run(given: argparse.Namespace) -> None:
    replies: Counter[str] = Counter()

    async def report() -> None:
        while True:
            await asyncio.sleep(5.0)
            print(_said(replies), flush=True)

    reporting = asyncio.create_task(report())
    try:
        await asyncio.gather(*(_camera(given, number, replies) for number in range(given.streams)))
    finally:
        reporting.cancel()
        print(_said(replies), flush=True)


def _said(replies: Counter[str]) -> str:
    answers, dropped, refused = (replies[kind] for kind in ("answer", "dropped", "refused"))
    return f"knob demo-cameras: {answers} answers, {dropped} frames dropped, {refused} refused"


def main(argv: Sequence[str] | None = None) -> int:
    given = parser().parse_args(argv)
    try:
        for name in ("streams", "rate", "give_up", "frames"):
            value = getattr(given, name)
            if value is not None and not 0 < value < math.inf:
                raise ValueError(f"--{name.replace('_', '-')} is {value}, expected a number > 0")
        asyncio.run(_run(given))
    except KeyboardInterrupt:
        return 130
    except (ValueError, OSError) as error:
        print(f"knob demo-cameras: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
