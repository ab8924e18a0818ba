"""Checkpoints: what was saved comes back, and nothing else is believed."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from knob_core import assets, checkpoint, models
from knob_core.data import CLASSES


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    torch.manual_seed(0)
    checkpoint.save(models.build("knob-ode", width=4), path, {"seed": 3, "recipe": {"name": "tiny"}})
    return path


@pytest.mark.parametrize("method", models.METHODS)
@pytest.mark.parametrize("half", [False, True])
def test_round_trip(method: str, half: bool, tmp_path: Path) -> None:
    torch.manual_seed(1)
    model = models.build(method, width=4, num_classes=7).eval()
    checkpoint.save(model, tmp_path / "m.safetensors", {"seed": 1}, half=half)
    loaded = checkpoint.load(tmp_path / "m.safetensors")
    images = torch.rand(2, 3, 32, 32)
    assert not loaded.training
    torch.testing.assert_close(loaded.predict(images), model.predict(images), atol=5e-2 if half else 0, rtol=0)
    assert checkpoint.read_header(tmp_path / "m.safetensors")["seed"] == 1
    assert [p.name for p in tmp_path.iterdir()] == ["m.safetensors"]


def test_half_precision_keeps_the_knobs_whole(tmp_path: Path) -> None:
    model = models.build("knob-ode", width=4)
    model.knobs.zeta = 0.123456789
    checkpoint.save(model, tmp_path / "m.safetensors", half=True)
    assert checkpoint.load(tmp_path / "m.safetensors").knobs.zeta == model.knobs.zeta


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no checkpoint at"):
        checkpoint.load(tmp_path / "nothing.safetensors")


@pytest.mark.parametrize("keep", [0, 4, 100, 0.5, 0.999])
def test_a_truncated_file_is_refused(saved: Path, keep: float) -> None:
    whole = saved.read_bytes()
    saved.write_bytes(whole[: int(keep * len(whole)) if isinstance(keep, float) else keep])
    with pytest.raises(ValueError, match="damaged"):
        checkpoint.load(saved)


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple:
            return (Path.touch, (tmp_path / "sprung",))

    path = tmp_path / "trap.safetensors"
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ValueError, match="no safetensors file"):
        checkpoint.load(path)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("metadata", "cause"),
    [
        (None, "not one of ours"),
        ({"knob": "not json"}, "not JSON"),
        ({"knob": '{"format": "knob-checkpoint-99"}'}, "knob-checkpoint-99"),
        ({"knob": "[1]"}, "format 'list'"),
        ({"knob": '{"format": "knob-checkpoint-1", "method": "gan", "width": 4}'}, "names no model"),
        ({"knob": '{"format": "knob-checkpoint-1", "method": "static"}'}, "names no model"),
        (
            {"knob": '{"format": "knob-checkpoint-1", "method": "static", "width": 4, "num_classes": 10}'},
            "does not fit",
        ),
        ({"knob": '{"format": "knob-checkpoint-1", "method": "knob-ode", "width": 8, "num_classes": 10}'}, "has shape"),
    ],
)
def test_foreign_and_mismatching_files_are_refused(saved: Path, metadata: dict | None, cause: str) -> None:
    save_file(load_file(saved), saved, metadata)
    with pytest.raises(ValueError, match=cause):
        checkpoint.load(saved)


def test_weights_that_are_not_numbers_are_refused(tmp_path: Path) -> None:
    model = models.build("static", width=4)
    with torch.no_grad():
        model.static_head.out.bias[0] = float("nan")
    checkpoint.save(model, tmp_path / "m.safetensors")
    with pytest.raises(ValueError, match=r"static_head.out.bias has values that are not finite"):
        checkpoint.load(tmp_path / "m.safetensors")


@pytest.mark.parametrize("width", [2**20, 1e999, "x", 2**62])
def test_a_header_that_asks_for_a_giant_costs_nothing(tmp_path: Path, width: object) -> None:
    path = tmp_path / "giant.safetensors"
    own = {"format": checkpoint.FORMAT, "method": "knob-ode", "width": width, "num_classes": 10}
    save_file({"encoder.stem.weight": torch.zeros(1)}, path, {"knob": json.dumps(own)})
    before = torch.get_rng_state()
    with pytest.raises(ValueError, match=r"giant\.safetensors"):
        checkpoint.load(path)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_header_of_brackets_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.safetensors"
    save_file({"a": torch.zeros(1)}, path, {"knob": "[" * 100_000})
    with pytest.raises(ValueError, match="not JSON"):
        checkpoint.read_header(path)


def test_loading_draws_no_random_numbers(tmp_path: Path) -> None:
    checkpoint.save(models.build("knob-ode", width=8), tmp_path / "m.safetensors")
    before = torch.get_rng_state()
    loaded = checkpoint.load(tmp_path / "m.safetensors")
    assert torch.equal(torch.get_rng_state(), before)
    assert all(p.requires_grad and not p.is_meta for p in loaded.parameters())
    assert not any(b.is_meta for b in loaded.buffers())


def test_the_form_of_reset_mode_comes_back(saved: Path, tmp_path: Path) -> None:
    """Files without it are literal, as all were; a normalised one has the settled gate at its own knobs."""
    old = checkpoint.load(saved)
    assert old.reset_reference is None
    u_star = torch.linspace(-3, 3, 7)
    assert torch.equal(old.gate(u_star, "reset"), old.dynamics.reset_g(u_star, *old.knob_values))
    old.normalise_reset()
    checkpoint.save(old, tmp_path / "new.safetensors", half=True)
    new = checkpoint.load(tmp_path / "new.safetensors")
    with torch.inference_mode():
        torch.testing.assert_close(new.dynamics.reset_g(u_star, *new.knob_values), new.gate(u_star, "settled"))
        torch.testing.assert_close(new.gate(u_star, "reset"), old.gate(u_star, "reset"))  # the paper's, in any file
        new.knobs.omega_n = 0.2
        assert (new.dynamics.reset_g(u_star, *new.knob_values) - 0.5).abs().max() < 0.4  # turned down, it shrinks


@pytest.mark.parametrize(
    "found", ["1", '"normalised"', '{"form": "other", "kappa": 0.1}', '{"form": "normalised", "kappa": 0}']
)
def test_an_unknown_form_of_reset_mode_is_refused(saved: Path, found: str) -> None:
    header = checkpoint.read_header(saved)
    save_file(load_file(saved), saved, {"knob": json.dumps({**header, "reset": json.loads(found)})})
    with pytest.raises(ValueError, match=r"has reset .*, expected the form 'normalised'"):
        checkpoint.load(saved)


def test_what_the_static_branch_reads_comes_back(saved: Path, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = models.build("knob-ode", width=4, static_reads="stages").eval()
    checkpoint.save(model, tmp_path / "m.safetensors")
    loaded = checkpoint.load(tmp_path / "m.safetensors")
    images = torch.rand(2, 3, 32, 32)
    assert loaded.reads_stages and torch.equal(loaded(images).z_static, model(images).z_static)
    assert not checkpoint.load(saved).reads_stages
    header = checkpoint.read_header(saved)
    save_file(load_file(saved), saved, {"knob": json.dumps({**header, "static_reads": "pixels"})})
    with pytest.raises(ValueError, match="names no model of ours"):
        checkpoint.load(saved)


def test_the_file_is_what_safetensors_itself_would_write(saved: Path, tmp_path: Path) -> None:
    with safe_open(saved, "pt") as file:
        metadata = file.metadata()
    save_file(load_file(saved), tmp_path / "same", metadata)
    assert (tmp_path / "same").read_bytes() == saved.read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="limits are POSIX")
def test_a_checkpoint_that_does_not_fit_names_its_file(tmp_path: Path) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match=r"larger than the system allows: .*x\.safetensors could not be written"):
            checkpoint.save(models.build("static", width=8), tmp_path / "x.safetensors")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("header", "classes", "named"),
    [({"data": "CIFAR-10"}, 10, True), ({"data": "CIFAR-10"}, 7, False), ({"seed": 3}, 10, False),
     ({"data": ["CIFAR-10"]}, 10, False)],
)  # fmt: skip
def test_classes_have_names_where_the_trainer_says_what_it_trained_on(
    tmp_path: Path, header: dict[str, object], classes: int, named: bool
) -> None:
    checkpoint.save(models.build("knob-ode", width=4, num_classes=classes), tmp_path / "m.safetensors", header)
    assert checkpoint.load(tmp_path / "m.safetensors").classes == (CLASSES if named else None)


def flip_a_bit(path: Path, place: float) -> None:
    """Of the tensors' bytes, at this part of them."""
    content = bytearray(path.read_bytes())
    begin = 8 + int.from_bytes(content[:8], "little")
    content[begin + int(place * (len(content) - begin))] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("place", [0.0, 0.3, 0.999])
def test_one_changed_bit_of_the_tensors_is_refused(saved: Path, place: float) -> None:
    flip_a_bit(saved, place)
    with pytest.raises(ValueError, match=r"model\.safetensors is damaged: the SHA-256 of its tensors"):
        checkpoint.load(saved)


def test_a_file_from_before_the_digest_is_read(saved: Path) -> None:
    header = checkpoint.read_header(saved)
    del header[checkpoint.DIGEST]
    save_file(load_file(saved), saved, {"knob": json.dumps(header)})
    assert checkpoint.load(saved).method == "knob-ode"


def test_the_digest_is_of_names_kinds_shapes_and_bytes() -> None:
    tensors = {"a": torch.arange(6.0), "b": torch.tensor(True)}
    found = checkpoint.digest(tensors)
    assert checkpoint.digest(dict(reversed(tensors.items()))) == found
    others = [
        {"c": tensors["a"], "b": tensors["b"]},
        {**tensors, "a": torch.arange(6.0).reshape(2, 3)},
        {**tensors, "a": torch.arange(6.0).view(torch.int32)},
        {**tensors, "b": torch.tensor(False)},
    ]
    assert len({found, *map(checkpoint.digest, others)}) == 5


@pytest.mark.parametrize(
    "path", sorted((assets.ASSETS / assets.CHECKPOINTS).glob("*.safetensors")), ids=lambda p: p.stem
)
def test_every_shipped_model_tells_its_digest(path: Path) -> None:
    assert checkpoint.read_header(path)[checkpoint.DIGEST] == checkpoint.digest(load_file(path))


@pytest.mark.parametrize(
    ("entry", "text", "told"),
    [
        ("width", "4.9", "width is 4.9, expected a whole number"),
        ("width", "true", "width is True, expected a whole number"),
        ("num_classes", "10.0", "num_classes is 10.0, expected a whole number"),
        ("num_classes", '"10"', "num_classes is '10', expected a whole number"),
        ("width", "4" * 2000, "width is 444444"),
        ("width", "4" * 5000, "not JSON"),
        ("reset", f'"{"x" * 5000}"', "has reset 'xxxx"),
    ],
)
def test_numbers_of_the_header_are_whole_and_refusals_short(saved: Path, entry: str, text: str, told: str) -> None:
    header = json.dumps({**checkpoint.read_header(saved), entry: "?"}).replace('"?"', text)
    save_file(load_file(saved), saved, {"knob": header})
    with pytest.raises(ValueError, match=told) as caught:
        checkpoint.load(saved)
    assert len(str(caught.value)) < 300 + len(str(saved))
