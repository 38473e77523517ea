"""Layers whose steps are written out are told as one where they read a sequence both ways."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper

from tests.unrolled import Writer

_STEPS, _WIDTH = 5, 8


def make_writer() -> Writer:
    writer = Writer("plain")
    writer.inputs = {"x": [_STEPS, 1, _WIDTH], "z": [_STEPS, 1, _WIDTH]}
    numbers = {"axis": [0], "last": [-1], "end": [-(2**62)], "back": [-1], "one": 1.0}
    numbers |= {f"place{step}": step for step in range(_STEPS)}
    for name, number in numbers.items():
        kind = np.float32 if isinstance(number, float) else np.int64
        writer.tensors.append(numpy_helper.from_array(np.array(number, kind), name))
    return writer


def reverse(writer: Writer, value: str) -> str:
    return writer.add("", "Slice", value, "last", "end", "axis", "back")


def add_plain(writer: Writer, value: str, name: str) -> str:
    """Add a layer without gates; return the results of all steps."""
    taken = writer.add("", "MatMul", value, writer.weight(f"{name}.w", _WIDTH, _WIDTH))
    state, results = "", []
    for step in range(_STEPS):
        total = writer.add("", "Gather", taken, f"place{step}", axis=0)
        if state:
            kept = writer.add("", "MatMul", state, writer.weight(f"{name}.u", _WIDTH, _WIDTH))
            total = writer.add("", "Add", kept, total)
        state = writer.add("", "Tanh", total)
        results.append(writer.add("", "Unsqueeze", state, "axis"))
    return writer.add("", "Concat", *results, axis=0)


def add_light(writer: Writer, value: str) -> str:
    """Add a light GRU; return the results of all steps."""
    taken = writer.add("", "MatMul", value, writer.weight("light.w", _WIDTH, 2 * _WIDTH))
    state, results = "", []
    for step in range(_STEPS):
        total = writer.add("", "Gather", taken, f"place{step}", axis=0)
        if state:
            kept = writer.add("", "MatMul", state, writer.weight("light.u", _WIDTH, 2 * _WIDTH))
            total = writer.add("", "Add", kept, total)
        else:
            state = writer.weight("begin", 1, _WIDTH)
        for place in (0, 1):
            name = f"gate{place}"
            indices = np.arange(_WIDTH) + place * _WIDTH
            if all(tensor.name != name for tensor in writer.tensors):
                writer.tensors.append(numpy_helper.from_array(indices, name))
        fresh = writer.add("", "Relu", writer.add("", "Gather", total, "gate0", axis=-1))
        update = writer.add("", "Sigmoid", writer.add("", "Gather", total, "gate1", axis=-1))
        kept = writer.add("", "Mul", update, state)
        new = writer.add("", "Mul", writer.add("", "Sub", "one", update), fresh)
        state = writer.add("", "Add", kept, new)
        results.append(writer.add("", "Unsqueeze", state, "axis"))
    return writer.add("", "Concat", *results, axis=0)


def tell(writer: Writer, value: str, width: int) -> str:
    head = writer.add("", "MatMul", value, writer.weight("head", width, 3))
    writer.outputs = [writer.add("", "Relu", head)]
    return writer.load().architecture.sentence or ""


@pytest.mark.parametrize(("joining", "width"), [("Concat", 2 * _WIDTH), ("Add", _WIDTH)])
def test_two_layers_of_one_sequence_are_one_of_both_ways(joining: str, width: int) -> None:
    writer = make_writer()
    ahead = add_plain(writer, "x", "ahead")
    back = reverse(writer, add_plain(writer, reverse(writer, "x"), "back"))
    axis = {"axis": -1} if joining == "Concat" else {}
    told = tell(writer, writer.add("", joining, ahead, back, **axis), width)
    assert "bidirectional RNN layer of width 8 written out in 5 steps" in told


@pytest.mark.parametrize("kind", ["ahead", "other"])
def test_two_layers_side_by_side_need_not_be_both_ways(kind: str) -> None:
    writer = make_writer()
    ahead = add_plain(writer, "x", "ahead")
    sequence = "x" if kind == "ahead" else reverse(writer, "z")
    beside = add_plain(writer, sequence, "back")
    told = tell(writer, writer.add("", "Concat", ahead, beside, axis=-1), 2 * _WIDTH)
    assert "RNN layer" in told
    assert "bidirectional" not in told


def test_a_layer_reads_a_sequence_and_its_reverse_side_by_side() -> None:
    writer = make_writer()
    both = writer.add("", "Concat", "x", reverse(writer, "x"), axis=1)
    told = tell(writer, add_light(writer, both), _WIDTH)
    assert "bidirectional light GRU layer of width 8 written out in 5 steps" in told


@pytest.mark.parametrize("sequences", [("x",), ("x", "z")])
def test_a_batch_of_other_sequences_is_read_one_way(sequences: tuple[str, ...]) -> None:
    writer = make_writer()
    taken = writer.add("", "Concat", *sequences, axis=1) if len(sequences) > 1 else "x"
    told = tell(writer, add_light(writer, taken), _WIDTH)
    assert "light GRU layer of width 8 written out in 5 steps" in told
    assert "bidirectional" not in told
