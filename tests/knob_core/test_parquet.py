"""Parquet: good files of every encoding are read; what the footer says is compared with the pages before they are."""

from __future__ import annotations

import base64
import io
import re
import struct
from typing import Any

import numpy as np
import pytest

from knob_core.uploads import Budget, logits, parquet, parquet_pages, parquet_process, read_logits

pa: Any = pytest.importorskip("pyarrow")
pq: Any = pytest.importorskip("pyarrow.parquet")
ROWS = 70_000  # its varint is found nowhere else in the footer


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch):
    """The process around the reader has a test of its own below."""
    monkeypatch.setattr(logits, "read_in_process", parquet.read_table)


def written(columns: dict[str, Any], **options: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file, **options)
    return file.getvalue()


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("packing", ["none", "snappy", "zstd", "gzip"])
@pytest.mark.parametrize(
    "encoding", [{}, {"use_dictionary": False}, {"use_dictionary": False, "use_byte_stream_split": True}]
)
def test_every_encoding_is_read_as_it_was_written(version: str, packing: str, encoding: dict[str, Any]):
    z = np.random.default_rng(0).normal(0, 3, (5000, 3)).round(2)
    content = written(
        {f"c{i}": z[:, i] for i in range(3)}, compression=packing, data_page_version=version, row_group_size=1999,
        data_page_size=1000, **encoding,
    )  # fmt: skip
    np.testing.assert_array_equal(read_logits("a.parquet", content).z_static[0], z)


def test_the_headers_tell_what_the_pages_hold():
    content = written({"c": np.zeros(5000)}, use_dictionary=False, compression="none", data_page_size=8000)
    rows, [group] = parquet_pages.row_groups(content, lambda: None)
    column = pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0).column(0)
    assert rows == group.rows == 5000 and group.columns == ((column.data_page_offset, 5000),)
    asked: list[int] = []
    chunk = parquet_pages.walk(content, column.data_page_offset, 5000, lambda: asked.append(1))
    assert chunk.values == 5000 and 40_000 <= chunk.size <= 41_000 and len(asked) >= 5 and 1000 <= chunk.largest < 5000


def varint(n: int, length: int = 1) -> bytes:
    """Thrift's n >= 0, in at least `length` bytes."""
    out, n = bytearray(), 2 * n
    while n or len(out) < length:
        out.append(n & 127)
        n >>= 7
    return bytes([byte | 128 for byte in out[:-1]] + [out[-1]])


def lying(content: bytes, which: slice, rows: int = 10) -> bytes:
    """Some of the footer's numbers of rows made smaller."""
    (size,) = struct.unpack("<I", content[-8:-4])
    start, said = len(content) - 8 - size, varint(ROWS)
    places = [match.start() for match in re.finditer(re.escape(said), content[start:])]
    spoiled = bytearray(content)
    for place in places[which]:
        spoiled[start + place : start + place + len(said)] = varint(rows, len(said))
    return bytes(spoiled)


@pytest.mark.parametrize("which", [slice(0, 1), slice(1, None), slice(-1, None), slice(None)], ids=str)
def test_a_footer_that_lies_about_its_rows_is_not_believed(which: slice, monkeypatch: pytest.MonkeyPatch):
    """The first is the file's number of rows, the last the row group's, those between the columns'."""
    monkeypatch.setattr(parquet, "MAX_VALUES", 1_000)
    whole = written({"a": np.zeros(ROWS), "b": np.ones(ROWS)}, write_statistics=False)
    content = lying(whole, which)
    held = pa.total_allocated_bytes()
    with pytest.raises(ValueError, match=r"cells|footer says"):
        read_logits("a.parquet", content)
    assert pa.default_memory_pool().bytes_allocated() <= held
    monkeypatch.setattr(parquet, "MAX_VALUES", 1_000_000)
    assert read_logits("a.parquet", whole).z_static.shape == (1, ROWS, 2)


def test_pages_that_unpack_to_more_are_refused_before_they_do(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parquet, "MAX_UNPACKED", 100_000)
    content = written({"a": np.zeros(ROWS), "b": np.ones(ROWS)}, use_dictionary=False, compression="zstd")
    assert len(content) < 10_000
    with pytest.raises(ValueError, match="would unpack to 560,"):
        read_logits("a.parquet", content)


def test_a_footer_without_end_is_refused_unread():
    content = bytearray(written({"a": [1.0], "b": [2.0]}))
    content[-8:-4] = struct.pack("<I", 2**31)
    with pytest.raises(ValueError, match="footer of 2,147,483,648 bytes"):
        read_logits("a.parquet", bytes(content))


@pytest.mark.parametrize(
    ("header", "cause"),
    [
        (b"\x15\x00\x15\x02\x15\x02\x18\xff\xff\xff\xff\x0f", "cut short"),
        (b"\x15" + b"\xff" * 12, "without end"),
        (b"\x9c" * 40, "nested too deeply"),
        (b"\x99" + b"\x19" * 4000, "nested too deeply"),  # lists of lists
        (b"\x15\x00\x15\x02\x05\x02\x15\x00", "twice"),  # field 1 again, by its number
        (b"\x9b\x00", "type 11"),
        (b"\x99\xf5\xff\xff\xff\x07", "list of 16,777,215 elements"),
        (b"\x00", "no header"),
        (b"\x15\x00\x15\x02\x15\x80\x80\x80\x08\x2c\x15\x02\x00\x00", "does not fit"),
        (b"\x16\x00\x15\x02\x15\x02\x00", "another type"),  # 64 bits where 32 are declared: another reader skips it
    ],
)
def test_page_headers_that_are_none(header: bytes, cause: str):
    with pytest.raises(ValueError, match=cause):
        parquet_pages.walk(header, 0, 1, lambda: None)


def test_labels_by_name_and_missing_ones():
    z = {name: [float(i), 1.0, 2.0] for i, name in enumerate(("cat", "dog"))}
    got = read_logits("a.parquet", written({**z, "label": ["dog", None, "cat"]}))
    assert got.labels.tolist() == [[1, -1, 0]] and got.class_names == ("cat", "dog")
    got = read_logits("a.parquet", written({**z, "label": pa.array(["dog", None, "cat"]).dictionary_encode()}))
    assert got.labels.tolist() == [[1, -1, 0]]
    assert read_logits("a.parquet", written({**z, "label": [1, None, 0]})).labels.tolist() == [[1, -1, 0]]
    with pytest.raises(ValueError, match="a label is 'owl', expected one of 2 names"):
        read_logits("a.parquet", written({**z, "label": ["dog", "owl", "cat"]}))


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_labels_in_an_encoding_that_is_not_read_are_no_damage(encoding: str):
    columns = {"a": [1.0, 2.0], "b": [3.0, 4.0], "label": ["a", "b"]}
    content = written(columns, use_dictionary=False, column_encoding={"label": encoding})
    with pytest.raises(ValueError, match=r"a.parquet has labels packed in a way that is not read, expected plain"):
        read_logits("a.parquet", content)


@pytest.mark.parametrize("plain_footer", [False, True])
def test_an_encrypted_table_is_called_so(plain_footer: bool):
    encryption: Any = pytest.importorskip("pyarrow.parquet.encryption")

    class Keys(encryption.KmsClient):  # type: ignore[misc]
        """Wraps nothing."""

        def wrap_key(self, key: bytes, _: str) -> bytes:
            return base64.b64encode(key)

    how = encryption.EncryptionConfiguration(
        footer_key="x", column_keys={"y": ["label"]}, plaintext_footer=plain_footer
    )
    factory = encryption.CryptoFactory(lambda _: Keys())
    properties = factory.file_encryption_properties(encryption.KmsConnectionConfig(), how)
    content = written({"a": [1.0], "b": [3.0], "label": ["a"]}, encryption_properties=properties)
    with pytest.raises(ValueError, match=r"a.parquet is encrypted, expected a table that can be read without a key"):
        read_logits("a.parquet", content)


def test_a_long_name_in_every_row_is_held_once():
    """As plain text these labels would have 20 GB."""
    label = pa.DictionaryArray.from_arrays(pa.array(np.zeros(20_000, np.int32)), pa.array(["x" * 1_000_000]))
    content = written({"a": np.zeros(20_000), "b": np.ones(20_000), "label": label})
    assert len(content) < 1_000_000
    before = pa.default_memory_pool().max_memory()
    with pytest.raises(ValueError, match="a label of 1,000,000 characters, expected at most 1,000"):
        read_logits("a.parquet", content)
    assert pa.default_memory_pool().max_memory() - before < 200_000_000


def test_a_process_of_its_own_gives_the_same():
    content = written({"cat": [1.0, 2.0, 3.0], "dog": [1, 2, 9], "label": ["dog", None, "cat"]})
    readers = (parquet.read_table, parquet_process.read_in_process)
    here, there = (read("a.parquet", content, Budget()) for read in readers)
    np.testing.assert_array_equal(here.numbers, there.numbers)
    assert here.names == there.names == ("cat", "dog")
    assert [there.labels.texts[i] for i in there.labels.codes] == ["dog", "", "cat"]
    numbers = written({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    assert parquet_process.read_in_process("a.parquet", numbers, Budget()).labels is None
    with pytest.raises(ValueError, match=r"a.parquet is damaged, cut short, or no parquet file"):
        parquet_process.read_in_process("a.parquet", content[:-30], Budget())


def test_a_file_larger_than_a_pipe_reaches_the_process() -> None:
    """It needs longer to start than one look at the budget, and a pipe holds 64 KB: the rest was never written."""
    content = written({str(k): np.random.default_rng(k).normal(size=60_000) for k in range(3)})
    assert len(content) > 1_000_000
    assert parquet_process.read_in_process("a.parquet", content, Budget()).numbers.shape == (60_000, 3)


def test_statistics_that_do_not_fit_end_nothing():
    """Asked for the metadata of such a column, pyarrow ends the process."""
    content = written({"cat": [1.0, 2.0, 3.0], "dog": [1.0, 2.0, 9.0]}, use_dictionary=False, compression="none")
    (size,) = struct.unpack("<I", content[-8:-4])
    optional = content[-8 - size :].replace(
        b"%\x02", b"%\x00", 2
    )  # columns that cannot be missing, with levels that say so
    assert optional != content[-8 - size :]
    with pytest.raises(ValueError, match=r"a.parquet"):
        read_logits("a.parquet", content[: -8 - size] + optional)
