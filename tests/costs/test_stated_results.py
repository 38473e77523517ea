"""What onnx tests each operator with, and results stated otherwise: found as onnx finds them."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator

import onnx
import pytest

from netloupe.explorer.checks import check
from netloupe.explorer.readers.load import load

#: operators whose results no rule of ours knows, or not wholly: what is stated of them is believed
UNKNOWN = {
    *("Adagrad", "Adam", "AffineGrid", "ArrayFeatureExtractor", "CausalConvWithState"),
    *("Col2Im", "DFT", "Einsum", "FlexAttention", "ImageDecoder", "LabelEncoder"),
    *("LinearAttention", "MaxUnpool", "Momentum", "OptionalGetElement", "Scan", "StringConcat"),
    *("StringNormalizer", "StringSplit", "SwiGLU", "TfIdfVectorizer", "TreeEnsemble"),
}


def _list_cases() -> Iterator[tuple[str, onnx.ModelProto]]:
    """Yield onnx's own models of one node, one for each operator and ranks of operands."""
    from onnx.backend.test.case.node import collect_testcases

    seen = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in collect_testcases(None):
            model = case.model
            if model is None or "_expanded" in case.name or len(model.graph.node) != 1:
                continue
            ranks = [len(value.type.tensor_type.shape.dim) for value in model.graph.input]
            key = (model.graph.node[0].op_type, *ranks)
            if key not in seen and model.graph.output[0].type.HasField("tensor_type"):
                seen.add(key)
                yield case.name, model


def _state(model: onnx.ModelProto, what: str) -> onnx.ModelProto:
    """Return a model whose first output is stated with another rank, size or element type."""
    changed = copy.deepcopy(model)
    stated = changed.graph.output[0].type.tensor_type
    if what == "rank":
        stated.shape.dim.add().dim_value = 7
    elif what == "type":
        stated.elem_type = 11 if stated.elem_type == 1 else 1
    elif stated.shape.dim:
        stated.shape.dim[-1].dim_value += 11
    return changed


@pytest.mark.parametrize("what", ["rank", "size", "type"])
def test_results_that_are_stated_otherwise_are_found(what: str) -> None:
    missed = set()
    count = 0
    for name, model in _list_cases():
        changed = _state(model, what)
        try:
            onnx.checker.check_model(changed, full_check=True)
        except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
            count += 1
            if not list(check(load(changed.SerializeToString()), select=["NL-T"])):
                missed.add(f"{model.graph.node[0].op_type} {name}")
    assert count > 250
    assert {each.split()[0] for each in missed} <= UNKNOWN, sorted(missed)
