"""Write docs/netloupe.1, the man page, from the parsers of the command line.

Usage: python tools/make_man_page.py
"""

from __future__ import annotations

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_ROOT), str(_ROOT / "tools" / "site")]  # this tree, and not one installed

from command_pages import write_man_page  # noqa: E402 - after the path is set

PAGE = _ROOT / "docs" / "netloupe.1"

if __name__ == "__main__":
    PAGE.write_text(write_man_page(), encoding="utf-8")
