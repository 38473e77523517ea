"""What a value was before nodes that hand it on."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Node, Value

#: so many nodes in a row are looked through; a file may say that two wait for each other
MOST_NODES_BACK = 64


def walk_back(value: Value | None, *traits: str, most: int = MOST_NODES_BACK) -> Iterator[Value]:
    """Yield a value, and what it was before each node that only has one of some traits.

    Parameters
    ----------
    value
        Where to begin; of None nothing is yielded.
    traits
        Those of operators that are looked through, along their first operands: words of
        :data:`~netloupe.explorer.operators.vocabulary.TRAITS`.
    most
        So many values are yielded at most.
    """
    for _ in range(most):
        if value is None:
            return
        yield value
        node = value.producer
        if node is None or not node.inputs or not node.operator.has(*traits):
            return
        value = node.input(0)


def is_counted(value: Value | None, *traits: str, most: int = MOST_NODES_BACK) -> bool:
    """Return whether a value is a count, as of Range, before nodes that have one of some traits."""
    return any(
        source.producer is not None and source.producer.operator.has("counts")
        for source in walk_back(value, *traits, most=most)
    )


def find_source(value: Value, *traits: str, most: int = MOST_NODES_BACK) -> Value:
    """Return what a value was before all nodes in a row that have one of some traits."""
    source = value
    for source in walk_back(value, *traits, most=most):  # noqa: B007 - the last one is wanted
        pass
    return source


def find_computing_node(
    value: Value | None, *traits: str, most: int = MOST_NODES_BACK
) -> Node | None:
    """Return the node that gives a value, before those that have one of some traits.

    None where no node does, or more nodes than that are in a row.
    """
    found = None
    for source in walk_back(value, *traits, most=most):
        found = source.producer
    return None if found is not None and found.operator.has(*traits) else found
