"""What can be given to load(), and what is said where it is no model."""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from pathlib import Path

import onnx
import onnx.parser
import pytest

from netloupe.explorer.errors import ModelFormatError, NetloupeError, SourceError
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from tests.corpus import also_beside, corpus_file

PROTO = onnx.parser.parse_model(
    '<ir_version: 8, opset_import: ["": 18]> g (float[N] x) => (float[N] y) { y = Relu(x) }'
)
DATA = PROTO.SerializeToString()


@pytest.fixture
def model_path(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(DATA)
    return path


def is_the_model(model: Model) -> bool:
    return [node.op_type for node in model.graph.nodes] == ["Relu"]


def test_a_path_as_text_or_object(model_path: Path) -> None:
    assert is_the_model(load(model_path))
    assert is_the_model(load(str(model_path)))
    assert is_the_model(load(os.fsencode(model_path).decode()))
    assert load(model_path).source == str(model_path)
    assert load(model_path).folder == model_path.parent.resolve()


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_of_any_kind(kind: type) -> None:
    model = load(kind(DATA))
    assert is_the_model(model)
    assert model.source == "<bytes>"
    assert model.folder is None


def test_file_objects(model_path: Path) -> None:
    assert is_the_model(load(io.BytesIO(DATA)))
    with model_path.open("rb") as file:
        model = load(file)
    assert is_the_model(model)
    assert model.source == str(model_path)


def test_a_text_file_is_refused(model_path: Path) -> None:
    with pytest.raises(SourceError, match=r"opened as text.*mode 'rb'"):
        load(io.StringIO("text"))
    with model_path.open(encoding="latin-1") as file, pytest.raises(SourceError, match="as text"):
        load(file)


def test_a_file_object_that_gives_no_bytes() -> None:
    class Nothing:
        def read(self) -> None:
            return None

    with pytest.raises(SourceError, match="Nothing"):
        load(Nothing())


def test_a_closed_file_object(model_path: Path) -> None:
    with model_path.open("rb") as file:
        pass
    with pytest.raises(SourceError, match=r"model\.onnx"):
        load(file)


def test_an_onnx_model_and_a_model_of_ours() -> None:
    model = load(PROTO)
    assert is_the_model(model)
    assert model.source == "<ModelProto>"
    assert load(model) is model


@pytest.mark.parametrize("thing", [None, 3, object(), ["model.onnx"]])
def test_other_things_are_refused(thing: object) -> None:
    with pytest.raises(SourceError, match="is no model source"):
        load(thing)


@pytest.mark.parametrize("name", ['with "quotes".onnx', "new\nline.onnx", "🙂.onnx", "-o.onnx"])
def test_odd_file_names(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(DATA)
    assert is_the_model(load(path))


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"gone\.onnx: there is no such file"):
        load(tmp_path / "gone.onnx")


def test_directory(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is a directory"):
        load(tmp_path)


def test_a_fifo_does_not_block(tmp_path: Path) -> None:
    path = tmp_path / "fifo.onnx"
    os.mkfifo(path)
    with pytest.raises(SourceError, match=r"fifo\.onnx: is no regular file"):
        load(path)


def test_a_device_is_refused() -> None:
    with pytest.raises(SourceError, match="/dev/zero: is no regular file"):
        load("/dev/zero")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_no_permission(model_path: Path) -> None:
    model_path.chmod(0)
    with pytest.raises(SourceError, match="permission"):
        load(model_path)


@pytest.mark.parametrize("name", ["a\0b.onnx", "x" * 5000, "\ud800.onnx"])
def test_impossible_names(name: str) -> None:
    with pytest.raises(SourceError):
        load(name)


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("archive/data.pkl", b"")
    return buffer.getvalue()


def _zip_of(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, b"x" * 5000)
    return buffer.getvalue()


IMPOSTORS = {
    "pt2": (_zip_of("m/archive_version", "m/models/model.json"), r"torch\.export.*dynamo=True"),
    "old pt2": (_zip_of("serialized_exported_program.json"), r"torch\.export.*torch\.onnx\.export"),
    "mlir": (b"// made\n#map = affine_map<(d0) -> (d0)>\nmodule @m {\n}\n", "is MLIR text"),
    "mlir function": (b"func.func @main(%a: tensor<4xf32>) {\n}\n", "is MLIR text"),
    "mlir generic": (b'"builtin.module"() ({\n}) : () -> ()\n', "is MLIR text"),
    "mlir bytecode": (b"ML\xefR\x01MLIR17" + bytes(40), "is MLIR bytecode"),
    "zip of one": (_zip_of("m/one.onnx"), "with an ONNX file inside"),
    "zip of several": (
        _zip_of("a.onnx", "b/c.onnx", "readme.md"),
        r"several ONNX files \(a\.onnx, b/c\.onnx\)\. Unpack it and give one",
    ),
    "zip of many": (_zip_of(*(f"{n}.onnx" for n in range(9))), r"4\.onnx and others\)"),
    "empty": (b"", "is empty"),
    "png": (b"\x89PNG\r\n\x1a\n" + bytes(40), "PNG picture"),
    "jpeg": (b"\xff\xd8\xff\xe0" + bytes(40), "JPEG picture"),
    "pdf": (b"%PDF-1.7\n", "PDF document"),
    "zip": (_zip(), "zip archive"),
    "pickle": (pickle.dumps({"weights": 1}), "pickle"),
    "old pickle": (pickle.dumps({"weights": 1}, protocol=2), "pickle"),
    "html": (b"\n<!DOCTYPE html><html><body>404</body></html>", "web page"),
    "xml": (b"<?xml version='1.0'?><Error/>", "XML"),
    "git lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "git lfs pull"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(40), "HDF5"),
    "tflite": (b"\x1c\0\0\0TFL3" + bytes(40), "TensorFlow Lite"),
    "ort": (b"\x1c\0\0\0ORTM" + bytes(40), r"\.ort file.*convert it with ONNX Runtime: python -c"),
    "safetensors": (b"\x10\0\0\0\0\0\0\0" + b'{"a":1}         ' + bytes(8), "safetensors"),
    "gguf": (b"GGUF" + bytes(40), "GGUF"),
    "numpy": (b"\x93NUMPY\x01\0" + bytes(40), "numpy"),
    "text": (b"hello, this is no model at all\n" * 4, "no ONNX model"),
    "zeros": (bytes(100), "no ONNX model"),
    "ones": (b"\xff" * 100, "no ONNX model"),
}


@pytest.mark.parametrize("kind", IMPOSTORS)
def test_what_a_file_really_is(tmp_path: Path, kind: str) -> None:
    data, message = IMPOSTORS[kind]
    path = tmp_path / "claims to be.onnx"
    path.write_bytes(data)
    with pytest.raises(ModelFormatError, match=message) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("length", range(1, len(DATA)))
def test_a_truncated_model_opens_or_is_refused_by_name(length: int) -> None:
    message = "<bytes>: "
    try:
        message += "".join(warning.message for warning in load(DATA[:length]).all_warnings())
    except ModelFormatError as error:
        message = str(error)
    assert message.startswith("<bytes>: ")


def test_two_files_in_one() -> None:
    model = load(DATA + DATA)
    assert len(model.graph.nodes) == 2
    assert list(model.all_warnings())


@pytest.mark.parametrize(
    "name",
    also_beside(
        [
            "truncated_10pct",
            "truncated_90pct",
            "truncated_minus1",
            "random_2m",
            "ff_64k",
            "overlong_varint",
            "wrong_wiretype",
            "wrongtype_hdf5.h5",
        ],
        "hostile/{}.onnx",
    ),
)
def test_broken_files_of_the_corpus(name: str) -> None:
    path = corpus_file(name)
    with pytest.raises(NetloupeError) as caught:
        load(path)
    assert str(path) in str(caught.value)
