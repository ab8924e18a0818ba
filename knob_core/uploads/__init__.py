"""Files from anybody: logits as npz, npy, CSV or parquet; pictures as zip, as files, as one animated file or video.

Nothing is unpacked to disk, nothing is unpickled, sizes are checked before they are allocated, and whatever is refused
is refused with a ValueError that names the cause.
"""

from knob_core.uploads.logits import read_logits
from knob_core.uploads.pictures import Pictures, read_pictures
from knob_core.uploads.uploaded import Uploaded

__all__ = ["Pictures", "Uploaded", "read_logits", "read_pictures"]
