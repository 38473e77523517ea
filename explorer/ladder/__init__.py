"""Two models as a ladder of blocks beside the list of what differs: one still picture.

A difference goes in; out come rows of blocks, those that the matcher pairs on one line, and from
these marks that SVG, PNG and PDF are drawn with. Nothing here pairs nodes or says what differs:
that is of the entries of the difference alone.
"""

from .ladder import LADDER_FORMATS, draw_ladder, make_ladder

__all__ = ["LADDER_FORMATS", "draw_ladder", "make_ladder"]
