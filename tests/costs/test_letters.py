"""Symbols that a tool has named are told by a letter, with what the letter is."""

from __future__ import annotations

import pytest

from netloupe.explorer.costs import describe_costs, explain_costs, write_macs
from netloupe.explorer.costs.polynomial import divide_down, symbol
from netloupe.explorer.costs.symbols import Symbols
from netloupe.explorer.costs.wording import explain_letters, write_amount
from netloupe.explorer.describe.costs import list_model_costs
from netloupe.explorer.describe.groups import list_groups
from netloupe.explorer.model import Model
from tests.corpus import shared_model
from tests.onnx_text import load_text

MADE_UP = [
    *("s12", "u0", "unk__5", "((s12*s86)//s10)", "s1*s2/s3"),
    *("ids_dynamic_axes_1", "p2o.DynamicDimension.0", "DynamicDimension.12"),
]


def load_product(*dims: str) -> Model:
    """Return a model that multiplies an input of some dimensions by a weight."""
    listed = ", ".join(f'"{dim}"' if not dim.isalnum() else dim for dim in dims)
    weight = "float[4, 4] w = {" + ", ".join(["1"] * 16) + "}"
    return load_text(f"g (float[{listed}, 4] x) => (float[] y) <{weight}> {{ y = MatMul(x, w) }}")


@pytest.mark.parametrize("name", MADE_UP)
def test_a_name_that_a_tool_made_up_is_a_letter(name: str) -> None:
    amount = 3 * Symbols().read(name, "axis 0 of x")
    assert write_amount(amount) == "3 · a"
    assert explain_letters(amount) == f"a: {name}, axis 0 of x"
    assert name in write_amount(amount, has_letters=False)


@pytest.mark.parametrize(
    "name", ["batch", "n", "seq_len", "past + 1", "s", "sequence1", "x[0]", "dynamic_axes"]
)
def test_a_name_that_somebody_chose_is_left(name: str) -> None:
    amount = Symbols().read(name)
    assert write_amount(amount) == write_amount(amount, has_letters=False)
    assert explain_letters(amount) == ""


def test_letters_are_given_in_order_and_to_nothing_that_is_not_said() -> None:
    symbols = Symbols({"s3": 5})
    symbols.reserve({"b"})
    amounts = [symbols.read(name) for name in ("s1", "s3", "((s9*s1)//s8)", "s2", "s1")]
    assert [write_amount(amount) for amount in amounts] == ["a", "5", "c", "d", "a"]
    assert explain_letters(*amounts) == "a: s1; c: ((s9*s1)//s8); d: s2"


def test_letters_stand_inside_quotients_too() -> None:
    height = symbol("s86", "a", "axis 2 of x")
    assert write_amount(2 * divide_down(height, 2)) == "2 · (a//2)"
    assert write_amount(divide_down(height * symbol("batch") + 1, 3)) == "((batch*a + 1)//3)"
    assert explain_letters(divide_down(height, 2)) == "a: s86, axis 2 of x"


def test_more_symbols_than_letters_keep_their_names() -> None:
    symbols = Symbols()
    written = [write_amount(symbols.read(f"s{number}")) for number in range(30)]
    assert written[25:27] == ["z", "s26"]


def test_every_text_that_has_letters_explains_them() -> None:
    model = load_product("s12", "b", "s86")
    costs = model.costs()
    assert write_macs(costs) == "16 · b · a · c"
    told = "a: s12, axis 0 of x; c: s86, axis 2 of x"
    assert explain_costs(costs) == told
    assert describe_costs(costs)[1] == told
    assert model.architecture.summary == "" or told in model.architecture.summary
    assert list_groups(model)[-1] == told
    (row,) = (row for row in list_model_costs(model) if row.name == "MACs")
    assert row.note == told
    assert costs.macs_expression == "16*b*s12*s86"  # to bind by
    assert write_macs(model.costs({"s12": 2})) == "32 · b · a"
    assert explain_costs(model.costs({"s12": 2, "s86": 3})) == ""


def test_of_what_is_not_written_out_no_letter_is_explained() -> None:
    symbols = Symbols()
    amount = sum((n + 1) * symbols.read(f"s{n}") for n in range(6))
    assert write_amount(amount).endswith("+ …")
    written = set(write_amount(amount)) & set("abcdef")
    assert {each[0] for each in explain_letters(amount).split("; ")} == written
    assert len(written) == 4


def test_a_picture_has_no_letters_that_it_does_not_explain() -> None:
    model = shared_model("exported/vit.dynamo.onnx")
    assert "· a MACs (a: s48, axis 0 of pixel_values)" in model.architecture.summary
    picture = model.to_svg(share="macs")
    assert "· a MAC" not in picture
