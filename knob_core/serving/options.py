"""The options of `knob serve`, from its command line or from a table with the same names."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from knob_core.serving import access
from knob_core.serving.engine import Limits
from knob_core.serving.served_stream import POLICIES

HOST, PORT = "127.0.0.1", 8600
DESCRIPTION = "A model behind WebSockets and HTTP; docs/serve.md says all."


class Parser(argparse.ArgumentParser):
    """One whose errors are ValueError, for a command line and a table alike."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def parser() -> Parser:
    found = Parser("knob serve", description=DESCRIPTION)
    limits = Limits()
    add = found.add_argument
    kinds = "a shipped model's name, a checkpoint, an .onnx file, module:function, or logits:K where clients send them"
    add("model", nargs="?", default="knob-ode-s0", help=f"{kinds}; default: %(default)s")
    add(
        "--host",
        default=HOST,
        help="address to listen on; any but this machine's own needs tokens; default: %(default)s",
    )
    add("--port", type=int, default=PORT, help="0: any free one; default: %(default)s")
    add("--settings", type=Path, help="settings file of the console")
    add("--tokens", type=Path, help=f"file with lines `role name token`; else the variable {access.VARIABLE}")
    add("--allow-host", action="append", default=[], metavar="NAME", help="a name under which the service is reached")
    add("--allow-origin", action="append", default=[], metavar="ORIGIN", help="a web page's origin, https://...")
    add("--policy", choices=POLICIES, default="newest", help="what a full queue does; default: %(default)s")
    add("--slew", type=float, help="largest change of the knobs' logarithm per frame")
    add("--capacity", type=int, default=limits.capacity, help="streams; default: %(default)s")
    add("--queue", type=int, default=limits.queue, help="frames of a stream that may wait; default: %(default)s")
    add("--max-batch", type=int, default=limits.max_batch, help="frames of one batch; default: %(default)s")
    add("--max-wait", type=float, default=limits.max_wait, help="s that a batch waits; default: %(default)s")
    add("--grace", type=float, default=limits.grace, help="s that a dropped stream is kept; default: %(default)s")
    add(
        "--idle",
        type=float,
        default=limits.idle,
        help="s without a frame until a stream is forgotten; default: %(default)s",
    )
    add("--max-frame", type=int, default=limits.max_frame, help="bytes of a frame; default: %(default)s")
    add("--state", type=Path, help="folder for snapshots, from which a restart goes on; without it none are kept")
    add("--snapshot-every", type=float, default=10.0, metavar="S", help="seconds; default: %(default)s")
    add("--tls-cert", help="file of a certificate, for https and wss")
    add("--tls-key", help="file of its key, where it is not the certificate's file")
    add("--log-level", choices=("debug", "info", "warning", "error"), default="info")
    add("--device", default="auto", help="of the model; default: %(default)s")
    add("--threads", type=int, help="of the model; without it torch's own")
    add("--ray", action="store_true", help="on Ray Serve, with several replicas; needs the extra `ray`, and --state")
    add("--replicas", type=int, default=2, help="of the model, with --ray; default: %(default)s")
    add("--cpus", type=float, default=1.0, help="that --ray keeps for each replica; default: %(default)s")
    add("--gpus", type=float, default=0.0, help="that --ray keeps for each replica; default: %(default)s")
    return found


def from_table(table: Mapping[str, Any]) -> argparse.Namespace:
    """Options as a configuration file has them: the names of the flags, with _ instead of -."""
    line = [str(table["model"])] if "model" in table else []
    for name, value in table.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            line.append(flag)
        elif name != "model" and value is not None and value is not False:
            line += [f"{flag}={one}" for one in (value if isinstance(value, list) else [value])]
    return parser().parse_args(line)
