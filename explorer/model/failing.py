"""An element that cannot be read for a reason that nobody foresaw is named by what is raised.

Damage is found when a file is parsed. What comes up later, while graphs are filled or when the
details of a node are asked for, is an oversight of a reader: nobody would find the place without
the element's name.
"""

from __future__ import annotations

from typing import NoReturn

from netloupe.explorer.errors import NetloupeError, ReadingError
from netloupe.explorer.notation import clip_text
from netloupe.explorer.progress import is_ending

_LONGEST_ELEMENT = 300
_LONGEST_REASON = 200


def fail(error: Exception, source: str, element: str) -> NoReturn:
    """Raise ReadingError for what came up while an element was read.

    Parameters
    ----------
    error
        What came up. It is raised again as it is where it names its element already or says
        nothing of one: a NetloupeError, a lack of memory, what a watcher of the work ends it with.
    source
        The name of the file; "" where it is not known.
    element
        The element, as in ``node 'Conv_12' in main``.
    """
    if isinstance(error, (NetloupeError, MemoryError)) or is_ending(error):
        raise error
    shown = clip_text(element, _LONGEST_ELEMENT)
    if not shown.isprintable():
        shown = repr(shown)[1:-1]
    reason = clip_text(" ".join(f"{type(error).__name__}: {error}".split()), _LONGEST_REASON)
    raise ReadingError(
        f"{f'{source}: ' if source else ''}{shown} cannot be read ({reason}). "
        "This is a mistake in netloupe: please report it with the file."
    ) from error
