"""About: the equation, the architecture, how to cite, and what this installation is."""

from __future__ import annotations

import streamlit as st

from app.console import how_to_read, session
from app.server import installation
from app.widgets import page_layout
from knob_core import methods

STEPS = {  # step: modules, what it makes
    "images": ("`data/`", "CIFAR-10, or the sample that ships"),
    "severity": ("`schedules/`", "how bad the picture gets over time, s(t)"),
    "corruption": ("`corruptions/`", "noise, blur, weather and digital faults at any severity"),
    "branches": ("`models.py`", "z_static, z_dyn and the command u*"),
    "gate": ("`gate.py`", "u and g: **from here on a turn of a knob acts**"),
    "fusion": ("`fusion.py`", "z_fuse, margins, effective temperature"),
    "measures": ("`metrics/`, `measures/`", "accuracy, calibration, flips, lag"),
    "figures": ("`app/figures/`", "what you see"),
}
METHOD = (
    "S. Jiang, S. Cui, H. Zeng: Knob: A Physics-Inspired Gating Interface for Interpretable and Controllable Neural "
    "Dynamics."
)
CORRUPTIONS = (
    "D. Hendrycks, T. Dietterich: Benchmarking Neural Network Robustness to Common Corruptions and Perturbations. "
    "ICLR 2019."
)
BIBTEX = """@misc{knob,
  title  = {Knob: A Physics-Inspired Gating Interface for Interpretable and Controllable Neural Dynamics},
  author = {Siyu Jiang and Sanshuai Cui and Hui Zeng}
}

@inproceedings{hendrycks2019benchmarking,
  title     = {Benchmarking Neural Network Robustness to Common Corruptions and Perturbations},
  author    = {Dan Hendrycks and Thomas Dietterich},
  booktitle = {International Conference on Learning Representations},
  year      = {2019}
}

@techreport{krizhevsky2009learning,
  title       = {Learning Multiple Layers of Features from Tiny Images},
  author      = {Alex Krizhevsky},
  institution = {University of Toronto},
  year        = {2009}
}"""
IMAGES = "A. Krizhevsky: Learning Multiple Layers of Features from Tiny Images. Technical report, 2009."


def equation() -> None:
    """What the two knobs turn."""
    st.header("The equation", anchor=False)
    st.markdown(
        "Two branches look at the same picture: one **robust and modest** (static), one **sharp and sensitive** "
        "(dynamic). A gate mixes what they say. The gate is a mass on a spring with a damper: the network says where "
        "it should go, and the two knobs decide how it gets there."
    )
    st.latex(
        r"\begin{gathered}\ddot u + 2\,\zeta\,\omega_n\,\dot u + \omega_n^2\,u = \omega_n^2\,u^\star(x)\\"
        r"g = \sigma(u)\end{gathered}"
    )
    st.latex(r"z_{\text{fuse}} = g\,z_{\text{dyn}} + (1-g)\,z_{\text{static}}")
    st.markdown(
        "In steps of one frame, with $h = \\omega_n \\Delta t / 2$, $D = 1 + 2\\zeta h + h^2$ and $v = \\dot "
        "u/\\omega_n$:"
    )
    st.latex(  # A_d x + B_d u* of gate.py, row by row: so it is narrow enough for a phone
        r"\begin{aligned}D\,u_t = {}& (1+2\zeta h-h^2)\,u_{t-1}\\&{}+ 2h\,(v_{t-1} + h\,u^\star_t)\\"
        r"D\,v_t = {}& (1-2\zeta h-h^2)\,v_{t-1}\\&{}+ 2h\,(u^\star_t - u_{t-1})\end{aligned}"
    )
    st.markdown(
        "$u^2 + v^2$ cannot grow by itself **whatever the knobs do**: that is why they may be turned while the model "
        "runs. The lesson *Pumping* shows what happens in other coordinates."
    )
    with st.expander("Every letter, in words"):
        st.markdown(
            "| letter | what it is | unit |\n|---|---|---|\n"
            "| ζ | damping ratio: calm or nervous; 1 is critical | none |\n"
            "| ωₙ | natural frequency: slow or alert | rad/frame |\n"
            "| u* | the command: where the network wants the gate | logits |\n"
            "| u, v | where the gate stands, and its speed in units of ωₙ | logits |\n"
            "| g | the gate: 0 trusts the robust branch, 1 the sharp one | none |\n"
            "| z | what a branch says about every class | logits |\n"
            "| p_max | confidence: the probability of the class that is named | none |\n"
            "| s(t) | severity of the corruption over time | 0 to 5 |\n"
        )


def architecture() -> None:
    """Where things are."""
    st.header("Architecture", anchor=False)
    st.markdown(
        "Data flows one way, and each step is one module that can be read alone. **The branches do not depend on the "
        "knobs**: they are computed once per stream, and turning a knob re-runs only what stands below them."
    )
    rows = [f"| {step} | {modules} | {makes} |" for step, (modules, makes) in STEPS.items()]
    st.markdown("\n".join(["| step | where | what it makes |", "|---|---|---|", *rows]))
    st.markdown(
        "`app/` what people see · `knob_core/` the mathematics and the models · `train/` commands that fit, evaluate "
        "and report · `assets/` what ships · `tests/` mirrors them"
    )


def reading() -> None:
    """What every part of the console means."""
    st.header(how_to_read.HEADING, anchor=False)
    st.markdown(how_to_read.table())


def citation() -> None:
    """Whom to name."""
    st.header("How to cite", anchor=False)
    st.markdown(f"- The method: {METHOD}\n- The corruptions: {CORRUPTIONS}\n- The images: {IMAGES}")
    with st.expander("As BibTeX"):
        st.code(BIBTEX, language="bibtex", wrap_lines=True)
    st.caption(
        "Knob is under the Apache License 2.0. The sample images are CIFAR-10's and keep their authors' terms; the "
        "frost textures come from `imagecorruptions` (Apache 2.0). Both are described beside the files in `assets/`."
    )


def this_installation() -> None:
    """Versions, device, checkpoint."""
    st.header("This installation", anchor=False)
    found = installation.device()
    if not found and st.button("Look for a GPU", help="Loads PyTorch, which takes a few seconds", key="look_gpu"):
        found = installation.loaded_device()
    st.markdown(f"**Device:** {found or 'not asked yet: PyTorch is loaded only when something needs it'}")
    choice = session.choice()
    name = f"{methods.get(choice.method).name}, seed {choice.model}"
    used = installation.checkpoint(choice.method, choice.model)
    if used is None:
        st.markdown(
            f"**Checkpoint:** {name}: no file. Only shipped streams can be shown; "
            "`python -m train.fit --recipe robust-80 --all` trains the models, after what `docs/train.md` says."
        )
    else:
        knobs = "" if used.knobs is None else f"; trained ζ {used.knobs[0]:g}, ωₙ {used.knobs[1]:g} rad/frame"
        st.markdown(f"**Checkpoint:** {name}: `{used.path.name}`, {used.bytes / 1e6:.1f} MB{knobs}")
        st.caption(f"SHA-256 {used.sha256}")
    if others := installation.checkpoint_names():
        st.caption(f"At hand: {', '.join(others)}")
    versions = installation.versions()
    st.table({"what": list(versions), "version": list(versions.values())}, hide_index=True)


page_layout.style()
st.title("Knob", anchor=False)
st.markdown("A volume knob for neural networks: a classifier whose nerves you can turn down while it runs.")
left, right = page_layout.columns("about", [1.5, 1], gap="large")
with left:
    equation()
    reading()
    architecture()
with right:
    this_installation()
    citation()
session.write_link()
