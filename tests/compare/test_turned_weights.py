"""Weights that one model has transposed: the same where their products undo it, else not."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.commands.diff import read_fail_on
from netloupe.explorer.compare import diff


class Form(NamedTuple):
    """How a product takes its weight."""

    #: the weight is stored transposed
    is_stored_turned: bool
    #: the product has ``transB``
    is_read_turned: bool
    #: a Transpose stands between
    has_transpose: bool

    @property
    def is_turned(self) -> bool:
        """Whether the product multiplies by the transposed weight."""
        return self.is_stored_turned ^ self.is_read_turned ^ self.has_transpose


FORMS = [Form(*each) for each in itertools.product((False, True), repeat=3)]


def make_model(form: Form, weight: np.ndarray[Any, Any], *, takers: int = 1) -> onnx.ModelProto:
    stored = np.ascontiguousarray(weight.T if form.is_stored_turned else weight)
    nodes = []
    name = "w"
    if form.has_transpose:
        nodes.append(helper.make_node("Transpose", ["w"], ["t"], perm=[1, 0]))
        name = "t"
    attributes = {"transB": 1} if form.is_read_turned else {}
    for number in range(takers):
        nodes.append(helper.make_node("Gemm", ["x", name], [f"y{number}"], **attributes))
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", "k"])],
        [helper.make_tensor_value_info(f"y{n}", TensorProto.FLOAT, None) for n in range(takers)],
        [numpy_helper.from_array(stored, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.mark.parametrize("dims", [(4, 4), (4, 6)])
@pytest.mark.parametrize("takers", [1, 2])
def test_products_by_the_same_matrix_have_equal_weights(dims: tuple[int, int], takers: int) -> None:
    """All ways to take a weight, each beside each."""
    weight = np.random.default_rng(1).normal(size=dims).astype(np.float32)
    for left, right in itertools.product(FORMS, FORMS):
        found = diff(*(make_model(each, weight, takers=takers) for each in (left, right)))
        is_same = left.is_turned == right.is_turned
        gates = [read_fail_on(kind)[0].applies(found) for kind in ("structure", "weights")]
        if is_same:
            assert not found.has_other_weights, (left, right)
            assert gates == [left.has_transpose != right.has_transpose, False], (left, right)
        else:
            assert any(gates), (left, right)
            assert any(entry.is_real for entry in found.entries), (left, right)


def test_a_turned_weight_is_compared_number_by_number() -> None:
    weight = np.random.default_rng(1).normal(size=(4, 4)).astype(np.float32)
    other = weight.copy()
    other[1, 2] += 1
    plain, turned = Form(False, False, False), Form(True, True, False)
    found = diff(make_model(plain, weight), make_model(turned, other))
    (one,) = [each for each in found.tensors if each.numbers is not None]
    assert one.numbers is not None
    assert (one.numbers.changed, one.numbers.largest) == (1, pytest.approx(1, rel=1e-6))
    assert found.verdict == "weights"


def test_a_weight_that_one_of_two_products_reads_turned_differs() -> None:
    weight = np.random.default_rng(1).normal(size=(4, 4)).astype(np.float32)
    left = make_model(Form(False, False, False), weight, takers=2)
    right = make_model(Form(True, True, False), weight, takers=2)
    del right.graph.node[1].attribute[:]
    found = diff(left, right)
    assert found.has_other_structure
    assert found.has_other_weights
