"""`python -m knob_core` is the command `knob`."""

import sys

from knob_core.cli import main

sys.exit(main())
