"""`knob demo-cameras`: made cameras that send change streams of the sample images to a running service.

Each camera shows pictures that change now and then, under a corruption whose severity comes and goes
(`knob_core.streams.change`), as JPEG files or raw pixels, at a steady rate, for ever or for a number of frames.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import sys
from collections.abc import Iterator, Sequence

import numpy as np
from PIL import Image

from knob_core.serving.command import HOST, PORT
from knob_core.serving.messages import pack

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
    found.add_argument("--seed", type=int, default=0)
    return found


def message(frame: np.ndarray, raw: bool) -> bytes:
    return pack({"kind": "raw", "shape": list(frame.shape)}, frame.tobytes()) if raw else jpeg(frame)


async def _camera(given: argparse.Namespace, number: int, told: dict[str, int]) -> None:
    import websockets

    headers = {"Authorization": f"Bearer {given.token}"} if given.token else {}
    group = GROUPS[number % len(GROUPS)]
    url = f"{given.url.replace('http', 'ws', 1)}/v1/streams/camera-{number}/socket?group={group}"
    source, sent = frames(number, given.seed), 0
    async for socket in websockets.connect(url, additional_headers=headers, max_size=None):
        reading = asyncio.create_task(_read(socket, told))
        try:
            while given.frames is None or sent < given.frames:
                await socket.send(message(await asyncio.to_thread(next, source), given.raw))
                sent += 1
                await asyncio.sleep(1 / given.rate)
            await asyncio.sleep(0.5)
            return
        except websockets.ConnectionClosed:
            continue  # the service is away: connect again
        finally:
            reading.cancel()


async def _read(socket: object, told: dict[str, int]) -> None:
    async for _ in socket:  # type: ignore[attr-defined]
        told["answers"] += 1


async def _run(given: argparse.Namespace) -> None:
    told = {"answers": 0}
    cameras = [asyncio.create_task(_camera(given, number, told)) for number in range(given.streams)]
    report = asyncio.create_task(_report(told))
    await asyncio.gather(*cameras)
    report.cancel()


async def _report(told: dict[str, int]) -> None:
    while True:
        await asyncio.sleep(5.0)
        print(f"knob demo-cameras: {told['answers']} answers", flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    given = parser().parse_args(argv)
    try:
        asyncio.run(_run(given))
    except KeyboardInterrupt:
        return 130
    except (ValueError, OSError) as error:
        print(f"knob demo-cameras: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
