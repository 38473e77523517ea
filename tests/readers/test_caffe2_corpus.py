"""Real Caffe2 files: counts equal those of the messages, and ONNX files are left alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netloupe.explorer.model import Model
from netloupe.explorer.readers.caffe2.fills import is_fill
from netloupe.explorer.readers.caffe2.parts import Net
from netloupe.explorer.readers.caffe2.recognition import recognize_caffe2
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.pipeline import identify, unwrap
from netloupe.explorer.readers.source import open_source
from tests.corpus import LIGHT_MODELS, MADE, corpus_file, light_file, list_beside

_NO_NETS = ("onnx_as_predict_net.pb", "tensorproto_input_0.pb", "empty_init_net.pbtxt")
_NETS = [
    name
    for name in [*MADE, *list_beside("**/*.pb"), *list_beside("**/*.pbtxt")]
    if name.endswith((".pb", ".pbtxt")) and not name.endswith(_NO_NETS)
]


def list_nets(net: Net) -> Iterator[Net]:
    """Yield a net and the nets inside it at any depth."""
    yield net
    for operator in net.message.op:
        for argument in operator.arg:
            for nets in net.nested(argument).values():
                for inner in nets:
                    yield from list_nets(inner)


def count_edges(model: Model) -> int:
    return sum(
        value is not None and not (value in node.outputs and "written by" in value.metadata)
        for graph in model.graphs
        for node in graph.nodes
        for value in (*node.inputs, *node.control_inputs, *node.outputs)
    )


def parse_net_file(path: Path) -> Net:
    format, match = identify(unwrap(open_source(path)))
    assert format.name == "Caffe2"
    return Net(match.parsed.proto, match.parsed)


def count_blobs(operators: list[Any]) -> int:
    return sum(
        bool(name)
        for operator in operators
        for name in (*operator.input, *operator.control_input, *operator.output)
    )


@pytest.mark.parametrize("name", _NETS)
def test_counts_equal_those_of_the_messages(name: str) -> None:
    path = corpus_file(name)
    net = parse_net_file(path)
    model = load(path)
    operators = [operator for inner in list_nets(net) for operator in inner.message.op]
    fills = []
    init_name = model.metadata.get("init net file")
    if init_name is not None:
        init = parse_net_file(path.with_name(init_name))
        fills = [operator for operator in init.message.op if is_fill(operator)]
        operators += [operator for operator in init.message.op if not is_fill(operator)]
    assert sum(len(graph.nodes) for graph in model.graphs) == len(operators)
    placeholders = [v for v in model.graph.inputs if "placeholder" in v.metadata]
    stored = sum(len(graph.initializers) for graph in model.graphs)
    assert stored + len(placeholders) == len(fills)
    assert count_edges(model) == count_blobs(operators)
    list(model.all_warnings())


@pytest.mark.parametrize("name", LIGHT_MODELS)
def test_the_light_models_are_no_caffe2(name: str) -> None:
    assert recognize_caffe2(open_source(light_file(name))) is None


def test_no_onnx_file_of_the_corpus_is_taken_for_caffe2() -> None:
    names = [name for name in [*MADE, *list_beside("**/*.onnx")] if name.endswith(".onnx")]
    taken = [name for name in names if recognize_caffe2(open_source(corpus_file(name))) is not None]
    assert len(names) > 100
    assert taken == []
