from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper, parser
from onnx.reference import ReferenceEvaluator

from tests.compare.networks import (
    make_exports,
    make_layers,
    make_nested,
    make_normed,
    make_projected,
)
from tests.compare.scoring import Score, score_pairs
from tests.compare.twins import KINDS, Naming, Twin, make_twin, pair_exports, pair_quantized
from tests.compare.twins.graphs import list_bodies, list_nodes
from tests.compare.twins.truth import TAG, read_proto

MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "normed": make_normed,
    "layers": make_layers,
    "nested": make_nested,
    "projected": make_projected,
}
FEEDS = {
    "normed": np.random.default_rng(3).standard_normal((2, 2, 6, 6)).astype(np.float32),
    "layers": np.array([0, 8, 3], np.int64),
    "nested": np.array([[1, 2, 3], [-4, 5, 0]], np.float32),
    "projected": np.random.default_rng(5).standard_normal((3, 4)).astype(np.float32),
}
#: kinds that keep what the model computes, and how nearly
KEEPING = {
    "itself": 1e-6,
    "all names changed": 1e-6,
    "nodes reordered": 1e-6,
    "constants folded": 1e-6,
    "norms folded": 1e-4,
    "projections joined": 1e-5,
    "opset raised": 1e-6,
    "float16": 2e-2,
    "quantized": 0.2,
}
ALL = [
    (model, kind.name, naming)
    for model in MODELS
    for kind in KINDS.values()
    for naming in kind.namings
]


def twin_of(model: str, kind: str, naming: Naming = "kept") -> Twin:
    twin = make_twin(kind, MODELS[model](), naming)
    assert twin is not None
    return twin


def run(model: onnx.ModelProto, feed: np.ndarray) -> np.ndarray:
    (result,) = ReferenceEvaluator(model).run(None, {model.graph.input[0].name: feed})
    return np.asarray(result)


def list_names(model: onnx.ModelProto) -> Iterator[str]:
    """Yield all that a model calls something; operators of the standard aside."""
    for body in list_bodies(model):
        yield body.name
        values = [*body.value_info]
        if isinstance(body, onnx.GraphProto):
            yield from (tensor.name for tensor in body.initializer)
            values += [*body.input, *body.output]
        else:
            yield from (body.domain, *body.input, *body.output)
        for value in values:
            yield value.name
            yield from (dim.dim_param for dim in value.type.tensor_type.shape.dim)
        for node in body.node:
            yield from (node.name, node.domain, *node.input, *node.output)
            yield from (entry.value for entry in node.metadata_props)
            yield node.doc_string


def paths_of(model: onnx.ModelProto) -> set[str]:
    return {node.path for graph in read_proto(model).graphs for node in graph.nodes}


@pytest.mark.parametrize(("name", "kind", "naming"), ALL)
def test_a_twin_is_valid_and_its_truth_speaks_of_nodes_that_are_there(
    name: str, kind: str, naming: Naming
) -> None:
    model = MODELS[name]()
    before = model.SerializeToString(deterministic=True)
    twin = make_twin(kind, model, naming)
    assert model.SerializeToString(deterministic=True) == before
    if twin is None:
        return
    assert twin.truth
    assert twin.truth.keys() <= paths_of(twin.left)
    assert frozenset().union(*twin.truth.values()) <= paths_of(twin.right)
    for side in (twin.left, twin.right):
        onnx.checker.check_model(side, full_check=True)
        assert not any(
            TAG in node.SerializeToString().decode("latin-1") for node in side.graph.node
        )


@pytest.mark.parametrize(("name", "kind", "naming"), ALL)
def test_a_twin_is_the_same_each_time(name: str, kind: str, naming: Naming) -> None:
    once, again = (make_twin(kind, MODELS[name](), naming) for _ in range(2))
    if once is None or again is None:
        assert once is again
        return
    for one, other in ((once.left, again.left), (once.right, again.right)):
        assert one.SerializeToString(deterministic=True) == other.SerializeToString(
            deterministic=True
        )
    assert once.truth == again.truth


@pytest.mark.parametrize(("name", "kind", "naming"), [each for each in ALL if each[1] in KEEPING])
def test_what_keeps_the_function_gives_the_same_results(
    name: str, kind: str, naming: Naming
) -> None:
    twin = make_twin(kind, MODELS[name](), naming)
    if twin is None:
        return
    results = [run(side, FEEDS[name]) for side in (twin.left, twin.right)]
    tolerance = KEEPING[kind]
    np.testing.assert_allclose(results[0], results[1], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("name", "kind", "naming"), [each for each in ALL if each[2] == "changed"])
def test_changed_names_are_all_others(name: str, kind: str, naming: Naming) -> None:
    twin = make_twin(kind, MODELS[name](), naming)
    if twin is None:
        return
    shared = set(list_names(twin.left)) & set(list_names(twin.right))
    assert shared <= {"", "dead/Shape"}
    assert not any(node.metadata_props for node in list_nodes(twin.right))


def test_which_kinds_there_are_of_which_model() -> None:
    nothing = {
        (model, kind)
        for model, kind, naming in ALL
        if make_twin(kind, MODELS[model](), naming) is None
    }
    layers = {"layer dropped", "layer doubled", "layer inserted"}
    assert nothing == {
        *(("normed", kind) for kind in layers),
        *(("nested", kind) for kind in layers),
        *(("projected", kind) for kind in layers),
        *((model, "norms folded") for model in ("layers", "nested", "projected")),
        *((model, "projections joined") for model in ("normed", "layers", "nested")),
        *(("nested", kind) for kind in ("quantized", "float16", "opset raised")),
    }


def test_graphs_inside_and_functions_take_part() -> None:
    truth = twin_of("nested", "nodes reordered").truth
    assert truth["main/choice.then_branch/twice"] == {"main/choice.then_branch/twice"}
    assert truth["functions/local::Scaled/inner"] == {"functions/local::Scaled/inner"}
    changed = twin_of("nested", "all names changed", "changed").truth
    assert len(changed) == 10
    (function,) = changed["functions/local::Scaled/inner"]
    assert function.startswith("functions/")
    assert "Scaled" not in function


def test_reordered_nodes_are_the_same_in_another_order() -> None:
    twin = twin_of("normed", "nodes reordered")
    orders = [[node.name for node in side.graph.node] for side in (twin.left, twin.right)]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1])
    assert all(others == {path} for path, others in twin.truth.items())


def test_constants_are_folded_and_dead_nodes_removed() -> None:
    twin = twin_of("normed", "constants folded")
    gone = {path for path, others in twin.truth.items() if not others}
    assert {"main/two", "main/four"} < gone
    assert {node.name for node in twin.right.graph.node}.isdisjoint(("two", "four"))
    assert all(path in ("main/two", "main/four") or "dead" in path for path in gone)
    assert any("dead" in path for path in gone)
    weights = {t.name: numpy_helper.to_array(t) for t in twin.right.graph.initializer}
    assert weights["four"] == 4


def test_a_conv_with_a_folded_norm_is_both() -> None:
    twin = twin_of("normed", "norms folded")
    assert twin.truth["main/conv1"] == twin.truth["main/norm1"] == {"main/conv1"}
    assert "BatchNormalization" not in {node.op_type for node in twin.right.graph.node}


def test_quantized_weights_have_a_scale_for_each_channel() -> None:
    twin = twin_of("normed", "quantized")
    weights = {t.name: t for t in twin.right.graph.initializer}
    assert weights["conv1_weight_quantized"].data_type == TensorProto.INT8
    assert list(weights["conv1_weight_scale"].dims) == [4]
    assert "conv1_weight" not in weights
    matched = frozenset().union(*twin.truth.values())
    added = {node.name for node in twin.right.graph.node if f"main/{node.name}" not in matched}
    assert added
    assert all(name.endswith("Linear") or "Linear_" in name for name in added)
    assert all(others == {path} for path, others in twin.truth.items())


def test_halved_models_have_casts_at_their_ends_alone() -> None:
    twin = twin_of("normed", "float16")
    operators = [node.op_type for node in twin.right.graph.node]
    assert operators[0] == operators[-1] == "Cast"
    assert operators.count("Cast") == 2
    types = {tensor.data_type for tensor in twin.right.graph.initializer}
    assert types == {TensorProto.FLOAT16}


def test_operators_that_know_no_half_floats_get_casts() -> None:
    model = parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[2] x) => (float[k] y)
        {
            a, b = Split (x, one_one)
            axes = Constant <value_ints = [0]> ()
            low = Squeeze (a, axes)
            high = Squeeze (b, axes)
            r = Range (low, high, step)
            y = Relu (r)
        }
    """)
    model.graph.initializer.append(numpy_helper.from_array(np.float32(1), "step"))
    model.graph.initializer.append(numpy_helper.from_array(np.array([1, 1]), "one_one"))
    twin = make_twin("float16", model)
    assert twin is not None
    onnx.checker.check_model(twin.right, full_check=True)
    assert run(twin.right, np.array([0, 3], np.float32)).tolist() == [0, 1, 2]


def test_an_input_that_is_taken_whole_gets_two_casts() -> None:
    model = parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[2] x) => (float[2] y)
        { q = QuantizeLinear (x, scale) y = DequantizeLinear (q, scale) }
    """)
    model.graph.initializer.append(numpy_helper.from_array(np.array(0.5, np.float32), "scale"))
    twin = make_twin("float16", model)
    assert twin is not None
    onnx.checker.check_model(twin.right, full_check=True)


def test_a_raised_opset_leaves_out_what_is_replaced() -> None:
    model = parser.parse_model("""
        <ir_version: 7, opset_import: ["" : 11]>
        g (float[2, 3] x) => (float[2, 3, 1] y)
        { [wide] u = Unsqueeze <axes = [2]> (x) [last] y = Relu (u) }
    """)
    twin = make_twin("opset raised", model, "changed")
    assert twin is not None
    assert twin.right.opset_import[0].version > 11
    assert {len(others) for others in twin.truth.values()} == {1}
    assert "main/last" in twin.truth


@pytest.mark.parametrize(("kind", "change"), [("layer dropped", -4), ("layer doubled", 4)])
def test_a_layer_less_or_more(kind: str, change: int) -> None:
    twin = twin_of("layers", kind)
    assert len(twin.right.graph.node) == len(twin.left.graph.node) + change
    counts = sorted({len(others) for others in twin.truth.values()})
    assert counts == ([0, 1] if change < 0 else [1, 2])
    special = [path for path, others in twin.truth.items() if len(others) != 1]
    assert len(special) == 4
    assert len({path.split("/")[1] for path in special}) == 1


def test_an_inserted_layer_is_new_with_weights_of_its_own() -> None:
    twin = twin_of("layers", "layer inserted")
    assert all(others == {path} for path, others in twin.truth.items())
    assert len(twin.right.graph.node) == len(twin.left.graph.node) + 4
    weights = [
        {t.name: t.SerializeToString() for t in side.graph.initializer}
        for side in (twin.left, twin.right)
    ]
    assert weights[0].items() <= weights[1].items()
    assert len(weights[1]) == len(weights[0]) + 2


def test_shifted_numbers_no_longer_tell_the_truth() -> None:
    twin = twin_of("layers", "layer dropped", "shifted")
    names = {node.name for node in twin.right.graph.node}
    assert "/layers.3/Add" in names
    assert "/layers.4/Add" not in names
    assert twin.truth["main/layers.4/Add"] == {"main/layers.3/Add"}
    for kind in ("layer doubled", "layer inserted"):
        longer = twin_of("layers", kind, "shifted")
        assert longer.truth["main/layers.4/Add"] == {"main/layers.5/Add"}


def test_retrained_weights_are_others_of_the_same_shape() -> None:
    twin = twin_of("layers", "retrained")
    for one, other in zip(twin.left.graph.initializer, twin.right.graph.initializer, strict=True):
        first, second = numpy_helper.to_array(one), numpy_helper.to_array(other)
        assert first.shape == second.shape
        assert (first != second).all()


def test_joined_projections_are_all_that_they_stand_for() -> None:
    """Query, key and value became one product, sum and Split or Slices; gate and up likewise."""
    twin = twin_of("projected", "projections joined")
    operators = [node.op_type for node in twin.right.graph.node]
    assert operators.count("MatMul") == 5
    dims = sorted(tuple(tensor.dims) for tensor in twin.right.graph.initializer)
    assert {(4, 8), (4, 12), (12,)} <= {*dims}
    of_query = twin.truth["main/q/MatMul"]
    assert of_query == twin.truth["main/q/Add"] == twin.truth["main/k/MatMul"]
    assert of_query.isdisjoint(twin.truth["main/gate/MatMul"])
    assert twin.truth["main/scores"] == {"main/scores"}


def test_exports_share_parameters_and_modules() -> None:
    twin = pair_exports(*make_exports())
    assert twin.truth == {
        "main/norm/LayerNormalization": {"main/node_layer_norm"},
        "main/fc/MatMul": {"main/node_linear"},
        "main/fc/Add": {"main/node_linear"},
        "main/act/Tanh": {"main/node_tanh"},
    }
    left, right = (
        {t.name: numpy_helper.to_array(t) for t in side.graph.initializer}
        for side in (twin.left, twin.right)
    )
    assert (left["onnx::MatMul_7"] == right["fc.weight"].T).all()


@pytest.mark.parametrize("naming", ["kept", "changed"])
def test_what_a_runtime_quantized_is_known_by_its_names(naming: Naming) -> None:
    left = parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[2, 2] x) => (float[2, 2] y)
        { [a] b = MatMul (x, x) [r] c = Relu (b) [gone] y = Exp (c) }
    """)
    right = parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
        g (float[2, 2] x) => (float[2, 2] y)
        { [a_Q4] b = com.microsoft.MatMulNBits <K = 2, N = 2> (x, x, x) [r] y = Relu (b) }
    """)
    twin = pair_quantized(left, right, naming)
    paths = {node.op_type: node.path for node in read_proto(twin.right).graph.nodes}
    assert twin.truth == {"main/a": {paths["MatMulNBits"]}, "main/r": {paths["Relu"]}}
    assert (paths["Relu"] == "main/r") == (naming == "kept")


@dataclass(frozen=True)
class Named:
    path: str


@dataclass(frozen=True)
class Pair:
    left: tuple[Named, ...]
    right: tuple[Named, ...]
    key: str = "name"


def test_pairs_of_several_count_as_combinations() -> None:
    truth = {
        "a": frozenset({"x"}),
        "b": frozenset({"x", "y"}),
        "c": frozenset({"z"}),
        "gone": frozenset[str](),
    }
    twin = Twin("some", "kept", onnx.ModelProto(), onnx.ModelProto(), truth)
    both = Pair((Named("a"), Named("b")), (Named("x"), Named("y")))
    strange = Pair((Named("gone"), Named("unknown")), (Named("z"),))
    score, wrong = score_pairs(twin, [both, strange])
    # a with y is no mistake: both have their partner, and are in one pair
    assert score == Score(paired=4, right=3, known=3, found=2)
    assert (score.precision, score.recall) == (3 / 4, 2 / 3)
    assert [(each.left, each.right) for each in wrong] == [("gone", "z"), ("c", "")]
    assert Score().precision == Score().recall == 1


@pytest.mark.parametrize(
    ("lefts", "rights", "expected"),
    [
        ("a", "x new", (1, 1, 1)),  # of what was put in besides nothing is known
        ("a", "new", (1, 0, 0)),  # but it is no partner
        ("a", "x y", (2, 1, 1)),  # the partner of another node that is not in the pair
        ("a", "x beside", (1, 1, 1)),
        ("a", "beside", (1, 0, 0)),
    ],
)
def test_what_may_be_in_a_pair_beside_a_partner(
    lefts: str, rights: str, expected: tuple[int, int, int]
) -> None:
    truth = {"a": frozenset({"x"}), "b": frozenset({"y", "beside"})}
    beside = {"a": frozenset({"beside"})}
    empty = onnx.ModelProto()
    twin = Twin("some", "kept", empty, empty, truth, frozenset({"b"}), beside)
    made = Pair(tuple(map(Named, lefts.split())), tuple(map(Named, rights.split())))
    score, _ = score_pairs(twin, [made])
    assert (score.paired, score.right, score.found) == expected
