"""What closed boxes hand on unchanged, or take for its places alone, is not drawn through them."""

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


def _make_masking(first: str = "turned = Transpose <perm = [0, 2, 1]> (x)") -> View:
    return View(
        load_text(f"""
            net (float[1, 3, 8] x) => (float[1, 3, 4] y)
            <float[3, 3] w = {{1,2,3,4,5,6,7,8,9}}, float[3] mean = {{1, 2, 3}},
             float[3] scale = {{2, 3, 4}}, int64[1] zero = {{0}}, int64[1] four = {{4}},
             int64[1] axis = {{1}}, int64[2] rows = {{4, 3}}, int64[3] whole = {{1, 4, 3}}>
            {{
                {first}
                cropped = Slice (turned, zero, four, axis)
                shifted = Add (cropped, mean)
                scaled = Mul (shifted, scale)
                flat = Reshape (scaled, rows)
                a = MatMul (flat, w)
                b = LayerNormalization (a, scale, mean)
                c = Reshape (b, whole)
                n = Tanh (c)
                r = MatMul (n, w)
                k = LayerNormalization (r, scale, mean)
                e = Add (k, n)
                f = MatMul (e, w)
                g = Relu (f)
                m = Mul (g, turned)
                y = Transpose <perm = [0, 2, 1]> (m)
            }}
        """)
    )


def _list_givers(view: View, target: str) -> set[str]:
    """Return the kinds of what gives to the node with some result: of a group its own kind."""
    children = view.root.children

    def tell(number: int) -> str:
        element = children[number].element
        return element.kind if isinstance(element, Group) else children[number].kind

    return {
        tell(link.source)
        for link in view.links(view.root)
        if target in {value.name for value in children[link.target].outputs}
    }


def test_what_preparation_hands_on_is_drawn_from_where_it_comes() -> None:
    view = _make_masking()
    assert "preparation" in _list_givers(view, "a")
    givers = _list_givers(view, "y")
    assert "input" in givers
    assert "preparation" not in givers


def test_what_is_changed_before_is_drawn_from_what_changes_it() -> None:
    view = _make_masking("half = Sub (x, x)  turned = Transpose <perm = [0, 2, 1]> (half)")
    givers = _list_givers(view, "y")
    assert "input" not in givers
    assert len(givers) > 1 or "preparation" in givers


def test_where_it_is_opened_everything_is_seen() -> None:
    view = _make_masking()
    closed = next(
        child
        for child in view.root.children
        if isinstance(child.element, Group) and child.element.kind == "preparation"
    )
    view.open(closed.path)
    assert "preparation" in _list_givers(view, "y")
