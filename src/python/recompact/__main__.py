"""The program: `recompact` and `python -m recompact`."""

import signal
import sys

from ._native import run


def main() -> int:
    """Runs the program with the arguments of this process and returns its exit code."""
    # The program handles Ctrl-C itself. Python would only remember it until the program ends.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run(["recompact", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
