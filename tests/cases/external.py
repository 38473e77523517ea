"""Weights outside of the model's file, and places where they may not be looked for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import TensorProto

from tests.cases.models import weighted

_FOLDER = "hostile/external"


def _outside(
    *entries: tuple[str, str], dims: tuple[int, ...] = (4,), name: str = "w"
) -> TensorProto:
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims)
    tensor.data_location = TensorProto.EXTERNAL
    for key, text in entries:
        tensor.external_data.add(key=key, value=text)
    return tensor


def _case(*entries: tuple[str, str], dims: tuple[int, ...] = (4,)) -> Callable[[], bytes]:
    return lambda: weighted(_outside(*entries, dims=dims))


def _overlapping() -> bytes:
    place = [("location", "good.bin"), ("offset", "0"), ("length", "16")]
    return weighted(*(_outside(*place, name=f"w{number}") for number in range(1000)))


_GOOD = ("location", "good.bin")

CASES: dict[str, Callable[[], bytes]] = {
    f"{_FOLDER}/good.bin": lambda: np.arange(1024, dtype="<f4").tobytes(),
    f"{_FOLDER}/ok.onnx": _case(_GOOD, ("offset", "16"), ("length", "16")),
    f"{_FOLDER}/traversal_mixed.onnx": _case(("location", "sub/../../../../../../../etc/passwd")),
    f"{_FOLDER}/absolute.onnx": _case(("location", "/etc/passwd")),
    f"{_FOLDER}/http_url.onnx": _case(("location", "http://127.0.0.1:9/w.bin")),
    f"{_FOLDER}/home.onnx": _case(("location", "~/.bashrc")),
    f"{_FOLDER}/procmem.onnx": _case(("location", "/proc/self/environ")),
    f"{_FOLDER}/missing_file.onnx": _case(("location", "gone.bin")),
    f"{_FOLDER}/no_location.onnx": _case(("offset", "0")),
    f"{_FOLDER}/self.onnx": _case(("location", "self.onnx"), ("length", "16")),
    f"{_FOLDER}/length_beyond.onnx": _case(_GOOD, ("offset", "4090"), ("length", "16")),
    f"{_FOLDER}/offset_negative.onnx": _case(_GOOD, ("offset", "-16"), ("length", "16")),
    f"{_FOLDER}/length_vs_dims.onnx": _case(_GOOD, ("length", "4"), dims=(4, 4)),
    f"{_FOLDER}/dup_keys.onnx": _case(_GOOD, ("location", "/etc/passwd"), ("offset", "0")),
    f"{_FOLDER}/overlap_1000.onnx": _overlapping,
}
