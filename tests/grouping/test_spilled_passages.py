"""Much arithmetic between layers is one box where a word says what it computes."""

from __future__ import annotations

from netloupe.explorer.patterns import name_passage

from .test_spilled_arithmetic import _find
from .test_spilled_ideas import build, find_blocks, list_operators, read


def _write_strips(compare: str, count: int = 5) -> str:
    """Return a network that compares one map with another one, shifted step by step."""
    how = "<axis = 0>" if compare == "Concat" else ""
    strips = "".join(
        f"[Pad_{n}] p{n} = Pad (r, by{n})  [Slice_{n}] s{n} = Slice (p{n}, zero, wide, axis)"
        f"[{compare}_{n}] d{n} = {compare} {how} (l, s{n}) "
        f"[Unsqueeze_{n}] u{n} = Unsqueeze (d{n}, zero)"
        for n in range(1, count + 1)
    )
    stored = ", ".join(f"int64[4] by{n} = {{0, {n}, 0, 0}}" for n in range(1, count + 1))
    joined = ", ".join(f"u{n}" for n in range(1, count + 1))
    return f"""
        stereo (float[4, 9] left, float[4, 9] right) => (float y)
        <int64[1] zero = {{0}}, int64[1] wide = {{9}}, int64[1] axis = {{1}},
         int64[2] square = {{9, 9}}, {stored}>
        {{
          [a] w = ConstantOfShape (square)
          [one__MatMul] lm = MatMul (left, w)  [one__Relu] l = Relu (lm)
          [two__MatMul] rm = MatMul (right, w)  [two__Relu] r = Relu (rm)
          {strips}
          [Concat] volume = Concat <axis = 0> ({joined})
          [last__MatMul] m = MatMul (volume, w)  [last__Relu] y = Relu (m)
        }}
    """


def test_maps_that_are_compared_shift_by_shift_are_a_cost_volume() -> None:
    block = _find(build(_write_strips("Mul")), "Cost volume")
    assert block.facts == ("5 shifts", "correlations")
    assert list_operators(block).count("Slice") == 5
    # differences and pairs are known as such before
    for compare in ("Concat", "Sub"):
        block = _find(build(_write_strips(compare)), "Cost volume")
        assert list_operators(block).count("Slice") == 5


def test_a_map_that_is_compared_with_itself_is_no_cost_volume() -> None:
    tree = build(_write_strips("Sub").replace("Sub  (l,", "Sub  (r,"))
    assert not [block for block in find_blocks(tree) if block.type_name == "Cost volume"]


_GEOMETRY = """
    points (float[1, 9, 3] x) => (float y)
    <int64[1] one = {1}, int64[1] two = {2}, int64[1] few = {4}, int64[2] square = {5, 5},
     int64[2] wide = {3, 3},
     float[5] centres = {0, 1, 2, 3, 4}, float least = {0.00001}>
    {
      [a] w = ConstantOfShape (square)
      [b] v = ConstantOfShape (wide)  [body__MatMul] m = MatMul (x, v)  [body__Relu] r = Relu (m)
      [Unsqueeze] rows = Unsqueeze (r, one)
      [Unsqueeze_1] columns = Unsqueeze (r, two)
      [Sub] apart = Sub (rows, columns)
      [Mul] squares = Mul (apart, apart)
      [ReduceSum] sums = ReduceSum <keepdims = 0> (squares, one)
      [Add] more = Add (sums, least)
      [Sqrt] far = Sqrt (more)
      [TopK] nearest, near = TopK <largest = 0> (far, few)
      [Unsqueeze_2] each = Unsqueeze (nearest, two)
      [Sub_1] off = Sub (each, centres)
      [Abs] size = Abs (off)  [Mul_1] wider = Mul (size, size)  [Abs_1] again = Abs (wider)
      [Neg] less = Neg (again)
      [Exp] basis = Exp (less)
      [Div] half = Div (basis, least)
      [edge__MatMul] e = MatMul (half, w)  [edge__Relu] y = Relu (e)
    }
"""


def test_distances_and_what_is_made_of_them_are_one_box_up_to_the_next_layer() -> None:
    """The scale that distances are compared with is evenly spaced: nothing of it was learned."""
    block = _find(build(_GEOMETRY), "Distances and nearest neighbours")
    assert {"TopK", "Exp", "Div"} <= {*list_operators(block)}
    tree = build(_GEOMETRY.replace("largest = 0", "largest = 1"))
    assert not [block for block in find_blocks(tree) if "neighbours" in block.type_name]


_REFINED = """
    refine (float[2, 4] x) => (float[2, 4] y) <int64[2] square = {4, 4}, float none = {0},
     float all = {1}, float least = {0.00001}>
    {
      [a] w = ConstantOfShape (square)
      [body__MatMul] h = MatMul (x, w)  [body__Sigmoid] r = Sigmoid (h)
      [Clip] limited = Clip (r, none, all)
      [Clip_1] some = Clip (limited, least)
      [Sub] rest = Sub (all, limited)
      [Clip_2] others = Clip (rest, least)
      [Div] odds = Div (some, others)
      [Log] logit = Log (odds)
      [step__MatMul] s = MatMul (h, w)
      [Add] refined = Add (s, logit)
      [Sigmoid] y = Sigmoid (refined)
    }
"""


def test_the_logarithm_of_odds_is_an_inverse_sigmoid() -> None:
    block = _find(build(_REFINED), "Inverse sigmoid")
    assert list_operators(block) == ["Clip", "Clip", "Clip", "Div", "Log", "Sub"]
    assert block.facts == ("log(x / (1 − x))",)
    tree = build(_REFINED.replace("Sub (all, limited)", "Sub (all, h)"))
    assert not [block for block in find_blocks(tree) if block.type_name == "Inverse sigmoid"]


_WARPED = """
    warp (float[1, 4, 5, 5] x, float[1, 2, 5, 5] flow) => (float y)
    <int64 none = {0}, int64 last = {1}, float four = {4}, float two = {2}, float one = {1},
     float[5] steps = {0, 1, 2, 3, 4}, int64[1] three = {3}, float[4, 4, 1, 1] k,
     float[2, 2, 1, 1] f>
    {
      [body__Conv] m = Conv (x, k)  [flow__Conv] moved = Conv (flow, f)
      [Gather] dx = Gather <axis = 1> (moved, none)  [Gather_1] dy = Gather <axis = 1> (moved, last)
      [Add] px = Add (dx, steps)  [Add_1] py = Add (dy, steps)
      [Mul] tx = Mul (px, two)  [Mul_1] ty = Mul (py, two)
      [Div] sx = Div (tx, four)  [Div_1] sy = Div (ty, four)
      [Sub] cx = Sub (sx, one)  [Sub_1] cy = Sub (sy, one)
      [Unsqueeze] gx = Unsqueeze (cx, three)  [Unsqueeze_1] gy = Unsqueeze (cy, three)
      [Concat] grid = Concat <axis = 3> (gx, gy)
      [GridSample] s = GridSample (m, grid)
      [last__Conv] l = Conv (s, k)  [last__Relu] y = Relu (l)
    }
"""


def test_where_a_map_is_sampled_is_computed_by_one_box() -> None:
    block = _find(build(_WARPED), "Sampling grid")
    assert "GridSample" not in list_operators(block)
    assert {"Mul", "Add", "Concat"} <= {*list_operators(block)}


_LIMITED_BY_CHOICE = _REFINED.replace(
    "[Clip] limited = Clip (r, none, all)",
    "[Greater] high = Greater (r, all)  [Where] low = Where (high, all, r)"
    "[Less] under = Less (low, none)  [Where_1] limited = Where (under, none, low)",
)


def test_an_inverse_sigmoid_may_be_limited_by_choices() -> None:
    block = _find(build(_LIMITED_BY_CHOICE), "Inverse sigmoid")
    assert {"Greater", "Less", "Log"} <= {*list_operators(block)}
    # a choice that does not compare what it chooses is no limit
    text = _LIMITED_BY_CHOICE.replace("Greater (r, all)", "Greater (h, all)")
    assert not [block for block in find_blocks(build(text)) if block.type_name == "Inverse sigmoid"]


_PAIRS = """
    cloud (float[1, 9, 3] x) => (float[1, 9, 4] values, int64[1, 9, 4] near)
    <int64[1] last = {2}, int64[1] few = {4}, float twice = {2}>
    {
      [Mul] squares = Mul (x, x)  [ReduceSum] own = ReduceSum (squares, last)
      [Transpose] other = Transpose <perm = [0, 2, 1]> (own)
      [Transpose_1] across = Transpose <perm = [0, 2, 1]> (x)
      [MatMul] product = MatMul (x, across)  [Mul_1] double = Mul (product, twice)
      [Sub] less = Sub (own, double)  [Add] far = Add (less, other)
      [TopK] values, near = TopK <largest = 0> (far, few)
    }
"""


def test_distances_of_all_pairs_may_be_written_as_a_product() -> None:
    name = "Distances and nearest neighbours"
    assert name_passage(read(_PAIRS).graph.nodes)[0] == name
    negative = _PAIRS.replace("Add (less, other)", "Add (less, other)  [Neg] minus = Neg (far)")
    negative = negative.replace("largest = 0> (far", "largest = 1> (minus")
    assert name_passage(read(negative).graph.nodes)[0] == name
    for old, new in (("largest = 0", "largest = 1"), ("Sub (own, double)", "Add (own, double)")):
        assert old in _PAIRS
        assert not name_passage(read(_PAIRS.replace(old, new)).graph.nodes)[0]


def test_operations_with_a_scope_of_their_own_belong_to_a_passage() -> None:
    text = _WARPED.replace("[GridSample]", "[Reshape] laid = Reshape (grid, all) [GridSample]")
    text = text.replace("(m, grid)", "(m, laid)").replace(
        "int64[1] three", "int64[4] all = {1, 5, 5, 2}, int64[1] three"
    )
    assert "Concat" in list_operators(_find(build(text), "Sampling grid"))


_LENGTHS = """
    speech (float[2, 6] x) => (float[2, 9] y)
    <int64 none = {0}, int64 one = {1}, float few = {1}, int64[1] ahead = {1}, int64[1] last = {-1},
     int64[2] square = {6, 6}, int64[2] wide = {6, 9}>
    {
      [a] w = ConstantOfShape (square)  [b] u = ConstantOfShape (wide)
      [body__MatMul] h = MatMul (x, w)  [body__Relu] r = Relu (h)
      [Ceil] frames = Ceil (r)
      [ReduceSum] total = ReduceSum <keepdims = 0> (frames, last)
      [Clip] some = Clip (total, few)
      [Cast] lengths = Cast <to = 7> (some)
      [ReduceMax] longest = ReduceMax <keepdims = 0> (lengths)
      [Range] places = Range (none, longest, one)
      [Unsqueeze] each = Unsqueeze (lengths, ahead)
      [Less] within = Less (places, each)
      [Cast_1] mask = Cast <to = 1> (within)
      [next__MatMul] s = MatMul (r, u)
      [Mul] masked = Mul (s, mask)
      [last__Relu] y = Relu (masked)
    }
"""


def test_places_within_a_computed_length_are_a_length_mask() -> None:
    block = _find(build(_LENGTHS), "Length mask")
    assert {"Cast", "Clip", "Less", "Range", "ReduceMax"} <= {*list_operators(block)}
    # what else is compared is no place of a sequence
    text = _LENGTHS.replace("Less (places, each)", "Less (each, longest)")
    assert not [block for block in find_blocks(build(text)) if block.type_name == "Length mask"]
