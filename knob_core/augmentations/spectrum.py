"""Changes of a picture's amplitude spectrum; its phase, which carries the shapes, stays.

mix_amplitudes: |Y| = (1 - w) |X| + w |P|, P another picture;  band_gains: |Y| = k(f) |X| away from the mean,
k drawn for each of 4 x 4 cells of the frequency plane by itself.  Y = |Y| X / |X|
Reference: Chen et al., "Amplitude-Phase Recombination" (ICCV 2021) for the first.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Generator, Tensor

OPERATIONS = ("mix_amplitudes", "band_gains")
EDGES = (1 / 16, 1 / 8, 1 / 4)  # cycles a pixel, between the four bands of each axis
TOP_GAIN = 2.5  # k is log-uniform in [1 / TOP_GAIN, TOP_GAIN]
BANDS = len(EDGES) + 1
TINY = 1e-6  # of an amplitude


def mixing_factor(spectrum: Tensor, partner: Tensor, weight: Tensor) -> Tensor:
    """What multiplies a spectrum (N, 3, H, F) so that its amplitude lies `weight` (N,) of the way to the partner's."""
    amplitude = spectrum.abs()
    return torch.lerp(amplitude, partner.abs(), weight.view(-1, 1, 1, 1)) / amplitude.clamp_min(TINY)


def gain_map(gains: Tensor, height: int, width: int) -> Tensor:
    """Gains (N, 4, 4) of the bands of both axes, low to high, as (N, 1, H, F) over the half plane; 1 at frequency 0."""
    device = gains.device
    edges = torch.tensor(EDGES, device=device)
    rows = torch.bucketize(torch.fft.fftfreq(height, device=device).abs(), edges, right=True)  # (H,)
    columns = torch.bucketize(torch.fft.rfftfreq(width, device=device), edges, right=True)  # (F,)
    k = gains[:, rows[:, None], columns].unsqueeze(1)
    k[:, :, 0, 0] = 1
    return k


def mix_amplitudes(images: Tensor, partners: Tensor, weight: Tensor) -> Tensor:
    """Each picture's shapes with an amplitude spectrum `weight` (N,) of the way to its partner's."""
    spectrum, partner = torch.fft.rfft2(images), torch.fft.rfft2(partners)
    return _back(spectrum * mixing_factor(spectrum, partner, weight), images)


def band_gains(images: Tensor, gains: Tensor) -> Tensor:
    """Each picture with its bands amplified or weakened by gains (N, 4, 4); its mean colour stays."""
    return _back(torch.fft.rfft2(images) * gain_map(gains, *images.shape[2:]), images)


def perturb(images: Tensor, generator: Generator | None = None) -> Tensor:
    """A third of the pictures as they are, a third with amplitudes of their neighbour, a third with random gains."""
    count, device, dtype = len(images), images.device, images.dtype
    options: dict[str, Any] = {"generator": generator, "device": device}
    kind = torch.randint(0, len(OPERATIONS) + 1, (count,), **options)
    weight = torch.rand(count, dtype=dtype, **options)
    gains = torch.exp(math.log(TOP_GAIN) * (2 * torch.rand(count, BANDS, BANDS, dtype=dtype, **options) - 1))
    out = images.clone()
    rows = (kind == 1).nonzero().squeeze(1)
    if len(rows):
        out[rows] = mix_amplitudes(images[rows], images[(rows + 1) % count], weight[rows])
    rows = (kind == 2).nonzero().squeeze(1)
    if len(rows):
        out[rows] = band_gains(images[rows], gains[rows])
    return out


def _back(spectrum: Tensor, images: Tensor) -> Tensor:
    return torch.fft.irfft2(spectrum, s=images.shape[2:]).clamp_(0, 1)
