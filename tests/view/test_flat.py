"""Without groups a picture shows every node as it stands in the file."""

from __future__ import annotations

import pytest

from netloupe.explorer.model import Node, is_constant_node
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.asked_view import make_view
from netloupe.explorer.view import Item, ViewOptions
from tests.corpus import LIGHT_MODELS
from tests.test_known_architectures import find_file
from tests.zoo import ZOO


def list_items(item: Item) -> list[Item]:
    """Return all items inside of one that are shown."""
    found = []
    pending = [item]
    while pending:
        current = pending.pop()
        inside = current.children if current.is_open else []
        found += inside
        pending += inside
    return found


@pytest.mark.parametrize("name", [*ZOO, *LIGHT_MODELS])
def test_every_node_is_a_box_and_constants_are_rows_of_boxes(name: str) -> None:
    model = load(find_file(name))
    view, notices = make_view(model, ViewOptions(grouping="none"))
    assert notices == []
    items = list_items(view.root)
    assert {item.kind for item in items} <= {"branch", "input", "node", "output", "stub"}
    boxes = [item.element for item in items if item.kind == "node"]
    assert all(isinstance(node, Node) for node in boxes)
    assert len(boxes) == len(set(boxes))
    left = {*model.graph.nodes} - {*boxes}
    assert all(map(is_constant_node, left))
    rows = {row.path for item in items for row in item.constants}
    for node in left:
        (value,) = node.outputs
        assert value is not None
        # a constant of a constant is part of that one's row
        assert value.path in rows or {*value.users} & left
    assert not any(row.is_shape for item in items for row in item.constants)
