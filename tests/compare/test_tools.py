"""What is known of twins that optimizers and quantizers make is true."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx
import pytest

from netloupe.explorer.compare import diff, match_models
from netloupe.explorer.model import Node, Value
from tests.compare.networks import make_normed
from tests.compare.scoring import score_pairs
from tests.compare.twins import TOOLS, Naming, is_installed, make_tool_twin
from tests.compare.twins.tools import make_feeds
from tests.compare.twins.truth import read_proto

#: what quantizers write is only near, in this share of the largest number
_NEAR = {"ORT QDQ": 0.2, "ORT QDQ int4": 0.5, "ORT QOperator": 0.2, "ORT dynamic": 0.2}
_RUNTIME = pytest.mark.skipif(not is_installed("ORT basic"), reason="onnxruntime is not installed")


def run(model: onnx.ModelProto, names: list[str]) -> dict[str, np.ndarray]:
    """Return values of a model by name."""
    import onnxruntime

    asked = onnx.ModelProto.FromString(model.SerializeToString())
    del asked.graph.output[:]
    asked.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        asked.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return dict(zip(names, session.run(names, make_feeds(model)), strict=True))


@_RUNTIME
@pytest.mark.parametrize("kind", TOOLS)
def test_values_of_one_name_are_the_same(kind: str) -> None:
    if not is_installed(kind):
        pytest.skip(f"{TOOLS[kind][0]} is not installed")
    twin = make_tool_twin(kind, make_normed())
    assert twin is not None
    sides = twin.left.graph, twin.right.graph
    made = [{name for node in side.node for name in node.output} for side in sides]
    kinds = {node.output[0]: node.op_type for node in twin.left.graph.node}
    normed = {node.input[0] for node in twin.left.graph.node if "Norm" in node.op_type}
    # a convolution that onnxsim folds a normalization into keeps the name of what it gave alone
    names = sorted(made[0] & made[1] - (normed if kind == "onnxsim" else set()))
    assert "y" in names
    left, right = (run(side, names) for side in (twin.left, twin.right))
    for name in names:
        if kinds[name] == "Relu":  # a quantizer that makes it the end of a range clips behind
            right[name] = np.maximum(right[name], 0)
        apart = np.abs(left[name] - right[name]).max() / max(np.abs(left[name]).max(), 1e-6)
        assert apart <= _NEAR.get(kind, 1e-4), name


@pytest.mark.parametrize("naming", ["kept", "changed"])
@pytest.mark.parametrize("kind", TOOLS)
def test_nodes_that_tools_made_have_their_partners(kind: str, naming: Naming) -> None:
    if not is_installed(kind):
        pytest.skip(f"{TOOLS[kind][0]} is not installed")
    twin = make_tool_twin(kind, make_normed(), naming)
    assert twin is not None
    assert twin.truth
    score, wrong = score_pairs(
        twin, match_models(read_proto(twin.left), read_proto(twin.right)).pairs
    )
    assert not wrong
    assert (score.precision, score.recall) == (1, 1)


@pytest.mark.parametrize("kind", TOOLS)
def test_weights_are_told_once_and_operands_by_what_they_are(kind: str) -> None:
    if not is_installed(kind):
        pytest.skip(f"{TOOLS[kind][0]} is not installed")
    twin = make_tool_twin(kind, make_normed())
    assert twin is not None
    found = diff(read_proto(twin.left), read_proto(twin.right))
    told = Counter((one.left, one.right, one.part) for one in found.tensors)
    assert {*told.values()} <= {1}
    changes = [{change.what for change in node.changes} for node in found.nodes]
    assert not [each for each in changes if any(what.startswith("input ") for what in each)]
    if kind == "ORT QOperator":  # scales and zero points come with the operator
        assert not [each for each in changes if {"operator", "number of inputs"} <= each]


@pytest.mark.parametrize("kind", TOOLS)
def test_nodes_that_take_a_changed_weight_are_not_kept(kind: str) -> None:
    if not is_installed(kind):
        pytest.skip(f"{TOOLS[kind][0]} is not installed")
    twin = make_tool_twin(kind, make_normed())
    assert twin is not None
    found = diff(read_proto(twin.left), read_proto(twin.right))
    values = {
        value.initializer: value for value in found.right.graph.values.values() if value.initializer
    }
    for one in found.tensors:
        if one.numbers and one.right in values:
            for user in list_operators(values[one.right]):
                assert user in found.states, (one.right.name, user.path)
    assert found.counts.kept + found.counts.changed == len(
        {node for pair in found.matching.pairs for node in pair.right[:1]}
    ) + sum(len(pair.right) - 1 for pair in found.fused if pair.right[0] in found.states)


def list_operators(value: Value) -> list[Node]:
    """Return what takes a constant, or what is computed of it and other constants alone."""
    operators, pending = [], [*value.users]
    for node in pending:
        if all(taken is None or is_computed_of_constants(taken) for taken in node.inputs):
            pending += (user for result in node.outputs if result for user in result.users)
        else:
            operators.append(node)
    return operators


def is_computed_of_constants(value: Value) -> bool:
    if value.initializer is not None:
        return True
    node = value.producer
    return node is not None and all(
        taken is None or is_computed_of_constants(taken) for taken in node.inputs
    )
