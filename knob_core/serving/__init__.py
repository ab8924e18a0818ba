"""Serving: a model behind WebSockets and HTTP, many streams at once, knobs that an operator turns from elsewhere.

    knob serve knob-ode-s0                    # or python -m knob_core.serving
    knob demo-cameras --streams 8             # simulated cameras that send to it

`knob_core.serving.messages` has the messages, `knob_core.serving.engine` all that needs no network, and docs/serve.md
the whole interface. Needs the extra `serve`; only `knob_core.serving.web` imports the web server.
"""
