"""What a constant holds that cannot be read is counted once, wherever the constant is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from netloupe.explorer.compare import diff
from netloupe.explorer.describe.difference_summary import write_verdict
from netloupe.explorer.readers.load import load

_HEADER = '<ir_version: 10, opset_import: ["": 18, "local": 1]>\n'
_CONSTANT = "w = Constant<value = float[2, 2] {1, 2, 3, 4}>() "
_TEXTS = {
    "main": "g (float[2, 2] x) => (float[2, 2] y) { %s y = MatMul(x, w) }",
    "two users": "g (float[2, 2] x) => (float[2, 2] y) { %s m = MatMul(x, w) y = Add(m, w) }",
    "branch": """g (float[2, 2] x, bool c) => (float[2, 2] y) {
        y = If (c) <then_branch = t () => (float[2, 2] p) { %s p = MatMul(x, w) },
                    else_branch = e () => (float[2, 2] q) { q = Relu(x) }>
    }""",
    "function": """g (float[2, 2] x) => (float[2, 2] y) { y = local.F(x) }
        <domain: "local", opset_import: ["": 18]> F (i) => (o) { %s o = MatMul(i, w) }""",
    "unused": "g (float[2, 2] x) => (float[2, 2] y) { %s y = Relu(x) }",
}
_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 16\n"


def write(folder: Path, text: str, content: bytes) -> Path:
    """Write a model whose constant is in a file of some content."""
    proto = onnx.parser.parse_model(_HEADER + text % _CONSTANT)
    graphs = [proto.graph, *(a.g for node in proto.graph.node for a in node.attribute)]
    nodes = [node for holder in (*graphs, *proto.functions) for node in holder.node]
    (constant,) = [node for node in nodes if node.op_type == "Constant"]
    tensor = constant.attribute[0].t
    tensor.ClearField("float_data")
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="w.bin")
    folder.mkdir()
    (folder / "w.bin").write_bytes(content)
    (folder / "m.onnx").write_bytes(proto.SerializeToString())
    return folder / "m.onnx"


@pytest.mark.parametrize("is_one_there", [False, True], ids=["both", "one"])
@pytest.mark.parametrize("where", _TEXTS)
def test_a_constant_behind_a_pointer_is_counted_once(
    where: str, is_one_there: bool, tmp_path: Path
) -> None:
    contents = [_POINTER.format(letter * 64).encode() for letter in "ab"]
    if is_one_there:
        contents[1] = np.arange(4, dtype=np.float32).tobytes()
    paths = [
        write(tmp_path / str(number), _TEXTS[where], content)
        for number, content in enumerate(contents)
    ]
    found = diff(*map(load, paths))
    assert found.verdict == "unread"
    assert len(found.unread) + len(found.unjudged) == 1
    assert len([entry for entry in found.entries if entry.topic == "unread"]) == 1
    told = write_verdict(found)
    assert told.count("could not be read") == 1, told
    if where != "unused":
        assert "1 weight could not be read" in told


def test_a_constant_that_can_be_read_is_compared(tmp_path: Path) -> None:
    numbers = [np.arange(4, dtype=np.float32) + shift for shift in (0, 1)]
    paths = [
        write(tmp_path / str(number), _TEXTS["main"], array.tobytes())
        for number, array in enumerate(numbers)
    ]
    found = diff(*map(load, paths))
    assert (found.verdict, len(found.unread), len(found.unjudged)) == ("weights", 0, 0)
