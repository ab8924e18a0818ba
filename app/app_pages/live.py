"""Live: attach to a running service, watch its streams, turn its knobs, and take that back."""

from __future__ import annotations

import base64
import html
import time

import streamlit as st

from app.console import session
from app.console.problem_notes import problem_notes
from app.live import live_component, live_display, service_address
from app.live.live_controller import LiveController
from app.live.watched_service import WatchedService
from app.widgets import figure_sheet, page_layout
from app.widgets.untrusted import escape_markdown
from knob_core.client.service import Service

COMPONENT = "live_component"
EVERY = 1.0  # s between two refreshes
TIMEOUT = 3.0  # s that a request may take
MOST_ROWS = 50  # of the table; the menu has all that are listed
COMMANDS = """
No service yet? Two commands start one, with eight simulated cameras; each needs a terminal of its own:

    knob serve knob-ode-s0
    knob demo-cameras --streams 8
"""


def controller() -> LiveController | None:
    return st.session_state.get("live_controller")


def attach() -> None:
    """Look at the service whose address was typed in."""
    st.session_state["live_problem"] = ""
    try:
        found = Service(
            service_address.checked(st.session_state["live_address"]),
            st.session_state["live_token"].strip(),
            TIMEOUT,
        )
    except ValueError as error:
        st.session_state["live_problem"] = str(error)
        return
    watched = WatchedService(found)
    watched.refresh()
    if watched.lost:
        st.session_state["live_problem"] = watched.problem
        return
    st.session_state["live_controller"] = made = LiveController(watched)
    made.refresh()


def detach() -> None:
    st.session_state.pop("live_controller", None)
    st.session_state.pop(f"{COMPONENT}_endpoint", None)


def form() -> None:
    """Where the service is."""
    with st.form("live_form", border=False):
        left, middle, right = st.columns([3, 2, 1], vertical_alignment="bottom")
        left.text_input("Address of the service", service_address.first(), key="live_address", max_chars=200)
        middle.text_input(
            "Token", "", type="password", key="live_token", max_chars=200, placeholder="none on this machine",
            help="A viewer's token lets you watch, an operator's also turn. It stays in this session.",
        )  # fmt: skip
        right.form_submit_button("Attach", type="primary", width="stretch", on_click=attach)
    if st.session_state.get("live_problem"):
        st.error(escape_markdown(st.session_state["live_problem"]), icon=":material/error:")
    st.markdown(COMMANDS)


@st.fragment(run_every=EVERY, key="live")
def watch(own: LiveController) -> None:
    """Everything that follows the service."""
    own.refresh()
    watched = own.watched
    head(own)
    if not watched.streams:
        st.info("The service has no streams yet. `knob demo-cameras` sends it some.")
        return
    choices(own)
    if watched.operator:
        endpoint = session.endpoint(COMPONENT)
        endpoint.reply, endpoint.asks = own.update, True
        live_component.mount(endpoint, session.reported(COMPONENT), own.constants(), key=COMPONENT)
    else:
        st.caption("Watching only: turning the knobs takes the operator's token.")
        figure_sheet.sheet(
            live_display.figures(watched), cards=live_display.cards(watched.detail), key="live_sheet",
            label=f"stream {watched.chosen}",
        )  # fmt: skip
    table(watched)


def head(own: LiveController) -> None:
    """What the service is, or since when it is lost; and the way back."""
    watched = own.watched
    words, back, leave = page_layout.columns("live_head", [6, 1.6, 1], align="center")
    with words:
        if watched.lost:
            seconds = time.time() - watched.seen_at
            st.warning(
                f"The service has not answered for {seconds:.0f} s: {escape_markdown(watched.problem)}. "
                "What is shown is old. Looking again every second.",
                icon=":material/cloud_off:",
            )
        else:
            about = {"model": "model", "role": "viewer", **watched.about}
            model, role = (escape_markdown(live_display.short(about[name])) for name in ("model", "role"))
            streams = len(watched.streams) + watched.unlisted
            st.markdown(
                f"**{model}** at {escape_markdown(watched.service.url)}: {streams:,} streams, "
                f"knobs at revision {watched.revision}, you are {role}"
            )
    back.button(
        "Take back my turns", on_click=own.take_back, disabled=not own.before or watched.lost, width="stretch",
        help="All knobs as they were before your first turn; refused where somebody else has turned since",
    )  # fmt: skip
    leave.button("Detach", on_click=detach, width="stretch", help="Leave the service as it is, and watch another")


def look_at() -> None:
    """A stream was chosen; this runs before the service is asked, so that its own numbers come at once."""
    if (own := controller()) is not None and st.session_state["live_stream"] in own.watched.ids():
        own.look_at(st.session_state["live_stream"])


def choices(own: LiveController) -> None:
    """Which stream is looked at, whose knobs are turned, and the last picture."""
    watched = own.watched
    stream, scope, picture = page_layout.columns("live_choices", [2, 2, 1], align="center")
    if st.session_state.get("live_stream") != watched.chosen:  # set every second, it would undo a choice on its way
        st.session_state["live_stream"] = watched.chosen
    stream.selectbox("Stream", watched.ids(), key="live_stream", on_change=look_at)
    scopes = own.scopes()
    own.turn_of(
        scope.selectbox("The knobs turn", scopes, index=scopes.index(own.scope), format_func=lambda s: s.words)
        or own.scope
    )
    if watched.picture:
        data = base64.b64encode(watched.picture).decode()
        alt = html.escape(f"last picture of stream {watched.chosen}", quote=True)
        picture.html(
            f'<img src="data:image/webp;base64,{data}" alt="{alt}" style="height:72px;image-rendering:pixelated">'
        )


def table(watched: WatchedService) -> None:
    """All streams, those that flip most first."""
    cells = live_display.rows(watched.streams)[:MOST_ROWS]
    titles = (
        "stream",
        "group",
        "answer",
        "confidence",
        "flips per 100",
        "without Knob",
        "frames/s",
        "dropped",
        "connected",
    )
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(text)}</td>' for text in texts)}</tr>" for texts in cells)
    more = len(watched.streams) - len(cells)
    caption = "Streams, those that flip most first" + (f"; {more:,} more are in the menu" if more else "")
    if watched.unlisted:
        caption += f". There is room for {len(watched.streams):,}: {watched.unlisted:,} other streams are not listed"
    st.html(
        f'<table class="live-streams"><caption>{caption}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


page_layout.style()
with st.container(key="notes"):
    problem_notes()  # reads the link, too: its setting is kept, whichever page it opens
st.title("Live", anchor=False)
if (attached := controller()) is not None:
    watch(attached)
else:
    st.markdown("Attach to a running service: watch its streams, and turn the knobs of the running system.")
    form()
session.write_link()
