"""Attributes written with what holds without them, or in another spelling, are no difference.

By construction: of one node an attribute is left out, written with its default, spelled otherwise,
and written with something else. What is given by types is taken away to see that nothing is equal
then because nobody knows.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from onnx import parser

import netloupe
from netloupe.commands.diff import read_fail_on
from netloupe.explorer.compare import Diff
from netloupe.explorer.compare.axes import AXES
from netloupe.explorer.compare.written_out import SCAN_AXES
from netloupe.explorer.describe.difference_json import encode_diff
from netloupe.explorer.describe.differences import format_diff
from netloupe.explorer.operators.schemas import _load_operators, find_schema
from netloupe.explorer.review import make_review

_DOMAINS = '"own":1, "com.microsoft":1, "ai.onnx.ml":4'


class Case(NamedTuple):
    """A graph with ``ATTRS`` where attributes stand, and what stands there.

    Parameters
    ----------
    graph
        Its text.
    same
        Attributes that all say the same; "" for none.
    other
        Attributes that say something else.
    opset
        The version of ``ai.onnx``.
    needs_rank
        Whether nothing of it is equal once no shapes are stated.
    """

    graph: str
    same: tuple[str, ...]
    other: tuple[str, ...]
    opset: int = 18
    needs_rank: bool = False


def _unary(call: str, *, shape: str = "2,3,4", result: str = "float", more: str = "") -> str:
    return f"g (float[{shape}] x{more}) => ({result} y) {{ y = {call} }}"


def _scan(attributes: str = "ATTRS") -> str:
    return f"""g (float[5,4] s, float[4,5] p, float[4,5] q) => (float[5,4] t, float[4,5,4] r) {{
  t, r = Scan <num_scan_inputs=2 {attributes}, body = b (float[5,4] a, float[5] d, float[5] e)
    => (float[5,4] c, float[5,4] o) {{ c = Neg(a) o = Abs(a) }}>(s, p, q) }}"""


_WINDOW = ("", "ATTR", "group=1, ATTR")
_WEIGHT = ", float[3,3,3,3] w"
_RECURRENT = ", float[DIRS,G,3] w, float[DIRS,G,6] r"
_LIST = "g (int64[3] x) => (int64 y) { y = ai.onnx.ml.LabelEncoder <keys_int64s=[1,2], ATTRS> (x) }"


def _recurrent(op_type: str, gates: int, directions: int) -> str:
    more = _RECURRENT.replace("DIRS", str(directions)).replace("G", str(6 * gates))
    return f"g (float[2,1,3] x{more}) => (float y) {{ y = {op_type} <ATTRS> (x, w, r) }}"


CASES: dict[str, Case] = {
    "Conv": Case(
        _unary("Conv <group=1, ATTRS> (x, w)", shape="1,3,8,8", more=_WEIGHT),
        (
            *("", "dilations=[1,1]", "strides=[1,1]", "pads=[0,0,0,0]", "kernel_shape=[3,3]"),
            *('auto_pad="VALID"', 'auto_pad="NOTSET"', "kernel_shape=[3,3], pads=[0,0,0,0]"),
        ),
        (
            *("dilations=[1,2]", "strides=[2,1]", "pads=[0,0,0,1]", 'auto_pad="SAME_UPPER"'),
            *("strides=[1]", "kernel_shape=[1,1]", 'auto_pad="VALID", pads=[1,0,0,0]'),
        ),
    ),
    "ConvTranspose": Case(
        _unary("ConvTranspose <group=1, ATTRS> (x, w)", shape="1,3,8,8", more=_WEIGHT),
        ("", "output_padding=[0,0]", "strides=[1,1]"),
        ("output_padding=[1,0]", "output_shape=[8,8]"),
    ),
    "MaxPool": Case(
        _unary("MaxPool <kernel_shape=[2,2], ATTRS> (x)", shape="1,3,8,8"),
        ("", "strides=[1,1]", "dilations=[1,1]", "pads=[0,0,0,0]", 'auto_pad="VALID"'),
        ("strides=[2,2]", "pads=[1,0,0,0]", "ceil_mode=1", "strides=[1,1,1]"),
    ),
    "rounded up": Case(
        _unary(
            "MaxPool <kernel_shape=[2,2], strides=[3,3], ceil_mode=1, ATTRS> (x)", shape="1,3,8,8"
        ),
        ("", 'auto_pad="NOTSET"'),
        ('auto_pad="VALID"',),
    ),
    "FusedConv": Case(
        _unary("com.microsoft.FusedConv <group=1, ATTRS> (x, w)", shape="1,3,8,8", more=_WEIGHT),
        ("", "strides=[1,1]", "pads=[0,0,0,0]", "dilations=[1,1]"),
        ("strides=[1,2]", 'activation="Relu"'),
    ),
    "Transpose": Case(
        _unary("Transpose <ATTRS> (x)"), ("", "perm=[2,1,0]"), ("perm=[0,1,2]", "perm=[1,0]")
    ),
    "Scan": Case(
        _scan(),
        (
            *("", ", scan_input_axes=[0,0]", ", scan_input_axes=[-2,0]"),
            *(", scan_input_directions=[0,0]", ", scan_output_directions=[0]"),
            *(", scan_output_axes=[0]", ", scan_output_axes=[-3]"),
            ", scan_input_axes=[0,-2], scan_input_directions=[0,0], scan_output_axes=[-3]",
        ),
        (
            *(", scan_input_axes=[1,0]", ", scan_input_axes=[0,-1]", ", scan_output_axes=[1]"),
            *(", scan_input_directions=[0,1]", ", scan_output_directions=[1]"),
            *(", scan_input_axes=[0]", ", scan_output_axes=[-1]"),
        ),
    ),
    "Scan of operator set 8": Case(
        """g (float[1,5,4] s, float[1,4,5] p) => (float[1,5,4] t) {
          t = Scan <num_scan_inputs=1 ATTRS, body = b (float[5,4] a, float[5] d)
            => (float[5,4] c) { c = Neg(a) }>("", s, p) }""",
        ("", ", directions=[0]"),
        (", directions=[1]",),
        8,
    ),
    "ReduceMax": Case(
        _unary("ReduceMax <keepdims=1, ATTRS> (x)"),
        ("", "axes=[0,1,2]", "axes=[-3,-2,-1]", "axes=[2,0,1]"),
        ("axes=[0,1]", "axes=[0,0,1]"),
        13,
        True,
    ),
    "axes in another order": Case(
        _unary("ReduceMax <keepdims=1, ATTRS> (x)"),
        ("axes=[0,2]", "axes=[-1,0]"),
        ("axes=[1,0]",),
        13,
        True,
    ),
    "Slice": Case(
        _unary("Slice <starts=[0,1], ends=[2,3], ATTRS> (x)"),
        ("", "axes=[0,1]", "axes=[-3,-2]"),
        ("axes=[1,0]", "axes=[0,2]"),
        9,
    ),
    "Resize": Case(
        _unary('Resize <mode="nearest", ATTRS> (x, "", s)', more=", float[3] s"),
        ("", "axes=[0,1,2]", "axes=[-3,1,-1]"),
        ("axes=[1,0,2]", "axes=[0,1]"),
        18,
        True,
    ),
    "CenterCropPad": Case(
        _unary("CenterCropPad <ATTRS> (x, s)", more=", int64[3] s"),
        ("", "axes=[0,1,2]", "axes=[-3,-2,2]"),
        ("axes=[0,1]",),
        18,
        True,
    ),
    "Shape": Case(
        _unary("Shape <start=1, ATTRS> (x)", result="int64"),
        ("", "end=3"),
        ("end=2", "end=-1"),
        15,
        True,
    ),
    "Split": Case(
        "g (float[4] x) => (float y, float z) { y, z = Split <axis=0, ATTRS> (x) }",
        ("", "split=[2,2]"),
        ("split=[1,3]",),
        11,
    ),
    "Concat before 4": Case(_unary("Concat <ATTRS> (x, x)"), ("", "axis=1"), ("axis=0",), 3),
    "LSTM": Case(
        _recurrent("LSTM", 4, 1),
        ("hidden_size=6", 'hidden_size=6, activations=["Sigmoid","Tanh","Tanh"]'),
        # ONNX Runtime takes none that leaves it out
        ("", "hidden_size=5", 'activations=["Tanh","Tanh","Tanh"]', "clip=1.0"),
        14,
    ),
    "GRU": Case(
        _recurrent("GRU", 3, 2).replace("ATTRS", 'direction="bidirectional", ATTRS'),
        ("", 'activations=["Sigmoid","Tanh","Sigmoid","Tanh"]'),
        ('activations=["Sigmoid","Tanh","Sigmoid","Relu"]', 'activations=["Sigmoid","Tanh"]'),
        14,
    ),
    "RNN": Case(
        _recurrent("RNN", 1, 1),
        ("", 'activations=["Tanh"]', 'activations=["Tanh","Tanh"]'),
        ('activations=["Relu"]',),
        14,
    ),
    "ConstantOfShape": Case(
        "g (int64[1] x) => (float y) { y = ConstantOfShape <ATTRS> (x) }",
        ("", "value=float[1] {0.0}"),
        ("value=float[1] {1.0}", "value=int64[1] {0}", "value=float[1] {-0.0}"),
    ),
    "SequenceEmpty": Case(
        "g () => (seq(float) y) { y = SequenceEmpty <ATTRS> () }", ("", "dtype=1"), ("dtype=7",)
    ),
    "StringNormalizer": Case(
        "g (string[3] x) => (string y) { y = StringNormalizer <is_case_sensitive=1, ATTRS> (x) }",
        ("", "stopwords: strings = []"),
        ('stopwords=["a"]',),
    ),
    "StringSplit": Case(
        "g (string[3] x) => (string y, int64 n) { y, n = StringSplit <ATTRS> (x) }",
        ("", 'delimiter=""'),
        ('delimiter=" "', "maxsplit=1"),
        20,
    ),
    "LabelEncoder": Case(
        _LIST.replace("ATTRS", "values_int64s=[3,4], ATTRS"),
        ("", 'default_string="_Unused"'),
        # one list of keys has to be there, and an empty one counts for onnx
        ("values_floats=[1.0]", "keys_floats: floats = []"),
    ),
    "TreeEnsembleRegressor": Case(
        """g (float[1,2] x) => (float y) { y = ai.onnx.ml.TreeEnsembleRegressor <n_targets=1,
          nodes_treeids=[0], nodes_nodeids=[0], nodes_featureids=[0], nodes_modes=["LEAF"],
          nodes_values=[0.0], nodes_truenodeids=[0], nodes_falsenodeids=[0], target_treeids=[0],
          target_nodeids=[0], target_ids=[0], target_weights=[1.0], ATTRS> (x) }""",
        (
            *("", "nodes_missing_value_tracks_true=[0]", "base_values: floats = []"),
            *("nodes_hitrates: floats = []", 'post_transform="NONE"'),
        ),
        ("nodes_missing_value_tracks_true=[1]", "base_values=[1.0]"),
    ),
    "Attention": Case(
        """g (float[1,2,6,16] q, float[1,2,6,16] k, float[1,2,6,16] v) => (float y) {
          y = Attention <is_causal=0, ATTRS> (q, k, v) }""",
        ("", "scale=0.25"),
        ("scale=0.125",),
        23,
        True,
    ),
    "MultiHeadAttention": Case(
        """g (float[1,6,32] q, float[1,6,32] k, float[1,6,32] v) => (float y) {
          y = com.microsoft.MultiHeadAttention <num_heads=2, ATTRS> (q, k, v) }""",
        ("", "scale=0.25", "mask_filter_value=-10000.0"),
        ("scale=0.125", "mask_filter_value=-1.0"),
    ),
    "RotaryEmbedding": Case(
        """g (float[1,6,32] x, int64[1] p, float[9,8] c, float[9,8] s) => (float y) {
          y = com.microsoft.RotaryEmbedding <ATTRS> (x, p, c, s) }""",
        ("", "interleaved=0", "num_heads=0", "scale=1.0", "is_packed_batching=0"),
        ("interleaved=1", "scale=2.0"),
    ),
    "axis of ONNX Runtime": Case(
        _unary("com.microsoft.QLinearSoftmax <opset=13, ATTRS> (x)"),
        ("axis=1", "axis=-2"),
        ("axis=2",),
        18,
        True,
    ),
    "axis": Case(_unary("Softmax <ATTRS> (x)"), ("", "axis=-1", "axis=2"), ("axis=1",), 13),
}


def load(case: Case, attributes: str, *, has_shapes: bool = True) -> netloupe.Model:
    text = case.graph.replace("ATTRS", attributes)
    for empty in ("<>", "< >"):
        text = text.replace(f" {empty} ", " ")
    text = text.replace(", >", ">")
    if not has_shapes:
        text = _leave_out_shapes(text)
    head = f'<ir_version: 9, opset_import: ["":{case.opset}, {_DOMAINS}]>\n'
    return netloupe.load(parser.parse_model(head + text).SerializeToString())


def _leave_out_shapes(text: str) -> str:
    return re.sub(r"\b(float|int64)(\[[\d,]*\])? (?=\w)", r"\1[] ", text)


def is_told(found: Diff) -> bool:
    return read_fail_on("structure")[0].applies(found)


@pytest.mark.parametrize("name", CASES)
def test_what_holds_anyway_is_only_written_otherwise(name: str) -> None:
    case = CASES[name]
    for one in case.same:
        for other in case.same:
            found = netloupe.diff(load(case, one), load(case, other))
            said = found.verdict, found.aspects
            assert said == (("identical", []) if one == other else ("cosmetic", ["defaults"])), (
                one,
                other,
                found.nodes,
            )
            assert not is_told(found)


@pytest.mark.parametrize("name", CASES)
def test_what_holds_otherwise_is_a_difference(name: str) -> None:
    case = CASES[name]
    for one in case.same:
        for other in case.other:
            for sides in ((one, other), (other, one)):
                found = netloupe.diff(*(load(case, side) for side in sides))
                assert found.verdict == "structure", sides
                assert is_told(found)
                # the same in all forms
                real = [entry for entry in found.entries if entry.is_real]
                assert real
                assert encode_diff(found)["counts"]["differences"]["real"] == len(real)
                assert f"Differences: {len(real)}" in format_diff(found)
                assert sum(item.level == "changed" for item in make_review(diff=found)) == len(real)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.needs_rank])
def test_without_shapes_nobody_knows(name: str) -> None:
    case = CASES[name]
    first, *others = case.same
    for other in others:
        sides = (load(case, one, has_shapes=False) for one in (first, other))
        assert is_told(netloupe.diff(*sides)), other


def test_axes_of_a_scan_are_equal_only_where_they_are_counted() -> None:
    case = CASES["Scan"]
    plain, negative = "", ", scan_input_axes=[-2,0]"
    found = netloupe.diff(*(load(case, one, has_shapes=False) for one in (plain, negative)))
    assert is_told(found)
    zeros = ", scan_input_axes=[0,0]"
    found = netloupe.diff(*(load(case, one, has_shapes=False) for one in (plain, zeros)))
    assert not is_told(found)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("Clip(x)", 'Clip(x, "", "")', True),
        ("Clip(x)", 'Clip(x, "")', True),
        ("Clip(x)", 'Clip(x, "", x)', False),
        ("Dropout(x)", 'Dropout(x, "")', True),
    ],
)
def test_operands_left_out_at_the_end_may_stand_there(one: str, other: str, is_same: bool) -> None:
    sides = [load(Case(_unary(call), (), ()), "") for call in (one, other)]
    for pair in (sides, sides[::-1]):
        found = netloupe.diff(*pair)
        assert is_told(found) is not is_same
        assert found.verdict == ("cosmetic" if is_same else "structure")


@pytest.mark.parametrize("attributes", ["strides=[1,1]", 'auto_pad="VALID"'])
def test_what_others_call_as_onnx_does_is_not_known(attributes: str) -> None:
    graph = _unary("own.Conv <group=1, ATTRS> (x, w)", shape="1,3,8,8", more=_WEIGHT)
    case = Case(graph, (), ())
    assert is_told(netloupe.diff(load(case, ""), load(case, attributes)))


def test_every_attribute_that_names_axes_is_known() -> None:
    """What the operator table has under names of axes is compared as such, or known to be none."""
    ends = ("axis", "axes")
    names = {
        (domain, name)
        for domain, operators in _load_operators().items()
        for op_type, versions in operators.items()
        for version in versions
        for name in getattr(find_schema(domain, op_type, int(version)), "attributes", {})
        if name.endswith(ends)
    }
    others = {
        "new_axis",  # a switch
        "noop_with_empty_axes",  # a switch
        *("batch_axis", "time_axis"),  # 0 or 1, never counted from the last
        "activation_axis",  # of what is inside of a fused product
    }
    assert {name for _, name in names} <= {*AXES, *SCAN_AXES, *others}
