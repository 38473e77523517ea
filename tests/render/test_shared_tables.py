"""Tables that several boxes use: each says so."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.readers.load import load
from netloupe.explorer.render.faces import FaceBook
from netloupe.explorer.view import View

_ROWS, _WIDTH = 60, 20
_DRAWN = np.random.default_rng(5).normal(size=(_ROWS, _WIDTH)).astype(np.float32)


def _tell(tables: dict[str, np.ndarray], *nodes: tuple[str, ...]) -> dict[str, str]:
    """Return what stands on the boxes of nodes ``(op, result, *operands)``, by result."""
    made = [helper.make_node(op, [*taken], [name], name) for op, name, *taken in nodes]
    texts = [f"ids{number}" for number in range(2)]
    graph = helper.make_graph(
        made,
        "g",
        [
            *(helper.make_tensor_value_info(name, TensorProto.INT64, [2, 7]) for name in texts),
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 7, _WIDTH]),
        ],
        [
            helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, None)
            for node in made
            if node.op_type != "Transpose"
        ],
        [numpy_helper.from_array(table, name) for name, table in tables.items()],
    )
    opset = helper.make_opsetid("", 18)
    view = View(load(helper.make_model(graph, opset_imports=[opset]).SerializeToString()))
    told: dict[str, str] = {}
    for item in view.items.values():
        if item.kind in ("node", "group"):
            words = [run.text for run in FaceBook().face(item).texts]
            name = next((node.output[0] for node in made if f"/{node.name}" in item.key), "")
            told[name] = " · ".join(words)
    return told


def test_lookups_in_one_table_say_that_they_share_it() -> None:
    told = _tell({"w": _DRAWN}, ("Gather", "a", "w", "ids0"), ("Gather", "b", "w", "ids1"))
    assert told["a"].endswith("60 × 20 · shared")
    assert told["b"].endswith("60 × 20 · shared")


@pytest.mark.parametrize("is_copy", [False, True])
def test_an_output_layer_that_is_the_embedding_says_so(is_copy: bool) -> None:
    turned = ("Transpose", "t", "w")
    product = ("MatMul", "y", "x", "wt" if is_copy else "t")
    tables = {"w": _DRAWN, **({"wt": np.ascontiguousarray(_DRAWN.T)} if is_copy else {})}
    nodes = [product] if is_copy else [turned, product]
    told = _tell(tables, ("Gather", "a", "w", "ids0"), *nodes)
    assert told["a"].endswith("60 × 20 · shared")
    assert any("20 → 60 · shared with embedding" in words for words in told.values())


def test_tables_of_their_own_are_not_shared() -> None:
    other = _DRAWN + 1
    told = _tell(
        {"w": _DRAWN, "v": other}, ("Gather", "a", "w", "ids0"), ("Gather", "b", "v", "ids1")
    )
    assert not any("shared" in words for words in told.values())


def test_equal_tables_of_two_lookups_may_be_made_alike() -> None:
    told = _tell(
        {"w": _DRAWN, "v": _DRAWN.copy()},
        ("Gather", "a", "w", "ids0"),
        ("Gather", "b", "v", "ids1"),
    )
    assert not any("shared" in words for words in told.values())


@pytest.mark.parametrize("filled", [np.zeros, np.ones])
def test_tables_of_one_number_are_no_copies(filled: type) -> None:
    tables = {"w": filled((_ROWS, _WIDTH), np.float32), "wt": filled((_WIDTH, _ROWS), np.float32)}
    told = _tell(tables, ("Gather", "a", "w", "ids0"), ("MatMul", "y", "x", "wt"))
    assert not any("shared" in words for words in told.values())
