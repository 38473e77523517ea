"""What a single node is may follow from what gives to it: it is asked of each."""

from __future__ import annotations

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.grouping.group import adopt
from netloupe.explorer.grouping.recognised import Recogniser

from .test_spilled_ideas import read

_ALIGNED = """
    aligned (float[2, 40, 2] points, float[2, 8] features) => (float[2, 40, 2] y)
    <int64[2] dims = {8, 4}, float[4] unit = {1, 0, 0, 1}, float[4] other = {1, 2, 0, 1},
     int64[3] square = {2, 2, 2}>
    {
      w = ConstantOfShape (dims)
      given = MatMul (features, w)
      near = Add (given, unit)
      matrix = Reshape (near, square)
      [turns] turned = MatMul (points, matrix)
      some = Add (given, other)
      matrices = Reshape (some, square)
      r = Relu (turned)
      [mixes] y = MatMul (r, matrices)
    }
"""


def test_one_product_is_a_predicted_transform_and_another_is_not() -> None:
    graph = read(_ALIGNED).graph
    root = build_group_tree(graph, "names").root
    recogniser = Recogniser(graph)
    found = {}
    for node in graph.nodes:
        if node.op_type == "MatMul" and node.input(0) is not graph.inputs[1]:
            group = Group("operation", graph, f"main/{node.index}/", "", "", root)
            group.children = [node]
            adopt(group)
            recognition = recogniser.recognise(group)
            found[node.name] = recognition.name if recognition is not None else ""
    assert [*found.values()] == ["Predicted transform", ""]
