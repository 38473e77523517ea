"""A loop over tokens, each repeated as often as it lasts, is one box, whatever its length."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, find_tree
from netloupe.explorer.patterns import recognise
from tests.onnx_text import load_text

_EACH = """
  count{n} = Concat <axis = 0> (lasts{n}, width)
  row{n} = Expand (token{n}, count{n})
"""


def _write(count: int, *edits: tuple[str, str]) -> str:
    places = range(count)
    tokens, lasts, rows = (
        ", ".join(f"{name}{n}" for n in places) for name in ("token", "lasts", "row")
    )
    text = f"""
g (float[{count}, 8] x, int64[{count}] durations) => (float[frames, 8] y)
<int64[1] width = {{8}}>
{{
  {tokens} = Split <axis = 0, num_outputs = {count}> (x)
  {lasts} = Split <axis = 0, num_outputs = {count}> (durations)
  {"".join(_EACH.format(n=n) for n in places)}
  y = Concat <axis = 0> ({rows})
}}
"""
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    return text


def _tell(text: str) -> str:
    found = recognise([*load_text(text).graph.nodes])
    return found.text if found is not None else ""


@pytest.mark.parametrize("count", [3, 4, 24])
def test_tokens_that_are_repeated_one_by_one(count: int) -> None:
    assert _tell(_write(count)) == f"Length regulator, of {count} tokens"


@pytest.mark.parametrize(
    "edits",
    [
        # one is not repeated
        (("row1 = Expand (token1, count1)", "row1 = Identity (token1)"),),
        # a stored number tells how often
        (("row1 = Expand (token1, count1)", "row1 = Expand (token1, width)"),),
        # one comes twice
        (("Expand (token1,", "Expand (token0,"),),
        # numbers are computed of all of them
        (("count1 = Concat <axis = 0> (lasts1, width)", "count1 = Add (durations, width)"),),
    ],
)
def test_what_is_no_loop_over_tokens(edits: tuple[tuple[str, str], ...]) -> None:
    assert "Length regulator" not in _tell(_write(4, *edits))


def test_it_is_one_box_among_layers() -> None:
    text = _write(
        12,
        ("(x)", "(h)"),
        ("y = Concat", "z = Concat"),
        ("<int64[1] width = {8}>", "<int64[1] width = {8}, int64[2] square = {8, 8}>"),
        ("  token0", "  w = ConstantOfShape (square)  h = MatMul (x, w)\n  token0"),
        ("row11)\n", "row11)\n  y = Relu (z)\n"),
    )
    model = load_text(text)
    root = find_tree(model, model.graph).root
    made = [child.label for child in root.children if isinstance(child, Group)]
    assert "Length regulator" in made
    assert len(root.children) < 6
