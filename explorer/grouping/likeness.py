"""Which of a row of named blocks are one stack, where these are not quite alike.

A first or a last block may lack something, or have something more: a projection, the sum with
which a stage begins, what leads to a next block. A block in which something stands in the place of
something else is another thing, and so is the one of two that attends otherwise: padded to windows,
which the other one has not. Nor does a stack reach from one list of an author's modules into
another one, as from the way down of a U to its way up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import groupby

from netloupe.explorer.model import Node

from .repeat_names import read_list

#: larger stacks are not asked whether a way leads out of them
_MOST_NODES = 20_000

#: what tells of which kind a node is; sums, activations, norms and layout do not
_TELLING = (
    "attends",
    "convolves",
    "distributes",
    "looks_up",
    "multiplies",
    "pools",
    "pools_all",
    "recurrent",
    "reduces",
    "resamples",
    "selects",
)
#: what decides where a way goes, which no first or last block lacks
_DECIDING = "selects"

_Kind = frozenset[str]


def find_like(blocks: Sequence[Sequence[Node]]) -> tuple[int, int]:
    """Return the longest range of blocks, as their nodes, of which none is another thing.

    Blocks differ where nodes of one kind are more and of another one fewer than in most of them:
    products, convolutions, pools and the like. Linear in the nodes.
    """
    found = [Counter(map(_tell_kind, nodes)) for nodes in blocks]
    kinds = Counter(frozenset(one.items()) for one in found)
    key, _ = kinds.most_common(1)[0]
    common = Counter(dict(key))
    if len(blocks) == 2 and _attends(common):
        pads = [sum(node.operator.has("pads") for node in nodes) for nodes in blocks]
        if pads[0] != pads[1]:
            return 0, 1
    return _find_longest([*_list_ranges([not _is_other(one, common) for one in found])])


def are_of_other_kinds(nodes: Sequence[Node], others: Sequence[Node]) -> bool:
    """Return whether each of two blocks has something that the other one has not."""
    return _is_other(Counter(map(_tell_kind, nodes)), Counter(map(_tell_kind, others)))


def find_of_one_list(blocks: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Return the longest range of blocks whose modules are of one list, by their labels.

    Parameters
    ----------
    blocks
        The labels of the numbered groups in each block.

    Notes
    -----
    Where each block has lists of its own, as ``layers.0.0`` and ``layers.0.1`` are one layer, the
    lists say nothing.
    """
    lists = _read_lists(blocks)
    ranges = [*_list_ranges(lists)]
    if len(ranges) in (1, len(blocks)):
        return 0, len(blocks)
    return _find_longest(ranges)


def count_turns(blocks: Sequence[Sequence[str]]) -> int:
    """Return how many lists of modules take turns in blocks: 2 for ``t.0, f.0, t.1, f.1``.

    1 where they do not: then all blocks are of one list, or of lists that come once.
    """
    return count_in_turns(_read_lists(blocks))


def count_in_turns(kinds: Sequence[Hashable]) -> int:
    """Return how many kinds take turns, each as often as all others; 1 where they do not."""
    turns = len({*kinds})
    are_in_turns = 1 < turns <= len(kinds) // 2 and all(
        one == kinds[place % turns] for place, one in enumerate(kinds)
    )
    return turns if are_in_turns else 1


def _read_lists(blocks: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    return [tuple(map(read_list, labels)) for labels in blocks]


def are_left(blocks: Iterable[Sequence[Node]]) -> bool:
    """Return whether a way leads out of some blocks and back into them through a layer.

    As one box they would stand in a cycle with it. Looked at is what is written between their
    nodes, each once.
    """
    inside: set[Node] = set()
    for nodes in blocks:
        inside.update(nodes)
        if len(inside) > _MOST_NODES:  # very many blocks: the rest need not be listed
            return False
    if not inside:
        return False
    first = min(map(next(iter(inside)).graph.index_of, inside))
    seen: set[tuple[Node, bool]] = set()
    before = {maker for node in inside for maker in _list_makers(node, first)} - inside
    pending = [(maker, False) for maker in before]
    while pending:
        node, is_through = pending.pop()
        if node in inside:
            if is_through:
                return True
            continue
        is_through = is_through or node.operator.weight_kind not in ("", "embedding")
        if (node, is_through) not in seen:
            seen.add((node, is_through))
            pending += [(maker, is_through) for maker in _list_makers(node, first)]
    return False


def _list_makers(node: Node, first: int) -> Iterator[Node]:
    """Yield what gives elements to a node, as far as it is written behind a first node."""
    if node.operator.has("reads_shape"):
        return
    for value in node.inputs:
        maker = value.producer if value is not None else None
        if maker is not None and maker.graph is node.graph and maker.index > first:
            yield maker


def _list_ranges(keys: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Yield where equal keys in a row begin and end, those left out that are False."""
    place = 0
    for key, members in groupby(keys):
        count = len([*members])
        if key is not False:
            yield place, place + count
        place += count


def _find_longest(ranges: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return max(ranges, key=lambda ends: ends[1] - ends[0])


def _tell_kind(node: Node) -> _Kind:
    operator = node.operator
    return frozenset(trait for trait in _TELLING if operator.has(trait))


def _is_other(ours: Counter[_Kind], theirs: Counter[_Kind]) -> bool:
    """Return whether each of two blocks has something that the other one has not.

    Or one alone chooses, as a mixture of experts that stands in the place of an MLP, or attends.
    """
    if len({any(_DECIDING in kind for kind in one) for one in (ours, theirs)}) > 1:
        return True
    if _attends(ours) is not _attends(theirs):
        return True
    return all(any(kind for kind in one) for one in (ours - theirs, theirs - ours))


def _attends(kinds: Counter[_Kind]) -> bool:
    return any({"attends", "distributes"} & kind for kind in kinds)
