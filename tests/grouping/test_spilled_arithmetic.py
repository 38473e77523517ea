"""Arithmetic without weights that stands between layers is one box, told by what it computes."""

from __future__ import annotations

import onnx.parser
import pytest

from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from netloupe.explorer.readers.load import load

from .test_spilled_ideas import build, find_blocks, list_operators

_POOLING = """
    pooled (float[2, 16, 100] x) => (float[2, 16] y)
    <int64[2] wide = {16, 16}, int64[2] narrow = {32, 16}, int64[1] time = {2},
     float least = {0.00001}>
    {
      [a] w = ConstantOfShape (wide)  [b] v = ConstantOfShape (narrow)
      [first__MatMul] h = MatMul (w, x)
      [first__Relu] r = Relu (h)
      [ReduceMean] mean = ReduceMean <keepdims = 0> (r, time)
      [ReduceMean_1] means = ReduceMean (r, time)
      [Sub] apart = Sub (r, means)
      [Mul] squares = Mul (apart, apart)
      [ReduceMean_2] variance = ReduceMean <keepdims = 0> (squares, time)
      [Clip] some = Clip (variance, least)
      [Sqrt] deviation = Sqrt (some)
      [Concat] both = Concat <axis = 1> (mean, deviation)
      [last__MatMul] l = MatMul (both, v)
      [last__Relu] s = Relu (l)
      [Neg] y = Neg (s)
    }
"""
_DRAWN = """
    policy (float[2, 16] taken, float[2, 16] noise) => (float[2, 16] y, float[2, 16] value)
    <int64[2] square = {16, 16}>
    {
      [a] w = ConstantOfShape (square)
      [body__MatMul] h = MatMul (taken, w)  [body__Relu] r = Relu (h)
      [mean__MatMul] m = MatMul (r, w)  [log__MatMul] d = MatMul (r, w)
      [Exp] deviation = Exp (d)
      [Mul] shift = Mul (deviation, noise)
      [Add] drawn = Add (m, shift)
      [Sin] y = Sin (drawn)
      [critic__Add] both = Add (y, taken)  [critic__MatMul] c = MatMul (both, w)
      [critic__Relu] value = Relu (c)
    }
"""


def _find(tree: GroupTree, name: str) -> Group:
    (block,) = (block for block in find_blocks(tree) if block.type_name == name)
    return block


def test_mean_and_deviation_between_layers_are_one_box() -> None:
    block = _find(build(_POOLING), "Statistics pooling")
    assert block.recognised is not None
    assert block.recognised.text == "Statistics pooling, mean and deviation"
    assert list_operators(block) == sorted(
        ["Clip", "Concat", "Mul", "ReduceMean", "ReduceMean", "ReduceMean", "Sqrt", "Sub"]
    )


#: x.mean(2), x.var(2) and its root, as the exporter of ``torch.export`` writes them
_EXPORTED = """
    <ir_version: 10, opset_import: ["": 21]> pooled (float[2, 16, 100] x) => (float[2, 16] y)
    <float[16, 16, 5] k, float[16, 16, 5] k2, float[16, 32] w, float[16, 16] w2,
     int64[1] time = {2}, float count = {96}, float less = {95}>
    {
      [layers_0] c = Conv (x, k)  [relu] r0 = Relu (c)  [layers_1] c1 = Conv (r0, k2)
      [relu_1] r = Relu (c1)
      [mean] mean = ReduceMean <keepdims = 0> (r, time)
      [var] means = ReduceMean (r, time)   [var] apart = Sub (r, means)
      [var] squares = Mul (apart, apart)   [var] some = ReduceMean <keepdims = 0> (squares, time)
      [var] more = Mul (some, count)       [var] variance = Div (more, less)
      [sqrt] deviation = Sqrt (variance)
      [cat] both = Concat <axis = 1> (mean, deviation)
      [segment6] l = Gemm <transB = 1> (both, w)  [relu_2] s = Relu (l)
      [segment7] y = Gemm <transB = 1> (s, w2)
    }
"""


def _build_exported(text: str) -> GroupTree:
    """Build the groups of a graph whose nodes are named after what gave them, module or call."""
    model = onnx.parser.parse_model(text)
    for number, node in enumerate(model.graph.node):
        module, node.name = node.name, f"node_{number}"
        is_module = module.startswith(("layers", "segment", "Pool"))
        classes = ["Net", "Layer" if is_module else f"aten.{module}.default"]
        for key, words in (("name_scopes", ["", module]), ("class_hierarchy", classes)):
            entry = node.metadata_props.add()
            entry.key, entry.value = f"pkg.torch.onnx.{key}", str(words)
    return build_group_tree(load(model).graph)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("(mean, deviation)", "(deviation, mean)"),
        ("Mul (apart, apart)", "Pow (apart, two)"),
        ("[var] more = Mul (some, count)       [var] variance = Div (more, less)", "biased"),
    ],
)
def test_statistics_are_one_box_though_a_variance_is_written_out(old: str, new: str) -> None:
    assert old in _EXPORTED
    text = _EXPORTED.replace(old, new) if old else _EXPORTED
    text = text.replace("biased", "").replace("float less", "float two = {2}, float less")
    if new == "biased":
        text = text.replace("[var] some", "[var] variance")
    assert len(list_operators(_find(_build_exported(text), "Statistics pooling"))) >= 7


def test_what_a_module_computes_stays_in_its_box() -> None:
    tree = _build_exported(_EXPORTED.replace("[var]", "[Pool]"))
    assert not [block for block in find_blocks(tree) if block.type_name == "Statistics pooling"]


def test_a_short_formula_is_written() -> None:
    block = _find(build(_DRAWN), "Formula")
    assert block.recognised is not None
    assert block.recognised.facts == ("sin(x + exp(y) · z)",)


_MIXED = """
    highway (float[2, 6] taken) => (float[2, 6] out) <float[6, 6] w>
    {
      [transform__MatMul] t = MatMul (taken, w)  [transform__Relu] h = Relu (t)
      [gate__MatMul] s = MatMul (taken, w)  [gate__Sigmoid] share = Sigmoid (s)
      [Constant] one = Constant <value_float = 1.0> ()
      [Mul] a = Mul (share, h)  [Sub] rest = Sub (one, share)  [Mul_1] b = Mul (rest, taken)
      [Add] y = Add (a, b)
      [last__MatMul] z = MatMul (y, w)  [last__Relu] out = Relu (z)
    }
"""


@pytest.mark.parametrize(
    ("old", "new", "name", "text"),
    [
        ("", "", "Gated mix", "g · x + (1 − g) · y"),
        # what keeps the input may stand first
        ("Add (a, b)", "Add (b, a)", "Gated mix", "(1 − g) · x + g · y"),
        # not every value between two others is a gate
        ("= Sigmoid (s)", "= Relu (s)", "Formula", "x · y + (1 − x) · z"),
        # parts that are not all of one
        ("Sub (one, share)", "Sub (share, one)", "Formula", "x · y + (x − 1) · z"),
    ],
)
def test_a_gate_between_two_values_is_told(old: str, new: str, name: str, text: str) -> None:
    assert old in _MIXED
    block = _find(build(_MIXED.replace(old, new)), name)
    assert block.recognised is not None
    assert block.recognised.facts == (text,)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # something outside takes what is computed on the way
        ("[critic__Add] both = Add (y, taken)", "[critic__Add] both = Add (y, shift)"),
        # what is added has as many numbers as may have been learned
        ("Mul (deviation, noise)", "Mul (deviation, w)"),
        # three boxes are seen at once
        ("[Exp] deviation = Exp (d)", "[log__Exp] deviation = Exp (d)"),
    ],
)
def test_what_is_no_box(old: str, new: str) -> None:
    assert old in _DRAWN
    tree = build(_DRAWN.replace(old, new))
    assert "Formula" not in {block.type_name for block in find_blocks(tree)}


def test_a_residual_sum_at_the_end_stays_outside() -> None:
    text = _DRAWN.replace("[Sin] y = Sin (drawn)", "[Sin] t = Sin (drawn) [Add_1] y = Add (t, r)")
    block = _find(build(text), "Formula")
    assert list_operators(block) == ["Add", "Exp", "Mul", "Sin"]


_SHORT = """
    short (float[2, 16] taken, float[2, 16] other) => (float[2, 16] out)
    <int64[2] square = {16, 16}, int64[1] last = {-1}, float two = {2}, float some = {0.5}>
    {
      [a] w = ConstantOfShape (square)
      [first__MatMul] h = MatMul (taken, w)  [first__Relu] r = Relu (h)
      LINES
      [last__MatMul] l = MatMul (y, w)  [last__Relu] s = Relu (l)  [end__Neg] out = Neg (s)
    }
"""


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ("[Neg] n = Neg (r)  [Exp] y = Exp (n)", "exp(−x)"),
        (
            "[ReduceMean] m = ReduceMean (r, last)  [Sub] d = Sub (r, m)  [Mul] y = Mul (d, some)",
            "0.5 · (x − mean(x))",
        ),
        (
            "[Add] m = Add (other, some)  [Sqrt] e = Sqrt (m)  [Div] y = Div (r, e)",
            "x / √(y + 0.5)",
        ),
    ],
)
def test_a_short_chain_is_one_box_with_its_formula(lines: str, text: str) -> None:
    block = _find(build(_SHORT.replace("LINES", lines)), "Formula")
    assert block.recognised is not None
    assert block.recognised.facts == (text,)


def test_a_norm_that_is_written_out_in_few_boxes_is_one() -> None:
    lines = "[N] n = ReduceL2 (r, last)  [C] c = Clip (n, some)  [Div] y = Div (r, c)"
    assert list_operators(_find(build(_SHORT.replace("LINES", lines)), "L2 normalize"))


@pytest.mark.parametrize(
    "lines",
    [
        # two streams are joined, and seen as such
        "[Neg] n = Neg (r)  [Mul] y = Mul (n, other)",
        # a module of its own
        "[one__Neg] n = Neg (r)  [one__Abs] b = Abs (n)  [Exp] y = Exp (b)",
        # what is computed on the way is taken by something else
        "[Neg] n = Neg (r)  [Exp] e = Exp (n)  [t__MatMul] t = MatMul (n, w)  [Add] y = Add (t, e)",
        # a temperature is part of a softmax
        "[Neg] n = Neg (r)  [Mul] m = Mul (n, some)  [Softmax] y = Softmax (m)",
        # no formula has a sign for it
        "[Neg] n = Neg (r)  [Softmax] y = Softmax (n)",
        # learned numbers
        "[s] v = ConstantOfShape (square)  [Neg] n = Neg (r)  [MatMul] y = MatMul (n, v)",
    ],
)
def test_what_is_no_short_chain(lines: str) -> None:
    tree = build(_SHORT.replace("LINES", lines))
    assert "Formula" not in {block.type_name for block in find_blocks(tree)}
