"""No group is drawn that a value leaves and comes back to."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, build_group_tree, circles
from netloupe.explorer.grouping.circles import open_circles
from netloupe.explorer.model import Node
from tests.unrolled import WIDTH, Writer, call

from .circles import list_circles
from .test_shape_arithmetic import read


def test_what_lies_between_two_parts_of_a_module_is_in_it() -> None:
    """An optimizer writes one node for several of a module, which others take from, too."""
    graph = read(
        """g (float[2, 8] x) => (float[2, 4] y) {
            h = Relu (x)
            a, b = Split <axis = 1, num_outputs = 2> (h)
            n = Neg (a)
            m = Exp (n)
            y = Mul (m, b)
        }""",
        ["/norm/Relu", "Split_7", "/norm/Neg", "/mlp/Exp", "/gate/Mul"],
    )
    tree = build_group_tree(graph, "names")
    norm = tree.groups["main/norm/"]
    assert [node.op_type for node in norm.children if isinstance(node, Node)] == [
        *("Relu", "Split", "Neg")
    ]
    assert not [*list_circles(tree)]


def test_a_group_that_a_value_leaves_and_comes_back_to_is_taken_apart() -> None:
    writer = Writer("plain")
    writer.inputs = {"x": [1, WIDTH]}
    mean = writer.add("", "ReduceMean", "x", axes=[1])
    net = writer.add("", "Tanh", writer.add("", "Exp", mean))
    writer.outputs = [writer.add("", "Add", net, mean)]
    tree = build_group_tree(writer.load().graph, "none")
    mean_node, *inner, end = [node for node in tree.root.children if isinstance(node, Node)]
    outer = Group("block", tree.graph, "main/outer/", "outer", "", tree.root)
    outer.children = [mean_node, end]
    whole = Group("block", tree.graph, "main/net/", "net", "", tree.root)
    whole.children = [*inner]
    tree.root.children = [outer, whole]
    assert open_circles(tree.root) == [outer]
    assert tree.root.children == [mean_node, end, whole]


def test_no_circle_is_looked_for_where_all_give_to_later_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    writer = Writer("plain")
    writer.inputs = {"x": [1, WIDTH]}
    writer.outputs = [writer.add("", "Exp", writer.add("", "Tanh", writer.add("", "Neg", "x")))]
    tree = build_group_tree(writer.load().graph, "none")
    first, second, end = tree.root.children
    block = Group("block", tree.graph, "main/block/", "block", "", tree.root)
    block.children = [first, second]
    tree.root.children = [block, end]
    monkeypatch.setattr(circles, "_find_loose", lambda _: pytest.fail("looked for"))
    assert open_circles(tree.root) == []


def test_a_fold_of_modules_is_taken_apart_where_what_is_between_them_is_outside() -> None:
    """Heads of two levels that share a layer: each begins before the layer and ends behind it."""
    writer = Writer()
    writer.inputs = {"x": [1, WIDTH]}
    for level in range(2):
        taken = writer.add(f"out.{level}", "Exp", writer.add(f"out.{level}", "Tanh", "x"))
        taken = writer.add(call("shared", level), "Neg", taken)
        taken = writer.add(f"reg.{level}", "Tanh", taken)
        writer.outputs.append(writer.add(f"reg.{level}", "Exp", taken))
    tree = build_group_tree(writer.load().graph, "names")
    scopes = {child.label: child for child in tree.root.children if isinstance(child, Group)}
    fold = Group("repeat", tree.graph, "main/out.0-1/", "out, reg", "", tree.root)
    for level in range(2):
        block = Group("block", tree.graph, f"main/out.0-1/{level}/", f"out.{level}", "", fold)
        block.children = [scopes[f"out.{level}"], scopes[f"reg.{level}"]]
        fold.add(block)
    others = [child for child in tree.root.children if child.label not in BOTH]
    tree.root.children = [fold, *others]
    assert open_circles(tree.root)[0] is fold
    assert not [*list_circles(tree)]


BOTH = ("out.0", "out.1", "reg.0", "reg.1")
