"""Nodes without a scope: which module they join."""

from __future__ import annotations

from netloupe.explorer.grouping import build_group_tree
from netloupe.explorer.model import Node

from .test_shape_arithmetic import read


def test_a_constant_of_a_module_draws_no_node_of_others_into_it() -> None:
    """An exporter stores an equal index once, under the name of the module that took it first."""
    graph = read(
        """g (float[3, 4] x) => (float[4] y, float[4] z) {
            one = Constant <value = int64 {1}> ()
            a = Gather (x, one)
            b = Exp (a)
            e = Gather (x, one)
            y = Add (b, e)
            z = Abs (e)
        }""",
        [
            "/encoder/Constant",
            "/encoder/Gather",
            "/encoder/Exp",
            "Gather_1",
            "/head/Add",
            "/tail/Abs",
        ],
    )
    tree = build_group_tree(graph)
    homes = {
        node.name: group.path
        for group in [tree.root, *tree.groups.values()]
        for node in group.children
        if isinstance(node, Node)
    }
    assert homes["/encoder/Gather"] == "main/encoder/"
    assert homes["Gather_1"] != "main/encoder/"


def test_what_others_take_too_joins_no_module_at_the_end() -> None:
    """A mean that is taken from a series and added to its forecast stands before both."""
    graph = read(
        """g (float[3, 4] x) => (float[3, 4] y) {
            m = ReduceMean (x)
            s = Sub (x, m)
            a = Exp (s)
            b = Neg (a)
            c = Mul (b, s)
            d = Add (c, m)
            y = Relu (d)
        }""",
        ["ReduceMean", "Sub", "/net/Exp", "/net/Neg", "/out/Mul", "/out/Add", "/out/Relu"],
    )
    tree = build_group_tree(graph)
    net, out = tree.groups["main/net/"], tree.groups["main/out/"]
    assert [node.op_type for node in out.children if isinstance(node, Node)] == [
        *("Mul", "Add", "Relu")
    ]
    assert "ReduceMean" not in [node.op_type for node in net.children if isinstance(node, Node)]
