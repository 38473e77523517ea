"""How many modules of one class there are, beside the blocks of one kind that are found in them.

An author's class is the same for all of its blocks, where a pattern may know most of them: the
first may lack a sum, or a norm may be merged into what comes behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .clause import MINOR
from .modules import Module
from .pieces import Piece

#: kinds of block that are what their module is
_BLOCKS = frozenset({"group", "inverted", "mixer", "residual", "transformer"})
#: classes that hold anything
_CONTAINERS = frozenset({"ModuleDict", "ModuleList", "Sequential"})
#: a block is what its module is where it has so much of its weights
_LEAST_SHARE = 0.5
#: so much of the modules of a class must be of the kind, and more if the others are something else
_LEAST_OF_CLASS = 0.6
_LEAST_BESIDE_OTHERS = 0.8


class Census:
    """Modules by their class.

    Parameters
    ----------
    root
        All modules.
    weigh
        Returns how many weights a block has.
    """

    def __init__(self, root: Module, weigh: Callable[[Piece], int]) -> None:
        self._weigh = weigh
        self._ways: dict[int, tuple[Module, ...]] = {}
        pending: list[tuple[Module, tuple[Module, ...]]] = [(root, ())]
        while pending:
            module, way = pending.pop()
            if not module.is_repeat:
                way = (*way, module)
            for piece in module.pieces if not module.inner else ():
                self._ways[id(piece)] = way
            pending += [(inner, way) for inner in module.inner]

    def count(self, kind: Sequence[Piece]) -> int:
        """Return how many modules there are of the class of which blocks of a kind are.

        That is the number of blocks, unless there are a few more modules of their class in what
        holds all of them.
        """
        number = len(kind)
        if number < 2 or kind[0].kind not in _BLOCKS or any(one.fold[1] > 1 for one in kind):
            return sum(piece.fold[1] for piece in kind)
        ways = [self._ways.get(id(piece), ()) for piece in kind]
        depth = 0
        while all(len(way) > depth and way[depth] is ways[0][depth] for way in ways):
            depth += 1
        if not depth:
            return number
        own = {id(piece) for piece in kind}
        names = dict.fromkeys(one.type_name for one in ways[0][: depth - 1 : -1])
        for name in names:
            if name and name not in _CONTAINERS:
                found = _find_class(ways[0][depth - 1], name)
                if self._is_theirs(found, own):
                    return len(found)
        return number

    def _is_theirs(self, found: Sequence[Module], own: set[int]) -> bool:
        """Return whether each of some blocks is most of its module, and a few modules have none."""
        counts = [sum(id(piece) in own for piece in one.pieces) for one in found]
        held = [one for one, count in zip(found, counts, strict=True) if count == 1]
        others = [one for one, count in zip(found, counts, strict=True) if not count]
        kinds = {piece.kind for one in held for piece in one.pieces if id(piece) in own}
        if any(piece.kind in kinds for one in others for piece in one.pieces):
            return False  # these are told, too
        is_plain = all(piece.kind in MINOR for one in others for piece in one.pieces)
        least = _LEAST_OF_CLASS if is_plain else _LEAST_BESIDE_OTHERS
        if not len(held) == len(own) == len(found) - len(others) >= least * len(found):
            return False
        return bool(others) and all(self._is_most(one, own) for one in held)

    def _is_most(self, module: Module, own: set[int]) -> bool:
        total = sum(map(self._weigh, module.pieces))
        held = sum(self._weigh(piece) for piece in module.pieces if id(piece) in own)
        return held >= _LEAST_SHARE * total > 0


def _find_class(module: Module, name: str) -> list[Module]:
    """Return the modules of a class in another one, but those that are in one of them."""
    found: list[Module] = []
    pending = [*module.inner]
    while pending:
        one = pending.pop()
        if one.type_name == name and not one.is_repeat:
            found.append(one)
        else:
            pending += one.inner
    return found
