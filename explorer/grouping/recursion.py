"""Takes away the scopes of a module that holds a smaller one of itself, and that one another.

Programs write an encoder-decoder as a level with the next level inside (P. Isola and others,
Image-to-Image Translation with Conditional Adversarial Networks, 2017; MONAI's UNet). Drawn as
frames in frames it is seen two levels deep; all papers draw the levels one below the other.
"""

from __future__ import annotations

import re
from collections import Counter

from .group import Group
from .wrappers import dissolve

#: a name that stands so often on a way into the scopes is of a module inside of itself
_LEAST_NESTED = 3
#: a level holds at least this share of the level around it
_LEAST_SHARE = 0.5
#: what is no deeper than this is looked at
_MOST_DEPTH = 100

_DIGITS = re.compile(r"\d+")


def dissolve_recursion(root: Group) -> None:
    """Replace the scopes of a module that is inside of itself by what they hold.

    The innermost remains. Those inside repeated blocks do too.

    Parameters
    ----------
    root
        The root of a tree whose nodes have their numbers.
    """
    pending = [root]
    while pending:
        group = pending.pop()
        nested = _find_nested(group)
        for scope in nested:
            around = scope.parent
            if around is not None:
                dissolve([scope], group)
        pending += [inner for inner in group.inner_groups() if inner.kind == "scope"]


def _find_nested(group: Group) -> list[Group]:
    """Return the scopes on the way into a group that are to be dissolved, the outermost first."""
    way: list[Group] = []
    while len(way) < _MOST_DEPTH:
        inner = _find_level(way[-1] if way else group)
        if inner is None:
            break
        way.append(inner)
    names = [_DIGITS.sub("#", scope.label) for scope in way]
    counts = Counter(names)
    own = [place for place, name in enumerate(names) if counts[name] >= _LEAST_NESTED]
    if not own:
        return []
    last = own[-1] if way[own[-1]].inner_groups() else own[-1] - 1
    return way[: last + 1]


def _find_level(group: Group) -> Group | None:
    """Return the scope that holds most of a group besides nodes of its own; None for none."""
    scopes = [inner for inner in group.inner_groups() if inner.kind == "scope"]
    largest = max(scopes, key=lambda inner: inner.node_count, default=None)
    if largest is None or largest.node_count < _LEAST_SHARE * group.node_count:
        return None
    return largest
