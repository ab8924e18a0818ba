"""The metrics of several replicas as one text: each sample with its replica's name as a label."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client.core import Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector


class _Given(Collector):
    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> list[Metric]:
        return self._families


def joined(texts: Mapping[str, str]) -> bytes:
    """`texts`: what `Metrics.text` gave, by replica."""
    families: dict[str, Metric] = {}
    for replica, text in sorted(texts.items()):
        for family in text_string_to_metric_families(text):
            whole = families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
            for sample in family.samples:
                whole.add_sample(sample.name, {**sample.labels, "replica": replica}, sample.value)
    return generate_latest(_Given(list(families.values())))
