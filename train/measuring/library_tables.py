"""The stream tables, the trade-off and probe E-3 of the library's streams, as result files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from knob_core.library import result_tables
from knob_core.methods import DEFAULT, GATED, METHODS
from knob_core.settings import Settings
from train.measuring import dynamics_tables, stream_images, stream_tables
from train.measuring.branch_outputs import Member
from train.measuring.library_branches import CLAIMED, SHIPPED_SEED, TRADE_OFF, LibraryBranches


def trained_settings(members: dict[str, Member]) -> dict[str, Settings]:
    """What each method with knobs learnt, without plain memory."""
    found = {}
    for method in (method for method in METHODS if method in members and METHODS[method].gate.knobs):
        knobs: Any = members[method].model.knobs
        found[method] = Settings(knobs.zeta, knobs.omega_n, memory="off")
    return found


def write(made: LibraryBranches, out: Path) -> None:
    """Stream measures, the trade-off, and probe E-3."""
    rows: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("streams", "trade_off", "e3_stream_bode", "e3_step", "e3_step_info")
    }
    for seed, members in made.by_seed().items():
        trained = trained_settings(members)
        for corruption in stream_images.CORRUPTIONS:
            for schedule in stream_images.LIBRARY_SCHEDULES:
                unit = stream_images.unit(corruption, schedule)
                if seed != SHIPPED_SEED and unit not in CLAIMED:
                    continue
                by_method = {
                    method: made.branches(member, made.library, made.claims_cache, unit)
                    for method, member in members.items()
                }
                context = {"seed": seed, "corruption": corruption, "schedule": schedule}
                rows["streams"] += stream_tables.table(by_method, trained, context)
                if unit in TRADE_OFF:
                    rows["trade_off"] += stream_tables.trade_off(by_method, context)
        _probe(made, seed, members, rows)
    for name, found in rows.items():
        result_tables.write(found, out / f"{name}.csv")
    result_tables.write(dynamics_tables.gate_bode(), out / "e3_gate_bode.csv")


def _probe(made: LibraryBranches, seed: int, members: dict[str, Member], rows: dict[str, list[dict[str, Any]]]) -> None:
    settings = {method: stream_tables.unturned(method) for method in reversed(GATED) if method in members}
    units = [unit for unit in made.probe.streams if unit != "step"]
    for method, setting in settings.items():
        tones = {unit: made.branches(members[method], made.probe, made.probe_cache, unit) for unit in units}
        step = made.branches(members[method], made.probe, made.probe_cache, "step")
        rows["e3_stream_bode"] += dynamics_tables.stream_bode(tones, method, setting, {"seed": seed})
        rows["e3_step"] += dynamics_tables.step_curves(step, method, setting, {"seed": seed})
        if method == DEFAULT:
            for zeta, omega_n in dynamics_tables.STEP_SETTINGS:
                turned = Settings(zeta, omega_n, memory="off")
                rows["e3_step_info"] += dynamics_tables.step_info(step, turned, {"seed": seed})
