"""Exported files say what the model says, with every knob still free."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch

from knob_core import checkpoint, models
from knob_core.data import CLASSES
from knob_core.memories import KINDS, UNFITTED, Attentive
from knob_core.runtime import KnobStream
from knob_core.serving.onnx_source import OnnxSource
from knob_core.settings import HOME, Settings
from train import export

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]  # one export takes ten seconds
WEIGHTS = Attentive(
    a=0.3, b=2.0, d=0.5, tau=0.9, eps=0.01, t_0=0.1, f=0.3, o=tuple(np.linspace(-0.3, 0.3, 10)), s=(0.4, -0.2) * 5
)


def pictures(count: int = 64) -> torch.Tensor:
    """Grey noise of every strength."""
    return (0.5 + torch.rand(count, 1, 1, 1) * torch.randn(count, 3, 32, 32)).clamp(0, 1)


def make(method: str) -> models.GatedClassifier:
    """A model whose branches differ and whose command moves, as a trained one's do."""
    torch.manual_seed(3)
    model = models.build(method, 8)
    with torch.no_grad():
        for head in (model.static_head, model.dyn_head):
            head.out.weight.mul_(10)
        if hasattr(model, "command"):
            model.command.net[-1].weight.mul_(5)
        for _ in range(20):
            model.train()(pictures())  # sets the normalisation's statistics
    model.attentive = WEIGHTS
    return model.eval()


def test_the_model_of_these_tests_moves():
    z_static, z_dyn, u_star = make("knob-ode")(pictures())
    assert u_star.std() > 0.3 and u_star.abs().max() > 1 and (z_static - z_dyn).abs().mean() > 1


def eager(model: models.GatedClassifier, settings: Settings = HOME):
    frame = export.Frame(model, settings)

    def call(inputs):
        with torch.inference_mode():
            outputs = frame(*(torch.from_numpy(np.asarray(inputs[name])) for name in export.INPUTS))
        return dict(zip(export.OUTPUTS, (x.numpy() for x in outputs), strict=True))

    return call


@pytest.mark.parametrize("method", models.METHODS)
def test_the_frame_function_is_the_runtime(method):
    model = make(method)
    assert export.largest_difference(model, eager(model), frames=60) <= 5e-6


@pytest.mark.parametrize("kind", KINDS)
def test_all_that_the_frame_function_says_is_what_the_runtime_says(kind):
    """Not only the probabilities: the gate, its latent, T_eff and CSR, with one kind of memory all the time."""
    model, rng = make("knob-ode"), np.random.default_rng(1)
    call, stream = eager(model), KnobStream(model, device="cpu", zeta=0.7, omega_n=0.3)
    stream.memory = kind
    state = export.first_state(2, model.num_classes, model.dynamics)
    shared = {"zeta": np.float32(0.7), "omega_n": np.float32(0.3), "dt": np.float32(1.0)}
    for _ in range(20):
        images = export._patches(2, 32, rng).astype(np.float32)
        outputs = call({"images": images, **shared, "memory_kind": np.int32(export.KINDS.index(kind)), **state})
        state = {name: outputs[f"{name}_next"] for name in state}
        wanted = stream.step(images)
        for name in ("probabilities", "g", "u", "csr"):
            np.testing.assert_allclose(outputs[name], getattr(wanted, name), atol=1e-5, err_msg=name)
        clear = wanted.t_eff < 50  # T_eff is a ratio with a margin near 0 below it
        assert clear.any()
        np.testing.assert_allclose(outputs["t_eff"][clear], wanted.t_eff[clear], rtol=1e-3)


def test_a_setting_s_temperature_and_weights_are_constants_of_the_file():
    model = make("knob-ode")
    setting = Settings(temperature=2.5, weights=Attentive(a=0.9, b=1.0))
    about = export.about(model, setting)
    assert about["temperature"] == 2.5 and Attentive.from_dict(about["attentive"]) == setting.weights
    call = eager(model, setting)
    assert export.largest_difference(model, call, settings=setting) <= 5e-6
    assert export.largest_difference(model, call) > export.TOLERANCE  # without them it is another answer


def test_a_model_without_weights_has_the_ones_for_any_classifier():
    model = make("knob-ode")
    model.attentive = None
    assert export.weights_of(model) == UNFITTED
    assert export.largest_difference(model, eager(model)) <= 5e-6


def test_the_difference_sees_a_wrong_knob_and_a_lost_state():
    """The verification can fail: each input that is ignored shows."""
    model = make("knob-ode")
    honest = eager(model)
    for name in ("zeta", "omega_n", "dt", "memory_kind", *export.STATE):
        fixed = {}

        def deaf(inputs, name=name, fixed=fixed):
            return honest({**inputs, name: fixed.setdefault(name, inputs[name])})

        assert export.largest_difference(model, deaf) > export.TOLERANCE, name


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    pytest.importorskip("onnxruntime", reason="ONNX needs the extra: pip install -e '.[export]'")
    pytest.importorskip("onnxscript", reason="ONNX needs the extra: pip install -e '.[export]'")
    folder = tmp_path_factory.mktemp("export")
    checkpoint.save(make("knob-ode"), folder / "model.safetensors", {"data": "CIFAR-10"})
    assert export.main([str(folder / "model.safetensors"), "--out", str(folder)]) == 0
    return folder


def test_only_whole_verified_files_are_left(exported):
    assert sorted(path.name for path in exported.iterdir()) == ["model.onnx", "model.pt2", "model.safetensors"]


def test_a_service_answers_from_the_file_as_from_the_checkpoint(exported):
    """`knob serve model.onnx`: memory, gate and knobs are the service's own, the file gives the branches."""
    pytest.importorskip("prometheus_client", reason="needs the extra: pip install -e '.[serve]'")
    from knob_core.serving import assembly, models
    from knob_core.serving.engine import Engine, Limits
    from knob_core.serving.messages import Frame

    served = models.load(str(exported / "model.onnx"))
    engine = Engine(served.source, limits=Limits(), name=served.name, classes=served.classes)
    assembly.warm_up(engine)
    references = [KnobStream(checkpoint.load(exported / "model.safetensors"), device="cpu") for _ in range(3)]
    rng = np.random.default_rng(0)
    assert engine.knobs.table.base.zeta == references[0].zeta
    for turn in range(6):
        told = []
        frames = rng.integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
        if turn == 3:
            engine.knobs.turn({"zeta": 0.3}, "tester", stream="s1")
            references[1].turn(zeta=0.3)
        for k, frame in enumerate(frames):
            content = engine.stepper.backbone.prepare(frame)
            engine.submit(f"s{k}", Frame("raw", content, probabilities=True), told.append)
        engine.step_waiting()
        for reference, frame, answer in zip(references, frames, told, strict=True):
            wanted = reference.step(frame)
            assert np.abs(np.array(answer["probabilities"]) - wanted.probabilities).max() < 1e-4
            assert answer["label"] == wanted.label and abs(answer["g"] - wanted.g) < 1e-4


@pytest.mark.parametrize("name", export.FORMATS)
def test_files_agree_on_any_number_of_streams(exported, name):
    suffix, _, run = export.FORMATS[name]
    model, call = checkpoint.load(exported / "model.safetensors"), run(exported / f"model{suffix}")
    for streams in (1, 5):
        assert export.largest_difference(model, call, frames=40, streams=streams, seed=streams) <= export.TOLERANCE


def test_the_onnx_file_says_what_it_is(exported):
    onnx = pytest.importorskip("onnx")
    file = onnx.load(exported / "model.onnx")
    onnx.checker.check_model(file)
    assert {entry.domain: entry.version for entry in file.opset_import}[""] == export.OPSET
    about = {entry.key: entry.value for entry in file.metadata_props}
    assert about["method"] == "knob-ode" and float(about["zeta"]) == pytest.approx(0.7)
    assert Attentive.from_dict(json.loads(about["attentive"])) == WEIGHTS
    assert json.loads(about["memory_kinds"]) == ["off", "plain", "attentive"]
    assert [entry.name for entry in file.graph.input] == list(export.INPUTS)
    assert [entry.name for entry in file.graph.output] == list(export.OUTPUTS)


def test_a_file_names_the_classes_where_they_are_known(exported):
    assert "classes" not in export.about(make("knob-ode"))
    assert OnnxSource(exported / "model.onnx").classes == CLASSES


def test_the_torch_file_says_what_it_is(exported):
    texts = {"knob.json": ""}
    torch.export.load(exported / "model.pt2", extra_files=texts)
    about = json.loads(texts["knob.json"])
    assert about["num_classes"] == 10 and Attentive.from_dict(about["attentive"]) == WEIGHTS


def test_a_model_of_another_size_is_exported_at_its_own(tmp_path):
    model = make("knob-ode")
    model.image_size = 36
    export.write_torch(model, tmp_path / "m.pt2")
    assert export.largest_difference(model, export.run_torch(tmp_path / "m.pt2"), frames=8) <= export.TOLERANCE
    assert export.about(model)["image_size"] == 36


def test_a_file_that_disagrees_is_not_kept(tmp_path, monkeypatch, capsys):
    checkpoint.save(make("knob-ia"), tmp_path / "model.safetensors")
    monkeypatch.setattr(export, "largest_difference", lambda *_, **__: 2e-4)
    monkeypatch.setitem(export.FORMATS, "torch", (".pt2", lambda _, path, __: path.write_bytes(b""), lambda _: None))
    assert export.main([str(tmp_path / "model.safetensors"), "--out", str(tmp_path), "--format", "torch"]) == 1
    assert "2.0e-04" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]


def test_a_missing_checkpoint_is_named(tmp_path, capsys):
    assert export.main([str(tmp_path / "none.safetensors")]) == 1
    assert "none.safetensors" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="limits are POSIX")
def test_a_torch_file_that_does_not_fit_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """torch's own writer throws in a destructor there, which ends the process without a word."""
    import resource

    program = torch.export.export(torch.nn.Linear(2, 2), (torch.zeros(1, 2),))
    monkeypatch.setattr(export, "trace", lambda model, settings: program)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match=r"larger than the system allows: .*x\.pt2 could not be written"):
            export.write_torch(models.build("static", 8), tmp_path / "x.pt2")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []
