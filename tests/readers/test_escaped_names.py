"""Names that are not UTF-8, and names that only look as if they had been such."""

from __future__ import annotations

import pytest

from netloupe.explorer.model import EscapedText, Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.onnx.model import MANY_NODES

ONNX = b"""ir_version: 8 opset_import { version: 17 } graph { name: "%s"
input { name: "x" } output { name: "y%d" } %s }"""
NODE = b'node { op_type: "Relu" name: "%s" input: "%s" output: "y%d" } '
LITERAL, BROKEN = rb"C:\\x64\\xff", b"a\xff"


def messages(model: Model) -> str:
    return " ".join(str(warning) for warning in model.all_warnings())


def make_model(name: bytes, value: bytes, graph: bytes, count: int) -> Model:
    nodes = [NODE % (name, value, 0)]
    nodes += [NODE % (b"n%d" % n, b"y%d" % (n - 1), n) for n in range(1, count)]
    return load(ONNX % (graph, count - 1, b"".join(nodes)))


@pytest.mark.parametrize("count", [1, MANY_NODES + 1])
def test_an_escape_that_the_file_itself_holds_is_no_oddity(count: int) -> None:
    model = make_model(LITERAL, LITERAL, LITERAL, count)
    assert model.graph.name == model.graph.nodes[0].name == r"C:\x64\xff"
    assert "UTF-8" not in messages(model)
    assert not isinstance(model.graph.name, EscapedText)


@pytest.mark.parametrize("count", [1, MANY_NODES + 1])
@pytest.mark.parametrize(
    "names", [(BROKEN, b"x", b"g"), (b"n", BROKEN, b"g"), (b"n", b"x", BROKEN)]
)
def test_a_name_that_is_not_utf_8_is_told(names: tuple[bytes, bytes, bytes], count: int) -> None:
    assert "has names that are not UTF-8: a\\xff" in messages(make_model(*names, count))


def test_names_of_caffe2_are_told_apart_too() -> None:
    net = b'op { type: "Relu" name: "%s" input: "x" output: "y" } external_input: "x" name: "n"'
    assert "UTF-8" not in messages(load(net % LITERAL))
    assert "has names that are not UTF-8: a\\xff" in messages(load(net % BROKEN))
