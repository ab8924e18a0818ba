"""`python -m knob_core.serving`: the same as `knob serve`."""

import sys

from knob_core.serving.serve_command import main

if __name__ == "__main__":
    sys.exit(main())
