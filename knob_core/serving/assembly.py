"""A service put together from its options."""

from __future__ import annotations

import argparse
import gc
import logging
import os
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from knob_core import settings as settings_file
from knob_core import wrap
from knob_core.folder_lock import locked
from knob_core.serving import access, models
from knob_core.serving.engine import Engine, Limits
from knob_core.serving.maintenance import Maintenance, Store
from knob_core.serving.messages import Frame
from knob_core.serving.metrics import Metrics

if TYPE_CHECKING:
    from knob_core.serving.web.service import Service

SIZE = (32, 32)  # of a blank picture, where the model does not say its own
log = logging.getLogger(__name__)
LIMITS = ("capacity", "queue", "max_frame", "max_batch", "max_wait", "grace", "idle")


def access_of(given: argparse.Namespace) -> access.Access:
    """Who may do what; refused where others could connect without a token."""
    tokens = access.load_tokens(given.tokens)
    if not access.is_local(given.host) and not tokens:
        raise ValueError(
            f"--host {given.host} can be reached from other machines, so tokens are needed: --tokens FILE with lines "
            f"`role name token`, or the variable {access.VARIABLE}"
        )
    hosts = frozenset((*access.LOCAL, given.host.lower(), *map(access.allowed_host, given.allow_host)))
    origins = frozenset(map(access.allowed_origin, given.allow_origin))
    return access.Access(tokens, hosts, origins, from_here_only=given.ray and not tokens)


def engine_of(given: argparse.Namespace) -> Engine:
    limits = Limits(**{name: getattr(given, name) for name in LIMITS})
    if given.threads is not None:
        import torch

        if given.threads < 1:
            raise ValueError(f"--threads is {given.threads}, expected 1 or more")
        torch.set_num_threads(given.threads)
    if given.device != "auto":
        require_device(given.device)
    model = models.load(given.model, given.device)
    settings = settings_file.load(given.settings) if given.settings else None
    return Engine(
        model.source, settings, limits, name=model.name, classes=model.classes, policy=given.policy, slew=given.slew
    )


def require_device(name: str) -> None:
    """Refuse one that torch does not know, or that is not here."""
    import torch

    from knob_core import devices

    try:
        torch.zeros(1, device=devices.pick(name)).item()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        said = str(error).partition("\n")[0][:100]
        raise ValueError(f"--device is {name[:80]!r}, expected auto, cpu, or one that is here ({said})") from None


@contextmanager
def folder_held(path: Path) -> Iterator[None]:
    """The folder of --state, made where there is none, for this process alone."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"--state is {path}, expected a folder, or one that can be made: {error.strerror}") from None
    with ExitStack() as held:
        try:
            held.enter_context(locked(path, "serves from", "--state"))
        except OSError as error:
            if error.errno is None:  # another process has it
                raise
            log.warning("the folder of --state is not locked", extra={"cause": error.strerror})  # as on a full disk
        yield


def require_tls(cert: str | None, key: str | None) -> None:
    """Refuse files of --tls-cert and --tls-key that uvicorn could not use, before anything is loaded."""
    if cert is None and key is not None:
        raise ValueError(f"--tls-key is {key}, expected --tls-cert with it")
    if cert is not None:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key)
        except OSError as error:  # ssl.SSLError too
            raise ValueError(
                f"--tls-cert is {cert} and --tls-key {key or cert}, expected a certificate and its key in PEM format: "
                f"{error.strerror or error}"
            ) from None


def bound(host: str, port: int) -> socket.socket:
    """A socket at the address, refused before anything is loaded where it is taken; it listens later."""
    found = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, os.name == "posix")
    try:
        found.bind((host, port))
    except (OSError, OverflowError) as error:
        cause = getattr(error, "strerror", None) or error
        raise ValueError(f"--port is {port}, expected one that is free on {host}: {cause}") from None
    return found


def raise_descriptors() -> None:
    """Every stream has a socket, and many systems give a process 1024 descriptors unless it asks for more."""
    try:
        import resource
    except ImportError:  # Windows
        return
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with suppress(OSError, ValueError):  # macOS has a limit beside the hard one
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def equip(service: Service, store: Store | None, every: float, settings: Path | None) -> None:
    """Maintenance, metrics, and a first batch.

    All that is loaded by then stays for good, so the garbage collector need not walk it: with torch that takes as long
    as two or three batches, in the middle of serving.
    """
    engine = service.engine
    service.maintenance = Maintenance(engine, service.problems, store=store, every=every, settings=settings)
    service.metrics = Metrics(engine, service.maintenance)
    engine.observe = service.metrics.observe
    warm_up(engine)
    gc.collect()
    gc.freeze()


def warm_up(engine: Engine) -> None:
    """The first calls compile; no client shall wait for that. A model also says how many classes it has."""
    source, backbone = engine.source, engine.stepper.backbone
    frame = Frame("logits", np.zeros(backbone.num_classes or 10))
    if backbone.takes_pictures:
        blank = backbone.prepare(np.zeros((*(getattr(source, "size", None) or SIZE), 3), np.uint8))
        if backbone.learn_classes(blank):
            frame = Frame("raw", blank)
        else:
            source = wrap.classifier()
    spare = Engine(source, engine.knobs.table.base, engine.limits)
    for streams in (1, 2, 3):
        for k in range(streams):
            spare.submit(f"s{k}", frame, lambda reply: None)
        spare.step_waiting()
