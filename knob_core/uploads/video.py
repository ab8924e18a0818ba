"""Read an uploaded video frame by frame, believing nothing its header says.

The container is the one the name promises, so that no play list or script is followed; only common decoders are let
near the bytes; and a frame's size is checked by the decoder before it is allocated, whatever the header declared. Of a
recording that merely stopped, what is whole is read. `video_process` runs this in a process of its own.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from knob_core.uploads.budget import Budget, Stopped
from knob_core.uploads.limits import MAX_FILM_PIXELS, require_size, said
from knob_core.uploads.picture_frames import PictureFrames, frame_rate
from knob_core.uploads.stills import small

CONTAINERS = {
    ".mp4": "mp4", ".m4v": "mp4", ".mov": "mov", ".avi": "avi", ".mkv": "matroska", ".webm": "matroska",
    ".mpg": "mpeg", ".mpeg": "mpeg",
}  # fmt: skip
CODECS = ("h264", "hevc", "vp8", "vp9", "av1", "libdav1d", "mpeg4", "mjpeg", "mpeg1video", "mpeg2video")
SHORT = 256  # pixels


def read(
    name: str, kind: str, content: bytes, budget: Budget, most_frames: int, most_pixels: int = MAX_FILM_PIXELS
) -> PictureFrames:
    """The first `most_frames` frames of a video called `name`, upright; `kind` is a key of CONTAINERS."""
    try:
        import av
    except ImportError as error:
        raise ValueError(
            f"{name}: a video needs PyAV (pip install av), which is not installed; "
            "an animated GIF, WebP or PNG, or a zip of frames, does not"
        ) from error
    require_size(name, len(content))
    limit = {"max_pixels": str(most_pixels), "protocol_whitelist": "pipe"}
    images: list[np.ndarray] = []  # (3, 32, 32) each
    try:
        with av.open(
            io.BytesIO(content), "r", format=CONTAINERS[kind], options=limit, metadata_errors="replace"
        ) as container:
            track = _track(container)
            decoder = track.codec_context
            _require_pixels(decoder.width, decoder.height, most_pixels)
            decoder.options, decoder.thread_count = {"max_pixels": str(most_pixels)}, 1
            rate = frame_rate(track.average_rate or track.guessed_rate)
            for packet in container.demux(track):
                if packet.is_corrupt:
                    raise _Refused(f"is cut short in frame {len(images)}")
                budget.spend(name, 3 * max(decoder.width, 0) * max(decoder.height, 0))  # also what is never shown
                for frame in packet.decode():
                    _require_pixels(frame.width, frame.height, most_pixels)
                    images.append(_upright(frame))
                if len(images) >= most_frames:
                    break
    except Stopped:
        raise
    except _Refused as error:
        raise ValueError(f"{name} {error}") from error
    except MemoryError as error:  # a header of a few bytes may ask for gigabytes; the process has a limit
        raise ValueError(
            f"{name} needs more memory than a video may take; frame {len(images)} cannot be read"
        ) from error
    except av.ArgumentError as error:  # what a decoder says of more than max_pixels
        raise ValueError(
            f"{name}: frame {len(images)} is not what the header declares, or has more than {most_pixels:,} pixels"
        ) from error
    except (av.FFmpegError, OSError, ValueError, TypeError, ArithmeticError, LookupError) as error:
        raise ValueError(
            f"{name} is damaged, cut short, or no {kind} video; frame {len(images)} cannot be read ({said(error)})"
        ) from error
    if not images:
        raise ValueError(f"{name} has no frame that can be read")
    return PictureFrames(np.stack(images[:most_frames]), rate)


def _track(container: Any) -> Any:
    if not container.streams.video:
        raise _Refused("has no picture track")
    track = container.streams.video[0]
    decoder = track.codec_context
    if decoder is None or decoder.name not in CODECS:
        what = "an unknown codec" if decoder is None else decoder.name
        raise _Refused(f"is packed with {what}, expected one of {', '.join(CODECS)}")
    return track


def _upright(frame: Any) -> np.ndarray:
    """(3, 32, 32) uint8, turned as the camera was held."""
    picture = _shrunk(frame).to_image()
    return small(picture.rotate(frame.rotation, expand=True) if frame.rotation else picture)


def _shrunk(frame: Any) -> Any:
    """A large frame made smaller before its colours are: half the time, and at the hardest edge 10 of 255 away."""
    side = min(frame.width, frame.height)
    if side <= 2 * SHORT:
        return frame
    width, height = (max(round(n * SHORT / side), 1) for n in (frame.width, frame.height))
    return frame.reformat(width, height, "rgb24", interpolation="AREA")


class _Refused(Exception):
    """A cause of our own, without the file's name."""


def _require_pixels(width: int, height: int, most: int) -> None:
    if width * height > most:
        raise _Refused(f"has frames of {width} x {height} pixels, expected at most {most:,}")
