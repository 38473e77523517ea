"""How the blocks of a graph join: streams from its inputs, and heads to its outputs.

Streams begin at different inputs and have nothing in common before they meet. Heads begin behind
the last block that leads to all outputs, and have nothing in common from there on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .calls import Called
from .clause import MINOR, weigh_pieces
from .conditions import OF_GRAPHS, Conditions, find_conditions
from .modules import Module
from .outline import Outline
from .pieces import CROSS_ATTENTION, Piece
from .reach import Reach, join_all, join_masks, list_bits
from .row_names import name_module

#: more streams, or heads, are those of many features
_MOST_WAYS = 4
_ATTENDING = frozenset({"attention", "transformer"})
#: kinds that are no more than what features are looked up in
_LOOKING_UP = frozenset({"embedding", "positions"})
#: a region of the graph: its kind, and which of that kind it is
Key = tuple[str, int]
FRONT: Key = ("front", 0)
TRUNK: Key = ("trunk", 0)


@dataclass(frozen=True)
class Topology:
    """How the blocks of a graph join.

    Parameters
    ----------
    regions
        The region of each block, by its identity.
    streams, heads
        Of each of them which inputs it begins at, or which outputs it leads to; nothing where
        there are not two.
    joint
        How streams meet, in a word; "" where they do in several ways.
    reach
        What follows from what.
    conditions
        What enters a stack again and again.
    """

    regions: Mapping[int, Key]
    reach: Reach
    streams: tuple[tuple[int, ...], ...] = ()
    heads: tuple[tuple[int, ...], ...] = ()
    joint: str = ""
    conditions: Conditions = field(default_factory=Conditions)

    def __bool__(self) -> bool:
        return bool(self.streams or self.heads or self.conditions.inputs)


def find_topology(
    outline: Outline,
    called: Called,
    root: Module,
    before: Sequence[Piece],
    *,
    are_heads: bool = True,
) -> Topology:
    """Return how the blocks of modules join; streams and heads where there are several.

    Parameters
    ----------
    outline
        Of the graph.
    called
        What follows from what.
    root
        All modules.
    before
        Blocks that are told by what the graph takes, and are in no module.
    are_heads
        Whether what leads to one output alone is a head, and no level of a pyramid.
    """
    pieces = root.pieces
    reach = called.reach
    if any(piece.kind in OF_GRAPHS for piece in pieces):
        return Topology({}, reach)  # what is said of nodes and of edges meets in each layer
    conditions = find_conditions(outline, reach, pieces)
    taken = {id(piece): called.taken_by(piece) for piece in (*before, *pieces)}
    given = {id(piece): called.given_by(piece) for piece in pieces}
    ways = _find_ways([mask & ~conditions.sources for mask in taken.values()])
    every = join_all(given.values())
    ends = join_masks([*given.values()], every)
    regions: dict[int, Key] = {}
    for piece in before:
        regions[id(piece)] = "stream", _find_place(ways, taken[id(piece)])
    for piece in pieces:
        mask = taken[id(piece)]
        stream = _find_place(ways, mask)
        head = _find_place(ends, given[id(piece)]) if given[id(piece)] != every else -1
        is_condition = mask and not mask & ~conditions.sources
        if is_condition and conditions.inputs:
            regions[id(piece)] = ("condition", mask)
        elif stream >= 0:
            regions[id(piece)] = ("stream", stream)
        elif head >= 0:
            regions[id(piece)] = ("head", head)
        else:
            regions[id(piece)] = TRUNK
    if not _settle(root, regions, is_root=True):
        return Topology({id(piece): TRUNK for piece in pieces}, reach)
    ways = _keep([*before, *pieces], regions, "stream", ways)
    ends = _keep(pieces, regions, "head", ends)
    if ways and _have_names(root, regions, "stream", len(ways)):
        ways = _drop(regions, "stream")
    if ends and (
        not are_heads
        or _have_names(root, regions, "head", len(ends))
        or not _is_shared_most(pieces, regions, len(ends))
    ):
        ends = _drop(regions, "head")
    if ways and not _put_shared_first(pieces, regions):
        ways = _drop(regions, "stream")
    inputs = tuple(
        tuple(dict.fromkeys(reach.sources[bit].number for bit in list_bits(mask))) for mask in ways
    )
    outputs = tuple(tuple(list_bits(mask)) for mask in ends)
    joint = _find_joint(outline, reach, ways) if ways else ""
    return Topology(regions, reach, inputs, outputs, joint, conditions)


def _find_ways(masks: Sequence[int]) -> list[int]:
    """Return the inputs of each stream, without those that lead to no block before others do."""
    live = join_all(masks)
    ways: list[int] = []
    while live:
        ways = join_masks([mask & live for mask in masks], live)
        kept = join_all(ways)
        if kept == live:
            break
        live = kept
    return ways


def _find_place(ways: Sequence[int], mask: int) -> int:
    """Return which way a mask is on; -1 for none, or several."""
    found = [place for place, way in enumerate(ways) if way & mask]
    return found[0] if len(found) == 1 else -1


def _settle(module: Module, regions: dict[int, Key], *, is_root: bool = False) -> bool:
    """Put what is repeated, and members of a list, in one region each; return whether that fits."""
    keys = {regions[id(piece)] for piece in module.pieces}
    if len(keys) == 1:
        return True
    masks = [one.mask for one in module.inner]
    is_open = is_root or (module.group is not None and not module.is_repeat)
    if is_open:
        return all(
            _settle(one, regions) if masks.count(one.mask) == 1 else _join(one.pieces, regions)
            for one in module.inner
        )
    return _join(module.pieces, regions)


def _join(pieces: Sequence[Piece], regions: dict[int, Key]) -> bool:
    """Put blocks in one region; return whether these are not several streams."""
    keys = {regions[id(piece)] for piece in pieces}
    rest = {key for key in keys if key[0] != "condition"} or keys
    kinds = {kind for kind, _ in rest}
    key = next(iter(rest))
    if len(rest) > 1:
        if "trunk" not in kinds and "stream" in kinds:
            return False
        key = TRUNK
    for piece in pieces:
        regions[id(piece)] = key
    return True


def _keep(
    pieces: Sequence[Piece], regions: dict[int, Key], kind: str, ways: Sequence[int]
) -> list[int]:
    """Return the ways that are told: two or more of which two are more than a step."""
    held: list[list[Piece]] = [[] for _ in ways]
    for piece in pieces:
        one, place = regions[id(piece)]
        if one == kind and place >= 0:
            held[place].append(piece)
    chains = sum(map(_is_chain, held))
    are_pair = kind == "stream" and len(ways) == 2 and not chains and all(map(_has_layer, held))
    are_told = are_pair or chains >= 2 - (kind == "head")
    if 2 <= len(ways) <= _MOST_WAYS and all(held) and are_told:
        return [*ways]
    return _drop(regions, kind)


def _have_names(root: Module, regions: Mapping[int, Key], kind: str, count: int) -> bool:
    """Return whether each of some ways is one module that an author named, as ``policy_head``.

    Of streams both have one noun, as ``image_encoder`` and ``text_encoder``.
    """
    names = {_name_way(root, regions, (kind, place)) for place in range(count)}
    nouns = {name.split(" ")[-1] for name in names}
    return len(names) == count and "" not in names and (kind == "head" or len(nouns) == 1)


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


def _is_shared_most(pieces: Sequence[Piece], regions: Mapping[int, Key], count: int) -> bool:
    """Return whether no head is more than what all of them share; else it is no head."""
    held = [[p for p in pieces if regions[id(p)] == ("head", place)] for place in range(count)]
    shared = [piece for piece in pieces if regions[id(piece)][0] != "head"]
    return max(map(weigh_pieces, held)) <= weigh_pieces(shared)


def _has_layer(pieces: Sequence[Piece]) -> bool:
    return any(piece.kind not in _LOOKING_UP for piece in pieces)


def _is_chain(pieces: Sequence[Piece]) -> bool:
    """Return whether blocks are more than a step before something else."""
    told = [piece for piece in pieces if piece.kind not in _LOOKING_UP]
    is_more = len(pieces) > 1 or any(piece.fold[1] > 1 for piece in pieces)
    return bool(told) and (is_more or any(piece.kind not in MINOR for piece in told))


def _drop(regions: dict[int, Key], kind: str) -> list[int]:
    """Tell blocks of a kind of region with the trunk; return no ways."""
    for one, key in regions.items():
        if key[0] == kind:
            regions[one] = TRUNK
    return []


def _put_shared_first(pieces: Sequence[Piece], regions: dict[int, Key]) -> bool:
    """Tell first what streams share; return whether nothing else of the trunk leads to them."""
    streams = [piece for piece in pieces if regions[id(piece)][0] == "stream"]
    before = 0
    for piece in streams:
        before |= piece.part.before
    for piece in pieces:
        if regions[id(piece)][0] in ("trunk", "head") and before >> piece.part.place & 1:
            if piece.uses == 1:
                return False
            regions[id(piece)] = FRONT
    return True


def _find_joint(outline: Outline, reach: Reach, ways: Sequence[int]) -> str:
    """Return how streams meet, in a word; "" where they do in several ways."""
    operations = outline.operations
    words = set()
    for number, bits in enumerate(reach.taken):
        if sum(bool(way & bits) for way in ways) < 2:
            continue
        before = [reach.of_value(value) for value in operations.operands[number]]
        if all(sum(bool(way & one) for way in ways) < 2 for one in before):
            words.add(_name_joint(outline, number))
    return words.pop() if len(words) == 1 else ""


def _name_joint(outline: Outline, number: int) -> str:
    part = outline.owner(number)
    operator = outline.operations.nodes[number].operator
    if part.kind in _ATTENDING:
        return "in cross-attention" if part.name == CROSS_ATTENTION else ""
    if operator.has("adds"):
        return "added"
    if operator.has("joins"):
        return "concatenated"
    return "multiplied" if operator.has("multiplies_elements") else ""
