"""Short chains of nodes in whose place another model has other ones."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper

import netloupe
from netloupe.explorer.compare import Diff
from netloupe.explorer.describe.difference_json import encode_diff
from netloupe.explorer.describe.differences import format_diff
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.review.differences import list_diff_items

#: what stands between the convolution and the product of a small network
POOLED = {
    "pool and flatten": "p = GlobalAveragePool(c)  f = Flatten(p)",
    "mean": "f = ReduceMean<keepdims = 0>(c, axes)",
    "mean and reshape": "p = ReduceMean(c, axes)  f = Reshape(p, flat)",
    "mean and squeeze": "p = ReduceMean(c, axes)  f = Squeeze(p, axes)",
    "pool and reshape by shape": """p = GlobalAveragePool(c)  s = Shape<start = 0, end = 2>(c)
        f = Reshape(p, s)""",
}
#: what stands there beside others that are as they were
ACTIVATED = {
    "clip": "r = Clip(n, zero, six)",
    "relu and min": "q = Relu(n)  r = Min(q, six)",
    "norm": "b = BatchNormalization(c, scale, shift, mean, var)  r = Relu(b)",
    "written out": "m = Mul(c, factor)  b = Add(m, offset)  r = Relu(b)",
}


def make(inner: str, **weights: list[float] | np.ndarray) -> Model:
    """Return a network of a convolution, some nodes and a product, with other weights besides."""
    rng = np.random.default_rng(0)
    model = onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["": 21]>
        net (float[1, 3, 8, 8] x) => (float[1, 5] y) {{
            c = Conv(x, kernel)
            {inner}
            y = MatMul(f, matrix)
        }}"""
    )
    given = {
        "kernel": rng.standard_normal((4, 3, 3, 3)),
        "matrix": rng.standard_normal((4, 5)),
        **weights,
    }
    for name, numbers in given.items():
        array = np.asarray(numbers, np.float32 if name not in ("axes", "flat") else np.int64)
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    return load(model.SerializeToString())


def make_pooled(kind: str) -> Model:
    return make(POOLED[kind], axes=[2, 3], flat=[1, -1])


def list_operators(found: Diff) -> list[tuple[list[str], list[str]]]:
    return [
        ([node.op_type for node in one.left], [node.op_type for node in one.right])
        for one in found.replaced
    ]


@pytest.mark.parametrize("left", POOLED)
@pytest.mark.parametrize("right", POOLED)
def test_pooling_written_in_another_way_is_one_replacement(left: str, right: str) -> None:
    found = netloupe.diff(make_pooled(left), make_pooled(right))
    if left == right:
        assert found.verdict == "identical"
        assert not found.replaced
        return
    told = list_operators(found)
    assert len(told) <= 1  # none where what both have is paired, and what is left is one-sided
    assert not found.removed_nodes or not found.added_nodes
    for one in found.replaced:
        assert {*one.left} <= {*found.left_alone}
        assert {*one.right} <= {*found.right_alone}


def test_it_is_told_as_one_difference() -> None:
    found = netloupe.diff(make_pooled("pool and flatten"), make_pooled("mean and reshape"))
    assert list_operators(found) == [(["GlobalAveragePool", "Flatten"], ["ReduceMean", "Reshape"])]
    assert found.counts.removed == found.counts.added == 2  # what the picture shows
    assert not found.removed_nodes
    assert not found.added_nodes
    text = format_diff(found)
    words = "GlobalAveragePool + Flatten replaced by ReduceMean + Reshape"
    assert f"The models differ: {words}" in text
    encoded = encode_diff(found)["nodes"]
    assert encoded["removed"] == encoded["added"] == []
    (told,) = encoded["replaced"]
    assert [node["op_type"] for node in told["a"]] == ["GlobalAveragePool", "Flatten"]
    (item,) = [item for item in list_diff_items(found) if "replaced" in item.title]
    assert item.title == "GlobalAveragePool + Flatten replaced by ReduceMean + Reshape"
    assert item.paths == (found.replaced[0].right[0].path,)
    table = found.to_dataframe()
    assert [*table["kind"]].count("replaced") == 1
    assert not {"removed node", "added node"} & {*table["kind"]}


def make_activated(kind: str) -> Model:
    inner = ACTIVATED[kind]
    before = "" if "(c" in inner else "n = Neg(c)"
    ones = np.ones((4, 1, 1))
    return make(
        f"{before} {inner} p = ReduceMean<keepdims = 0>(r, axes)  f = Identity(p)",
        axes=[2, 3],
        **{name: np.ones(4) for name in ("scale", "shift", "mean", "var")},
        factor=2 * ones,
        offset=3 * ones,
        zero=np.array(0),
        six=np.array(6),
    )


def test_bounds_are_written_in_two_ways() -> None:
    found = netloupe.diff(make_activated("clip"), make_activated("relu and min"))
    assert list_operators(found) == [(["Clip"], ["Relu", "Min"])]


def test_a_normalization_that_stands_alone_is_written_out() -> None:
    older, newer = (
        make(
            f"n = Neg(c)  {inner}  r = Relu(b)  f = ReduceMean<keepdims = 0>(r, axes)",
            axes=[2, 3],
            **{name: np.ones(4) for name in ("scale", "shift", "mean", "var")},
            factor=2 * np.ones((4, 1, 1)),
            offset=3 * np.ones((4, 1, 1)),
        )
        for inner in (
            "b = BatchNormalization(n, scale, shift, mean, var)",
            "m = Mul(n, factor)  b = Add(m, offset)",
        )
    )
    assert list_operators(netloupe.diff(older, newer)) == [(["BatchNormalization"], ["Mul", "Add"])]


def test_a_near_miss_is_no_replacement() -> None:
    # two values go in on one side: what is pooled, and what it is multiplied with
    older = make("n = Neg(c)  p = GlobalAveragePool(n)  f = Flatten(p)")
    newer = make("n = Neg(c)  m = Mul(n, c)  f = ReduceMax<keepdims = 0>(m, axes)", axes=[2, 3])
    found = netloupe.diff(older, newer)
    assert not found.replaced
    assert found.removed_nodes
    assert found.added_nodes


def test_the_same_operators_do_not_replace_one_another() -> None:
    older, newer = make_pooled("pool and flatten"), make_pooled("pool and flatten")
    nodes = [(one.path, one.path) for one in older.graph.nodes if one.op_type == "Flatten"]
    assert not netloupe.diff(older, newer, unpin=nodes).replaced


def test_chains_that_share_an_operator_are_told_node_by_node() -> None:
    older = make("a = Exp(c)  b = Softmax(a)  p = GlobalAveragePool(b)  f = Flatten(p)")
    newer = make("b = Softmax(c)  s = Sin(b)  p = ReduceMean(s, axes)  f = Flatten(p)", axes=[2, 3])
    for one in netloupe.diff(older, newer).replaced:
        assert not {n.op_type for n in one.left} & {n.op_type for n in one.right}


def test_longer_chains_are_told_node_by_node() -> None:
    inner = "".join(f"h{k + 1} = {op}(h{k}) " for k, op in enumerate(["Sin", "Cos", "Tan"] * 2))
    older = make(f"h0 = GlobalAveragePool(c)  {inner} f = Flatten(h6)")
    newer = make("h = GlobalAveragePool(c)  e = Exp(h)  f = Flatten(e)")
    found = netloupe.diff(older, newer)
    assert not found.replaced
    assert len(found.removed_nodes) >= 5


def test_what_is_left_out_alone_is_removed_and_not_replaced() -> None:
    older = make("n = Neg(c)  r = Relu(n)  f = ReduceMean<keepdims = 0>(r, axes)", axes=[2, 3])
    newer = make("r = Relu(c)  f = ReduceMean<keepdims = 0>(r, axes)", axes=[2, 3])
    found = netloupe.diff(older, newer)
    assert not found.replaced
    assert [node.op_type for node in found.removed_nodes] == ["Neg"]
