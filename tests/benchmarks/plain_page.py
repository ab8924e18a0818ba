"""What one would write first: two sliders and a plotly chart. The console is measured against it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

import made_streams
import numpy as np
import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots

from knob_core import theory
from knob_core.response import respond
from knob_core.settings import Settings

st.set_page_config(layout="wide")


@st.cache_resource
def stream():
    return made_streams.branches(3, 6, 240)


zeta = st.slider("zeta", 0.05, 3.0, 0.7)
omega_n = st.slider("omega_n", 0.02, 3.0, 0.4)
response, _ = respond(stream(), Settings(zeta=zeta, omega_n=omega_n))
figure = make_subplots(4, 1)
for row, y in enumerate(
    (
        stream().severity,
        np.median(response.g[:6], 0),
        np.median(response.p_max[:6], 0),
        theory.step_response(zeta, omega_n, 60),
    ),
    1,
):
    figure.add_trace(go.Scatter(y=y), row, 1)
st.plotly_chart(figure.update_layout(height=600), key="chart")
