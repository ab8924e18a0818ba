"""Curves of training: one tidy table of every run, and nothing else that lies about."""

from __future__ import annotations

from pathlib import Path

from train.training import histories


def test_runs_become_one_table(tmp_path: Path) -> None:
    for name, text in {
        "pocket/knob-ode-s0": "epoch,auc_oa_all,zeta\n0,0.5,0.7\n1,0.6,0.8\n",
        "pocket/static-s12": "epoch,loss\n1,0.3\n",
        "pocket/warm-s0": "epoch,loss\n1,0.9\n",
        "pocket/notes": "a,b\n1,2\n",
        "evaluation/x": "epoch\n1\n",
    }.items():
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "history.csv").write_text(text)
    frame = histories.gather(tmp_path)
    assert frame is not None
    assert frame[["recipe", "method", "seed", "epoch"]].to_numpy().tolist() == [
        ["pocket", "knob-ode", 0, 0],
        ["pocket", "knob-ode", 0, 1],
        ["pocket", "static", 12, 1],
        ["pocket", "warm", 0, 1],
    ]
    assert frame["zeta"].tolist()[:2] == [0.7, 0.8]


def test_no_runs_no_table(tmp_path: Path) -> None:
    assert histories.gather(tmp_path) is None
