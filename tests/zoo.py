"""Models as torch and onnxruntime export them: skeletons that ``tools/make_zoo.py`` wrote.

Their larger tensors have names, types and shapes, and no values. Here they get some, the same in
every run: floats of a normal distribution, integers over the whole range of their type.
"""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx

_FOLDER = Path(__file__).parent / "zoo"
_SUFFIX = ".xz"

#: names like ``exported/bert.legacy.onnx``
ZOO = tuple(
    str(path.relative_to(_FOLDER)).removesuffix(_SUFFIX) for path in sorted(_FOLDER.glob("*/*.xz"))
)


def unpack(name: str) -> bytes:
    """Return a model of the zoo with values in all of its tensors."""
    return unpack_file(_FOLDER / f"{name}{_SUFFIX}")


def unpack_file(path: Path) -> bytes:
    """Return a skeleton with values in all of its tensors."""
    model = onnx.ModelProto.FromString(lzma.decompress(path.read_bytes()))
    for root in (model.graph, *model.functions):
        for tensor in _list_tensors(root):
            _fill(tensor)
    return model.SerializeToString(deterministic=True)


def _list_tensors(graph: Any) -> Iterator[onnx.TensorProto]:
    yield from getattr(graph, "initializer", ())
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            if attribute.HasField("g"):
                yield from _list_tensors(attribute.g)


def _fill(tensor: onnx.TensorProto) -> None:
    count = prod(tensor.dims)
    held = (tensor.raw_data, tensor.float_data, tensor.int32_data, tensor.int64_data)
    if not count or any(map(len, held)):
        return
    chance = np.random.default_rng(zlib.crc32(tensor.name.encode()))
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
    if dtype.kind in "iu":
        values = chance.integers(
            np.iinfo(dtype).min, np.iinfo(dtype).max, count, dtype, endpoint=True
        )
    else:
        values = chance.normal(0.0, 0.05, count).astype(dtype)
    tensor.raw_data = values.tobytes()
