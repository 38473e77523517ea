"""What a selection takes: the largest or the smallest, as its search says."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import recognise
from tests.onnx_text import load_text

_LARGEST, _SMALLEST = "8 largest", "8 smallest"


def _tell(search: str, opset: int = 18, before: str = "doubled = Add (sharp, sharp)") -> str:
    found = recognise(
        load_text(
            f"""<ir_version: 10, opset_import: ["": {opset}]>
            g (float[100, 4] places, float[100] scores) => (float[8, 4] y)
            <int64[1] count = {{8}}, float half = {{0.5}}>
            {{
              sharp = Sub (scores, half)
              {before}
              best, which = {search}
              y = Gather (places, which)
            }}"""
        ).graph.nodes
    )
    assert found is not None
    assert found.name == "Selection"
    return ", ".join(found.facts)


@pytest.mark.parametrize(
    ("search", "opset", "told"),
    [
        ("TopK <axis = 0> (doubled, count)", 18, _LARGEST),
        ("TopK <axis = 0, largest = 1> (doubled, count)", 18, _LARGEST),
        ("TopK <axis = 0, largest = 0> (doubled, count)", 18, _SMALLEST),
        ("TopK <axis = 0, largest = 0, sorted = 0> (doubled, count)", 11, _SMALLEST),
        ("TopK <axis = 0> (doubled, count)", 10, _LARGEST),
        ("TopK <axis = 0, k = 8> (doubled)", 9, _LARGEST),
    ],
)
def test_a_search_takes_the_largest_unless_it_says_the_smallest(
    search: str, opset: int, told: str
) -> None:
    assert _tell(search, opset) == told


@pytest.mark.parametrize(("largest", "told"), [(1, _SMALLEST), (0, _LARGEST)])
def test_the_largest_of_what_has_the_other_sign_are_the_smallest(largest: int, told: str) -> None:
    search = f"TopK <axis = 0, largest = {largest}> (doubled, count)"
    assert _tell(search, before="doubled = Neg (sharp)") == told
