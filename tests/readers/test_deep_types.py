"""Types nested deeper than the protobuf runtime parses."""

from __future__ import annotations

import pytest

from netloupe.explorer.describe import describe_element, format_text
from netloupe.explorer.errors import ModelFormatError
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.onnx.deep_types import MOST_NESTED_TYPES, cut_types
from netloupe.explorer.readers.protobuf import parts
from netloupe.proto import onnx_pb2
from tests.wire_writer import field

FLOAT = b"\x0a\x02\x08\x01"  # a TypeProto of a tensor of floats


def nest(depth: int) -> bytes:
    """Return a TypeProto: as many sequences within each other, a tensor innermost."""
    content = FLOAT
    for _ in range(depth):
        content = field(4, field(1, content))
    return content


def input_of(depth: int) -> bytes:
    """Return a model whose inputs are a plain one and one of a deep type."""
    graph = onnx_pb2.GraphProto(name="main")
    graph.node.add(op_type="Relu", input=["x"], output=["y"])
    deep = field(11, field(1, b"deep") + field(2, nest(depth)))
    plain = field(11, field(1, b"x") + field(2, FLOAT))
    return b"\x08\x0a" + field(7, graph.SerializeToString() + deep + plain)


def attribute_of_branch(depth: int) -> bytes:
    """Return a model with a deep type in an attribute of a node of a subgraph."""
    node = field(4, b"Optional") + field(5, field(1, b"type") + field(14, nest(depth)))
    branch = field(2, b"inner") + field(1, node)
    outer = field(4, b"If") + field(5, field(1, b"then_branch") + field(6, branch))
    return b"\x08\x0a" + field(7, field(2, b"main") + field(1, outer))


@pytest.mark.parametrize("scanned", [False, True], ids=["whole", "scanned"])
@pytest.mark.parametrize("depth", [60, 200, 1000])
@pytest.mark.parametrize("write", [input_of, attribute_of_branch])
def test_they_are_shown_to_some_depth_with_a_warning(
    write: object, depth: int, scanned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(write)
    if scanned:
        monkeypatch.setattr(parts, "WHOLE_BYTES", 0)
    model = load(write(depth))
    assert [str(warning) for warning in model.warnings] == [
        f"model: 1 type nested deeper than {MOST_NESTED_TYPES} levels: shown to that depth"
    ]
    if write is input_of:
        value = model.graph.values["deep"]
        assert str(value.type).count("sequence(") == MOST_NESTED_TYPES
        assert "sequence(?)" in format_text(describe_element(model, value))
        assert str(model.graph.values["x"].type) == "float32"
    else:
        (inner,) = model.graph.subgraphs
        assert str(inner.nodes[0].attributes["type"].value).count("(") == MOST_NESTED_TYPES


def test_what_the_runtime_parses_is_not_cut() -> None:
    model = load(input_of(45))
    assert str(model.graph.values["deep"].type).count("sequence(") == 45
    assert model.warnings == []


def test_only_what_is_deep_is_cut() -> None:
    shallow, cuts = cut_types(input_of(1000), onnx_pb2.ModelProto.DESCRIPTOR)
    assert cuts == 1
    parsed = onnx_pb2.ModelProto.FromString(shallow)
    assert [info.name for info in parsed.graph.input] == ["deep", "x"]
    assert cut_types(input_of(3), onnx_pb2.ModelProto.DESCRIPTOR) == (input_of(3), 0)


def test_damage_is_still_damage() -> None:
    with pytest.raises(ModelFormatError, match="damaged or cut short"):
        load(input_of(200)[:-3] + b"\x0f\x0f\x0f")
