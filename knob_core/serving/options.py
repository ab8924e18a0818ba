"""The options of `knob serve`, from its command line or from a table with the same names."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from knob_core.serving import access
from knob_core.serving.engine import Limits
from knob_core.serving.ranges import Range, positive, whole
from knob_core.serving.served_stream import POLICIES

HOST, PORT = "127.0.0.1", 8600
DESCRIPTION = "A model behind WebSockets and HTTP; docs/serve.md says all."


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser("knob serve", description=DESCRIPTION)
    limits = Limits()
    add = found.add_argument
    kinds = (
        "a shipped model's name, a checkpoint, an .onnx file, module:function, or logits:K where clients send K logits"
    )
    add("model", nargs="?", default="knob-ode-s0", help=f"{kinds}; default: %(default)s")
    add("--host", default=HOST, help="address to listen on; any but this machine's own needs tokens")
    add("--port", type=whole(0, 65_535), default=PORT, help="default: %(default)s; 0: any free one")
    add("--settings", type=Path, help="settings file of the console")
    add("--tokens", type=Path, help=f"file with lines `role name token`; else the variable {access.VARIABLE}")
    add("--allow-host", action="append", default=[], metavar="NAME", help="a name under which the service is reached")
    add("--allow-origin", action="append", default=[], metavar="ORIGIN", help="a web page's origin, https://...")
    add("--policy", choices=POLICIES, default="newest", help="what a full queue does; default: %(default)s")
    add("--slew", type=positive(), help="largest change of the knobs' logarithm per frame")
    add("--capacity", type=whole(1, 1_000_000), default=limits.capacity, help="streams; default: %(default)s")
    add(
        "--queue",
        type=whole(1, 1_000_000),
        default=limits.queue,
        help="frames of a stream that may wait; default: %(default)s",
    )
    add("--rate", type=positive(), default=limits.rate, help="frames/s of a stream; default: %(default)s")
    add(
        "--max-batch",
        type=whole(1, 1_000_000),
        default=limits.max_batch,
        help="frames of one batch; default: %(default)s",
    )
    add(
        "--max-wait",
        type=Range(float, 0.0, 1.0),
        default=limits.max_wait,
        help="s that a batch waits; default: %(default)s",
    )
    add("--grace", type=positive(), default=limits.grace, help="s that a dropped stream is kept; default: %(default)s")
    add("--idle", type=positive(), default=limits.idle, help="s without a frame; default: %(default)s")
    add("--max-frame", type=whole(1), default=2_000_000, help="bytes of a frame; default: %(default)s")
    add("--state", type=Path, help="folder for snapshots, from which a restart goes on; default: none are kept")
    add("--snapshot-every", type=positive(), default=10.0, metavar="S", help="seconds; default: %(default)s")
    add("--tls-cert", help="file of a certificate, for https and wss")
    add("--tls-key", help="file of its key; default: the certificate's file")
    add("--log-level", choices=("debug", "info", "warning", "error"), default="info")
    add("--device", default="auto", help="of the model; default: %(default)s")
    add("--threads", type=whole(1, 1024), help="of the model; default: torch's own")
    add("--ray", action="store_true", help="on Ray Serve, with several replicas; needs the extra `ray`, and --state")
    add("--replicas", type=whole(1, 10_000), default=2, help="of the model, with --ray; default: %(default)s")
    add("--cpus", type=Range(float, 0.0), default=1.0, help="that --ray keeps for each replica; default: %(default)s")
    add("--gpus", type=Range(float, 0.0), default=0.0, help="that --ray keeps for each replica; default: %(default)s")
    return found


def from_table(table: Mapping[str, Any]) -> argparse.Namespace:
    """Options as a configuration file has them: the names of the flags, with _ instead of -."""
    command = parser()
    known = {action.dest: action for action in command._actions if action.dest != "help"}
    given = command.parse_args([])
    for name, value in table.items():
        action = known.get(name)
        if action is None:
            raise ValueError(f"option {name!r} is not known, expected some of {', '.join(sorted(known))}")
        if value is not None:
            setattr(given, name, _checked(name, action, value))
    return given


def _checked(name: str, action: argparse.Action, value: Any) -> Any:
    if isinstance(action.default, bool):
        if not isinstance(value, bool):
            raise ValueError(f"{name} is {value!r}, expected true or false")
        return value
    if isinstance(action.default, list):
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ValueError(f"{name} is {value!r}, expected a list of texts")
        return value
    kind: Any = action.type or str
    try:
        found = kind(value)
    except argparse.ArgumentTypeError as error:
        raise ValueError(f"{name} {error}") from None
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}, expected {kind.__name__}") from None
    if action.choices is not None and found not in action.choices:
        raise ValueError(f"{name} is {value!r}, expected one of {', '.join(action.choices)}")
    return found
