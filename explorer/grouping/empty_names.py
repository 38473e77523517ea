"""Takes away one of two frames where a module holds another one whose name says nothing: ``fn``.

So authors write what goes around a layer, such as its norm and its sum, as modules of their own
that call another one. A figure has one frame there, or none, and the name that says something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from netloupe.explorer.model import Node

from .container_names import is_container
from .group import Group, adopt
from .wrappers import count_open_boxes

#: names of what a module calls
_CALLED = frozenset({"body", "f", "fn", "func", "function", "g", "inner", "wrapped"})
#: classes that say what goes around and not what is inside
_AROUND = frozenset({"", "ModuleList", "PreNorm", "Residual", "Sequential"})
_WORDS = r"[A-Za-z]+"
#: a norm and its scale, and a sum
_MOST_BESIDE = 4
_BESIDE = ("adds", "multiplies_elements", "normalizes", "activates", "drops_out")
#: a chain of fewer is told on the face of what is closed
_LEAST_HELD = 4
#: a group gets no more children than a picture has boxes
_MOST_CHILDREN = 16


def dissolve_empty_names(root: Group) -> None:
    """Give modules whose names say nothing those of what is around them, or take them away.

    Parameters
    ----------
    root
        The root of a tree whose nodes have their numbers; changed.
    """
    if not any(map(_is_empty, _list_groups(root))):
        return
    pending = [root]
    while pending:
        group = pending.pop()
        if group.kind != "repeat":
            while _take_one_away(group):
                pass
        pending += [inner for inner in group.inner_groups() if inner.inner_groups()]


def _list_groups(root: Group) -> Iterator[Group]:
    pending = [root]
    while pending:
        group = pending.pop()
        yield group
        pending += group.inner_groups()


def _take_one_away(group: Group) -> bool:
    """Take one frame away in a group; return whether there was one."""
    is_block = group.parent is not None and group.parent.kind == "repeat"
    held = _find_held(group) if is_block or group.kind == "scope" else None
    is_seen = held is not None and count_open_boxes(held) >= _LEAST_HELD and held.recognised is None
    if held is not None and is_block and is_seen and _fits(group, held):
        _dissolve(held, group)
        return True
    for outer in group.inner_groups():
        inner = _find_held(outer) if outer.kind == "scope" and outer.inner_groups() else None
        if inner is not None and outer.recognised is None and _fits(group, outer):
            inner.label = outer.label
            inner.type_name = inner.type_name or outer.type_name
            _dissolve(outer, group)
            return True
    return False


def _find_held(group: Group) -> Group | None:
    """Return the one module in a group whose name says nothing, with little beside it."""
    if not group.inner_groups():
        return None
    shown = [child for child in group.children if isinstance(child, Node) or child.kind != "shape"]
    if not 1 < len(shown) <= 1 + _MOST_BESIDE:
        return None
    others = [child for child in shown if not _goes_around(child)]
    held = others[0] if len(others) == 1 else None
    return held if isinstance(held, Group) and _is_empty(held) else None


def _goes_around(child: Group | Node) -> bool:
    """Return whether something is a norm, a sum or the like, or only arranges what comes in."""
    if isinstance(child, Node):
        return child.operator.has(*_BESIDE)
    if child.kind == "operation" and child.main is not None:
        return child.main.operator.has(*_BESIDE)
    known = child.recognised if child.kind in ("block", "operation") else None
    return known is not None and known.family in ("normalization", "shape")


def _is_empty(group: Group) -> bool:
    """Return whether something is a module whose name says nothing."""
    if group.kind != "scope" or group.names_operator or group.type_name not in _AROUND:
        return False
    return _says_nothing(group.label)


@lru_cache(maxsize=4096)  # layers have the same names inside
def _says_nothing(label: str) -> bool:
    words = re.findall(_WORDS, label.lower())
    return bool(words) and all(word in _CALLED or is_container(word) for word in words)


def _fits(around: Group, wrapper: Group) -> bool:
    return count_open_boxes(around) + count_open_boxes(wrapper) - 1 <= _MOST_CHILDREN


def _dissolve(wrapper: Group, around: Group) -> None:
    """Put what a module holds into its place in the group around it."""
    wrapper.stand_in = max(wrapper.inner_groups(), key=lambda inner: inner.node_count, default=None)
    place = around.children.index(wrapper)
    around.children = [
        *around.children[:place],
        *wrapper.children,
        *around.children[place + 1 :],
    ]
    adopt(around)
