"""Training that survives: kills, interrupts, changed recipes, divergence, and several processes."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tiny_run
import torch
from safetensors.torch import load_file, save_file

from knob_core import checkpoint, folder_lock, models
from knob_core.methods import GATED
from train import commands, fit
from train.training import loop, saved_state
from train.training.recipes import Recipe

State = dict[str, torch.Tensor]


def equal(a: State, b: State) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def in_a_child(work: Callable[[], object]) -> int:
    """Start `work` in a forked process; gives its id."""
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
    except KeyboardInterrupt:
        os._exit(130)
    except BaseException:
        os._exit(1)
    os._exit(0)


def slowly(folder: Path) -> None:
    """The run with a pause in every step, so that a fast machine does not end before it is interrupted.

    A file `begun` says that the first step is being made.
    """
    real = loop._one_step

    def step(*arguments: Any) -> Any:
        (folder / "begun").touch()
        time.sleep(0.05)
        return real(*arguments)

    vars(loop)["_one_step"] = step
    tiny_run.run(folder, "knob-ode", tiny_run.WARM_TINY)


@pytest.fixture(scope="module")
def uncut(tmp_path_factory: pytest.TempPathFactory) -> State:
    return tiny_run.run(tmp_path_factory.mktemp("uncut"), "knob-ode", tiny_run.WARM_TINY)


def test_a_run_ends_with_a_checkpoint_and_a_history(tmp_path: Path) -> None:
    state = tiny_run.run(tmp_path, "knob-ode", tiny_run.WARM_TINY, seed=1)
    folder = tmp_path / "pocket" / "knob-ode-s1"
    loaded = checkpoint.load(folder / "final.safetensors")
    assert equal(loaded.state_dict(), state)
    assert checkpoint.read_header(folder / "final.safetensors")["seed"] == 1
    rows = list(csv.DictReader((folder / "history.csv").open()))
    assert [float(row["epoch"]) for row in rows] == [0, 1, 2]
    assert {"loss", "auc_oa_all", "auc_gca_all", "polarisation", "zeta", "omega_n", "clean_accuracy"} <= rows[-1].keys()
    assert loaded.knobs.zeta != pytest.approx(0.7, abs=1e-6)  # streams moved the knobs


@pytest.mark.slow
def test_all_methods_of_a_seed_share_one_encoder(tmp_path: Path) -> None:
    states = [tiny_run.run(tmp_path, method, tiny_run.WARM_TINY) for method in ("static", "knob-ia")]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0] if name.startswith("encoder."))


@pytest.mark.slow
def test_the_smoothed_rival_is_static_with_other_labels_on_a_given_encoder(tmp_path: Path) -> None:
    tiny_run.run(tmp_path, "static", tiny_run.WARM_TINY)
    given = tmp_path / "pocket" / "static-s0" / "final.safetensors"
    place = replace(tiny_run.place(tmp_path / "other"), encoder=given)
    heads = [fit.fit(method, tiny_run.WARM_TINY, 0, place).state_dict() for method in ("static", "static-smoothed")]
    whole = load_file(given)
    assert all(
        torch.equal(state[name], whole[name]) for state in heads for name in whole if name.startswith("encoder.")
    )
    assert all(torch.equal(heads[0][name], whole[name]) for name in whole)  # the same labels: the same fit
    assert not torch.equal(heads[1]["static_head.out.weight"], heads[0]["static_head.out.weight"])
    header = checkpoint.read_header(tmp_path / "other" / "pocket" / "static-smoothed-s0" / "final.safetensors")
    assert (header["method"], header["variant"]) == ("static", "smoothed")
    assert not (tmp_path / "other" / "pocket" / "warm-s0").exists()


@pytest.mark.slow
def test_three_gates_three_fits_and_reset_mode_at_the_trained_knobs(tmp_path: Path) -> None:
    recipe = replace(tiny_run.WARM_TINY, streams_teach="command", reset_form="normalised")
    states = [tiny_run.run(tmp_path, method, recipe) for method in GATED]
    commands = [state["command.net.0.weight"] for state in states]
    assert not torch.equal(commands[0], commands[1]) and not torch.equal(commands[1], commands[2])
    u_star = torch.linspace(-2, 2, 5)
    for method in GATED:
        model = checkpoint.load(tmp_path / "pocket" / f"{method}-s0" / "final.safetensors")
        with torch.inference_mode():
            torch.testing.assert_close(model.dynamics.reset_g(u_star, *model.knob_values), torch.sigmoid(u_star))
        assert (model.reset_reference is None) is (method == "knob-ia")


@pytest.mark.slow
def test_kill_9_anywhere_changes_no_bit(tmp_path: Path, uncut: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "SAVE_SECONDS", 0.05)  # states within epochs too
    rng, kills = random.Random(0), 0
    while kills < 12:  # a fast machine may end a run before that: then another one is begun
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        while True:
            pid = in_a_child(lambda: slowly(folder))  # noqa: B023 (called at once)
            if kills < 12:
                time.sleep(rng.uniform(0.05, 0.6))
                os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
            if not os.WIFSIGNALED(status):
                break
            kills += 1
        assert os.waitstatus_to_exitcode(status) == 0
        assert equal(load_file(folder / "pocket" / "knob-ode-s0" / "final.safetensors"), uncut)


@pytest.mark.slow
def test_ctrl_c_saves_and_goes_on(tmp_path: Path, uncut: State) -> None:
    state = tmp_path / "pocket" / "warm-s0" / "state.safetensors"
    pid = in_a_child(lambda: slowly(tmp_path))
    while not (tmp_path / "begun").exists():  # a busy machine takes long to come so far
        time.sleep(0.01)
    os.kill(pid, signal.SIGINT)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 130
    assert state.exists()
    assert equal(tiny_run.run(tmp_path, "knob-ode", tiny_run.WARM_TINY), uncut)


@pytest.mark.slow
def test_a_changed_recipe_is_refused_with_the_difference(tmp_path: Path) -> None:
    recipe = tiny_run.END_TO_END_TINY
    tiny_run.run(tmp_path, "knob-ia", recipe)
    with pytest.raises(ValueError, match=r"recipe\.method\.lr: 0\.0003 in the checkpoint, 0\.1 now"):
        tiny_run.run(tmp_path, "knob-ia", replace(recipe, method=replace(recipe.method, lr=0.1)))


@pytest.mark.slow
def test_a_damaged_state_is_refused(tmp_path: Path) -> None:
    recipe = tiny_run.END_TO_END_TINY
    tiny_run.run(tmp_path, "static", recipe)
    path = tmp_path / "paper" / "static-s0" / "state.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match="not a whole training state"):
        tiny_run.run(tmp_path, "static", recipe)


@pytest.mark.slow
def test_a_state_beyond_the_end_of_its_stage_is_refused(tmp_path: Path) -> None:
    recipe = tiny_run.END_TO_END_TINY
    tiny_run.run(tmp_path, "static", recipe)
    path = tmp_path / "paper" / "static-s0" / "state.safetensors"
    tensors, header = saved_state.read(path)
    for place in ({"epoch": 99}, {"step": 5}):
        save_file(tensors, path, {"header": json.dumps({**header, **place})})
        with pytest.raises(
            ValueError, match=r"not a whole training state \(epoch \d+, step \d, expected at most 2 and"
        ):
            tiny_run.run(tmp_path, "static", recipe)


@pytest.mark.slow
def test_divergence_stops_and_keeps_the_last_good_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = tiny_run.END_TO_END_TINY
    real = loop._one_step

    def poisoned(run: loop.Run, *arguments: object) -> torch.Tensor:
        epoch, step = arguments[-2:]
        result = real(run, *arguments)  # type: ignore[arg-type]
        if (epoch, step) == (1, 2):
            with torch.no_grad():
                next(run.model.parameters()).fill_(float("nan"))
        return result

    monkeypatch.setattr(loop, "_one_step", poisoned)
    with pytest.raises(loop.Diverged, match=r"no longer a number in epoch 2.*last good state is kept"):
        tiny_run.run(tmp_path, "static", recipe)
    tensors, header = saved_state.read(tmp_path / "paper" / "static-s0" / "state.safetensors")
    assert header["epoch"] == 1
    assert all(torch.isfinite(value).all() for value in tensors.values())


@pytest.mark.slow
def test_two_processes_equal_one(tmp_path: Path) -> None:
    script = Path(tiny_run.__file__)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(script.parents[2])}
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    losses = {}
    for name, launcher in {"one": [], "two": torchrun}.items():
        command = [sys.executable, *launcher, script, tmp_path / name, "knob-ode"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        files = [tmp_path / name / "pocket" / stage / "history.csv" for stage in ("warm-s0", "knob-ode-s0")]
        losses[name] = [float(row["loss"]) for file in files for row in list(csv.DictReader(file.open()))[1:]]
    assert len(losses["one"]) == 4
    assert losses["two"] == pytest.approx(losses["one"], rel=1e-9)


def test_the_command_names_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fit.main(["--method", "static", "--data", str(tmp_path)]) == 1
    assert str(tmp_path) in capsys.readouterr().err
    assert fit.main(["--method", "static", "--set", "depth=3"]) == 2
    assert "depth: no such entry; known: name, width" in capsys.readouterr().err
    assert fit.main(["--method", "static", "--set", "method.epochs=many"]) == 2
    assert "wants int, got 'many'" in capsys.readouterr().err


def test_the_curriculum_climbs_as_the_paper_says() -> None:
    tops = [loop.top_severity(fit.RECIPES["paper"], 1, epoch) for epoch in (0, 29, 30, 59, 60, 99)]
    assert tops == [2, 2, 3, 3, 5, 5]
    tops = [loop.top_severity(fit.RECIPES["pocket"], 0, epoch) for epoch in (0, 5, 6, 11, 12, 19)]
    assert tops == [2, 2, 3, 3, 5, 5]
    assert loop.top_severity(fit.RECIPES["pocket"], 1, 0) == 5


def test_two_processes_do_not_train_one_run(tmp_path: Path) -> None:
    """The second one is told who is at work, and the first one ends as if it had been alone."""
    pid = in_a_child(lambda: slowly(tmp_path))
    folder = tmp_path / "pocket" / "knob-ode-s0"
    try:
        while not (folder / "state.safetensors").exists():
            time.sleep(0.05)
        os.kill(pid, signal.SIGSTOP)  # at work for as long as the second one needs to find out
        with pytest.raises(OSError, match=f"process {pid} trains in .*knob-ode-s0; wait for it"):
            tiny_run.run(tmp_path, "knob-ode", tiny_run.WARM_TINY)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    tiny_run.run(tmp_path, "knob-ode", tiny_run.WARM_TINY)  # a killed one leaves no lock behind


def test_what_a_killed_process_left_half_written_goes_with_the_next_lock(tmp_path: Path) -> None:
    for name in (".state-0123456789ab.part", ".final-0123456789ab.part", "state.safetensors"):
        (tmp_path / name).touch()
    with folder_lock.locked(tmp_path, "trains in", "--runs"):
        assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "state.safetensors"]


@pytest.mark.skipif(os.name != "posix", reason="limits are POSIX")
def test_a_full_disk_names_the_lock(tmp_path: Path) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        with (
            pytest.raises(OSError, match=rf"too large: '{tmp_path / '.lock'}'"),
            folder_lock.locked(tmp_path, "trains in", "--runs"),
        ):
            pass
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_second_process_waits_for_the_encoder(tmp_path: Path) -> None:
    with folder_lock.locked(tmp_path, "trains in", "--runs"):
        pid = in_a_child(lambda: folder_lock.locked(tmp_path, "trains in", "--runs", wait=True).__enter__())
        time.sleep(0.2)
        assert os.waitpid(pid, os.WNOHANG) == (0, 0)
    assert os.waitpid(pid, 0)[1] == 0


def test_held_out_pictures_are_not_trained_on(tmp_path: Path) -> None:
    place = tiny_run.place(tmp_path)
    (training, _), (held, _) = place.split(replace(tiny_run.WARM_TINY, limit=160, validation=40))
    assert len(training) == 160 and len(held) == 40
    with pytest.raises(ValueError, match="validation is 200, expected fewer than the 200 images there are"):
        place.split(replace(tiny_run.WARM_TINY, validation=200))
    with pytest.raises(ValueError, match="limit is 200, expected at most 160, since 40 of 200 are held out"):
        place.split(replace(tiny_run.WARM_TINY, limit=200, validation=40))


def test_a_recipe_that_nothing_can_be_trained_with_is_a_wrong_argument(capsys: pytest.CaptureFixture[str]) -> None:
    assert fit.main(["--method", "static", "--set", "batch=7"]) == 2
    assert capsys.readouterr().err == "train.fit: batch is 7, expected a multiple of chunk, which is 64\n"


def test_an_encoder_of_another_width_is_refused_with_both_widths(tmp_path: Path) -> None:
    given = tmp_path / "wide.safetensors"
    checkpoint.save(models.build("static", width=12), given, {"seed": 0})
    with pytest.raises(commands.WrongArgument, match=r"wide.safetensors has an encoder of width 12, expected 8"):
        fit.fit("static", tiny_run.WARM_TINY, 0, replace(tiny_run.place(tmp_path), encoder=given))


@pytest.mark.parametrize(
    "recipe", [tiny_run.WARM_TINY, replace(tiny_run.WARM_TINY, name="robust-80", continues="robust")]
)
def test_an_encoder_that_was_trained_on_held_out_pictures_is_refused(tmp_path: Path, recipe: Recipe) -> None:
    earlier = tmp_path / "robust" / "static-s0" / "final.safetensors"
    checkpoint.save(models.build("static", width=8), earlier, {"seed": 0, "recipe": {"validation": 8}})
    place = replace(tiny_run.place(tmp_path), encoder=None if recipe.continues else earlier)
    with pytest.raises(
        commands.WrongArgument, match=f"validation is 40, expected at most 8: {earlier} held out the last 8"
    ):
        fit.fit("static", recipe, 0, place)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [earlier.name]


def test_divergence_before_the_first_state_speaks_of_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "_one_step", lambda *arguments: torch.full((3,), float("nan"), dtype=torch.float64))
    with pytest.raises(loop.Diverged, match=r"epoch 1.*; nothing was saved yet\."):
        tiny_run.run(tmp_path, "static", tiny_run.END_TO_END_TINY)


def test_training_goes_on_where_nothing_reads_its_lines(tmp_path: Path) -> None:
    code = (
        "import sys; from train.training.progress_bar import Progress; progress = Progress('a run', 2, 1, 1)\n"
        "for epoch in range(2): progress.start_epoch(epoch, 0); progress.end_epoch({'loss': 1.0})\n"
        "print('done', file=sys.stderr)"
    )
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-c", code], stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "done\n")
