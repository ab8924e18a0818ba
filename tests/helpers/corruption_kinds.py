"""Kinds of corruption that tests tell apart."""

CHANCE_FREE = (  # nothing is drawn: the same picture at the same severity gives the same pixels
    "brightness",
    "contrast",
    "defocus_blur",
    "gaussian_blur",
    "jpeg_compression",
    "pixelate",
    "saturate",
    "zoom_blur",
)
