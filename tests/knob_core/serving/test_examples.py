"""The guide's examples against a running service, the Grafana dashboard against its metrics, `knob serve` by itself."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from serve_guide import DOCS, Camera, example, pictures
from services import Process, running

from knob_core import checkpoint, wrap
from knob_core import models as knob_models
from knob_core.client import Lost, Service, ServiceError, Stream
from knob_core.data import CLASSES
from knob_core.runtime import KnobStream
from knob_core.serving import assembly, models, serve_command
from knob_core.serving.engine import Engine, Limits


def test_a_camera_a_folder_and_an_operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "frames").mkdir()
    for k in range(7):
        file = io.BytesIO()
        Image.fromarray(np.full((20, 30, 3), (250, 20 * k, 10), np.uint8)).save(file, "JPEG")
        (tmp_path / "frames" / f"{k}.jpg").write_bytes(file.getvalue())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "cv2", types.SimpleNamespace(VideoCapture=Camera))  # type: ignore[arg-type]
    with running(pictures()) as service:
        for word in ("VideoCapture", "glob"):
            exec(example("py", word, service.url), {})
        (info,) = Service(service.url).streams()
        assert (info["stream"], info["group"], info["frames"]) == ("front-door", "doors", 5)
        names: dict[str, Any] = {}
        exec(example("py", "revert", service.url), names)
        assert [line["scope"] for line in names["service"].knob_log()] == [
            "all", "group doors", "stream front-door", "revert 1",
        ]  # fmt: skip


def test_the_dashboard_asks_for_metrics_that_there_are() -> None:
    with running() as service:
        Service(service.url).step_many([{"stream": "a", "logits": [0.0, 1.0]}])
        text = Service(service.url).request("GET", "/metrics", raw=True).decode()
    known = set(re.findall(r"^(knob_\w+)", text, re.MULTILINE))
    panels = json.loads((DOCS / "serve-grafana.json").read_text())["panels"]
    asked = {name for p in panels for target in p["targets"] for name in re.findall(r"knob_\w+", target["expr"])}
    assert len(asked) > 15 and asked <= known


@pytest.mark.slow
def test_the_two_commands(tmp_path: Path) -> None:
    service = Process("knob-ode-s0", "--threads", "1")
    try:
        cameras = [sys.executable, "-m", "knob_core.serving.demo_cameras", "--url", service.url, "--streams", "2"]
        done = subprocess.run(
            [*cameras, "--frames", "6", "--rate", "4"], capture_output=True, text=True, check=False, cwd=DOCS.parent
        )
        assert done.returncode == 0, done.stderr
        assert [info["stream"] for info in Service(service.url).streams()] == ["camera-0", "camera-1"]
        assert service.stop() == 0
    finally:
        service.kill()


@pytest.mark.parametrize("what", ["logits", "logits:3", "logits:12"])
def test_any_number_of_logits_is_warmed_up(what: str) -> None:
    """The first batch is made before the first client comes, with as many numbers as the service takes."""
    model = models.load(what)
    engine = Engine(model.source, limits=Limits(), name=model.name)
    assembly.warm_up(engine)
    assert not engine.streams and engine.stepper.backbone.num_classes == (int(what[7:]) if ":" in what else None)


def test_any_other_address_needs_tokens(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KNOB_SERVE_TOKENS", raising=False)
    assert serve_command.main(["logits", "--host", "0.0.0.0"]) == 2
    assert "tokens are needed" in capsys.readouterr().err
    monkeypatch.setenv("KNOB_SERVE_TOKENS", "operator olga short")
    assert serve_command.main(["logits"]) == 2
    assert "expected 16 or more" in capsys.readouterr().err


def certificate(folder: Path) -> tuple[Path, Path]:
    """(certificate, key) for 127.0.0.1."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs the program openssl, which makes a certificate")
    cert, key = folder / "cert.pem", folder / "key.pem"
    made = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    extra = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)]
    subprocess.run([*made, *extra], check=True, capture_output=True)
    return cert, key


def test_files_of_tls_are_looked_at_before_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each refusal is one line with the option and the file."""
    monkeypatch.setattr(assembly, "engine_of", lambda given: pytest.fail("the model was loaded"))
    cert, key = map(str, certificate(tmp_path))
    (tmp_path / "other").mkdir()
    other = str(certificate(tmp_path / "other")[1])
    bad, both, nowhere = (str(tmp_path / name) for name in ("bad.pem", "both.pem", "nowhere.pem"))
    Path(bad).write_text("-----BEGIN CERTIFICATE-----\nhello\n-----END CERTIFICATE-----\n")
    Path(both).write_text(Path(cert).read_text() + Path(key).read_text())
    refused = {
        (None, key): f"--tls-key is {key}, expected --tls-cert with it",
        (nowhere, key): f"--tls-cert is {nowhere} and --tls-key {key}, expected",
        (cert, nowhere): f"--tls-cert is {cert} and --tls-key {nowhere}, expected",
        (bad, key): f"--tls-cert is {bad} and --tls-key {key}, expected",
        (cert, other): f"--tls-cert is {cert} and --tls-key {other}, expected a certificate and its key",
        (cert, None): f"--tls-cert is {cert} and --tls-key {cert}, expected",
    }
    for (a, b), words in refused.items():
        given = [*(["--tls-cert", a] if a else []), *(["--tls-key", b] if b else [])]
        assert serve_command.main(["logits:5", "--port", "0", *given]) == 2
        assert capsys.readouterr().err.startswith(f"knob serve: {words}")
    assembly.require_tls(cert, key)
    assembly.require_tls(both, None)


@pytest.mark.slow
def test_tls_by_flag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """https and wss with a certificate of one's own; a client that does not know it refuses, and so does plain HTTP."""
    cert, key = certificate(tmp_path)
    service = Process("logits", "--tls-cert", str(cert), "--tls-key", str(key))
    try:
        assert service.url.startswith("https://")
        with pytest.raises(ServiceError, match="certificate verify failed"):
            Service(service.url).about()
        with pytest.raises(Lost, match="certificate verify failed"):
            Stream(service.url, "a", give_up=0.1).step(np.zeros(3))
        with pytest.raises(ServiceError):
            Service(service.url.replace("https", "http")).about()
        monkeypatch.setenv("SSL_CERT_FILE", str(cert))
        with Stream(service.url, "a") as stream:
            assert [stream.step(np.zeros(3))["frame"] for _ in range(3)] == [1, 2, 3]
        assert Service(service.url).turn(zeta=1.25)["all"]["zeta"] == 1.25
    finally:
        service.kill()


def mean_of_pixels(file: Path, classes: int) -> Path:
    """An ONNX file of a stranger's classifier."""
    onnx = pytest.importorskip("onnx", reason="needs onnx: pip install -e '.[export]'")
    pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install -e '.[export]'")
    mean = onnx.helper.make_node("ReduceMean", ["pixels"], ["mean"], axes=[2, 3], keepdims=0)
    to_size = onnx.helper.make_node("Tile", ["mean", "times"], ["many"])
    cut = onnx.helper.make_node("Slice", ["many", "from", "to", "axis"], ["logits"])
    number = lambda name, *values: onnx.numpy_helper.from_array(np.array(values, np.int64), name)  # noqa: E731
    constants = [number("times", 1, classes), number("from", 0), number("to", classes), number("axis", 1)]
    real = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [mean, to_size, cut], "mean", [onnx.helper.make_tensor_value_info("pixels", real, ["n", 3, 8, 8])],
        [onnx.helper.make_tensor_value_info("logits", real, ["n", classes])],
        constants,
    )  # fmt: skip
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8), file)
    return file


def test_an_onnx_file_of_any_classifier_is_served(tmp_path: Path) -> None:
    """One input of pixels in [0, 1], one output of logits: pictures in, answers out as of its own `KnobStream`."""
    model = models.load(str(mean_of_pixels(tmp_path / "mean.onnx", 3)))
    assert model.name == "mean" and model.source.num_classes == 3
    rng, reference = np.random.default_rng(0), KnobStream(wrap.classifier())
    engine = Engine(model.source, limits=Limits(), name=model.name)
    with running(engine) as service, Stream(service.url, "a", probabilities=True) as stream:
        for _ in range(4):
            picture = rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)
            wanted = reference.step((picture.astype(np.float32) / 255).mean((0, 1)).astype(np.float64))
            assert np.allclose(stream.step(picture)["probabilities"], wanted.probabilities, rtol=0, atol=1e-6)
        assert stream.step(rng.integers(0, 256, (40, 30, 3), dtype=np.uint8))["frame"] == 5  # shrunk to its size


@pytest.mark.parametrize(
    ("what", "words"),
    [("nothing.here:f", "can be imported"), ("logits:1", "K with 2 classes"), ("absent.onnx", "is not a file"),
     ("absent", "missing")],
)  # fmt: skip
def test_a_model_that_is_none_is_named(what: str, words: str) -> None:
    if what.endswith(".onnx"):
        pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install -e '.[export]'")
    with pytest.raises((ValueError, FileNotFoundError), match=words):
        models.load(what)


def test_ten_classes_have_names_only_where_they_are_known(tmp_path: Path) -> None:
    """Ten classes may be anybody's: a reader of digits said airplane."""
    checkpoint.save(knob_models.build("knob-ode", width=4), tmp_path / "own.safetensors", {"seed": 0})
    assert models.load(str(tmp_path / "own.safetensors"), "cpu").classes is None
    assert models.load("knob-ode-s0", "cpu").classes == CLASSES
    assert models.load(str(mean_of_pixels(tmp_path / "digits.onnx", 10))).classes is None
