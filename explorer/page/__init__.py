"""The page as the browser loads it.

The front end is built from ``widgets/frontend`` and committed; beside it a description becomes the
HTML that its style sheet is for. Nothing here knows widgets: whoever hosts the page brings them.
"""

from pathlib import Path

#: the folder of the built files
PAGE = Path(__file__).parent
