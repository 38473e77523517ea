"""Copies of stored values and of inputs, which say nothing of how a model is built.

torch's older exporter stores equal weights once, and writes an Identity for each further layer that
has them: biases of zeros, scales of ones. Layers would differ by them, so groups are found without
them; each then stands before what takes it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence

from netloupe.explorer.dataflow import copies_stored, list_users
from netloupe.explorer.model import Graph, Node, find_nodes_with
from netloupe.explorer.roles import PreparationPiece

from .group import Group
from .shape_groups import Homes, consumers_in

_OF_STORED, _OF_INPUTS = "copies of stored values", "copies of inputs"


def find_copies(graph: Graph, only: Container[int] | None = None) -> frozenset[int]:
    """Return the indices of nodes that give a stored value as it is to others of their graph.

    Parameters
    ----------
    only
        Those that are looked at; all where None.
    """
    found = (graph.nodes[index] for index in find_nodes_with(graph, "copies").tolist())
    return frozenset(
        node.index
        for node in found
        if (only is None or node.index in only) and copies_stored(node) and _is_used_inside(node)
    )


def _is_used_inside(node: Node) -> bool:
    users = list_users(node)
    return (
        bool(users)
        and all(user.graph is node.graph for user in users)
        and not any(value is not None and value.is_output for value in node.outputs)
    )


def copies_input(node: Node) -> bool:
    """Return whether a node gives an input as it is, by an operator with one operand."""
    operands = node.inputs
    return (
        len(operands) == 1
        and node.operator.has("copies", "joins")
        and operands[0] is not None
        and operands[0].is_input
    )


def take_out_copies(
    graph: Graph, pieces: Sequence[PreparationPiece]
) -> tuple[list[PreparationPiece], frozenset[int]]:
    """Return preparation without the copies of inputs that others take, and the indices of these.

    A decoder asks a copy of the keys that its first block has cached how many there are. The block
    takes the copy, too: what it takes of its own is not prepared for it.
    """
    inputs = {
        index for piece in pieces for index in piece.nodes if copies_input(graph.nodes[index])
    }
    found: set[int] = set()
    kept: list[PreparationPiece] = []
    for piece in pieces:
        inside = {*piece.nodes}
        taken = {
            index
            for index in inside & inputs
            if any(
                user.graph is not graph or user.index not in inside
                for user in list_users(graph.nodes[index])
                if not user.operator.has("reads_shape")
            )
        }
        rest = tuple(index for index in piece.nodes if index not in taken)
        if taken and len(rest) > 1:
            found |= taken
            piece = piece._replace(nodes=rest)
        kept.append(piece)
    return kept, frozenset(found)


def put_copies(root: Group, copies: Iterable[int], free_path: Callable[[Group, str], str]) -> None:
    """Put copies into a tree: each before the first that takes it, in the group of all that do.

    Where several children of that group take copies, these are together in a group of kind
    ``shape``, for they are no step of anything. Linear in the copies and their users times the
    depth of the tree.
    """
    indices = sorted(copies)
    if not indices:
        return
    graph, homes = root.graph, Homes(root)
    before: dict[Group, dict[int, list[Node]]] = {}
    shared: dict[Group, list[Node]] = {}
    for index in indices:
        node = graph.nodes[index]
        users = [*consumers_in(node, graph)]
        home = homes.around(users)
        heads = {id(head) for user in users if (head := homes.child_holding(home, user))}
        if len(heads) > 1:
            shared.setdefault(home, []).append(node)
        else:
            before.setdefault(home, {}).setdefault(next(iter(heads), 0), []).append(node)
    for home, nodes in before.items():
        children: list[Group | Node] = [*nodes.get(0, ())]
        for child in home.children:
            children += nodes.get(id(child), ())
            children.append(child)
        home.children = children
    for home, together in shared.items():
        label = _OF_INPUTS if any(map(copies_input, together)) else _OF_STORED
        group = Group("shape", graph, free_path(home, "copies"), label, "", home)
        group.children = [*together]
        home.children = [group, *home.children]
