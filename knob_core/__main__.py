"""`python -m knob_core` is the command `knob`."""

import sys

from knob_core.cli import main

if __name__ == "__main__":
    sys.exit(main())
