"""KnobStream: a gated model that runs frame by frame, on one stream or on thousands at once.

x_t = A x_{t-1} + B u*_t,  g = sigmoid(u),  z_fuse = g z_dyn + (1-g) z_static, as in `knob_core.response` all at once.

Knobs.    `zeta`, `omega_n`, `on`, `memory`, `mode`, `temperature` may be set at any time, from any thread, and act from
          the next frame on; `turn` sets several as one. A step reads them once, so it never sees half a turn. No turn
          resets a state, and what is switched off runs on behind its switch: switching it on again neither jumps nor
          starts anew.
Gaps.     A frame that did not come, or has a NaN in it or in its logits, counts as the last good one, held:
          `step(None)`, or `elapsed=n` frames, or `time` in seconds with the `frame_rate`. A gap of n frames is n - 1
          held ones and then the new one. Before a stream's first good frame nothing moves and its label is -1.
          A logit of -inf, or below -1e6, is no gap: it rules its class out.
Failure.  A step that raises leaves the state as it was.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

from knob_core import settings as settings_file
from knob_core._arrays.checks import as_array, is_tensor, real_numbers, require_size, shown, unmasked, whole_number
from knob_core.gates import NO_GATE
from knob_core.runtime import clock as clocks
from knob_core.runtime import state
from knob_core.runtime.advance import advance
from knob_core.runtime.answer import Answer
from knob_core.runtime.slew import limit, slewed
from knob_core.runtime.sources import Branch, Source, gate_of, source_of
from knob_core.runtime.state import State
from knob_core.settings import Settings

VERSION = 4  # of state_dict; older ones can be read
KNOBS = {entry.name for entry in fields(Settings)}


class KnobStream:
    """A model, two knobs, and the state of every stream."""

    def __init__(
        self,
        model: Any,  # a shipped model's name, a checkpoint's path, a model of ours, or a source of knob_core.wrap
        zeta: float | None = None,  # None: the settings', else the trained one
        omega_n: float | None = None,
        *,
        settings: Settings | str | os.PathLike[str] | None = None,  # or the path of a settings file
        streams: int | None = None,  # None: as many as the first step brings
        slew: float | None = None,  # largest change of the knobs' logarithm per step
        device: str = "auto",
    ) -> None:
        self._slew = limit(slew)
        if streams is not None:
            streams = whole_number("streams", streams, 1)
        self._source: Source = source_of(model, device)
        self._gate = gate_of(self._source)
        if isinstance(settings, (str, os.PathLike)):
            settings = settings_file.load(os.fspath(settings))
        if settings is not None and not isinstance(settings, Settings):
            raise ValueError(
                f"settings is a {type(settings).__name__}, expected Settings or the path of a settings file"
            )
        if settings is None:
            settings = Settings()
            if self._source.knobs is not None:
                settings = replace(settings, zeta=self._source.knobs[0], omega_n=self._source.knobs[1])
        self._turning = threading.Lock()  # two threads may turn the knobs at a time; neither turn is lost
        self._stepping = threading.Lock()  # between frames; a turn never waits for it
        self._settings = settings
        wanted = {"zeta": zeta, "omega_n": omega_n}
        self.turn(**{name: value for name, value in wanted.items() if value is not None})
        self._now = (self._settings.zeta, self._settings.omega_n)  # where the slew limit lets them be
        self._streams = streams
        self._state: State | None = None
        self._single = True  # whether the last frame came without an axis for streams

    # The knobs

    @property
    def settings(self) -> Settings:
        """All of them as they are set, to be kept with `knob_core.settings.save`."""
        return self._settings

    @settings.setter
    def settings(self, value: Settings) -> None:
        if not isinstance(value, Settings):
            raise ValueError(f"settings is a {type(value).__name__}, expected Settings")
        self.turn(**settings_file.as_dict(value))

    def turn(self, **changes: Any) -> None:
        """Set several knobs as one: no frame sees the one without the other."""
        if unknown := changes.keys() - KNOBS:
            raise ValueError(f"there is no knob {sorted(unknown)[0]!r}, expected some of {', '.join(sorted(KNOBS))}")
        with self._turning:
            numbers = {name: _plain(unmasked(name, value)) for name, value in changes.items()}
            self._settings = replace(self._settings, **numbers)

    zeta = property(lambda self: self._settings.zeta, lambda self, value: self.turn(zeta=value))
    omega_n = property(lambda self: self._settings.omega_n, lambda self, value: self.turn(omega_n=value))
    on = property(lambda self: self._settings.on, lambda self, value: self.turn(on=value))
    memory = property(lambda self: self._settings.memory, lambda self, value: self.turn(memory=value))
    mode = property(lambda self: self._settings.mode, lambda self, value: self.turn(mode=value))
    temperature = property(lambda self: self._settings.temperature, lambda self, value: self.turn(temperature=value))
    frame_rate = property(lambda self: self._settings.frame_rate, lambda self, value: self.turn(frame_rate=value))

    # Frames

    def step(self, frames: Any, *, ids: Any = None, elapsed: Any = None, time: Any = None) -> Answer:
        """One frame of every stream, or of the streams `ids` only; None for `frames` where none came.

        `elapsed` (frames since the last step, 1 unless given) or `time` (seconds): one for all or one per stream.
        """
        with self._stepping:
            settings = self._settings  # this frame's snapshot
            single = frames is not None and self._source.is_single(frames)
            branch = None if frames is None else self._read(frames, single)
            before = self._ready(branch)
            chosen = self._chosen(ids, before.streams)
            old = state.rows(before, chosen)
            branch = branch or Branch(*(np.full_like(x, np.nan) for x in (old.z_static, old.z_dyn, old.u_star)))
            if branch.z_static.shape != old.z_static.shape:
                raise ValueError(
                    f"frames give logits of shape {branch.z_static.shape}, expected {old.z_static.shape}: "
                    "streams x classes; name the streams by `ids` where only some have a frame"
                )
            gap, clock = self._elapsed(old, elapsed, time, settings.frame_rate)
            now = slewed(self._now, (settings.zeta, settings.omega_n), self._slew)
            result, new = advance(old, branch, gap, clock, now, settings, self._source)
            self._state, self._now = state.with_rows(before, chosen, new), now
            if frames is not None:
                self._single = single
        return result.single() if single or (frames is None and self._single and before.streams == 1) else result

    def reset(self, ids: Any = None) -> None:
        """Put all streams, or those named, to rest; the knobs stay."""
        with self._stepping:
            if self._state is None:
                return
            chosen = self._chosen(ids, self._state.streams)
            count = self._state.streams if chosen is None else len(chosen)
            self._state = state.with_rows(self._state, chosen, self._rest(count, self._state.num_classes))

    def state_dict(self) -> dict[str, np.ndarray]:
        """Plain arrays for np.savez or safetensors; from them a restart goes on bit for bit. Empty before any frame."""
        with self._stepping, self._turning:
            if self._state is None:
                return {}
            arrays = {name: getattr(self._state, name).copy() for name in state.NAMES}
            made = {"method": state.pack_method(self._source.method), "single": np.array(self._single)}
            return {**arrays, **made, "knobs": state.pack(self._now, self._settings), "version": np.array(VERSION)}

    def load_state_dict(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Go on from a state_dict, knobs and switches included; refused whole where anything does not fit."""
        if not isinstance(arrays, Mapping):
            raise ValueError(f"state is a {type(arrays).__name__}, expected what state_dict gave")
        with self._stepping:
            if not arrays:
                self._state = None
                return
            found = {name: as_array(f"state {str(name)[:40]!r}", array) for name, array in arrays.items()}
            version = found.pop("version", None)
            if str(version) not in map(str, range(1, VERSION + 1)):
                raise ValueError(f"state has version {version}, expected {VERSION}")
            found.pop("command", None)  # of older ones: a single classifier has no gate now
            older = str(version) != str(VERSION)
            if older:
                found = state.of_older(found, self._settings.attentive_weights(self._source.attentive))
            method = found.pop("method", None)
            if not (older and self._gate is NO_GATE):
                state.require_method(method, self._source.method)
            single = found.pop("single", np.array(True))
            if single.dtype.kind != "b" or single.shape:
                raise ValueError(f"state 'single' is {single.dtype} of shape {single.shape}, expected one bool")
            now, settings = state.unpack(found.pop("knobs", ()))
            shape = np.shape(found.get("z_static", ()))
            if len(shape) != 2 or shape[1] < 2 or self._source.num_classes not in (None, shape[1]):
                wanted = self._source.num_classes or "2 classes or more"
                raise ValueError(f"state 'z_static' has shape {shape}, expected (streams, {wanted})")
            if self._streams not in (None, shape[0]):
                raise ValueError(f"state has {shape[0]} streams, expected {self._streams}")
            if unknown := found.keys() - set(state.NAMES):
                raise ValueError(f"state has {min(map(str, unknown))[:40]!r}, expected {', '.join(state.NAMES)}")
            self._state = state.check(found, self._rest(*shape), self._gate)
            self._now, self._single = now, bool(single)
            stay = ("weights", "temperature", "goals")  # they belong to model and settings file
            self.turn(**{name: x for name, x in settings_file.as_dict(settings).items() if name not in stay})

    # One step

    def _read(self, frames: Any, single: bool) -> Branch:
        if isinstance(frames, tuple):
            branch = self._source(tuple(_indexable(x)[None] for x in frames) if single else frames)
        else:
            frames = _indexable(frames)
            branch = self._source(frames[None] if single else frames)
        one = branch.z_static is branch.z_dyn
        require_size("logits" if one else "z_static", branch.z_static)
        if not one:
            require_size("z_dyn", branch.z_dyn)
            require_size("u_star", branch.u_star)
        return branch

    def _ready(self, branch: Branch | None) -> State:
        """The state, or one at rest where this is the first step."""
        if self._state is not None:
            return self._state
        classes = self._source.num_classes if branch is None else branch.z_static.shape[1]
        count = self._streams or (None if branch is None else len(branch.z_static))
        if classes is None or count is None:
            raise ValueError("frames is None at the first step, expected a frame: nothing tells how many streams")
        return self._rest(count, classes)

    def _rest(self, count: int, classes: int) -> State:
        return state.at_rest(count, classes, self._gate)

    def _chosen(self, ids: Any, streams: int) -> np.ndarray | None:
        if ids is None:
            return None
        chosen = np.atleast_1d(np.asarray(unmasked("ids", ids)))
        whole = chosen.dtype.kind in "iu" and chosen.ndim == 1 and chosen.size > 0
        if not whole or chosen.min() < 0 or chosen.max() >= streams or len(np.unique(chosen)) != len(chosen):
            raise ValueError(f"ids is {ids!r}, expected different whole numbers in [0, {streams - 1}]")
        return chosen

    def _elapsed(self, old: State, elapsed: Any, time: Any, frame_rate: float) -> tuple[np.ndarray, np.ndarray]:
        """(N,) frames since the last step, and the clock after this one."""
        if elapsed is None and time is None:
            return np.ones(old.streams), old.time + 1.0 / frame_rate
        if elapsed is not None and time is not None:
            raise ValueError("elapsed and time are both given, expected one of them")
        name, value = ("elapsed", elapsed) if time is None else ("time", time)
        try:
            given = real_numbers(name, value)  # a copy: the state keeps it
        except (TypeError, ValueError, OverflowError):
            given = np.array(np.nan)
        if given.shape not in ((), (old.streams,)) or not (np.abs(given) <= state.LARGEST).all():
            raise ValueError(f"{name} is {shown(value)}, expected a finite number, or {old.streams} of them")
        frames, seconds = (given, np.nan) if time is None else (np.nan, given)
        gap, clock = clocks.since_last(old, frames, seconds, frame_rate)
        wrong = np.flatnonzero(~clocks.in_range(gap))
        if len(wrong):
            raise ValueError(f"{name} makes {gap[wrong[0]]} frames in stream {wrong[0]}, expected {clocks.ALLOWED}")
        return np.where(old.seen, gap, 1.0), clock


def _indexable(frames: Any) -> Any:
    return frames if is_tensor(frames) else np.asarray(unmasked("frames", frames))


def _plain(value: Any) -> Any:
    """A NumPy or tensor number as Python's own; anything else as it is."""
    return value.item() if hasattr(value, "item") and not np.ndim(value) else value
