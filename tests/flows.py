"""Normalizing flows as torch's older exporter writes other methods than forward, built inline."""

from __future__ import annotations

import numpy as np
from onnx import numpy_helper

from netloupe.explorer.model import Model
from tests.unrolled import Writer, call

_CHANNELS = 4
_HALF = _CHANNELS // 2


def _store(writer: Writer, name: str, values: object, dtype: type = np.float32) -> str:
    writer.tensors.append(numpy_helper.from_array(np.array(values, dtype), name))
    return name


def _name(step: int, module: str, *, is_list: bool) -> str:
    return f"maps.{step}/net/{module}" if is_list else call(f"map/net/{module}", step)


def make_couplings(count: int = 4, *, is_added_inside: bool = True, is_list: bool = False) -> Model:
    """Return affine couplings, each after a scale of all channels; log-determinants are summed.

    Parameters
    ----------
    count
        How many there are.
    is_added_inside
        Whether each adds what is stored of its scale to the sum, or all together do in the end.
    is_list
        Whether the networks are in a list of their author's.
    """
    writer = Writer()
    writer.inputs["x"] = [1, _CHANNELS, 8, 8]
    for name, value in (("none", 0), ("half", _HALF), ("all", _CHANNELS), ("axis", 1)):
        _store(writer, name, [value], np.int64)
    axes = _store(writer, "axes", [1, 2, 3], np.int64)
    total = _store(writer, "zero", [0])
    x, known = "x", []
    for step in range(count):
        shift, scale = (writer.weight(f"{name}{step}", 1, _CHANNELS, 1, 1) for name in "ts")
        x = writer.add("", "Mul", writer.add("", "Sub", x, shift), writer.add("", "Exp", scale))
        added = writer.add("", "ReduceSum", scale, keepdims=0)
        added = writer.add("", "Mul", added, _store(writer, f"pixels{step}", 64))
        known.append(writer.add("", "Add", added, _store(writer, f"start{step}", [0])))
        first = writer.add("", "Slice", x, "none", "half", "axis")
        second = writer.add("", "Slice", x, "half", "all", "axis")
        hidden = writer.add(
            _name(step, "net.0", is_list=is_list),
            *("Conv", first, writer.weight(f"a{step}", 8, _HALF, 3, 3)),
            pads=[1, 1, 1, 1],
        )
        hidden = writer.add(_name(step, "net.1", is_list=is_list), "Relu", hidden)
        made = writer.add(
            _name(step, "net.2", is_list=is_list),
            "Conv",
            hidden,
            writer.weight(f"b{step}", 4, 8, 1, 1),
        )
        moved = writer.add("", "Slice", made, "none", "half", "axis")
        factor = writer.add("", "Slice", made, "half", "all", "axis")
        factor = writer.add("", "Sigmoid", factor)
        second = writer.add("", "Mul", writer.add("", "Sub", second, moved), factor)
        added = writer.add("", "ReduceSum", writer.add("", "Log", factor), axes, keepdims=0)
        x = writer.add("", "Concat", first, second, axis=1)
        if is_added_inside:
            added = writer.add("", "Add", known.pop(), added)
        total = writer.add("", "Add", total, added)
    writer.outputs += [x, writer.add("", "Sum", total, *known)]
    return writer.load()


def make_undone(steps: int = 4, layers: int = 3, *, is_undone: bool = True) -> Model:
    """Return autoregressive layers that are undone variable by variable, from none known.

    Parameters
    ----------
    steps
        How often each layer is applied.
    layers
        How many there are.
    is_undone
        Whether each step computes with what the layer takes, or with what the last step gave.
    """
    writer = Writer()
    writer.inputs["x"] = [2, _CHANNELS]
    zeros = _store(writer, "zeros", np.zeros((2, _CHANNELS)))
    small = _store(writer, "small", 0.5)
    x, calls = "x", 0
    for layer in range(layers):
        x = writer.add("", "Mul", x, writer.weight(f"s{layer}", _CHANNELS))
        known = zeros
        for _ in range(steps):
            hidden = writer.add(
                *(call("steerer/first", calls), "MatMul", known, writer.weight(f"a{layer}", 4, 8))
            )
            hidden = writer.add(call("steerer/act", calls), "Relu", hidden)
            made = [
                writer.add(
                    *(call(f"steerer/{name}", calls), "MatMul", hidden),
                    writer.weight(f"{name}{layer}", 8, _CHANNELS),
                )
                for name in ("shift", "scale")
            ]
            steered = made[1] if is_undone else writer.add("", "Add", made[1], x)
            scale = writer.add("", "Add", writer.add("", "Sigmoid", steered), small)
            shifted = writer.add("", "Sub", x if is_undone else known, made[0])
            known = writer.add("", "Div", shifted, scale)
            calls += 1
        x = known
    writer.outputs.append(x)
    return writer.load()
