"""Weights, and blocks, that have changed places: no number is new, and yet the models differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from netloupe.explorer.grouping import Group, GroupTree
from netloupe.explorer.grouping.lookup import find_tree
from netloupe.explorer.model import Graph, Node, Tensor, Value
from netloupe.explorer.readers.protobuf.statements import digest_elements

from .changes import have_same_elements
from .digests import digest_weight
from .whole_blocks import NAMED_KINDS, list_outward

if TYPE_CHECKING:
    from .changed_elements import NodeDifference, TensorDifference
    from .difference import Diff

#: of more blocks that take other values it is not looked for exchanged ones
_MOST_BLOCKS = 64
#: so many weights of equal samples are compared with one
_MOST_TRIED = 3


class ExchangedWeights(NamedTuple):
    """Weights that have changed places among one another.

    Parameters
    ----------
    groups
        The blocks that they belong to, in order; none where these are not known.
    tensors
        The pairs, each of which now holds what another one held.
    with_names
        Whether the names have gone with them: then it is the blocks that stand in another order.
    """

    groups: tuple[Group, ...]
    tensors: tuple[TensorDifference, ...]
    with_names: bool


class ExchangedBlocks(NamedTuple):
    """Blocks of the left model that stand in another order in the right one.

    Parameters
    ----------
    groups
        The blocks, in the order of the left model.
    nodes
        Paired nodes that take other values for no other reason.
    """

    groups: tuple[Group, ...]
    nodes: tuple[NodeDifference, ...]


def find_exchanged_weights(found: Diff) -> list[ExchangedWeights]:
    """Return the weights that hold what others of the same dimensions held.

    Notes
    -----
    A sample of the elements finds those that may be so; all of them are compared then.
    """
    changed = [
        one
        for one in found.tensors
        if one.numbers is not None
        and one.part is None
        and one.left.dtype == one.right.dtype
        and not any(not change.aspect for change in one.changes)
    ]
    sources = _find_sources(changed) if len(changed) > 1 else []
    while True:  # until what is given away is what is taken
        holders = {one.right for one, _ in sources}
        kept = [(one, source) for one, source in sources if source.right in holders]
        if len(kept) == len(sources):
            return [*_join(found, sources)]
        sources = kept


#: a weight, and that one whose elements it holds now
_Source = tuple["TensorDifference", "TensorDifference"]


def _find_sources(changed: Sequence[TensorDifference]) -> list[_Source]:
    held: dict[object, list[TensorDifference]] = defaultdict(list)
    for one in reversed(changed):  # so that the first of equal ones is taken first
        held[_key(one.left)].append(one)
    sources: list[_Source] = []
    for one in changed:
        candidates = held.get(_key(one.right), [])
        # what has the same key is hardly ever another one: to look at a few is enough
        for place in range(len(candidates) - 1, max(len(candidates) - 1 - _MOST_TRIED, -1), -1):
            other = candidates[place]
            if other is not one and have_same_elements(other.left, one.right):
                sources.append((one, candidates.pop(place)))
                break
    return sources


def _key(tensor: Tensor) -> object:
    """Return what is equal for weights of equal elements, and mostly differs for others."""
    digest = digest_weight(tensor)
    # of a few numbers, and of equal ones, a sample tells nothing
    return tensor.dtype.name, tensor.dims, digest_elements(tensor) if digest is None else digest


def _join(found: Diff, sources: Sequence[_Source]) -> Iterator[ExchangedWeights]:
    """Yield weights together whose blocks gave weights to one another."""
    users = _find_users(found.left.graphs, {one.left for one, _ in sources})
    blocks: dict[Tensor, Group | None] = {}
    leaders: dict[object, object] = {}

    def lead(one: object) -> object:
        while leaders.setdefault(one, one) != one:
            one = leaders[one]
        return one

    for one, other in sources:
        sides = _find_blocks(found, users.get(one.left), users.get(other.left))
        for tensor, block in zip((one.left, other.left), sides, strict=True):
            blocks.setdefault(tensor, block)
        keys = [blocks[each.left] or each.left for each in (one, other)]
        leaders[lead(keys[0])] = lead(keys[1])
    held = {one.right: source.left for one, source in sources}
    together: dict[object, list[TensorDifference]] = {}
    for one, _ in sources:
        together.setdefault(lead(blocks[one.left] or one.left), []).append(one)
    for tensors in together.values():
        groups = {block for one in tensors if (block := blocks[one.left]) is not None}
        is_known = all(blocks[one.left] is not None for one in tensors)
        ordered = sorted(groups, key=lambda group: group.low) if is_known else []
        with_names = all(one.right.name == held[one.right].name for one in tensors)
        yield ExchangedWeights((*ordered,), (*tensors,), with_names)


def _find_users(graphs: Iterable[Graph], tensors: set[Tensor]) -> dict[Tensor, Node]:
    users: dict[Tensor, Node] = {}
    for graph in graphs if tensors else ():
        for tensor in graph.initializers:
            value = graph.values.get(tensor.name) if tensor in tensors else None
            if value is not None and value.users:
                users[tensor] = value.users[0]
    return users


def _find_blocks(
    found: Diff, one: Node | None, other: Node | None
) -> tuple[Group | None, Group | None]:
    """Return the outermost blocks around two nodes that are not around both."""
    if one is None or other is None or one.graph is not other.graph:
        return None, None
    tree = find_tree(found.left, one.graph)
    rows = []
    for node in (one, other):
        inner = tree.group_of(node)
        rows.append(list_outward(inner)[::-1] if inner is not None else [])
    for first, second in zip(*rows, strict=False):
        if first is not second:
            named = first.kind in NAMED_KINDS and second.kind in NAMED_KINDS
            return (first, second) if named else (None, None)
    return None, None


def find_exchanged_blocks(found: Diff, changed: Sequence[NodeDifference]) -> list[ExchangedBlocks]:
    """Return pairs of blocks each of which takes and gives what the other took and gave.

    Parameters
    ----------
    found
        What differs between the models.
    changed
        Paired nodes that do something else, or take other values.
    """
    rewired = [one for one in changed if _is_rewired_alone(one)]
    groups: dict[Group, None] = {}
    for one in rewired:
        node = one.pair.left[0]
        inner = find_tree(found.left, node.graph).group_of(node)
        for group in list_outward(inner) if inner is not None else ():
            if group.kind in NAMED_KINDS:
                groups[group] = None
    if len(groups) > _MOST_BLOCKS:
        return []
    told: list[ExchangedBlocks] = []
    known: set[Node] = set()
    for first in groups:
        for second in groups:
            if first.low < second.low and first.parent is second.parent:
                nodes = _list_exchanged(found, (first, second), rewired)
                rights = {each.pair.right[0] for each in nodes}
                if nodes and known.isdisjoint(rights):
                    known.update(rights)
                    told.append(ExchangedBlocks((first, second), nodes))
    return told


def _is_rewired_alone(one: NodeDifference) -> bool:
    real = [change for change in one.changes if not change.aspect]
    return bool(real) and all(change.what.startswith("input ") for change in real)


def _list_exchanged(
    found: Diff, blocks: tuple[Group, Group], rewired: Sequence[NodeDifference]
) -> tuple[NodeDifference, ...]:
    """Return the nodes that take other values since two blocks are exchanged; none if not so.

    What took the result of the one takes that of the other, and each of the blocks takes what the
    other one took.
    """
    graph = blocks[0].graph
    tree = find_tree(found.left, graph)
    results = [_list_results(tree, block) for block in blocks]
    if len(results[0]) != 1 or len(results[1]) != 1:
        return ()
    (first,), (second,) = results
    turned = {first: second, second: first}
    back = found.matching.values_back
    gone: tuple[set[Value], set[Value]] = set(), set()
    new: tuple[set[Value], set[Value]] = set(), set()
    explained = []
    for each in rewired:
        left, right = each.pair.left[0], each.pair.right[0]
        if left.graph is not graph:
            continue
        before = {value for value in left.inputs if value is not None}
        after = {back.get(value, value) for value in right.inputs if value is not None}
        place = next((n for n, block in enumerate(blocks) if tree.holds(block, left)), None)
        if place is not None:
            gone[place].update(before - after)
            new[place].update(after - before)
        elif after - before != {turned.get(value, value) for value in before - after}:
            continue
        explained.append(each)
    for place in (0, 1):
        if not new[place] or new[place] != {turned.get(v, v) for v in gone[1 - place]}:
            return ()
    return (*explained,)


def _list_results(tree: GroupTree, block: Group) -> set[Value]:
    """Return what nodes of a block give to others than these."""
    return {
        value
        for node in tree.order[block.low : block.high]
        for value in node.outputs
        if value is not None
        and (value.is_output or any(not _holds(tree, block, user) for user in value.users))
    }


def _holds(tree: GroupTree, block: Group, node: Node) -> bool:
    return node.graph is tree.graph and tree.holds(block, node)
