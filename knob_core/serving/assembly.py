"""A service put together from its options."""

from __future__ import annotations

import argparse
import gc
from typing import TYPE_CHECKING

import numpy as np

from knob_core import settings as settings_file
from knob_core import wrap
from knob_core.serving import access, models
from knob_core.serving.engine import Engine, Limits
from knob_core.serving.maintenance import Maintenance, Store
from knob_core.serving.messages import Frame
from knob_core.serving.metrics import Metrics

if TYPE_CHECKING:
    from pathlib import Path

    from knob_core.serving.web.service import Service

SIZE = (32, 32)  # of a blank picture, where the model does not say its own
LIMITS = ("capacity", "queue", "rate", "max_batch", "max_wait", "grace", "idle")


def access_of(given: argparse.Namespace) -> access.Access:
    """Who may do what; refused where others could connect without a token."""
    tokens = access.load_tokens(given.tokens)
    if not access.is_local(given.host) and not tokens:
        raise ValueError(
            f"--host {given.host} can be reached from other machines, so tokens are needed: --tokens FILE with lines "
            f"`role name token`, or the variable {access.VARIABLE}"
        )
    hosts = frozenset((*access.LOCAL, given.host, *given.allow_host))
    return access.Access(tokens, hosts, frozenset(given.allow_origin), from_here_only=given.ray and not tokens)


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


def require_folder(path: Path) -> None:
    """Make the folder of --state, or say why there can be none."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"--state is {path}, expected a folder, or one that can be made: {error.strerror}") from None


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
