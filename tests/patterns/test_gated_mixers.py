"""Mixer blocks whose MLPs are each followed by a gate."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import recognise
from tests.onnx_text import load_text


def _write_half(name: str, taken: str, width: int, *, turns: bool, gate: str) -> str:
    turn = "Transpose <perm = [0, 2, 1]>" if turns else "Identity"
    weighing = f"{name}g = MatMul ({name}o, {name}w)  {name}s = {gate} ({name}g)"
    return f"""
        {name}n = LayerNormalization <axis = -1> ({taken}, scale)
        {name}t = {turn} ({name}n)
        {name}h = MatMul ({name}t, {name}up)  {name}r = Relu ({name}h)
        {name}o = MatMul ({name}r, {name}down)
        {weighing}
        {name}m = Mul ({name}o, {name}s)
        {name}b = {turn} ({name}m)
        {name}y = Add ({taken}, {name}b)
    """


@pytest.mark.parametrize(
    ("gate", "turns", "told"),
    [
        ("Softmax", True, ("tokens 4 → 6 → 4", "features 8 → 12 → 8", "gated")),
        ("Sigmoid", True, ()),
        ("Softmax", False, ()),
    ],
)
def test_gates_behind_both_mlps_are_part_of_a_mixer(
    gate: str, turns: bool, told: tuple[str, ...]
) -> None:
    tokens = 4 if turns else 8
    stored = [("scale", (8,)), ("pup", (tokens, 6)), ("pdown", (6, tokens)), ("pw", (tokens,) * 2)]
    stored += [("fup", (8, 12)), ("fdown", (12, 8)), ("fw", (8, 8))]
    weights = ", ".join(
        f"float[{','.join(map(str, dims))}] {name} = {{{', '.join(['1'] * _count(dims))}}}"
        for name, dims in stored
    )
    text = _write_half("p", "x", tokens, turns=turns, gate=gate)
    text += _write_half("f", "py", 8, turns=False, gate=gate)
    graph = load_text(f"g (float[1, 4, 8] x) => (float[1, 4, 8] fy) <{weights}> {{ {text} }}").graph
    found = recognise(graph.nodes)
    assert (found.facts if found is not None and found.name == "Mixer block" else ()) == told


def _count(dims: tuple[int, ...]) -> int:
    count = 1
    for dim in dims:
        count *= dim
    return count
