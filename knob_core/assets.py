"""Where the shipped files live: `assets/` beside the package, or the folder that KNOB_ASSETS names."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ASSETS = Path(os.environ.get("KNOB_ASSETS", ROOT / "assets"))
