"""No group is drawn that a value leaves and comes back to."""

from __future__ import annotations

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.grouping.circles import open_circles
from netloupe.explorer.model import Node
from tests.unrolled import WIDTH, Writer

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
