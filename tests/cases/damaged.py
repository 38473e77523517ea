"""Files that are broken, cut short, or something other than a model."""

from __future__ import annotations

import gzip
import io
import pickle
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import onnx

from tests.cases.models import make_model, relu

_DENSENET = "light_densenet121.onnx"
_VARINT_BEYOND_64_BITS = b"\x80" * 20 + b"\x01"


def _whole(name: str = _DENSENET) -> bytes:
    """Return one of the models that the onnx package ships."""
    folder = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    return (folder / name).read_bytes()


def _sound() -> bytes:
    return make_model([relu()]).SerializeToString()


def _concatenated() -> bytes:
    return _whole() * 2


def _zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({"w": 1}))
        archive.writestr("archive/version", "3")
    return file.getvalue()


CASES: dict[str, Callable[[], bytes]] = {
    "hostile/empty.onnx": lambda: b"",
    "hostile/truncated_10pct.onnx": lambda: _whole()[: len(_whole()) // 10],
    "hostile/truncated_90pct.onnx": lambda: _whole()[: len(_whole()) * 9 // 10],
    "hostile/truncated_minus1.onnx": lambda: _whole()[:-1],
    "hostile/concatenated_twice.onnx": _concatenated,
    "hostile/random_2m.onnx": lambda: random.Random(2).randbytes(2_000_000),
    "hostile/ff_64k.onnx": lambda: b"\xff" * 2**16,
    "hostile/wrongtype_torch_zip.onnx": _zip,
    "hostile/wrongtype_html.onnx": lambda: (
        b"<!DOCTYPE html><html><head><title>Gone</title></head><body>410</body></html>"
    ),
    "hostile/wrongtype_gzip.onnx": lambda: gzip.compress(
        _whole("light_squeezenet.onnx"), 9, mtime=0
    ),
    "hostile/wrongtype_pickle.onnx": lambda: pickle.dumps([1, {"x": 3}], 4),
    "hostile/wrongtype_hdf5.h5.onnx": lambda: b"\x89HDF\r\n\x1a\n" + bytes(100),
    "hostile/wrongtype_tflite.onnx": lambda: b"\x1c\0\0\0TFL3" + bytes(64),
    "hostile/onnxtxt_truncated.onnxtxt": lambda: (
        b'ir_version: 8\ngraph {\n  node {\n    input: "x"\n    output: "y"\n    op_type: "Re'
    ),
    "hostile/overlong_varint.onnx": lambda: b"\x08" + _VARINT_BEYOND_64_BITS,
    # field 100 is none of a model; its group holds a number and ends
    "hostile/group_wire_types.onnx": lambda: _sound() + b"\xa3\x06\x08\x05\xa4\x06",
    # field 7, the graph, as a number
    "hostile/wrong_wiretype.onnx": lambda: b"\x38\x05\x08\x08",
}
