"""Uploaded pictures and videos with some bytes changed and the end cut off: refused with a short cause, or harmless."""

from __future__ import annotations

from hypothesis import strategies as st

from knob_core.uploads.pictures import read as read_pictures


def check(data: st.DataObject, files: list[tuple[str, bytes]], within: int | None = None) -> None:
    """Damage one of the files, in its first `within` bytes where given, and read it."""
    name, content = data.draw(st.sampled_from(files))
    spoiled = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        last = min(len(spoiled), within or len(spoiled)) - 1
        spoiled[data.draw(st.integers(0, last))] = data.draw(st.integers(0, 255))
    try:
        got = read_pictures([(name, bytes(spoiled[: data.draw(st.integers(1, len(spoiled)))]))])
    except MemoryError:  # a size that is not the file's own: the process that reads says so
        return
    except ValueError as error:
        assert type(error) is ValueError and len(str(error)) < 400
        return
    assert got.images.shape[1:] == (3, 32, 32)
