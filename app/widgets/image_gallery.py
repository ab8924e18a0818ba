"""The image gallery: pick an image of the sample."""

from __future__ import annotations

import numpy as np
import streamlit as st

from app.widgets.browser_component import common, no_callback, register
from app.widgets.webp import data_url
from knob_core.data import CLASSES, load_sample

PER_CLASS = 6

_gallery = register("knob_gallery", "image_gallery")


@st.cache_resource(show_spinner=False, max_entries=32)
def _pictures(ready: tuple[int, ...]) -> tuple[str, list[dict[str, object]]]:
    """(sprite, items): the images that are ready at once first, then some of every class."""
    images, labels, _ = load_sample()
    some = [int(i) for k in range(len(CLASSES)) for i in np.flatnonzero(labels == k)[:PER_CLASS]]
    places = list(dict.fromkeys([*ready, *some]))
    columns = 10
    rows = -(-len(places) // columns)
    mosaic = np.zeros((rows * 32, columns * 32, 3), np.uint8)
    items: list[dict[str, object]] = []
    for cell, place in enumerate(places):
        y, x = divmod(cell, columns)
        mosaic[y * 32 : y * 32 + 32, x * 32 : x * 32 + 32] = images[place].transpose(1, 2, 0)
        here = place in ready
        label = f"{CLASSES[labels[place]]}, image {place}" + (", at once" if here else ", computed when chosen")
        items.append({"id": place, "cell": cell, "label": label, "ready": here})
    return data_url(mosaic), items


def image_gallery(ready: tuple[int, ...], chosen: int, *, key: str) -> int | None:
    """Mount the gallery; the image that was clicked in this run, or None."""
    sprite, items = _pictures(ready)
    data = {"sprite": sprite, "columns": 10, "rows": -(-len(items) // 10), "items": items, "chosen": chosen}
    picked = _gallery(key=key, data={**common(), **data}, on_picked_change=no_callback).picked
    known = {item["id"] for item in items}
    return picked if isinstance(picked, int) and picked in known else None
