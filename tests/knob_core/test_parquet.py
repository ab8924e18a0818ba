"""Parquet: good files of every encoding are read, damaged ones refused."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from knob_core.uploads.logits import read as read_logits

pa: Any = pytest.importorskip("pyarrow")
pq: Any = pytest.importorskip("pyarrow.parquet")


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


@pytest.mark.parametrize("column", [{}, {"label": "DELTA_BYTE_ARRAY"}, {"label": "DELTA_LENGTH_BYTE_ARRAY"}], ids=str)
def test_labels_by_name_and_missing_ones(column: dict[str, str]):
    z = {name: [float(i), 1.0, 2.0] for i, name in enumerate(("cat", "dog"))}
    packing: dict[str, Any] = {"use_dictionary": False, "column_encoding": column} if column else {}
    got = read_logits("a.parquet", written({**z, "label": ["dog", None, "cat"]}, **packing))
    assert got.labels.tolist() == [[1, -1, 0]] and got.class_names == ("cat", "dog")
    got = read_logits("a.parquet", written({**z, "label": pa.array(["dog", None, "cat"]).dictionary_encode()}))
    assert got.labels.tolist() == [[1, -1, 0]]
    assert read_logits("a.parquet", written({**z, "label": [1, None, 0]})).labels.tolist() == [[1, -1, 0]]
    with pytest.raises(ValueError, match="a label is 'owl', expected one of 2 names"):
        read_logits("a.parquet", written({**z, "label": ["dog", "owl", "cat"]}))


def test_numbers_of_any_kind_are_numbers():
    columns = {
        "a": pa.array([1, 2], pa.int8()),
        "b": pa.array([0.5, 2], pa.float16()),
        "c": pa.array([1, 2], pa.uint64()),
    }
    coded = {"d": pa.array([3.0, 4.0]).dictionary_encode()}
    got = read_logits("a.parquet", written({**columns, **coded}))
    assert got.z_static.tolist() == [[[1, 0.5, 1, 3], [2, 2, 2, 4]]]
