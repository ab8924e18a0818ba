"""Prometheus metrics of a service: what a batch gave is counted when it is done, what stands is read when asked.

`knob_excess_flips_total` counts flips that were taken back: the answer left a class and was back at it within EXCESS
frames. Without true labels that is the nearest there is to an excess flip (`knob_core.measures.change`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from knob_core.serving.engine import Engine
from knob_core.serving.maintenance import Maintenance
from knob_core.serving.stepper import Batch

LATENCY = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)  # s
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)  # frames
EXCESS = 10  # frames


class Metrics:
    """One registry per service; `observe` is the engine's."""

    def __init__(self, engine: Engine, maintenance: Maintenance | None = None) -> None:
        self.registry = registry = CollectorRegistry()
        self._frames = Counter("knob_frames", "Frames answered", registry=registry)
        self._flips = Counter("knob_flips", "Answers that differ from the one before", registry=registry)
        self._excess = Counter("knob_excess_flips", "Flips that were taken back within 10 frames", registry=registry)
        self._latency = Histogram(
            "knob_latency_seconds", "From a frame's arrival to its answer", buckets=LATENCY, registry=registry
        )
        self._batch = Histogram("knob_batch_frames", "Frames of a batch", buckets=SIZES, registry=registry)
        self._model = Counter("knob_model_seconds", "Time in the model", registry=registry)
        self._cpu = Counter("knob_model_cpu_seconds", "CPU time in the model, of its own thread", registry=registry)
        self._steps = Counter("knob_step_seconds", "Time in memory, gate and answers", registry=registry)
        self._gate = Counter("knob_gate_sum", "Sum of g over answered frames", registry=registry)
        registry.register(Standing(engine, maintenance))

    def observe(self, batch: Batch) -> None:
        now = time.monotonic()
        self._frames.inc(len(batch.answers))
        self._batch.observe(batch.frames)
        self._model.inc(batch.model)
        self._cpu.inc(batch.model_cpu)
        self._steps.inc(batch.steps)
        self._gate.inc(sum(answer["g"] or 0.0 for _, answer in batch.answers))
        flips = excess = 0
        for item, answer in batch.answers:
            self._latency.observe(now - item.arrived)
            stream, label = item.stream, answer["label"]
            if stream.shown is not None and stream.shown != label:
                flips += 1
                was, at = stream.left
                excess += label == was and item.number - at <= EXCESS
                stream.left = (stream.shown, item.number)
            stream.shown = label
        self._flips.inc(flips)
        self._excess.inc(excess)

    def text(self) -> bytes:
        return generate_latest(self.registry)


class Standing(Collector):
    """What is read at the moment of asking."""

    def __init__(self, engine: Engine, maintenance: Maintenance | None) -> None:
        self.engine, self.maintenance = engine, maintenance

    def collect(self) -> Iterator[Metric]:
        engine = self.engine
        with engine.lock:
            streams = list(engine.streams.values())
            connected = sum(stream.sink is not None for stream in streams)
            waiting = sum(len(stream.waiting) for stream in streams)
            flips = [rate for stream in streams if (rate := stream.ring.flips("label")) is not None]
            bare = [rate for stream in streams if (rate := stream.ring.flips("bare")) is not None]
            gates = [stream.last["g"] for stream in streams if stream.last is not None and stream.last["g"] is not None]
        yield _gauge("knob_streams", "Streams that have a state or a socket", len(streams))
        yield _gauge("knob_streams_connected", "Streams with an open socket", connected)
        yield _gauge("knob_streams_capacity", "Streams at most", engine.limits.capacity)
        yield _gauge("knob_frames_waiting", "Frames that wait for a batch", waiting)
        for name, says, values in (
            ("knob_flips_per_100", "Flips per 100 frames over the last 300, mean of the streams", flips),
            ("knob_flips_bare_per_100", "The same of the frames alone, without Knob", bare),
            ("knob_gate_mean", "g, mean of the streams' last frames", gates),
        ):
            yield _gauge(name, says, float(np.mean(values)) if values else float("nan"))
        for name, says, value in (
            ("knob_frames_dropped", "Frames that gave way to newer ones", engine.dropped),
            ("knob_frames_refused", "Frames that were not taken", engine.refused),
        ):
            yield CounterMetricFamily(name, says, value=value)
        table = engine.knobs.table
        yield _gauge("knob_revision", "Revision of the knobs", table.revision)
        yield _gauge("knob_zeta", "Damping ratio for all", table.base.zeta)
        yield _gauge("knob_omega_n", "Natural frequency for all, rad/frame", table.base.omega_n)
        if self.maintenance is not None:
            yield CounterMetricFamily("knob_snapshots", "Snapshots written", value=self.maintenance.saved)
            yield CounterMetricFamily("knob_snapshots_failed", "Snapshots that failed", value=self.maintenance.failed)


def _gauge(name: str, says: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, says, value=value)
