"""Operators whose entries name dims and a formula cost what is counted by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from netloupe import register_operators
from netloupe.explorer.costs import Costs
from netloupe.explorer.costs.inferred_types import infer_type
from netloupe.explorer.model import Model
from tests.onnx_text import load_text
from tests.operators.registered import only_shipped

_HEAD = '<ir_version: 10, opset_import: ["": 21, "own": 1]>\n'


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with only_shipped():
        yield


def read(takes: str, gives: str = "z", **entry: Any) -> Model:
    """Return a model of one node of an operator with an entry."""
    register_operators({"own": {"Op": entry}})
    names = ", ".join(re.findall(r"] (\w+)", takes))
    return load_text(f"{_HEAD} g ({takes}) => ({gives}) {{ z = own.Op ({names}) }}")


def count(takes: str, gives: str = "float[?] z", **entry: Any) -> Costs:
    return read(takes, gives, **entry).costs()


CONV = {"dims": "N C H W, M C K L -> N M P Q", "macs": "N*M*P*Q*C*K*L"}
LINEAR = {"dims": "… K, N K -> … N", "macs": "…*N*K"}


@pytest.mark.parametrize(
    ("operands", "results", "entry", "macs"),
    [
        ("float[2,3,8,8] x, float[4,3,5,5] w", "float[2,4,4,4] z", CONV, 2 * 4 * 4 * 4 * 3 * 25),
        ("float[2,7,6] x, float[5,6] w", "float[2,7,5] z", LINEAR, 2 * 7 * 5 * 6),
        ("float[6] x, float[5,6] w", "float[5] z", LINEAR, 5 * 6),
        ("float[7] x", "float[7] z", {"dims": "N -> N", "macs": "(N + 1) // 2 * 3 - 2"}, 10),
        ("float[7] x", "float[7] z", {"dims": "N -> N", "macs": "N // N + 2*(N-3)"}, 9),
        ("float[7] x", "float[7] z", {"dims": "N -> N", "macs": 0}, 0),
        ("float[7] x", "float[7] z", {"macs": 12}, 12),
        ("float[3,7] x", "float[7] z", {"dims": "3 N -> N", "macs": "N"}, 7),
        # of leading axes one of size 1 is stretched
        (
            *("float[2,1,4,6] x, float[3,6,5] w", "float[2,3,4,5] z"),
            *({"dims": "... M K, ... K N -> ... M N", "macs": "...*M*K*N"}, 2 * 3 * 4 * 6 * 5),
        ),
        # of an operand between commas nothing is told
        (
            "float[7] x, float[2] s, float[7] y",
            "float[7] z",
            {"dims": "N,, N -> N", "macs": "N"},
            7,
        ),
    ],
)
def test_macs_are_those_counted_by_hand(
    operands: str, results: str, entry: dict[str, Any], macs: int
) -> None:
    costs = count(operands, results, **entry)
    assert (costs.macs, costs.macs_is_lower_bound) == (macs, False)


@pytest.mark.parametrize(
    ("operands", "entry", "expression"),
    [
        ("float[b,s,6] x, float[5,6] w", LINEAR, "30*b*s"),
        ("float[b] x", {"dims": "N -> N", "macs": "2*N - 1"}, "2*b - 1"),
        ("float[b] x", {"dims": "N -> N", "macs": "(N + 1)//2"}, "((b + 1)//2)"),
        ("float[b] x", {"dims": "N -> N", "macs": "N*N + N"}, "b**2 + b"),
        # of a symbol and a number the number is meant
        ("float[b] x, float[4] y", {"dims": "N, N -> N", "macs": "N"}, "4"),
    ],
)
def test_macs_of_symbols_are_exact(operands: str, entry: dict[str, Any], expression: str) -> None:
    costs = count(operands, "float[?] z", **entry)
    assert (costs.macs_expression, costs.macs_is_lower_bound) == (expression, False)


@pytest.mark.parametrize(
    ("operands", "entry"),
    [
        # a size that contradicts itself; other axes than are named
        ("float[3,6] x, float[5,7] w", {"dims": "N K, M K -> N M", "macs": "N*M*K"}),
        ("float[3,4] x", {"dims": "N -> N", "macs": "N"}),
        ("float[3] x", {"dims": "N K -> N", "macs": "N"}),
        ("float[3] x", {"dims": "4 -> 4", "macs": "5"}),
        ("float[2,3,6] x, float[4,6] w", {"dims": "... K, ... K -> ... K", "macs": "..."}),
        ("float[3] x", {"dims": "... K L -> K", "macs": "K"}),
        # a size that nobody tells
        ("float[3] x", {"dims": "N -> P", "macs": "P"}),
        ("float[n] x, float[m] y", {"dims": "N, M -> N", "macs": "N // M"}),
        ("float[3] x, float[0] y", {"dims": "N, M -> N", "macs": "N // M"}),
        ("float[3] x", {"dims": "N -> N", "macs": "N - 4"}),
        # no formula
        ("float[3] x", {"dims": "N -> N"}),
        ("float[3] x", {"family": "shape"}),
        ("float[3] x", {"per_element": 2}),
    ],
)
def test_what_is_not_known_is_a_lower_bound(operands: str, entry: dict[str, Any]) -> None:
    costs = count(operands, "float[?] z", **entry)
    assert costs.macs_is_lower_bound
    assert costs.macs == 0


def test_symbols_that_cannot_be_equal_contradict_one_another() -> None:
    register_operators({"own": {"Op": {"dims": "N, N -> N", "macs": "N"}}})
    for other, is_known in (("x", True), ("y", False)):
        model = load_text(
            f"""{_HEAD} g (float[n] x, float[1] one) => (z)
            {{ y = Concat <axis = 0> (x, one) z = own.Op (x, {other}) }}"""
        )
        assert model.costs().macs_is_lower_bound != is_known


def test_why_macs_are_not_known() -> None:
    for entry, reason in (
        ({"dims": "N -> N"}, "no rule counts this operator"),
        ({"dims": "N K -> N", "macs": "N*K"}, "shapes of its operands are not known"),
    ):
        (gap, *_) = count("float[3] x", "float[3] z", **entry).unknown
        assert (gap.what, gap.reason) == ("own::Op", reason)


def test_sizes_beyond_all_sense_are_not_known() -> None:
    huge = 2**53 - 1
    power = "*".join(["N"] * 20)
    costs = count(f"float[{huge}] x", "float[?] z", dims="N -> N", macs=power)
    assert costs.macs_is_lower_bound


def test_shapes_of_results_follow_and_the_next_operator_is_counted() -> None:
    register_operators(
        {
            "own": {
                "Linear": {**LINEAR, "operands": "data weight"},
                "Scale": {"dims": "… -> …", "macs": 0},
            }
        }
    )
    model = load_text(
        f"""{_HEAD} g (float16[b, 7, 6] x, float16[5, 6] w, float16[5, 2] v) => (z)
        {{ s = own.Scale (x) y = own.Linear (s, w) z = MatMul (y, v) }}"""
    )
    costs = model.costs()
    assert costs.macs_expression == "280*b"
    assert not costs.macs_is_lower_bound
    assert not costs.unknown  # results have the element type of the data
    assert str(infer_type(model.graph.values["y"])) in ("None", "float16[b, 7, 5]")


def test_the_type_that_a_file_states_comes_first() -> None:
    costs = count("float16[4] x", "float[4] z", operands="data", dims="N -> N", macs=0)
    assert costs.activation_bytes == 4 * 4
    costs = count("float16[4] x", "z", operands="data", dims="N -> N", macs=0)
    assert costs.activation_bytes == 4 * 2


@pytest.mark.parametrize(
    ("entry", "is_known"),
    [
        ({"operands": "data", "results": "indices"}, False),
        ({"operands": "data", "traits": "casts"}, False),
        ({"operands": "data", "traits": "quantizes"}, False),
        ({"operands": "indices"}, False),
        ({"operands": "factor factor"}, True),
        ({}, True),
    ],
)
def test_a_type_is_that_of_data_or_not_known(entry: dict[str, Any], is_known: bool) -> None:
    costs = count("float16[4] x", "z", dims="N -> N", macs=0, **entry)
    assert any(gap.affects == "bytes" for gap in costs.unknown) != is_known


def test_other_operations_are_counted_beside_macs() -> None:
    costs = count(
        *("float[2,6] x, float[5,6] w", "float[2,5] z"), **LINEAR, per_element=3, per_operand=2
    )
    assert (costs.macs, costs.other_operations) == (60, 3 * 10 + 2 * 12)


def test_a_form_costs_what_its_base_does() -> None:
    register_operators(
        {
            "own": {
                "FastConv": {"form_of": "Conv"},
                "Add": {"form_of": "Mul"},
                "Fast": {"form_of": "FastConv"},
            }
        }
    )
    graph = """g (float[2,4,8,8] x, float[6,2,3,3] w) => (z)
    {{ z = {} <group = 2, strides = [2, 2]> (x, w) }}"""
    expected = load_text(_HEAD + graph.format("Conv")).costs()
    assert expected.macs
    for op_type in ("FastConv", "Fast"):
        found = load_text(_HEAD + graph.format(f"own.{op_type}")).costs()
        assert found.macs == expected.macs
        assert found.activation_bytes == expected.activation_bytes
    # what is computed with sizes goes by the base, and not by its own name
    model = load_text(
        f"""{_HEAD} g (float[3, 4] x) => (z)
        {{ s = Shape (x) t = own.Add (s, s) z = ConstantOfShape (t) }}"""
    )
    assert model.costs().activation_bytes == (2 + 2) * 8 + 9 * 16 * 4
