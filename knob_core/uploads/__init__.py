"""Files from anybody: logits as npz, npy, CSV or parquet; pictures as zip, as files, or one animated GIF, WebP or PNG.

Nothing is unpacked to disk, nothing is unpickled, sizes are checked before they are allocated, and whatever is refused
is refused with a ValueError that names the cause. Video containers (mp4, avi, mov, ...) are not read: no decoder ships.
"""

from knob_core.uploads.logits import read_logits
from knob_core.uploads.pictures import Pictures, read_pictures
from knob_core.uploads.stream import Uploaded

__all__ = ["Pictures", "Uploaded", "read_logits", "read_pictures"]
