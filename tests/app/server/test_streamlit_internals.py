"""What we change of Streamlit's insides does what it says."""

from __future__ import annotations

import copy
import tracemalloc

import pytest
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec

from app.server.streamlit_internals import share_uploads


def test_copies_of_an_uploaded_file_share_its_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit copies every file that a page names in every run: one of 48 MB, named often, took all memory."""
    monkeypatch.setattr(UploadedFile, "__deepcopy__", None, raising=False)  # put it back
    share_uploads()
    given = UploadedFile(UploadedFileRec("id", "a.png", "image/png", bytes(10_000_000)), FileURLs(file_id="id"))
    given.seek(7)
    tracemalloc.start()
    copies = copy.deepcopy([given] * 5)
    copies += [copy.deepcopy(given) for _ in range(20)]
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < 1_000_000
    for made in copies:
        assert made == given and made is not given and made.getvalue() == given.getvalue() and made.tell() == 7
        assert (made.name, made.type, made.size, made._file_urls.file_id) == ("a.png", "image/png", 10_000_000, "id")
    copies[0].write(b"mine")
    assert given.getvalue() == bytes(10_000_000)  # written to, a copy has bytes of its own
