"""Lists whose members stand between those of others that do not lead to them.

Two towers may be computed in turns, so that what comes of each layer is at hand further on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .modules import Module

_MEMBER = re.compile(r"(?P<list>.+)\.\d+")
#: lists of fewer members are told as they stand
_LEAST = 3


def gather_lists(modules: Sequence[Module]) -> list[Module]:
    """Return modules with the members of each list together where nothing between them leads on.

    Parameters
    ----------
    modules
        Modules in order.

    Returns
    -------
    list of Module
        The same, each list where its first member stands, unless what stands between its members
        leads to one of them.
    """
    lists: dict[str, list[Module]] = {}
    for module in modules:
        match = _MEMBER.fullmatch(module.label) if module.group is not None else None
        if match is not None and module.pieces:
            lists.setdefault(match["list"], []).append(module)
    gathered = [*modules]
    for members in lists.values():
        first, last = (gathered.index(members[end]) for end in (0, -1))
        between = [one for one in gathered[first : last + 1] if one not in members]
        if len(members) < _LEAST or not between or any(_leads(one, members) for one in between):
            continue
        gathered[first : last + 1] = [*members, *between]
    return gathered


def _leads(module: Module, members: Sequence[Module]) -> bool:
    """Return whether a module leads to one of some others."""
    own = [piece.part for piece in module.pieces]
    others = [piece.part for member in members for piece in member.pieces]
    return any(part.follows(one) for part in others for one in own)
