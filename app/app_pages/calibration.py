"""Calibration: what the knobs do to what the model promises, over all shipped predictions, while they turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import calibration, cells, layout, moving, pictures, results, state
from app.calibration import Fixed, Memory
from app.cells import Looked, Selection
from app.checkpoints import trained_knobs
from app.choice import CORRUPTION_NAMES, CORRUPTIONS
from app.components import deck, sheet
from app.components.ledger import ledger
from app.desk import Desk
from app.line import Seat

LEDGER = "ledger"


def selection() -> Selection:
    """What is looked at: the one chosen, or the link's."""
    if "selection" not in st.session_state:
        chosen, complaints = cells.read(state.beside("cells"))
        state.complaints().extend(complaints)
        st.session_state["selection"] = chosen
    return st.session_state["selection"]


def choose() -> None:
    """The filters were moved."""
    method, seed = st.session_state["cells_model"]
    names = st.session_state["cells_corruptions"] or list(CORRUPTION_NAMES)
    levels = st.session_state["cells_severities"] or list(cells.SEVERITIES)
    ordered = tuple(name for name in CORRUPTION_NAMES if name in names)
    st.session_state["selection"] = Selection(method, seed, ordered, tuple(sorted(levels)))


def filters(models: list[tuple[str, int]]) -> None:
    """Model, corruptions and severities; nothing chosen means all."""
    now = selection()
    all_names, all_levels = now.corruptions == CORRUPTION_NAMES, now.severities == cells.SEVERITIES
    st.session_state["cells_model"] = (now.method, now.seed)
    st.session_state["cells_corruptions"] = [] if all_names else list(now.corruptions)
    st.session_state["cells_severities"] = [] if all_levels else list(now.severities)
    family = {name: kind for kind, names in CORRUPTIONS.items() for name in names}
    left, middle, right = st.columns([1, 2.2, 1.15], gap="small")
    left.selectbox(
        "Model", models, key="cells_model", on_change=choose, format_func=lambda m: f"{m[0]}, seed {m[1]}",
        help="Whose predictions: the training method, and the seed that it was trained with",
    )  # fmt: skip
    middle.multiselect(
        "Corruptions", CORRUPTION_NAMES, key="cells_corruptions", on_change=choose, placeholder="all nineteen",
        format_func=lambda name: f"{name.replace('_', ' ')} ({family[name]})", help="Only these faults; none means all",
    )  # fmt: skip
    right.pills(
        "Severities (none: all)", cells.SEVERITIES, selection_mode="multi", key="cells_severities",
        on_change=choose, help="Only these severities, 1 (slight) to 5 (strong)",
    )  # fmt: skip


@st.cache_resource(max_entries=8, show_spinner="Measuring what could be used instead")
def others(chosen: Selection, _looked: Looked, version: tuple[int, int]) -> Fixed:
    """The rows that no knob changes."""
    return calibration.fixed(chosen, _looked)


def take(desk: Desk, hand: object) -> None:
    """Only the two knobs are on this page: what else the console's deck holds stays as it is."""
    kept = {"pin": desk.pins, "tick": desk.tick, "mode": desk.settings.mode, "memory": desk.settings.memory}
    desk.take({**hand, **kept} if isinstance(hand, dict) else None)


def released() -> None:
    """When the hand lets go, the pictures follow too."""
    hand = state.component_value(LEDGER, "hand")
    if st.session_state.get("picked") and isinstance(hand, dict) and hand.get("done"):
        st.rerun(["calibration", "pictures"])


def picked() -> None:
    """A bin or a cell was picked: the pictures in it come next."""
    st.session_state["picked"] = state.component_value(LEDGER, "pick")
    st.rerun(["calibration", "pictures"])


@st.fragment(key="calibration")
def live(chosen: Selection, looked: Looked, fixed: Fixed) -> None:
    """Everything that moves with the hand; this reruns when a hand lets go, or has no line."""
    desk, seat, scripts = state.desk(), state.seat(LEDGER), st.session_state["calibration_scripts"]
    memory: Memory = st.session_state.setdefault("calibration_memory", Memory())
    pick, trained = st.session_state.get("picked") or "", trained_knobs(chosen.method, chosen.seed)

    def reply(said: Mapping[str, Any], seat: Seat) -> dict[str, Any]:
        with desk.lock:
            if "hand" in said:
                take(desk, said["hand"])
            message = calibration.message(chosen, looked, desk.settings, memory, desk.turn, fixed)
            regime, _ = moving.regime(desk.settings, chosen.method)
            dials = deck.content(
                desk.values(), epoch=desk.epoch, seq=desk.seq, body=seat.body, regime=regime, words=words(desk, chosen),
                trained=trained, switches=False, transport=False,
            )  # fmt: skip
        figures = sheet.content(
            **message, seq=desk.seq, picked=pick, reveal="picked_pictures",
            label=f"calibration over {len(looked.predictions):,} predictions",
        )  # fmt: skip
        return {"deck": dials, "sheet": {**figures, "runs": [scripts, seat.answers]}}

    seat.reply = reply
    ledger(seat.answer(state.said(LEDGER)), key=LEDGER, on_hand=released, on_pick=picked)
    if desk.done:
        state.write_link()


def words(desk: Desk, chosen: Selection) -> str:
    """What the knobs do here, in a sentence."""
    if not chosen.knobs_act:
        return f"{chosen.method} has a gate without inertia: the knobs do nothing here."
    if not desk.settings.on:
        return "Off: the gate goes where it is commanded at once."
    gain = calibration.gain(desk.settings, chosen.method)
    return f"Reset Mode: one frame from rest, the gate has made {gain:.0%} of its way to the command."


@st.fragment(key="pictures")
def gallery(chosen: Selection, looked: Looked) -> None:
    """The pictures in what was picked."""
    pick = st.session_state.get("picked")
    if not pick:
        return
    now = st.session_state["calibration_memory"].now
    try:
        inside, name = pictures.members(pick, looked, now.fused.confidence, now.tables["all"].edges)
    except ValueError:
        return
    g = calibration.gate_of(state.desk().settings, looked, chosen.method)
    shown = pictures.telling(inside, looked, now.fused, pictures.said_classes(looked, g))
    wrong = int((inside & ~now.fused.correct).sum())
    with st.container(key="picked_pictures"):
        st.subheader(f"Pictures: {name}", anchor=False)
        st.caption(
            f"{len(shown)} of {inside.sum():,} predictions, {wrong:,} of them wrong; the surest wrong ones come first."
        )
        with st.spinner("Making the corrupted pictures anew (this loads PyTorch once)"):
            try:
                st.html(pictures.html(shown, looked, cells.pictures))
            except (OSError, ValueError, ImportError) as error:
                st.warning(f"The pictures cannot be made: {error}")


def page() -> None:
    """All of it, or why not."""
    try:
        models = cells.models()
        if not models:
            raise ValueError("no predictions of a gated model ship; make them: python -m train.library")
        if (selection().method, selection().seed) not in models:
            st.session_state["selection"] = Selection(*models[0])
        chosen = selection()
        looked = cells.look(chosen)
    except (OSError, ValueError) as error:
        st.warning(f"There are no predictions to look at: {error}")
        return
    filters(models)
    fixed = others(chosen, looked, (cells.version(), results.changed("temperatures")))
    live(chosen, looked, fixed)
    if fixed.lacking:
        st.caption(fixed.lacking)
    gallery(chosen, looked)
    help_words()
    state.beside("cells", cells.write(chosen))
    state.write_link()


def help_words() -> None:
    """Every piece of jargon on the page, in words."""
    with st.expander("What these words mean"):
        st.markdown("\n".join(f"- **{word}**: {meaning}" for word, meaning in calibration.WORDS.items()))


st.session_state["calibration_scripts"] = st.session_state.get("calibration_scripts", 0) + 1
layout.style()
selection()  # a link may have something to complain of
for complaint in state.complaints():
    st.warning(state.plain(complaint))
page()
state.freeze_garbage()
