"""`knob serve MODEL --ray`: starts Ray Serve here, or joins the cluster that RAY_ADDRESS names, until it is stopped."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import threading
from typing import Any


def run(given: argparse.Namespace) -> int:
    try:
        import ray
        from ray import serve
        from ray.serve.config import HTTPOptions
    except ImportError:
        raise ValueError("--ray needs Ray Serve: pip install 'knob[ray]'") from None
    from knob_core.serving.on_ray import deployments

    deployments.checked(given)
    stop = threading.Event()
    table = {name: value for name, value in vars(given).items() if value not in (None, [])}
    ray.init(include_dashboard=False, log_to_driver=given.log_level == "debug", logging_level=logging.ERROR)
    try:
        serve.start(
            http_options=HTTPOptions(
                host=given.host, port=given.port, ssl_certfile=given.tls_cert, ssl_keyfile=given.tls_key
            )
        )  # fmt: skip
        serve.run(deployments.application({**table, "state": str(given.state)}), name=deployments.APP)
        url = f"{'https' if given.tls_cert else 'http'}://{given.host}:{given.port}"
        said = f"knob serve: {given.model} on {url}, {given.replicas} replicas on Ray Serve"
        for number in (signal.SIGTERM, signal.SIGINT):  # only now: Ray sets its own when it starts
            signal.signal(number, lambda *_: stop.set())
        print(said, flush=True)
        stop.wait()
        drain(serve)
    finally:
        serve.shutdown()
        ray.shutdown()
    sys.stdout.flush()
    os._exit(0)  # threads that Ray leaves behind may abort the interpreter while it ends


def drain(serve: Any) -> None:
    """Every replica answers what waits, saves its streams, and closes its sockets."""
    from knob_core.serving.on_ray.deployments import APP, HUB

    try:
        serve.get_deployment_handle(HUB, APP).drain.remote().result(timeout_s=20)
    except Exception as error:  # then streams go on from their last saving, as after a kill
        print(f"knob serve: the replicas were not drained: {error}", file=sys.stderr, flush=True)
