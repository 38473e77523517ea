"""What closed boxes take of a value for its places alone is not drawn."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group
from netloupe.explorer.view import View
from tests.onnx_text import load_text

POOLS = """
net (float[1, 4, 8, 8] x) => (float[1, 4, 8, 8] y)
<float[4, 4, 1, 1] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}, int64[3] flat = {1, 4, 16},
 int64[3] all = {1, 4, 64}, int64[4] map = {1, 4, 8, 8}, int64[2] none = {0, 0},
 int64[2] one = {1, 1}, int64[2] axes = {2, 3}>
{
  before = Conv (x, w)
  most, where = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (before)
  same, every = MaxPool <kernel_shape = [1, 1]> (before)
  low = Conv (most, w)
  begins = Slice (every, none, one, axes)
  places = Sub (where, begins)
  zeros = ConstantOfShape (all)
  index = Reshape (places, flat)
  values = Reshape (low, flat)
  back = ScatterElements <axis = 2> (zeros, index, values)
  high = Reshape (back, map)
  y = Conv (high, w)
}
"""


def _list_flows(view: View) -> set[tuple[str, str]]:
    """Return what flows at the top to where: names of values and labels of boxes."""
    children = view.root.children
    return {
        (value.name, children[link.target].label)
        for link in view.links(view.root)
        for value in link.bundle or (link.value,)
    }


def test_a_pool_that_only_tells_places_takes_no_features() -> None:
    view = View(load_text(POOLS))
    taken = {name for name, label in _list_flows(view) if label == "Max unpooling"}
    assert taken == {"low", "where"}
    unpooling = next(c for c in view.root.children if c.label == "Max unpooling")
    view.open(unpooling.path)
    inside = {link.value.name for link in view.links(unpooling)}
    assert "before" in inside, "where the pool itself is seen, so is what it takes"


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("kernel_shape = [1, 1]", "kernel_shape = [3, 3], pads = [1, 1, 1, 1]"),
        ("values = Reshape (low, flat)", "more = Add (same, x) values = Reshape (low, flat)"),
    ],
)
def test_a_pool_of_elements_takes_features(here: str, there: str) -> None:
    text = POOLS.replace(here, there)
    assert text != POOLS
    flows = {name for name, label in _list_flows(View(load_text(text))) if name == "before"}
    assert flows == {"before"}
    groups = [c for c in View(load_text(text)).root.children if isinstance(c.element, Group)]
    taking = [c for c in groups if "before" in {value.name for value in c.inputs}]
    shown = {label for name, label in _list_flows(View(load_text(text))) if name == "before"}
    assert {c.label for c in taking} <= shown
