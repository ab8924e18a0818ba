"""Pixels as a data URL for the browser: lossless WebP."""

from __future__ import annotations

import base64
import io

import numpy as np


def data_url(pixels: np.ndarray) -> str:
    """An image (H, W, 3) uint8."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "WEBP", lossless=True)
    return "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode()
