"""Run the command line with ``python -m netloupe``."""

import sys

from netloupe.commands.cli import main

if __name__ == "__main__":
    sys.exit(main())
