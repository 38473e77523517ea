"""Slices that together take all of one value are one operation, as a Split is."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.model import Model
from netloupe.explorer.render.faces import FaceBook
from netloupe.explorer.view import View
from tests.onnx_text import load_text


def chunk(shape: str, count: int, *, taken: int = 0, step: int = 1) -> Model:
    """Return ``x.relu().chunk(count, 1)`` as torch's exporter through traces writes it.

    ``taken`` is how many of the parts are taken, all for 0; ``step`` how far they lie apart.
    """
    places = range(0, taken or count, step)
    parts = "".join(
        f"""
        k{place} = Constant <value_ints: ints = [{place}]> ()
        m{place} = Constant <value_ints: ints = [{place + 1}]> ()
        s{place} = Mul (size, k{place})
        e{place} = Mul (size, m{place})
        [part{place}] p{place} = Slice (h, s{place}, e{place}, axes)
        [act{place}] y{place} = Tanh (p{place})
        """
        for place in places
    )
    results = ", ".join(f"y{place}" for place in places)
    return load_text(f"""
    g (float[{shape}] x) => ({results}) {{
      [first] h = Relu (x)
      s = Shape (h)
      axes = Constant <value_ints: ints = [1]> ()
      d = Gather <axis: int = 0> (s, axes)
      rest = Constant <value_ints: ints = [{count - 1}]> ()
      more = Add (d, rest)
      n = Constant <value_ints: ints = [{count}]> ()
      size = Div (more, n)
      {parts}
    }}
    """)


def list_splits(model: Model) -> list[Group]:
    """Return the operations among the outermost groups, each checked to hold slices."""
    inner = build_group_tree(model.graph).root.inner_groups()
    found = [group for group in inner if group.kind == "operation"]
    assert all(group.main is not None and group.main.operator.has("slices") for group in found)
    return found


def say_split(model: Model) -> list[str]:
    (split,) = list_splits(model)
    item = View(model).items[split.path]
    return [run.text for run in FaceBook("facts").face(item).texts if run.text != "+"]


@pytest.mark.parametrize(
    ("shape", "count", "said"),
    [
        ("2, 48", 4, "48 → 4 × 12"),
        ("2, 10", 4, "10 → 3 + 3 + 3 + 1"),
        ("batch, 36", 3, "36 → 3 × 12"),
        ("2, width", 4, "width → 4 × width/4"),
    ],
)
def test_slices_that_split_a_value_are_one_split(shape: str, count: int, said: str) -> None:
    assert say_split(chunk(shape, count)) == ["Split", said]


@pytest.mark.parametrize("shape", ["2, 48", "2, width"])
@pytest.mark.parametrize("others", [{"taken": 3}, {"step": 2}])
def test_slices_that_leave_something_out_are_none(shape: str, others: dict[str, int]) -> None:
    assert not list_splits(chunk(shape, 4, **others))


def slice_twice(*limits: tuple[int, int], axes: tuple[int, int] = (1, 1)) -> Model:
    (s0, e0), (s1, e1) = limits
    return load_text(f"""
    g (float[2, 36, 36] x) => (y0, y1)
    <int64[1] s0 = {{{s0}}}, int64[1] e0 = {{{e0}}}, int64[1] a0 = {{{axes[0]}}},
     int64[1] s1 = {{{s1}}}, int64[1] e1 = {{{e1}}}, int64[1] a1 = {{{axes[1]}}}> {{
      h = Relu (x)
      p0 = Slice (h, s0, e0, a0)
      p1 = Slice (h, s1, e1, a1)
      y0 = Tanh (p0)
      y1 = Sigmoid (p1)
    }}
    """)


END = 2**63 - 1


def test_parts_need_not_be_equal_nor_in_order() -> None:
    assert say_split(slice_twice((8, END), (0, 8)))[1] == "36 → 8 + 28"
    assert say_split(slice_twice((0, -12), (-12, END)))[1] == "36 → 24 + 12"
    assert say_split(slice_twice((0, 18), (18, 36), axes=(-2, 1)))[1] == "36 → 18 + 18"


def test_parts_that_overlap_or_lie_along_other_axes_are_no_split() -> None:
    assert not list_splits(slice_twice((0, 8), (6, END)))
    assert not list_splits(slice_twice((0, 8), (8, 30)))
    assert not list_splits(slice_twice((0, 18), (18, END), axes=(1, 2)))


def test_slices_that_are_all_of_a_group_stay_as_they_are() -> None:
    model = load_text("""
    g (float[2, 36] x) => (y0, y1)
    <int64[1] zero = {0}, int64[1] half = {18}, int64[1] end = {36}, int64[1] axis = {1}> {
      y0 = Slice (x, zero, half, axis)
      y1 = Slice (x, half, end, axis)
    }
    """)
    assert not list_splits(model)


#: what takes each place, so that there is no loop
_TAKING = ("Tanh", "Neg", "Abs", "Exp", "Sqrt", "Floor")


def _unbind(numbers: str) -> Model:
    """Return a graph that takes places of an axis one by one, as an unrolled loop does."""
    places = [int(number) for number in numbers.split()]
    parts = "".join(
        f"""
        k{place} = Constant <value_int: int = {place}> ()
        [part{place}] p{place} = Gather <axis: int = 1> (h, k{place})
        [act{place}] y{place} = {_TAKING[place]} (p{place})
        """
        for place in places
    )
    results = ", ".join(f"y{place}" for place in places)
    return load_text(f"g (float[2, 6, 4] x) => ({results}) {{ [first] h = Relu (x) {parts} }}")


def test_places_taken_one_by_one_are_one_split() -> None:
    model = _unbind("0 1 2 3 4 5")
    tree = build_group_tree(model.graph).root
    (split,) = [group for group in tree.inner_groups() if group.kind == "operation"]
    item = View(model).items[split.path]
    said = [run.text for run in FaceBook("facts").face(item).texts if run.text != "+"]
    assert said == ["Split", "each of 6 places"]
    # one of them is left out, or there are two alone
    for numbers in ("0 1 2 4 5", "0 1"):
        tree = build_group_tree(_unbind(numbers).graph).root
        assert not [group for group in tree.inner_groups() if group.kind == "operation"]
