"""Words about what there is one of: "1 node", and not "1 nodes"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.commands.cli import main
from netloupe.explorer.describe import describe_element
from netloupe.explorer.describe.text import format_text
from netloupe.explorer.model import Model
from netloupe.explorer.notation import say_how_many, write_count
from netloupe.explorer.readers.load import load

#: a noun that ends in s although there is one
SINGULAR = {"bias", "bus", "class", "pass", "loss", "axis", "basis", "is", "was", "has", "less"}
#: verbs and words behind a number that counts nothing
NOT_COUNTED = {"bits", "needs", "gives", "stands", "this", "its", "us", "as", "ours"}
ONE = re.compile(
    r"(?<![\w.,/×\[(…-])1 (?:(?:more|other|new|changed|input|output|self) )?([a-z]+s)\b"
)


def list_mistakes(text: str) -> list[str]:
    """Return each place of a text where one thing is told as several."""
    return [
        text[max(0, found.start() - 40) : found.end() + 20]
        for found in ONE.finditer(text)
        if found[1] not in SINGULAR | NOT_COUNTED
    ]


def make_tensor(name: str, *dims: int, value: float = 0.5) -> onnx.TensorProto:
    return numpy_helper.from_array(np.full(dims, value, np.float32), name)


def make_model(nodes: list[onnx.NodeProto], tensors: list[onnx.TensorProto], *dims: int) -> bytes:
    """Return a model that takes and gives one value."""
    graph = helper.make_graph(
        nodes,
        "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        tensors,
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    return bytes(made.SerializeToString())


def quantize(name: str) -> list[onnx.NodeProto]:
    return [
        helper.make_node("QuantizeLinear", [name, "s", "z"], [f"{name}_q"]),
        helper.make_node("DequantizeLinear", [f"{name}_q", "s", "z"], [f"{name}_d"]),
    ]


def make_models() -> dict[str, bytes]:
    """Return models in which there is one of everything."""
    scale = make_tensor("s")
    zero = numpy_helper.from_array(np.array(0, np.uint8), "z")
    code = numpy_helper.from_array(np.ones((1, 1, 1, 1), np.uint8), "w_q")
    weight = make_tensor("w", 1, 1, 1, 1)
    ones = [make_tensor(name, 1) for name in ("a", "b", "m", "v")]
    conv = helper.make_node("Conv", ["x", "w"], ["c"])
    body = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["r"])],
        "body",
        [],
        [helper.make_tensor_value_info("r", TensorProto.FLOAT, None)],
    )
    truth = numpy_helper.from_array(np.array(True), "t")
    return {
        "node": make_model([helper.make_node("Relu", ["x"], ["y"])], [], 1),
        "convolution": make_model(
            [conv, helper.make_node("Relu", ["c"], ["y"])], [weight], 1, 1, 1, 1
        ),
        "norm": make_model(
            [conv, helper.make_node("BatchNormalization", ["c", "a", "b", "m", "v"], ["y"])],
            [weight, *ones],
            *(1, 1, 4, 4),
        ),
        "groups": make_model(
            [helper.make_node("GroupNormalization", ["x", "a", "b"], ["y"], num_groups=1)],
            ones[:2],
            *(1, 1, 4, 4),
        ),
        "classifier": make_model(
            [
                conv,
                helper.make_node("GlobalAveragePool", ["c"], ["p"]),
                helper.make_node("Flatten", ["p"], ["f"]),
                helper.make_node("Gemm", ["f", "g"], ["y"]),
            ],
            [weight, make_tensor("g", 1, 1)],
            *(1, 1, 4, 4),
        ),
        "branches": make_model(
            [helper.make_node("If", ["t"], ["y"], then_branch=body, else_branch=body)], [truth], 1
        ),
        "recurrent": make_model(
            [helper.make_node("LSTM", ["x", "W", "R"], ["y"], hidden_size=1)],
            [make_tensor("W", 1, 4, 1), make_tensor("R", 1, 4, 1)],
            *(1, 1, 1),
        ),
        "quantized": make_model(
            [
                *quantize("x"),
                helper.make_node("DequantizeLinear", ["w_q", "s", "z"], ["w_d"]),
                helper.make_node("Conv", ["x_d", "w_d"], ["c"]),
                *quantize("c"),
                helper.make_node("Identity", ["c_d"], ["y"]),
            ],
            [scale, zero, code],
            *(1, 1, 1, 1),
        ),
        "unused": make_model(
            [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Neg", ["x"], ["n"])],
            [make_tensor("u", 1), make_tensor("nan", 1, value=np.nan)],
            1,
        ),
        "unfit": make_model(
            [helper.make_node("MatMul", ["x", "k"], ["y"])], [make_tensor("k", 2, 1)], 1, 1
        ),
        "split": make_model([helper.make_node("Split", ["x"], ["y"], num_outputs=2)], [], 1),
    }


MODELS = make_models()


def list_texts(model: Model) -> Iterator[str]:
    """Yield what is said of a model and of all that is in it."""
    yield repr(model)
    yield repr(model.graph)
    yield repr(model.groups)
    yield model.architecture.summary
    yield model.to_svg(expand="all", share="parameters")
    yield model._repr_html_()
    for element in (model, *model.graphs, *list_parts(model)):
        yield format_text(describe_element(model, element))


def list_parts(model: Model) -> Iterator[Any]:
    for graph in model.graphs:
        yield from graph.nodes
        yield from graph.values.values()


@pytest.mark.parametrize("name", MODELS)
def test_one_of_each_is_told_as_one(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"{name}.onnx"
    file.write_bytes(MODELS[name])
    told = [*list_texts(load(file))]
    for words in (
        ["info", str(file), "--groups"],
        ["check", str(file)],
        ["audit", str(file)],
        ["report", str(file), "-o", str(tmp_path / "report.md")],
        *(
            ["diff", str(file), str(other), *more]
            for other in (tmp_path / "other.onnx",)
            for more in ([], ["-o", str(tmp_path / "diff.md")])
            if other.write_bytes(MODELS["norm" if name != "norm" else "convolution"])
        ),
    ):
        main(words)
        told.append("".join(capsys.readouterr()))
    told += [(tmp_path / each).read_text("utf-8") for each in ("report.md", "diff.md")]
    assert len("".join(told)) > 2_000
    assert [mistake for text in told for mistake in list_mistakes(text)] == []


def test_the_judge_knows_one_from_several() -> None:
    assert list_mistakes("it has 1 nodes, 11 nodes and 1 more places") == [
        "it has 1 nodes, 11 nodes and 1 mor",
        "it has 1 nodes, 11 nodes and 1 more places",
    ]
    assert not list_mistakes("1 node, 1 class, 2.1 bits, ×1 blocks, stages of 2, 1 bias")


def test_counts_agree_with_their_nouns() -> None:
    assert (write_count(1, "node"), write_count(0, "node")) == ("1 node", "0 nodes")
    assert write_count(2_000, "axis", "axes") == "2,000 axes"
    assert say_how_many(1, "entry", "entries") == "there is 1 entry"
    assert say_how_many(3, "entry", "entries") == "there are 3 entries"
