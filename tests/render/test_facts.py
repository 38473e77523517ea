"""What stands on nodes: the few facts of those with weights, attributes and constants of others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import netloupe
from netloupe.explorer.model import Model, Node
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.face import Face
from netloupe.explorer.render.faces import FaceBook
from netloupe.explorer.render.facts import NodeFacts
from netloupe.explorer.view import View
from tests.architecture.networks import Network


def make_model(op: str, *dims: tuple[int, ...], inputs: int = 1, **attributes: Any) -> Model:
    """Return a model of one node, which takes inputs and then weights of these dimensions."""
    values = [f"x{number}" for number in range(inputs)]
    weights = [f"w{number}" for number in range(len(dims))]
    node = helper.make_node(op, [*values, *weights], ["y"], "n", **attributes)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in values],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [
            numpy_helper.from_array(np.full(shape, 0.5, np.float32), name)
            for name, shape in zip(weights, dims, strict=True)
        ],
    )
    return load(helper.make_model(graph).SerializeToString())


def face_of(model: Model, details: Any = "facts") -> Face:
    view = View(model)
    return FaceBook(details).face(view.items["main/n"])


def words(face: Face) -> list[str]:
    return [run.text for run in face.texts]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (make_model("Conv", (8, 4, 3, 3), kernel_shape=[3, 3], strides=[2, 2]), "3×3 · 4 → 8 · /2"),
        (make_model("Gemm", (16, 4), transB=1), "4 → 16"),
        (make_model("Gemm", (16, 4)), "16 → 4"),
        (make_model("MatMul", (16, 4)), "16 → 4"),
    ],
)
def test_a_node_with_a_weight_says_kernel_and_widths(model: Model, expected: str) -> None:
    assert words(face_of(model))[1:] == [expected]


def test_a_norm_has_nothing_to_say() -> None:
    model = make_model("LayerNormalization", (8,), (8,), epsilon=1e-12)
    assert words(face_of(model)) == ["LayerNorm"]


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (make_model("Gemm", (16, 4)), "Linear"),
        (make_model("MatMul", (16, 4)), "Linear"),
        (make_model("MatMul", inputs=2), "MatMul"),
        (make_model("LayerNormalization", (8,), (8,)), "LayerNorm"),
        (make_model("BatchNormalization", (8,), (8,), (8,), (8,)), "BatchNorm"),
        (make_model("GroupNormalization", (8,), (8,), num_groups=2), "GroupNorm"),
        (make_model("Conv", (8, 4, 1, 1)), "Conv"),
        (make_model("Relu"), "Relu"),
    ],
)
def test_a_node_is_called_as_a_group_of_it_alone_is(model: Model, name: str) -> None:
    assert words(face_of(model))[0] == name
    assert words(face_of(model, "all"))[0] == model.graph.nodes[0].op_type


def test_an_author_s_name_stands_before_what_the_node_is() -> None:
    item = View(make_model("Gemm", (16, 4))).items["main/n"]
    item.label = "fc1"
    assert words(FaceBook().face(item)) == ["fc1", "Linear", "16 → 4"]


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}, ["3×3 · /2"]),
        ({"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1}, ["2×2 · /2"]),
        ({"kernel_shape": [2, 2], "strides": [2, 1]}, ["2×2 · /2×1"]),
        ({"kernel_shape": [3]}, ["kernel 3"]),
        ({"kernel_shape": [5, 5], "dilations": [2, 2]}, ["5×5 · dilation 2"]),
        ({"strides": [2, 2]}, ["strides 2×2"]),
    ],
)
def test_a_pool_says_kernel_and_stride(attributes: dict[str, Any], expected: list[str]) -> None:
    assert words(face_of(make_model("MaxPool", **attributes)))[1:] == expected


def test_other_nodes_have_their_attributes_in_one_row() -> None:
    model = make_model("LRN", size=5, alpha=0.5)
    assert words(face_of(model)) == ["LRN", "alpha 0.5 · size 5"]
    assert words(face_of(make_model("Relu"))) == ["Relu"]


def test_a_shuffle_of_pixels_says_what_the_field_calls_it_and_its_factor() -> None:
    model = make_model("DepthToSpace", blocksize=3, mode="CRD")
    assert words(face_of(model)) == ["DepthToSpace", "Pixel shuffle, ×3"]
    # a factor that the specification does not allow is shown as it stands
    assert words(face_of(make_model("SpaceToDepth", blocksize=0))) == [
        "SpaceToDepth",
        "blocksize 0",
    ]


def test_what_was_fitted_says_what_its_attributes_count() -> None:
    trees = {"nodes_treeids": [0, 0, 1], "nodes_nodeids": [0, 1, 0], "domain": "ai.onnx.ml"}
    face = face_of(make_model("TreeEnsembleRegressor", **trees))
    assert words(face) == ["TreeEnsembleRegressor", "2 trees · 3 nodes"]
    # one number for all features is shown itself
    scaler = make_model("Scaler", offset=[0.5], scale=[2.0], domain="ai.onnx.ml")
    assert words(face_of(scaler)) == ["Scaler", "scale [2]"]


def test_facts_that_one_row_has_no_room_for_have_two() -> None:
    model = make_model(
        "SVMClassifier",
        kernel_type="RBF",
        support_vectors=[0.5] * 2290,
        vectors_per_class=[100, 29, 100],
        classlabels_ints=[0, 1, 2],
        domain="ai.onnx.ml",
    )
    face = face_of(model)
    assert words(face)[1:] == ["RBF kernel · 229 support vectors · 10 features", "3 classes"]


def test_attributes_that_have_no_room_are_left_out() -> None:
    model = make_model(
        "Warp",
        mode="linear",
        equation="a name that is much too long for one row",
        domain="custom",
    )
    (row,) = words(face_of(model))[1:]
    assert row.startswith("equation")
    assert row.endswith("…")


def test_constants_of_other_nodes_are_shown_while_they_are_few() -> None:
    assert words(face_of(make_model("Mul", (), inputs=1))) == ["Mul", "× 0.5"]
    many = make_model("Max", (), (), (), (), (), inputs=1)
    assert words(face_of(many))[-1] == "… 3 more"


def test_equal_weights_of_unlike_nodes_do_not_mix() -> None:
    book = FaceBook()
    found = []
    for model in (make_model("Gemm", (16, 4), transB=1), make_model("Gemm", (16, 4))):
        found.append(words(book.face(View(model).items["main/n"])))
        book._faces.clear()  # they have one path
    assert found == [["Linear", "4 → 16"], ["Linear", "16 → 4"]]


def test_all_details_are_shown_where_asked_for() -> None:
    model = make_model("Conv", (8, 4, 3, 3), kernel_shape=[3, 3])
    assert words(face_of(model, "all")) == ["Conv", "kernel", "3×3", "W", "⟨8×4×3×3⟩"]
    assert "⟨8×4×3×3⟩" in model.to_svg(details="all")
    assert "⟨8×4×3×3⟩" not in model.to_svg()
    assert "3×3 · 4 → 8" in model.to_svg()
    with pytest.raises(netloupe.ViewError, match="details"):
        model.to_svg(details="some")  # type: ignore[arg-type]


def test_a_norm_of_a_constant_leaves_other_norms_their_name() -> None:
    net = Network()
    queries = net.norm(net.weight(1, 5, 8), 8)
    stream = net.norm(net.take("x", (1, 5, 8)), 8)
    model = net.finish(net.add("Add", queries, stream))
    of_queries, of_stream = (n for n in model.graph.nodes if n.op_type == "LayerNormalization")
    facts = NodeFacts()
    facts.name(of_queries)
    assert facts.name(of_stream) == "LayerNorm"


def test_a_norm_of_learned_tokens_says_their_size_and_no_attributes() -> None:
    net = Network()
    queries = net.norm(net.weight(1, 5, 8), 8)
    model = net.finish(net.add("Add", queries, net.take("x", (1, 5, 8))))
    boxes = [item for item in View(model).root.children if not item.is_terminal]
    norm = next(item for item in boxes if getattr(item.element, "op_type", "").startswith("Layer"))
    assert isinstance(norm.element, Node)
    (rows,) = NodeFacts().list_blocks(norm.element, norm.constants)
    assert [row.pieces[0][0] for row in rows] == ["⟨1×5×8⟩"]
    assert all(row.is_constant for row in rows)


@pytest.mark.parametrize(
    ("dims", "attributes", "expected"),
    [
        ([1, 8, 28], {"kernel_shape": [28]}, "over all 28 places"),
        ([1, 8, 28], {"kernel_shape": [28], "strides": [28]}, "over all 28 places"),
        ([1, 8, 7, 6], {"kernel_shape": [7, 6]}, "over all 7 × 6 places"),
        ([1, 8, 28, 1], {"kernel_shape": [28, 1]}, "over all 28 × 1 places"),
        ([1, 8, 7, 6], {"kernel_shape": [64, 64], "ceil_mode": 1}, "over all 7 × 6 places"),
        ([1, 8, 29], {"kernel_shape": [28]}, "kernel 28"),
        ([1, 8, 3], {"kernel_shape": [3], "pads": [1, 1]}, "kernel 3"),  # gives 3 places
        ([1, 8, 1], {"kernel_shape": [1]}, "kernel 1"),
    ],
)
def test_a_pool_of_all_places_says_so(
    dims: list[int], attributes: dict[str, Any], expected: str
) -> None:
    network = Network()
    pooled = network.add("MaxPool", network.take("x", dims), **attributes)
    node = next(iter(network.finish(pooled).graph.nodes))
    assert [row.name for rows in NodeFacts().list_blocks(node, []) for row in rows] == [expected]
