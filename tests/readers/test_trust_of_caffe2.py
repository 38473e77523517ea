"""What hostile Caffe2 files cannot do: read elsewhere, or claim what they do not hold."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from google.protobuf import json_format, text_format

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.readers.load import load
from netloupe.proto import caffe2_pb2

SIMPLE_FILE, INLINE_CONTAINER = 1, 0


def write_external(path: Path, location: str, source: int, **fields: object) -> None:
    tensors = caffe2_pb2.TensorProtos()
    tensor = tensors.protos.add(name="w", dims=[4], data_type=caffe2_pb2.TensorProto.FLOAT)
    tensor.storage_type = caffe2_pb2.TensorProto.EXTERNAL
    tensor.external_data.source_type = source
    tensor.external_data.record_id = location
    for field, content in fields.items():
        setattr(tensor.external_data, field, content)
    path.write_bytes(tensors.SerializeToString())


@pytest.mark.parametrize(
    ("location", "source", "fields", "reason"),
    [
        ("w.bin", SIMPLE_FILE, {}, ""),
        ("w.bin", SIMPLE_FILE, {"offset": 8}, "bytes"),
        ("../secret.bin", SIMPLE_FILE, {}, "leads out of the model's folder"),
        ("link.bin", SIMPLE_FILE, {}, "leads out of the model's folder"),
        ("/etc/hostname", SIMPLE_FILE, {}, "absolute"),
        ("http://example.com/w.bin", SIMPLE_FILE, {}, "no network access"),
        ("w.bin", INLINE_CONTAINER, {}, "the record 'w.bin' of an archive"),
    ],
)
def test_external_data(
    tmp_path: Path, location: str, source: int, fields: dict[str, object], reason: str
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for path in (tmp_path / "secret.bin", folder / "w.bin"):
        path.write_bytes(bytes(16))
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    write_external(folder / "tensors.pb", location, source, **fields)
    (tensor,) = load(folder / "tensors.pb").graph.initializers
    if not reason:
        assert tensor.numpy().tolist() == [0, 0, 0, 0]
        return
    with pytest.raises(TensorDataError, match=reason) as caught:
        tensor.numpy()
    assert "\n" not in str(caught.value)


def test_a_fill_of_too_many_elements() -> None:
    net = caffe2_pb2.NetDef(name="n")
    fill = net.op.add(type="ConstantFill", output=["w"])
    fill.arg.add(name="shape", ints=[2**14, 2**15])
    fill.arg.add(name="value", f=1.0)
    net.op.add(type="Relu", input=["w"], output=["y"])
    constant = load(net.SerializeToString()).graph.nodes[0].details.constant
    assert constant is not None
    with pytest.raises(TensorDataError, match="more than 268435456"):
        constant.numpy()


@pytest.mark.parametrize("is_zipped", [False, True])
@pytest.mark.parametrize("form", ["text", "JSON"])
def test_text_and_json(form: str, is_zipped: bool) -> None:
    net = caffe2_pb2.NetDef(name="n")
    net.op.add(type="Relu", input=["x"], output=["y"])
    written = text_format.MessageToString(net) if form == "text" else json_format.MessageToJson(net)
    data = written.encode()
    model = load(gzip.compress(data) if is_zipped else data)
    assert (model.format, [node.op_type for node in model.graph.nodes]) == ("Caffe2", ["Relu"])
    assert model.container == f"protobuf {form}" + (" in gzip" if is_zipped else "")
