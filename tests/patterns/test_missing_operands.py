"""Nodes may lack operands and results that their operators have: nothing counts on them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

import netloupe.explorer
from netloupe.commands.info import summarize_model
from netloupe.explorer.checks import check
from netloupe.explorer.compare import diff
from netloupe.explorer.model import Model
from netloupe.explorer.patterns import find_nested_blocks
from netloupe.explorer.readers.load import load
from tests.corpus import corpus_file

_MODELS = (
    "exported/bert.dynamo.onnx",
    "exported/efficientnet.dynamo.onnx",
    "exported/gpt2.legacy.onnx",
    "exported/gru.legacy.onnx",
    "exported/lstm_cells.dynamo.onnx",
    "exported/mobilenetv3.legacy.onnx",
    "exported/resnet50.legacy.onnx",
    "exported/yolov8.dynamo.onnx",
    "quantized/mobilenetv3.qoperator.onnx",
)
_EXPLORER = Path(netloupe.explorer.__file__).parent
#: so many nodes of each operator lack something
_MOST_ALIKE = 3


def _leave_none(node: onnx.NodeProto) -> None:
    del node.input[:]


def _leave_out_first(node: onnx.NodeProto) -> None:
    if node.input:
        node.input[0] = ""


def _leave_first(node: onnx.NodeProto) -> None:
    del node.input[1:]


def _leave_no_result(node: onnx.NodeProto) -> None:
    del node.output[:]


_CUTS = (_leave_none, _leave_out_first, _leave_first, _leave_no_result)


def _cut_nodes(model: onnx.ModelProto, cut: Callable[[onnx.NodeProto], None]) -> set[str]:
    """Cut some nodes of each operator, none next to another, and return the operators."""
    counts: dict[str, int] = {}
    near: set[str] = set()
    for node in model.graph.node:
        values = {*node.input, *node.output} - {""}
        if counts.get(node.op_type, 0) < _MOST_ALIKE and not values & near:
            counts[node.op_type] = counts.get(node.op_type, 0) + 1
            near |= values
            cut(node)
    return {*counts}


def _look_at(model: Model, whole: Model) -> None:
    summarize_model(model)
    assert check(model)
    assert model.to_svg()
    find_nested_blocks(model.graph.nodes)
    assert diff(whole, model).entries


@pytest.mark.parametrize("name", _MODELS)
@pytest.mark.parametrize("cut", _CUTS, ids=lambda cut: cut.__name__.strip("_"))
def test_nothing_counts_on_an_operand(name: str, cut: Callable[[onnx.NodeProto], None]) -> None:
    model = onnx.load(corpus_file(name))
    whole = load(model.SerializeToString())
    assert len(_cut_nodes(model, cut)) > 1
    _look_at(load(model.SerializeToString()), whole)


@pytest.mark.parametrize("place", [0, 1])
def test_an_operand_that_is_not_there_is_none(place: int) -> None:
    text = '<ir_version: 10, opset_import: ["" : 20]> g (float x) => (float y) { y = Neg(x) }'
    (node,) = load(onnx.parser.parse_model(text).SerializeToString()).graph.nodes
    assert (node.input(0), node.output(0)) == (node.inputs[0], node.outputs[0])
    assert node.input(place + 1) is node.output(place + 1) is None
    assert node.input(-1 - place) is node.output(-1 - place) is None


def _list_counted(tree: ast.Module) -> list[str]:
    return [
        ast.unparse(found)
        for found in ast.walk(tree)
        if isinstance(found, ast.Subscript)
        and isinstance(found.value, ast.Attribute)
        and found.value.attr in ("inputs", "outputs")
        and isinstance(found.slice, ast.Constant)
    ]


def test_no_module_takes_an_operand_by_its_number() -> None:
    """``node.inputs[0]`` fails where a file gives none; ``node.input(0)`` does not."""
    assert _list_counted(ast.parse("a = node.inputs[0], inputs[0], b.c.outputs[1], d.inputs[:2]"))
    counted = {
        f"{path.relative_to(_EXPLORER)}: {text}"
        for path in _EXPLORER.rglob("*.py")
        for text in _list_counted(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert counted == {  # of a subgraph, whose number is asked for before, and of a drawn box
        "costs/bodies.py: body.inputs[1]",
        "costs/bodies.py: body.outputs[0]",
        "view/links.py: item.children[stub].outputs[0]",
    }
