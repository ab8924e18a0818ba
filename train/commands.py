"""How a long command ends: with what it made, or with one line that names the cause, and an exit code to match."""

from __future__ import annotations

import sys
from collections.abc import Callable

from train.training import distributed


def run(name: str, work: Callable[[], None]) -> int:
    """0 where work ends well, 1 after an error of the user's or the data's, 130 after Ctrl-C."""
    try:
        work()
    except (ValueError, OSError, ArithmeticError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{name}: stopped; the same command goes on from here", file=sys.stderr)
        return 130
    finally:
        distributed.stop()
    return 0
