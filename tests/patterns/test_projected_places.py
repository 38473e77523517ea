"""Attention says where its keys are made of all places of a sequence, and so are fewer."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper

from netloupe.explorer.patterns import recognise
from tests.unrolled import Writer

_PLACES, _KEYS, _WIDTH = 24, 6, 8


def tell(kind: str, *, keys: int = _KEYS) -> tuple[str, ...]:
    """Return what is told of an attention whose keys and values are projected in some way."""
    writer = Writer("plain")
    writer.inputs = {"x": [2, _PLACES, _WIDTH], "other": [2, _PLACES, _WIDTH]}
    query, key = (
        writer.add("", "MatMul", "x", writer.weight(name, _WIDTH, _WIDTH)) for name in "qk"
    )
    found = []
    for number, value in enumerate((key,)):
        if kind == "einsum":
            weight = writer.weight(f"e{number}", _PLACES, keys)
            value = writer.add("", "Einsum", value, weight, equation="bnd,nk->bkd")
        elif kind == "before":
            weight = writer.weight(f"e{number}", keys, _PLACES)
            value = writer.add("", "MatMul", weight, value)
        elif kind == "turned":
            value = writer.add("", "Transpose", value, perm=[0, 2, 1])
            value = writer.add("", "MatMul", value, writer.weight(f"e{number}", _PLACES, keys))
            value = writer.add("", "Transpose", value, perm=[0, 2, 1])
        elif kind == "features":
            weight = writer.weight(f"e{number}", _WIDTH, _WIDTH)
            value = writer.add("", "Einsum", value, weight, equation="bnd,dk->bnk")
        found.append(value)
    turned = writer.add("", "Transpose", found[0], perm=[0, 2, 1])
    scores = writer.add("", "MatMul", query, turned)
    writer.tensors.append(numpy_helper.from_array(np.array(3.0, np.float32), "root"))
    shares = writer.add("", "Softmax", writer.add("", "Div", scores, "root"), axis=-1)
    mixed = writer.add("", "MatMul", shares, found[0])
    writer.outputs = [writer.add("", "MatMul", mixed, writer.weight("o", _WIDTH, _WIDTH))]
    told = recognise(writer.load().graph.nodes)
    return told.facts if told is not None else ()


@pytest.mark.parametrize("kind", ["einsum", "before", "turned"])
def test_places_are_projected(kind: str) -> None:
    assert "keys 24 → 6" in tell(kind)


@pytest.mark.parametrize(("kind", "keys"), [("none", 6), ("features", 6), ("einsum", 24)])
def test_others_are_not(kind: str, keys: int) -> None:
    assert not any(fact.startswith("keys") for fact in tell(kind, keys=keys))


@pytest.mark.parametrize(("given", "told"), [(1, "4 heads × 2 over 1"), (4, "4 heads × 2")])
def test_all_heads_may_share_what_is_projected(given: int, told: str) -> None:
    writer = Writer("plain")
    writer.inputs = {"x": [2, _PLACES, _WIDTH]}
    heads, width = 4, _WIDTH // 4
    shapes = {"apart": [2, _PLACES, heads, width], "whole": [2, _PLACES, _WIDTH]}
    shapes |= {"keys": [2, _KEYS, given, width], "every": [2, heads, _KEYS, width]}
    for name, shape in shapes.items():
        writer.tensors.append(numpy_helper.from_array(np.array(shape), name))
    query = writer.add("", "MatMul", "x", writer.weight("q", _WIDTH, _WIDTH))
    queries = writer.add("", "Reshape", query, "apart")
    queries = writer.add("", "Transpose", queries, perm=[0, 2, 1, 3])
    found = []
    for name in "k":
        value = writer.add("", "MatMul", "x", writer.weight(name, _WIDTH, given * width))
        weight = writer.weight(f"{name}e", _PLACES, _KEYS)
        value = writer.add("", "Einsum", value, weight, equation="bnd,nk->bkd")
        value = writer.add("", "Reshape", value, "keys")
        value = writer.add("", "Transpose", value, perm=[0, 2, 1, 3])
        found.append(writer.add("", "Expand", value, "every"))
    scores = writer.add("", "Einsum", queries, found[0], equation="bhnd,bhkd->bhnk")
    shares = writer.add("", "Softmax", scores, axis=-1)
    mixed = writer.add("", "Einsum", shares, found[0], equation="bhnk,bhkd->bhnd")
    mixed = writer.add("", "Transpose", mixed, perm=[0, 2, 1, 3])
    mixed = writer.add("", "Reshape", mixed, "whole")
    writer.outputs = [writer.add("", "MatMul", mixed, writer.weight("o", _WIDTH, _WIDTH))]
    recognised = recognise(writer.load().graph.nodes)
    assert recognised is not None
    assert recognised.facts == (told, "keys 24 → 6")
