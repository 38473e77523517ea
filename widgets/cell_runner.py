"""What runs the cells: somebody at a notebook, a program that executes one, or a dashboard."""

from __future__ import annotations

import os
import sys
from typing import Any, Literal

#: what executes a notebook and keeps its outputs, and nobody is there; what shows a dashboard,
#: whose outputs nobody keeps; a notebook with somebody at it; anything else
CellRunner = Literal["executor", "dashboard", "notebook", "none"]


def find_cell_runner() -> CellRunner:
    """Return what runs the cell that is under way.

    Notes
    -----
    nbclient, and with it nbconvert, papermill and most that executes notebooks, says with each
    cell that nobody can be asked for input; a notebook application says that somebody can. Voilà
    is an nbclient too, and known by what it tells the kernel of itself.
    """
    shell = find_kernel_shell()
    if shell is None:
        return "none"
    if os.environ.get("SERVER_SOFTWARE", "").startswith("voila") or "VOILA_PREHEAT" in os.environ:
        return "dashboard"
    asked = shell.get_parent().get("content", {})
    return "executor" if asked.get("allow_stdin") is False else "notebook"


def find_kernel_shell() -> Any:
    """Return the shell of the kernel that this runs in; None where it is none."""
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    return None if getattr(shell, "kernel", None) is None else shell


def is_in_marimo() -> bool:
    """Return whether this runs in a notebook of marimo; it shows no widgets inside of others."""
    marimo = sys.modules.get("marimo")
    return marimo is not None and bool(marimo.running_in_notebook())
