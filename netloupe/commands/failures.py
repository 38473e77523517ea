"""What is said of work that has failed."""

from __future__ import annotations

import os
from collections.abc import Sequence

from netloupe.explorer.errors import NetloupeError, ReadingError, find_shell_advice

from .streams import advise, reason_of


def explain_error(error: Exception, about: Sequence[str]) -> str:
    """Return what is wrong in one sentence; what nobody expects is raised again for debugging.

    Parameters
    ----------
    error
        What was raised.
    about
        The words of the command, for messages about what nobody expects.
    """
    is_expected = isinstance(error, NetloupeError) and not isinstance(error, ReadingError)
    if os.environ.get("NETLOUPE_DEBUG") and not is_expected:
        raise error
    if isinstance(error, NetloupeError):
        return " ".join(filter(None, (str(error), find_shell_advice(error))))
    if isinstance(error, OSError) and error.errno is not None:
        return f"{' '.join(about)}: {reason_of(error)}. {advise(error)}"
    return (
        f"{' '.join(about)}: internal error ({type(error).__name__}: {error}). "
        "Set NETLOUPE_DEBUG=1 for the traceback and report it."
    )
