"""The page as the browser loads it: built from ``widgets/frontend`` and committed."""

from pathlib import Path

#: the folder of the built files
PAGE = Path(__file__).parent
