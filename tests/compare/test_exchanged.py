"""Where nodes and wiring stay and weights change places, the weights that changed are told."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.compare import diff
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.protobuf import parts

LAYERS, WIDTH = 12, 8
#: by layer, the layer whose weights it has
ORDERS = {
    "two": [0, 1, 9, 3, 4, 5, 6, 7, 8, 2, 10, 11],
    "all": [*range(LAYERS)][::-1],
    "rotated": [*range(1, LAYERS), 0],
    "none": [*range(LAYERS)],
}


def make_model(order: list[int], way: str, names: str, groups: int) -> onnx.ModelProto:
    """Return residual layers, of which those share their weights whose numbers are alike.

    Parameters
    ----------
    order
        By number of a set of weights, which one stands in its place.
    way
        Whether weights are initializers, or constants at the beginning, or before their layer.
        Initializers may stand beside a constant of another kind, which no layer takes.
    names
        What all names begin with.
    groups
        So many sets of weights there are.
    """
    nodes, tensors = [], []
    sets = {number: [*_draw(order[number])] for number in range(groups)}
    made: set[int] = set()
    stream = "x"
    for layer in range(LAYERS):
        number = layer % groups
        weights = [f"{names}.{number}.{part}" for part in ("weight", "bias")]
        if number not in made:
            for name, array in zip(weights, sets[number], strict=True):
                tensor = numpy_helper.from_array(array, name)
                if way.startswith("initializers"):
                    tensors.append(tensor)
                else:
                    node = helper.make_node(
                        "Constant", [], [name], f"{name}/Constant", value=tensor
                    )
                    nodes.insert(0 if way == "constants first" else len(nodes), node)
            made.add(number)
        results = [f"{names}/{layer}/{part}" for part in ("product", "sum", "act", "out")]
        nodes += [
            helper.make_node("MatMul", [stream, weights[0]], results[:1], f"{results[0]}_n"),
            helper.make_node("Add", [results[0], weights[1]], [results[1]], f"{results[1]}_n"),
            helper.make_node("Tanh", [results[1]], [results[2]], f"{results[2]}_n"),
            helper.make_node("Add", [stream, results[2]], [results[3]], f"{results[3]}_n"),
        ]
        stream = results[3]
    if way == "initializers beside a constant":
        shape_of = numpy_helper.from_array(np.array([-1, WIDTH], np.int64))
        last = [f"{names}/shape", f"{names}/shaped"]
        nodes += [
            helper.make_node("Constant", [], last[:1], f"{last[0]}_n", value=shape_of),
            helper.make_node("Reshape", [stream, last[0]], last[1:], f"{last[1]}_n"),
        ]
        stream = last[1]
    shape = ["n", WIDTH]
    graph = helper.make_graph(
        nodes,
        "layers",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(stream, TensorProto.FLOAT, shape)],
        tensors,
    )
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])


def _draw(seed: int) -> Iterator[np.ndarray]:
    """Yield a matrix and a bias; every third bias is the same as others."""
    chance = np.random.default_rng(seed)
    yield chance.standard_normal((WIDTH, WIDTH)).astype(np.float32)
    yield np.arange(WIDTH, dtype=np.float32) + (seed if seed % 3 else 0)


def list_changed(order: list[int], groups: int) -> list[tuple[int, str]]:
    """Return the weights whose bytes are others: by number of their set and part."""
    found = []
    for number in range(groups):
        pairs = zip(("weight", "bias"), _draw(number), _draw(order[number]), strict=True)
        found += [(number, part) for part, one, other in pairs if one.tobytes() != other.tobytes()]
    return found


@pytest.mark.parametrize(
    "way",
    [
        *("initializers", "initializers beside a constant"),
        *("constants first", "constants between"),
    ],
)
@pytest.mark.parametrize(("names", "is_left_in_file"), [("layer", False), ("block", True)])
@pytest.mark.parametrize("order", ORDERS)
# no layer shares its weights, the first and the last do, each two do
@pytest.mark.parametrize("groups", [LAYERS, LAYERS - 1, LAYERS // 2])
def test_the_weights_that_changed_and_no_others_are_told(
    way: str,
    names: str,
    order: str,
    groups: int,
    is_left_in_file: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if (
        is_left_in_file
    ):  # as of a model that is not small: elements are read when they are asked for
        monkeypatch.setattr(parts, "WHOLE_BYTES", 0)
        monkeypatch.setattr(parts, "SMALL_MESSAGE_BYTES", 0)
    kept = [*range(groups)]
    changed = [number for number in ORDERS[order] if number < groups]
    left = make_model(kept, way, "layer", groups)
    right = make_model(changed, way, names, groups)
    found = diff(load(left.SerializeToString()), load(right.SerializeToString()))
    pairs = [(pair.left[0].index, pair.right[0].index) for pair in found.matching.pairs]
    assert pairs == [(index, index) for index in range(len(left.graph.node))]
    told = [one for one in found.tensors if one.numbers is not None or one.are_unread]
    places = {_name(one.left.name or one.left.path) for one in told}
    assert len(told) == len(places)
    assert places == {f"{number}.{part}" for number, part in list_changed(changed, groups)}
    assert not any(not change.aspect for one in found.nodes for change in one.changes)
    assert not found.moved
    assert not found.left_alone + found.right_alone
    assert found.has_other_weights is (order != "none")
    assert not any(not change.aspect for one in found.tensors for change in one.changes)


def _name(path: str) -> str:
    """Return number and part of a weight's name."""
    return ".".join(path.replace("/", ".").split("layer.")[1].split(".")[:2])


def test_a_constant_of_another_type_or_shape_is_another_structure() -> None:
    left = make_model(ORDERS["none"], "constants first", "layer", LAYERS)
    right = onnx.ModelProto()
    right.CopyFrom(left)
    array = numpy_helper.to_array(right.graph.node[0].attribute[0].t)
    right.graph.node[0].attribute[0].t.CopyFrom(numpy_helper.from_array(array[None]))
    found = diff(load(left.SerializeToString()), load(right.SerializeToString()))
    assert found.verdict == "structure"
    assert found.has_other_weights is False


def test_shapes_and_single_numbers_in_constants_are_attributes() -> None:
    def make(shape: list[int], factor: float) -> onnx.ModelProto:
        nodes = [
            helper.make_node("Constant", [], ["s"], "s", value_ints=shape),
            helper.make_node("Constant", [], ["f"], "f", value_float=factor),
            helper.make_node("Reshape", ["x", "s"], ["r"], "r"),
            helper.make_node("Mul", ["r", "f"], ["y"], "y"),
        ]
        graph = helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 6])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        )
        return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])

    found = diff(
        *(load(make(*each).SerializeToString()) for each in (([3, 4], 1.0), ([4, 3], 2.0)))
    )
    assert {pair.key for pair in found.matching.pairs} == {"wiring"}
    assert [one.pair.left[0].name for one in found.nodes] == ["s", "f"]
    assert found.verdict == "structure"
