"""Files from anybody: logits as npz, npy, CSV, TSV or parquet; pictures as zip, files, one animated file or video.

Nothing is unpacked to disk, nothing is unpickled; limits are checked on what will really be decoded, before memory is
taken; a `Budget` ends what takes too long or was cancelled; and whatever is refused is refused with a ValueError that
names the file, the value and what is allowed.
"""

from knob_core.uploads.budget import Budget, Stopped
from knob_core.uploads.logits import read_logits
from knob_core.uploads.pictures import Pictures, read_pictures
from knob_core.uploads.uploaded import Uploaded

__all__ = ["Budget", "Pictures", "Stopped", "Uploaded", "read_logits", "read_pictures"]
