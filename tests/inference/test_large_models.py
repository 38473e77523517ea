"""The size of weights does not matter, and a value's inferred type is kept at no cost to others."""

from __future__ import annotations

import sys
from pathlib import Path

import onnx.parser
import pytest
from onnx import TensorProto

from netloupe.explorer.inference import infer_shapes
from netloupe.explorer.model import Value
from netloupe.explorer.model.graph import get_inferred_types
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.onnx.skeleton import write_skeleton
from netloupe.explorer.tensors.stored import StoredFile
from netloupe.proto.wire import encode_varint
from tests.onnx_text import load_text

_GRAPH, _INITIALIZER, _RAW_DATA = 7, 5, 9


def field(number: int, size: int) -> bytes:
    return encode_varint(number << 3 | 2) + encode_varint(size)


def write_large_model(path: Path, size: int) -> None:
    """Write a model with a weight of so many bytes, which take no room on the disk."""
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[N, 1024] x) => (y) { y = MatMul (x, w) }'
    )
    graph = model.graph.SerializeToString()
    model.ClearField("graph")
    head = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1024, size // 4096])
    start = head.SerializeToString() + field(_RAW_DATA, size)
    tensor = field(_INITIALIZER, len(start) + size) + start
    with path.open("wb") as file:
        file.write(model.SerializeToString() + field(_GRAPH, len(graph) + len(tensor) + size))
        file.write(graph + tensor)
        file.truncate(file.tell() + size)


def test_of_three_gigabytes_of_weights_nothing_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "large.onnx"
    write_large_model(path, 3 * 2**30)
    model = load(path)
    assert model.tensor("w").nbytes == 3 * 2**30
    monkeypatch.delattr(StoredFile, "open")
    assert len(write_skeleton(model).data) < 1000
    infer_shapes(model)
    assert str(model.value("y").inferred_type) == "float32[N, 786432]"


def test_inferred_types_share_names_and_types() -> None:
    steps = " ".join(f"v{n + 1} = Relu (v{n})" for n in range(1000))
    model = load_text(f"g (float[2] v0) => (v1000) {{ {steps} }}")
    before = sys.getsizeof(model.value("v7"))
    infer_shapes(model)
    types = get_inferred_types(model.graph)
    assert len(types) == 1000
    assert len({id(each) for each in types.values()}) == 1
    assert all(key is model.graph.values[key].key for key in types)
    assert sys.getsizeof(model.value("v7")) == before
    assert not any("inferred" in slot for slot in Value.__slots__)
