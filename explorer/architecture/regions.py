"""Which blocks of a graph are told together: a stream, a head, and what is between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from .clause import MINOR
from .modules import Module, walk_modules
from .pieces import Piece
from .reach import join_all
from .row_names import name_module

#: a region of the graph: its kind, and which of that kind it is
Key = tuple[str, int]
FRONT: Key = ("front", 0)
TRUNK: Key = ("trunk", 0)
#: more streams, or heads, are those of many features
_MOST_WAYS = 4
#: kinds that are no more than what features are looked up in
_LOOKING_UP = frozenset({"embedding", "positions"})


def settle(root: Module, regions: dict[int, Key]) -> bool:
    """Put what is repeated, and members of a list, in one region each; return whether that fits."""
    masks = Counter(module.mask for one in root.inner for module in walk_modules(one))
    inner = Counter(module.mask for module in root.inner)
    return all(_settle(one, regions, masks, inner) for one in root.inner)


def _settle(
    module: Module, regions: dict[int, Key], masks: Counter[str], beside: Counter[str]
) -> bool:
    """Put a module in one region, or what is in it; ``beside`` counts the names around it."""
    if len({regions[id(piece)] for piece in module.pieces}) == 1:
        return True
    is_member = beside[module.mask] > 1 or ("#" in module.mask[1:] and masks[module.mask] > 1)
    if is_member or module.group is None or module.is_repeat:
        return _join(module.pieces, regions)
    inner = Counter(one.mask for one in module.inner)
    return all(_settle(one, regions, masks, inner) for one in module.inner)


def _join(pieces: Sequence[Piece], regions: dict[int, Key]) -> bool:
    """Put blocks in one region; return whether these are not several streams."""
    keys = {regions[id(piece)] for piece in pieces}
    rest = {key for key in keys if key[0] not in ("condition", "side")} or keys
    kinds = {kind for kind, _ in rest}
    key = next(iter(rest))
    if kinds == {"condition"}:  # it is made of several inputs
        key = "condition", join_all(mask for _, mask in rest)
    elif len(rest) > 1:
        if "trunk" not in kinds and "stream" in kinds:
            return False
        key = TRUNK
    for piece in pieces:
        regions[id(piece)] = key
    return True


def keep_ways(
    pieces: Sequence[Piece], regions: dict[int, Key], kind: str, ways: Sequence[int]
) -> list[int]:
    """Return the ways that are told: two or more of which two are more than a step."""
    held: list[list[Piece]] = [[] for _ in ways]
    for piece in pieces:
        one, place = regions[id(piece)]
        if one == kind and place >= 0:
            held[place].append(piece)
    chains = sum(map(_is_chain, held))
    is_end = all(regions[id(piece)][0] == kind for piece in pieces)
    is_even = not chains or is_end  # else one of them is a step before the other
    are_pair = kind == "stream" and len(ways) == 2 and is_even and all(map(_has_layer, held))
    are_told = are_pair or chains >= 2 - (kind == "head")
    if 2 <= len(ways) <= _MOST_WAYS and all(held) and are_told:
        return [*ways]
    return drop_ways(regions, kind)


def _has_layer(pieces: Sequence[Piece]) -> bool:
    return not all(map(is_lookup, pieces))


def is_lookup(piece: Piece) -> bool:
    """Return whether a block is no more than what features are looked up in."""
    return piece.kind in _LOOKING_UP


def _is_chain(pieces: Sequence[Piece]) -> bool:
    """Return whether blocks are more than a step before something else."""
    told = [piece for piece in pieces if not is_lookup(piece)]
    is_more = len(pieces) > 1 or any(piece.fold[1] > 1 for piece in pieces)
    return bool(told) and (is_more or any(piece.kind not in MINOR for piece in told))


def drop_ways(regions: dict[int, Key], kind: str) -> list[int]:
    """Tell blocks of a kind of region with the trunk; return no ways.

    Beside the trunk itself is nothing.
    """
    kinds = {kind, "side"} if kind == "stream" else {kind}
    for one, key in regions.items():
        if key[0] in kinds:
            regions[one] = TRUNK
    return []


def have_names(root: Module, regions: Mapping[int, Key], kind: str, count: int) -> bool:
    """Return whether each of some ways is one module that an author named, as ``policy_head``.

    Of streams all have one noun, as ``image_encoder`` and ``text_encoder``; branches may be
    ``experts.0 … 3``.
    """
    names = {_name_way(root, regions, (kind, place)) for place in range(count)}
    nouns = {name.split(" ")[-1] for name in names}
    is_each = len(names) == count or kind == "branch"
    return is_each and "" not in names and (kind != "stream" or len(nouns) == 1)


def _name_way(root: Module, regions: Mapping[int, Key], key: Key) -> str:
    """Return what the one module is called that holds all blocks of a region; "" for none."""
    modules = [root]
    while len(modules) == 1:
        module = modules[0]
        is_own = all(regions[id(piece)] == key for piece in module.pieces)
        if is_own and (name := name_module(module)):
            return name
        modules = [
            one for one in module.inner if any(regions[id(piece)] == key for piece in one.pieces)
        ]
    return ""
