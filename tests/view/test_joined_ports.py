"""What a reader takes for one thing is one port and one edge."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.grouping import Group, find_tree
from netloupe.explorer.readers.load import load
from netloupe.explorer.view import View
from netloupe.explorer.view.inner_takers import find_inner_takers
from tests.onnx_text import load_text

_NINE = "{1,2,3,4,5,6,7,8,9}"


def _make_view() -> View:
    lines = "".join(
        f"""
        a{n} = MatMul (x{n}, w)
        g{n} = Gather (a{n}, source)
        m{n} = Relu (g{n})
        i{n} = Gather (m{n}, target)
        b{n} = MatMul (i{n}, w)
        x{n + 1} = Relu (b{n})
        """
        for n in range(6)
    )
    return View(
        load_text(f"""
            g (int64[2, e] edges, float[n, 3] x0) => (float[m, 3] x6)
            <float[3, 3] w = {_NINE}, int64 zero = {{0}}, int64 one = {{1}}> {{
                source = Gather (edges, zero)
                target = Gather (edges, one)
                {lines}
            }}
        """)
    )


def test_what_a_box_of_preparation_gives_is_one_edge() -> None:
    view = _make_view()
    children = view.root.children
    prepared = next(
        number
        for number, child in enumerate(children)
        if isinstance(child.element, Group) and child.element.kind == "preparation"
    )
    links = [link for link in view.links(view.root) if link.source == prepared]
    assert [link.count for link in links] == [2]
    assert children[links[0].target].of_one == {links[0].target_value}


def _make_two_streams(*, both: bool) -> View:
    """Return blocks that take something off one value and add it to another, both prepared.

    Parameters
    ----------
    both
        Whether they add what they take off to a value that is computed of both.
    """
    lines = "".join(
        f"""
        [blocks_{n}__net__MatMul] h{n} = MatMul (a{n}, w)
        [blocks_{n}__net__Relu] r{n} = Relu (h{n})
        [blocks_{n}__Sub] a{n + 1} = Sub (a{n}, r{n})
        [blocks_{n}__Mul] p{n} = Mul (b{n}, {f"a{n}" if both else f"b{n}"})
        [blocks_{n}__Add] b{n + 1} = Add (p{n}, r{n})
        """
        for n in range(4)
    )
    return View(
        load_text(f"""
            g (float[3, 3] x) => (float[3, 3] y)
            <float[3, 3] w = {_NINE}> {{
                [Abs] c = Abs (x)  [Neg] a0 = Neg (c)  [Floor] b0 = Floor (c)
                {lines}
                [head__Add] z = Add (a4, b4)  [head__MatMul] y = MatMul (z, w)
            }}
        """)
    )


@pytest.mark.parametrize("both", [False, True])
def test_what_blocks_do_different_things_with_is_told_apart(*, both: bool) -> None:
    view = _make_two_streams(both=both)
    graph = view.model.graph
    tree = find_tree(view.model, graph)
    stack = next(one for one in tree.root.inner_groups() if one.kind == "repeat")
    subtracted, added = (
        find_inner_takers(tree, stack, graph.values[name]) for name in ("a0", "b0")
    )
    assert subtracted
    assert added
    assert subtracted.isdisjoint(added) is not both


def test_several_layouts_of_one_value_enter_a_loop_as_one() -> None:
    steps = "".join(
        f"""
        h{n} = MatMul ({f"t{n}" if n else "s"}, w)  r{n} = Relu (h{n})
        t{n + 1} = Add ({f"t{n}" if n else "t0"}, r{n})
        """
        for n in range(3)
    )
    view = View(
        load_text(f"""
            g (float[3, 3] x) => (float[3, 3] y)
            <float[3, 3] w = {_NINE}, float[3, 3] v = {_NINE}, int64[2] d = {{3, 3}}> {{
                a = MatMul (x, v)  c = Tanh (a)
                s = Reshape (c, d)  u = Transpose <perm = [1, 0]> (s)
                t0 = Transpose <perm = [1, 0]> (u)
                {steps}
                y = MatMul (t3, v)
            }}
        """)
    )
    loop = next(
        child
        for child in view.root.children
        if isinstance(child.element, Group) and child.element.kind == "repeat"
    )
    assert isinstance(loop.element, Group)
    assert loop.element.is_loop
    assert len(loop.inputs) == 1


@pytest.mark.parametrize("second", ["Transpose", "Neg"])
def test_one_value_in_two_layouts_is_one_edge(second: str) -> None:
    nodes = [
        ("MatMul", ["x", "w"], "m", "/body/lin/MatMul"),
        ("Relu", ["m"], "r", "/body/act/Relu"),
        (second, ["r"], "t", f"/body/{second}"),
        ("MatMul", ["t", "w"], "n", "/head/lin/MatMul"),
        ("Add", ["n", "r"], "y", "/head/Add"),
    ]
    made = [helper.make_node(op, taken, [out], name) for op, taken, out, name in nodes]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, (3, 3)) for n in ("x", "y")]
    weight = numpy_helper.from_array(np.ones((3, 3), np.float32), "w")
    graph = helper.make_graph(made, "g", ends[:1], ends[1:], [weight])
    view = View(load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])))
    children = view.root.children
    (body,) = (n for n, child in enumerate(children) if child.label == "body")
    counts = [link.count for link in view.links(view.root) if link.source == body]
    assert counts == ([2] if second == "Transpose" else [1, 1])
