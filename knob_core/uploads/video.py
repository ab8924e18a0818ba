"""Read an uploaded video frame by frame, believing nothing its header says.

The container is the one the name promises, so that no play list or script is followed; only common decoders are let
near the bytes; and a frame's size is checked by the decoder before it is allocated, whatever the header declared. Of a
recording that merely stopped, what is whole is read.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from PIL import Image

from knob_core.uploads.limits import MAX_PIXELS, require_size

CONTAINERS = {
    ".mp4": "mp4", ".m4v": "mp4", ".mov": "mov", ".avi": "avi", ".mkv": "matroska", ".webm": "matroska",
    ".mpg": "mpeg", ".mpeg": "mpeg",
}  # fmt: skip
CODECS = ("h264", "hevc", "vp8", "vp9", "av1", "libdav1d", "mpeg4", "mjpeg", "mpeg1video", "mpeg2video")
SHORT = 256  # pixels


def frames(name: str, kind: str, content: bytes) -> Iterator[Image.Image]:
    """The pictures of a video called `name`, upright, one at a time; `kind` is a key of CONTAINERS."""
    try:
        import av
    except ImportError as error:
        raise ValueError(
            f"{name}: a video needs PyAV (pip install av), which is not installed; "
            "an animated GIF, WebP or PNG, or a zip of frames, does not"
        ) from error
    require_size(name, len(content))
    limit = {"max_pixels": str(MAX_PIXELS), "protocol_whitelist": "pipe"}
    count = 0
    try:
        with av.open(io.BytesIO(content), "r", format=CONTAINERS[kind], options=limit) as container:
            if not container.streams.video:
                raise _Refused("has no picture track")
            track = container.streams.video[0]
            decoder = track.codec_context
            if decoder is None or decoder.name not in CODECS:
                what = "an unknown codec" if decoder is None else decoder.name
                raise _Refused(f"is packed with {what}, expected one of {', '.join(CODECS)}")
            _require_pixels(decoder.width, decoder.height)
            decoder.options, decoder.thread_count = {"max_pixels": str(MAX_PIXELS)}, 1
            for packet in container.demux(track):
                if packet.is_corrupt:
                    raise _Refused(f"is cut short in frame {count}")
                for frame in packet.decode():
                    _require_pixels(frame.width, frame.height)
                    picture = _shrunk(frame).to_image()
                    yield picture.rotate(frame.rotation, expand=True) if frame.rotation else picture
                    count += 1
    except _Refused as error:
        raise ValueError(f"{name} {error}") from error
    except av.ArgumentError as error:  # what a decoder says of more than max_pixels
        raise ValueError(
            f"{name}: frame {count} is not what the header declares, or has more than {MAX_PIXELS:,} pixels"
        ) from error
    except (av.FFmpegError, OSError, ValueError, ArithmeticError, MemoryError, LookupError) as error:
        cause = getattr(error, "strerror", None) or error
        raise ValueError(
            f"{name} is damaged, cut short, or no {kind} video; frame {count} cannot be read ({cause})"
        ) from error
    if not count:
        raise ValueError(f"{name} has no frame that can be read")


def _shrunk(frame: Any) -> Any:
    """A large frame made smaller before its colours are: half the time, and at the hardest edge 10 of 255 away."""
    side = min(frame.width, frame.height)
    if side <= 2 * SHORT:
        return frame
    width, height = (max(round(n * SHORT / side), 1) for n in (frame.width, frame.height))
    return frame.reformat(width, height, "rgb24", interpolation="AREA")


class _Refused(Exception):
    """A cause of our own, without the file's name."""


def _require_pixels(width: int, height: int) -> None:
    if width * height > MAX_PIXELS:
        raise _Refused(f"has frames of {width} x {height} pixels, expected at most {MAX_PIXELS:,}")
