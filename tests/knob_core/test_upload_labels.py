"""Labels by name and by frame, class names, probabilities and -inf: what a file means is what is used, and said."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from knob_core._arrays.ruled_out import finite
from knob_core.response import respond
from knob_core.settings import Settings
from knob_core.uploads.logits import read as read_logits
from knob_core.uploads.pictures import read_labels

Z = np.random.default_rng(0).normal(0, 3, (3, 6, 4))
NAMES = ("cat", "dog", "owl", "eel")


def npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def table(*labels: str) -> bytes:
    """A stream of as many frames as labels, whose columns are named."""
    lines = [",".join((*NAMES, "label")), *(f"1,2,3,4,{label}" for label in labels)]
    return "\n".join(lines).encode()


# Whose labels


@pytest.mark.parametrize(
    ("labels", "want"),
    [
        ([0, 1, 2], [[0] * 6, [1] * 6, [2] * 6]),
        ([0, 0, 1, 1, 2, -1], [[0, 0, 1, 1, 2, -1]] * 3),
        (np.arange(18).reshape(3, 6) % 4, np.arange(18).reshape(3, 6) % 4),
        ([[0], [1], [2]], [[0] * 6, [1] * 6, [2] * 6]),
    ],
    ids=["one a stream", "one a frame", "each", "column"],
)
def test_labels_of_streams_and_of_frames(labels: Any, want: Any):
    got = read_logits("a.npz", npz(logits=Z, labels=np.array(labels)))
    np.testing.assert_array_equal(got.labels, want)
    assert got.labelled and got.notes == ()
    b = got.branches()
    assert b.labels.shape == ((3,) if np.all(got.labels == got.labels[:, :1]) else (3, 6))
    np.testing.assert_array_equal(b.frame_labels, want)


def test_labels_of_one_stream_that_change_on_the_way():
    labels = np.array([0, 0, 0, 1, 1, 1])
    b = read_logits("a.npz", npz(logits=Z[0], labels=labels)).branches()
    np.testing.assert_array_equal(b.labels, labels[None])
    answer, _ = respond(b, Settings())
    assert answer.probabilities.shape == (1, 6, 4)


def test_as_many_streams_as_frames_is_said():
    got = read_logits("a.npz", npz(logits=np.zeros((3, 3, 4)) + np.arange(4), labels=np.array([0, 1, 2])))
    np.testing.assert_array_equal(got.labels, [[0] * 3, [1] * 3, [2] * 3])
    assert "one a stream" in got.notes[0]


def test_labels_by_name_in_an_array():
    labels = np.array([["cat", "dog", "", "eel", "1", "-1"]] * 3)
    got = read_logits("a.npz", npz(logits=Z, labels=labels, classes=np.array(NAMES)))
    np.testing.assert_array_equal(got.labels, [[0, 1, -1, 3, 1, -1]] * 3)
    assert got.class_names == NAMES


@pytest.mark.parametrize(
    ("arrays", "cause"),
    [
        ({"labels": np.array(["cat", "dog", "owl"])}, "a label is 'cat', expected a number .the file names no classes"),
        ({"labels": np.array(["ape", "dog", "owl"]), "classes": np.array(NAMES)}, "'ape', expected one of 4 names"),
        ({"classes": np.array(NAMES[:3])}, r"classes have shape \(3,\), expected 4 names"),
        ({"classes": np.arange(4)}, "classes have numbers, expected 4 names"),
        ({"classes": np.array(["cat", "dog", "cat", "eel"])}, "two classes are called 'cat'"),
        ({"classes": np.array(["cat", "dog", "", "eel"])}, "class 2 has an empty name"),
        ({"labels": np.array(["1.5", "0", "0"])}, "labels hold 1.5"),
        ({"labels": np.array(["4", "0", "0"])}, r"labels hold 4 at index \(0,\), expected whole numbers in \[0, 3\]"),
        ({"labels": np.array([0, np.nan, 1])}, r"labels hold nan at index \(1,\)"),
        ({"labels": np.zeros((2, 6))}, r"labels have shape \(2, 6\), expected \(3,\), \(6,\) or \(3, 6\)"),
        ({"severity": np.array(["a"] * 6)}, "severity has dtype text"),
    ],
)
def test_labels_and_names_that_do_not_fit(arrays: dict[str, Any], cause: str):
    with pytest.raises(ValueError, match=cause):
        read_logits("a.npz", npz(logits=Z, **arrays))


def test_labels_in_a_table_by_name_number_or_not_at_all():
    got = read_logits("a.csv", table("dog", "", "3", "-1", '"cat"'))
    assert got.labels.tolist() == [[1, -1, 3, -1, 0]]
    with pytest.raises(ValueError, match=r"a label is 'ape', expected one of 4 names .'cat', 'dog', 'owl', 'eel'"):
        read_logits("a.csv", table("dog", "ape"))
    with pytest.raises(ValueError, match="two columns of one name, 'labels'"):
        read_logits("a.csv", b"a,b,label,labels\n1,2,0,0\n")


def test_tabs_and_semicolons_are_read_as_commas_are():
    want = read_logits("a.csv", table("dog", "owl"))
    for name, mark in (("a.tsv", b"\t"), ("a.csv", b";")):
        got = read_logits(name, table("dog", "owl").replace(b",", mark))
        np.testing.assert_array_equal(got.z_static, want.z_static)
        assert got.labels.tolist() == [[1, 2]] and got.class_names == NAMES


def test_names_of_classes_may_have_commas_in_them():
    """ImageNet's do: tabs and semicolons were then taken for commas, and the next line had too few cells."""
    names = ("tench, Tinca tinca", "white shark; man-eater")
    quoted = [f'"{name}"' for name in names]
    for file, mark, heads in (
        ("a.tsv", "\t", names), ("a.tsv", "\t", quoted), ("a.csv", ";", quoted), ("a.csv", ",", quoted),
        ("a.csv", "\t", quoted), ("a.tsv", ",", quoted),
    ):  # fmt: skip
        got = read_logits(file, f"{mark.join(heads)}\n1.5{mark}2\n".encode())
        assert got.class_names == names and got.z_static.tolist() == [[[1.5, 2.0]]], (file, mark)


def test_labels_beside_pictures():
    names = ["x/1.png", "x/2.png", "x/a,b.png"]
    read = [read_labels(text, names, ("dog", "cat"))[0].tolist() for text in (
        b"file,label\n1.png,cat\n", b'x/1.png;cat\n"a,b.png";0\n', b"a,b.png,1", b"frame,label\n2,cat\n0,-1\n",
    )]  # fmt: skip
    assert read == [[1, -1, -1], [1, -1, 0], [-1, -1, 1], [-1, -1, 1]]
    for text, cause in (
        (b"frame,label\n3,cat", "line 2: '3' is no frame, expected 0 to 2"),
        (b"frame,label\n1.png,cat", "line 2: '1.png' is no frame"),
        (b"frame,label\n1,cat\n01,cat", "line 3: '1' has a label already"),
        (b"1.png,2", "line 1: '1.png,2', expected `file,label`"),
        (b"1.png", "line 1: '1.png', expected `file,label`"),
        (b"1.png,1e999", "line 1"),
    ):
        with pytest.raises(ValueError, match=cause):
            read_labels(text, names, ("dog", "cat"))


def test_lines_that_name_no_picture_are_told():
    """Nine of ten labels were dropped without a word where one fitted."""
    names = ["caf\u00e9/1.png", "caf\u00e9/2.png", "3.png"]  # é as one character
    lines = "file,label\ncafe\u0301\\1.png,cat\n./3.png,dog\nIMG_7.png,dog\nx/2.png,cat\n"  # and as two
    found, notes = read_labels(lines.encode(), names, ("dog", "cat"))
    assert found.tolist() == [1, -1, 0]
    assert notes == ("2 of 4 lines of labels.csv name no picture that is here: 'IMG_7.png' is the first one.",)
    assert read_labels(b"1.png,0\n2.png,0\n3.png,0\n", names, ("dog", "cat"))[1] == ()


def test_columns_of_no_class_are_passed_over_and_named():
    """Indices of pandas were classes, and a class called t was none."""
    for headings, classes in (
        ("Unnamed: 0.2,Unnamed: 0.1,Unnamed: 0,cat,dog", "cat,dog"),
        ("__index_level_0__,__index_level_1__,cat,dog", "cat,dog"),
        ("level_0,level_1,cat,dog", "cat,dog"),
        (",cat,dog", "cat,dog"),
        ("t,cat,dog", "cat,dog"),
        ("cat,dog,t", "cat,dog"),
        ("t,a,b,c", "a,b,c"),
        ("r,s,t,u", "r,s,t,u"),
        ("T,F", "T,F"),
    ):
        count = headings.count(",") + 1
        content = f"{headings}\n{','.join('5' * count)}\n{','.join('6' * count)}\n"
        got = read_logits("a.csv", content.encode())
        assert got.class_names == tuple(classes.split(",")), headings
        gone = [name for name in headings.split(",") if name not in classes.split(",")]
        assert len(got.notes) == bool(gone) and all(name in got.notes[0] for name in gone), got.notes
        if all(headings.split(",")):
            columns = {name: np.array([5.0, 6.0]) for name in headings.split(",")}
            in_parquet = read_logits("a.parquet", parquet(columns))
            assert (in_parquet.class_names, in_parquet.notes) == (got.class_names, got.notes)


def test_a_class_whose_numbers_only_grow_is_asked_about():
    rows = "".join(f"{i},{i % 3},2\n" for i in range(20))
    assert read_logits("a.csv", f"frame_id,cat,dog\n{rows}".encode()).notes == (
        "The numbers of 'frame_id' only grow, and are taken as a class's logits: are they?",
    )
    two = "".join(f"{stream},{i},{i % 3},2\n" for stream in range(2) for i in range(20))
    assert "'ms' only grow" in read_logits("a.csv", f"stream,ms,cat,dog\n{two}".encode()).notes[0]
    short = "".join(f"{i},{i % 3},2\n" for i in range(5))
    assert read_logits("a.csv", f"frame_id,cat,dog\n{short}".encode()).notes == ()


NUMBERED = "1,2,3,4,label\n1,2,3,4,1\n1,2,3,4,3.0\n1,2,3,4,-1\n1,2,3,4,\n1,2,3,4,4\n"
MEANT = [0, 2, -1, -1, 3]  # 1, 3, unknown, unknown, 4


def parquet(columns: dict[str, Any]) -> bytes:
    pyarrow, file = pytest.importorskip("pyarrow"), io.BytesIO()
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(columns), file)
    return file.getvalue()


def test_classes_that_are_called_by_numbers_are_meant_by_name_in_every_format():
    """A table said 1 for its first class, an array for its second one."""
    names, z = ["1", "2", "3", "4"], np.tile(np.arange(4.0), (5, 1))
    columns = {name: z[:, i] for i, name in enumerate(names)}
    files = {
        "a.csv": NUMBERED.encode(),
        "a.npz": npz(logits=z, classes=np.array(names), labels=np.array([1, 3, -1, -1, 4])),
        "b.npz": npz(logits=z, classes=np.array(names), labels=np.array(["1", "3.0", "-1", "", "4"])),
        "a.parquet": parquet({**columns, "label": [1, 3, -1, None, 4]}),
        "b.parquet": parquet({**columns, "label": [1.0, 3.0, -1.0, None, 4.0]}),
        "c.parquet": parquet({**columns, "label": ["1", "3.0", "-1", None, "4"]}),
    }
    for name, content in files.items():
        got = read_logits(name, content)
        assert got.labels.tolist() == [MEANT], name
        assert got.notes == ("The classes' names are numbers: labels are taken as names, not as places.",), name
        assert got.class_names == ("1", "2", "3", "4")
    assert read_labels(b"a,1\nb,3.0\nc,-1", ["a", "b", "c"], names)[0].tolist() == [0, 2, -1]


@pytest.mark.parametrize("wrong", ["0", "5", "1.5"])
def test_a_number_that_no_class_is_called_by_is_refused(wrong: str):
    cause = rf"a label is '{wrong}', expected one of 4 names \('1', '2', '3', '4'\)"
    with pytest.raises(ValueError, match=cause):
        read_logits("a.csv", f"{NUMBERED}1,2,3,4,{wrong}\n".encode())
    with pytest.raises(ValueError, match=cause):
        read_logits(
            "a.npz", npz(logits=Z, classes=np.array(["1", "2", "3", "4"]), labels=np.array([1, 2, float(wrong)]))
        )
    with pytest.raises(ValueError, match="line 1"):
        read_labels(f"a,{wrong}".encode(), ["a"], ["1", "2", "3", "4"])


def test_names_of_classes_that_are_numbers_and_may_be_less_than_nothing():
    got = read_logits("a.csv", b"-1,1,label\n5,6,-1\n5,6,1\n5,6,\n")
    assert got.labels.tolist() == [[0, 1, -1]] and got.class_names == ("-1", "1")


@pytest.mark.parametrize("heading", ["0,1,2,3", "0.0,1.0,2.0,3.0", '"0","1","2","3"'])
def test_headings_that_are_places_change_nothing(heading: str):
    got = read_logits("a.csv", f"{heading}\n9,6,7,8\n".encode())
    assert got.z_static.tolist() == [[[9, 6, 7, 8]]] and got.class_names[1] == "class 1" and got.notes == ()


# Whose classes


@pytest.mark.parametrize(
    ("heading", "names"),
    [("1,2,3", ("1", "2", "3")), ("1.0,2.0,3.0", ("1", "2", "3")), ('"10","20","30"', ("10", "20", "30"))],
)
def test_headings_that_are_numbers_are_no_frame(heading: str, names: tuple[str, ...]):
    got = read_logits("a.csv", f"{heading}\n9,6,7\n8,6,7\n".encode())
    assert got.z_static.tolist() == [[[9, 6, 7], [8, 6, 7]]] and got.class_names == names


@pytest.mark.parametrize("first", ["1,2,4", "2,3,4", "0.1,0.2,0.3", '"10",20,30', "1,1,1"])
def test_a_first_frame_is_no_heading(first: str):
    got = read_logits("a.csv", f"{first}\n9,6,7\n".encode())
    assert got.z_static.shape == (1, 2, 3) and got.class_names[0] == "class 0"
    quoted = read_logits("a.csv", b'"10","20","30"\n"9","6","7"\n')
    assert quoted.z_static.shape == (1, 2, 3)


@pytest.mark.parametrize(
    ("heading", "labels"),
    [
        (("Frame", "Label"), [1, 0]), (("TIMESTAMP", "labels"), [1, 0]), (("id", "Y_True"), [1, 0]),
        (("Row", "Y true"), [1, 0]), (("Index", "Severity"), [-1, -1]),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_that_are_no_classes_are_known_however_they_are_written(
    kind: str, heading: tuple[str, str], labels: list[int]
):
    columns = {heading[0]: [7, 8], "cat": [1.0, 2.0], "T": [3.0, 4.0], f" {heading[1]} ": [1, 0]}
    rows = zip(*columns.values(), strict=True)
    text = "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)])
    got = read_logits(f"a.{kind}", parquet(columns) if kind == "parquet" else text.encode())
    assert got.class_names == ("cat", "T") and got.z_static.tolist() == [[[1, 3], [2, 4]]]
    assert got.labels.tolist() == [labels] and (got.severity is not None) == (heading[1] == "Severity")


def test_dates_beside_logits_are_passed_over():
    stamped = b"timestamp,cat,dog\n2024-05-01 12:00,1,2\n2024-05-01 12:01,3,4\n"
    assert read_logits("a.csv", stamped).class_names == ("cat", "dog")


def test_class_names_come_from_the_file_or_are_numbers():
    ten = np.random.default_rng(0).normal(0, 1, (5, 10))
    assert read_logits("a.npz", npz(logits=ten)).class_names == tuple(f"class {k}" for k in range(10))
    assert read_logits("a.csv", b"0,1,2\n5,6,7\n").class_names == ("class 0", "class 1", "class 2")
    assert read_logits("a.csv", b"1.5,2\n5,6\n").class_names == ("class 0", "class 1")
    assert read_logits("a.csv", b"frame,fox,hen\n0,5,6\n").class_names == ("fox", "hen")
    branches = b"z_static_fox,z_static_hen,z_dyn_fox,z_dyn_hen\n1,2,3,4\n"
    assert read_logits("a.csv", branches).class_names == ("fox", "hen")
    with pytest.raises(ValueError, match=r"z_static_\* for 'fox', 'hen', z_dyn_\* for 'hen', 'fox'"):
        read_logits("a.csv", b"z_static_fox,z_static_hen,z_dyn_hen,z_dyn_fox\n1,2,3,4\n")


def test_a_heading_that_cannot_be_shown_is_shortened():
    name = read_logits("a.csv", f"{'x' * 300},b\x07\n1,2\n".encode()).class_names
    assert len(name[0]) <= 80 and name[1] == "b\\x07"


# What the numbers are


def test_probabilities_become_logits_and_are_said():
    p = np.array([[0.7, 0.2, 0.1], [1.0, 0.0, 0.0], [0.333, 0.333, 0.333]])  # rounded, and certain
    got = read_logits("a.npz", npz(logits=p))
    q = np.exp(got.z_static[0])
    np.testing.assert_allclose(q / q.sum(-1, keepdims=True), p / p.sum(-1, keepdims=True), atol=3e-6)
    assert "probabilities" in got.notes[0] and "1e-06" in got.notes[0]
    again = read_logits("a.csv", "\n".join(",".join(map(str, row)) for row in p).encode())
    np.testing.assert_allclose(again.z_static, got.z_static)


@pytest.mark.parametrize("z", [[[0.7, 0.2, 0.1], [0.5, 0.9, 0.1]], [[1.2, -0.2, 0.0]], [[0.0, 0.0, 3.0]]])
def test_what_may_be_logits_stays_as_it_is(z: list[list[float]]):
    got = read_logits("a.npz", npz(logits=np.array(z)))
    np.testing.assert_array_equal(got.z_static[0], z)
    between = int(np.min(z) >= 0 and np.max(z) <= 1)
    assert [note[:48] for note in got.notes] == ["All numbers in logits lie between 0 and 1, but f"] * between


@pytest.mark.parametrize(
    "change", ["rounded", "percent", "one frame blank", "a hair below 0", "one frame adds up to 2"]
)
def test_probabilities_need_not_be_exact(change: str) -> None:
    p = np.random.default_rng(0).dirichlet(np.ones(10), (200,))
    given = {
        "rounded": p.round(2), "percent": 100 * p, "one frame blank": np.where(np.arange(200)[:, None] == 7, 0, p),
        "a hair below 0": p - np.eye(200, 10) * (p + 1e-9),
        "one frame adds up to 2": p * np.where(np.arange(200)[:, None] == 7, 2, 1).clip(0, 1 / p.max(1, keepdims=True)),
    }[change]  # fmt: skip
    got = read_logits("a.npz", npz(logits=given))
    assert "logarithms of probabilities are the logits" in got.notes[0]
    q = np.exp(got.z_static[0, 20:])
    np.testing.assert_allclose(q / q.sum(-1, keepdims=True), p[20:], atol=0.03)


def test_each_branch_is_judged_on_its_own():
    p = np.full((4, 2), 0.5)
    got = read_logits("a.npz", npz(z_static=p, z_dyn=Z[0, :4, :2]))
    np.testing.assert_allclose(got.z_static, np.log(0.5))
    assert len(got.notes) == 1 and "z_static" in got.notes[0]


def test_a_class_that_was_ruled_out_is_taken_as_the_runtime_takes_it():
    z = np.array([[2.0, 1.0, -np.inf], [2.0, -30.0, -np.inf]])
    got = read_logits("a.npz", npz(logits=z))
    np.testing.assert_array_equal(got.z_static[0], finite(z))
    assert "2 of 6 numbers in logits are -inf" in got.notes[0]
    assert read_logits("a.csv", b"a,b,c\n2,1,-inf\n2,-30,-inf\n").z_static.tolist() == got.z_static.tolist()


@pytest.mark.parametrize(
    ("z", "cause"),
    [
        ([[1.0, 2.0], [-np.inf, -np.inf]], r"-inf for every class at index \(0, 1\)"),
        ([[1.0, np.nan], [0.0, -np.inf]], r"nan at index \(0, 0, 1\)"),
        ([[1.0, np.inf], [0.0, 1.0]], r"inf at index \(0, 0, 1\)"),
        ([[1.0, -1e7], [0.0, 1.0]], "goes up to 1e\\+07"),
    ],
)
def test_other_numbers_are_refused_by_their_place(z: list[list[float]], cause: str):
    with pytest.raises(ValueError, match=cause):
        read_logits("a.npz", npz(logits=np.array(z)))


@pytest.mark.parametrize("frame", ["3", "000000000999", "1" + 5000 * "0"])
def test_a_frame_that_is_not_there_is_refused_by_its_line(frame: str):
    with pytest.raises(ValueError, match=r"labels.csv, line 2: '.{1,40}' is no frame, expected 0 to 2"):
        read_labels(f"frame,label\n{frame},1\n".encode(), ["a", "b", "c"], ["x", "y"])
