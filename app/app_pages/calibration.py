"""Calibration: what the knobs do to what the model promises, over all shipped predictions, while they turn."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from app.calibration import calibration_component, comparison, example_pictures, predictions
from app.calibration.calibration_controller import REVEAL, CalibrationController
from app.calibration.cell_measures import gate_of
from app.calibration.cell_selection import SEVERITIES, Selection, from_link, of_model, to_link
from app.calibration.comparison import Alternatives
from app.calibration.glossary import WORDS
from app.calibration.predictions import ShownPredictions
from app.console import session
from app.console.problem_notes import problem_notes
from app.console.stream_choice import CORRUPTION_NAMES, CORRUPTIONS
from app.results import result_files
from app.widgets import page_layout
from app.widgets.browser_component import component_value
from app.widgets.untrusted import fault_words
from knob_core import methods

COMPONENT = "calibration_component"


def selection() -> Selection:
    """What is looked at: the one chosen, the link's, or all of the console's model."""
    if "selection" not in st.session_state:
        chosen, problems = from_link(session.page_link_value("cells"), consoles())
        session.problems().extend(problems)
        st.session_state["selection"], st.session_state["followed"] = chosen, consoles()
    return st.session_state["selection"]


def consoles() -> Selection:
    """All cells of the model that the console shows."""
    return of_model(session.choice().method, session.choice().model)


def follow() -> None:
    """Another model was chosen on the console since: look at that one."""
    now = selection()
    if st.session_state["followed"] != consoles():
        st.session_state["followed"] = consoles()
        st.session_state["selection"] = replace(now, method=consoles().method, seed=consoles().seed)


def model_words(method: str, seed: int) -> str:
    """A model by its name, as on the other pages."""
    return f"{methods.get(method).name}, seed {seed}"


def say_whose() -> None:
    """What of this page is the console's, and what is its own."""
    now, choice = selection(), session.choice()
    shared = "Knobs and temperature are the console's: what you turn here is turned there."
    if (now.method, now.seed) == (choice.method, choice.model):
        st.caption(f"{shared} So is the model. The stream is not: this page looks at single pictures.")
    else:
        st.caption(
            f"{shared} The model is not: the console shows {model_words(choice.method, choice.model)}, and this "
            f"page {model_words(now.method, now.seed)}."
        )


def choose() -> None:
    """The filters were moved."""
    method, seed = st.session_state["cells_model"]
    names = st.session_state["cells_corruptions"] or list(CORRUPTION_NAMES)
    levels = st.session_state["cells_severities"] or list(SEVERITIES)
    ordered = tuple(name for name in CORRUPTION_NAMES if name in names)
    st.session_state["selection"] = Selection(method, seed, ordered, tuple(sorted(levels)))


def filters(models: list[tuple[str, int]]) -> None:
    """Model, corruptions and severities; nothing chosen means all."""
    now = selection()
    all_names, all_levels = now.corruptions == CORRUPTION_NAMES, now.severities == SEVERITIES
    st.session_state["cells_model"] = (now.method, now.seed)
    st.session_state["cells_corruptions"] = [] if all_names else list(now.corruptions)
    st.session_state["cells_severities"] = [] if all_levels else list(now.severities)
    family = {name: kind for kind, names in CORRUPTIONS.items() for name in names}
    left, middle, right = st.columns([1.2, 1.7, 1.2])
    left.selectbox(
        "Model", models, key="cells_model", on_change=choose, format_func=lambda m: model_words(*m),
        help="Whose predictions: the training method, and the seed that it was trained with",
    )  # fmt: skip
    middle.multiselect(
        "Corruptions", CORRUPTION_NAMES, key="cells_corruptions", on_change=choose, placeholder="all nineteen",
        format_func=lambda name: f"{name.replace('_', ' ')} ({family[name]})", help="Only these faults; none means all",
    )  # fmt: skip
    right.pills(
        "Severities (none: all)", SEVERITIES, selection_mode="multi", key="cells_severities",
        on_change=choose, help="Only these severities, 1 (slight) to 5 (strong)",
    )  # fmt: skip


@st.cache_resource(max_entries=8, show_spinner="Measuring what could be used instead")
def others(chosen: Selection, _shown: ShownPredictions, version: tuple[int, int]) -> Alternatives:
    """The rows that no knob changes."""
    return comparison.alternatives(chosen, _shown)


def controller() -> CalibrationController:
    """This visitor's page."""
    if "calibration_controller" not in st.session_state:
        st.session_state["calibration_controller"] = CalibrationController(session.console_state())
    return st.session_state["calibration_controller"]


def released() -> None:
    """When the knob is released, the pictures follow too."""
    reported = component_value(COMPONENT, "controls")
    if st.session_state.get("picked") and isinstance(reported, dict) and reported.get("released"):
        st.rerun(["calibration", "pictures"])


def picked() -> None:
    """A bin or a cell was picked: the pictures in it come next."""
    st.session_state["picked"] = component_value(COMPONENT, "pick")
    st.rerun(["calibration", "pictures"])


@st.fragment(key="calibration")
def fast(chosen: Selection, shown: ShownPredictions, fixed: Alternatives) -> None:
    """Everything that moves with a knob; this reruns when a knob is released."""
    own, endpoint = controller(), session.endpoint(COMPONENT)
    own.show(chosen, shown, fixed, st.session_state.get("picked") or "", st.session_state["calibration_scripts"])
    endpoint.reply = own.update
    calibration_component.mount(
        endpoint, session.reported(COMPONENT), own.constants(), key=COMPONENT, on_controls=released, on_pick=picked
    )
    if own.state.released:
        session.write_link()


@st.fragment(key="pictures")
def gallery(shown: ShownPredictions) -> None:
    """The pictures in what was picked."""
    pick = st.session_state.get("picked")
    if not pick:
        return
    own = controller()
    now = own.numbers.now
    assert now is not None, "the fast fragment runs first"
    try:
        inside, name = example_pictures.members(pick, shown, now.fused.confidence, now.tables["all"].edges)
    except ValueError:
        return
    g = gate_of(own.state.settings, shown, own.selection.method)
    examples = example_pictures.choose(inside, shown, now.fused, example_pictures.predicted_classes(shown, g))
    wrong = int((inside & ~now.fused.correct).sum())
    with st.container(key=REVEAL):
        st.header(f"Pictures: {name}", anchor=False)
        st.caption(
            f"{len(examples)} of {inside.sum():,} predictions, {wrong:,} of them wrong; the most confident errors come "
            "first."
        )
        with st.spinner("Making the corrupted pictures anew (this loads PyTorch once)"):
            try:
                st.html(example_pictures.html(examples, shown, predictions.corrupted_images))
            except (OSError, ValueError, ImportError) as error:
                st.warning(f"The pictures cannot be made: {fault_words(error)}")


def page() -> None:
    """All of it, or why not."""
    try:
        models = predictions.models()
        if not models:
            raise ValueError("no predictions of a gated model ship; make them: python -m train.library")
        if (selection().method, selection().seed) not in models:
            st.session_state["selection"] = Selection(*models[0])
        chosen = selection()
        shown = predictions.load(chosen)
    except (OSError, ValueError) as error:
        st.warning(f"There are no predictions to look at: {fault_words(error)}")
        return
    filters(models)
    fixed = others(chosen, shown, (predictions.version(), result_files.changed("temperatures")))
    fast(chosen, shown, fixed)
    say_whose()
    if fixed.lacking:
        st.caption(fixed.lacking)
    gallery(shown)
    help_words()
    session.page_link_value("cells", to_link(chosen, consoles()))
    session.write_link()


def help_words() -> None:
    """Every piece of jargon on the page, in words."""
    with st.expander("What these words mean"):
        st.markdown("\n".join(f"- **{word}**: {meaning}" for word, meaning in WORDS.items()))


st.session_state["calibration_scripts"] = st.session_state.get("calibration_scripts", 0) + 1
page_layout.style()
page_layout.unseen_title("Calibration")
follow()  # a link may have something to complain of
with st.container(key="notes"):
    problem_notes()
page()
