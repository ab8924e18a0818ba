"""A service put together from its options."""

from __future__ import annotations

import argparse
import errno
import gc
import logging
import os
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
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
LIMITS = ("capacity", "queue", "rate", "max_frame", "max_batch", "max_wait", "grace", "idle")


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
    if given.threads:
        import torch

        torch.set_num_threads(given.threads)
    if given.device != "auto":
        require_device(given.device)
    model = models.load(given.model, given.device)
    settings = settings_file.load(given.settings) if given.settings else None
    limits = Limits(**{name: getattr(given, name) for name in LIMITS})
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
    if cert is None:
        if key is not None:
            raise ValueError(f"--tls-key is {key}, expected --tls-cert with it")
        return
    for option, path in (("--tls-cert", cert), ("--tls-key", key)):
        try:
            if path is not None:
                Path(path).read_bytes()
        except OSError as error:
            raise ValueError(f"{option} is {path}, expected a file that can be read: {error.strerror}") from None
    try:
        ssl.create_default_context(cafile=cert)
    except ssl.SSLError:
        raise ValueError(f"--tls-cert is {cert}, expected a certificate in PEM format") from None
    has_password = False

    def password() -> str:
        nonlocal has_password
        has_password = True
        return ""

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password)
    except ssl.SSLError:
        if has_password:
            return  # uvicorn asks for it on the terminal
        option, path = ("--tls-cert", cert) if key is None else ("--tls-key", key)
        raise ValueError(f"{option} is {path}, expected a file with the key of --tls-cert, in PEM format") from None


def require_free(host: str, port: int) -> None:
    """Refuse a port that is taken, before anything is loaded; uvicorn finds out after the start only."""
    found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    for family, kind, protocol, _, address in found:
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, os.name == "posix")
            if family == socket.AF_INET6:
                trial.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, True)
            try:
                trial.bind(address)
            except OSError as error:
                if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                    continue  # as of an address without a network: the server knows better
                raise ValueError(f"--port is {port}, expected one that is free on {host}: {error.strerror}") from None


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
