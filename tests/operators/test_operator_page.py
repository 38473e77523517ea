"""The pages on operators: the generated one is current, and the example of the other one works."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from netloupe import register_operators
from netloupe.explorer.operators import find_operator
from netloupe.explorer.operators.entries import read_shipped
from netloupe.explorer.operators.entry_checks import MEMBERS
from netloupe.explorer.operators.vocabulary import LAYOUTS, PARTS, ROLES, TRAITS, WEIGHT_KINDS
from tests.onnx_text import load_text
from tests.operators.registered import only_shipped

_ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(_ROOT / "tools"))

from make_operator_page import PAGE, write_page  # noqa: E402

_OWN = (_ROOT / "docs" / "own_operators.md").read_text("utf-8")
_HEAD = '<ir_version: 10, opset_import: ["": 21, "com.example": 1]>\n'


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with only_shipped():
        yield


def test_the_page_is_that_of_the_catalogue() -> None:
    assert PAGE.read_text("utf-8") == write_page(), "run python tools/make_operator_page.py"


def test_every_word_and_every_operator_is_on_it() -> None:
    rows = re.findall(r"^\| \[?`([^`]+)`", write_page(), re.MULTILINE)
    operators = [op_type for entries in read_shipped().values() for op_type in sorted(entries)]
    assert rows == [*ROLES, *PARTS, *TRAITS, *WEIGHT_KINDS, *LAYOUTS, *operators]


def test_no_row_is_broken() -> None:
    for row in re.findall(r"^\|.*$", write_page(), re.MULTILINE):
        assert row.count("|") in (3, 6), row


def test_operators_of_onnx_link_to_their_documentation() -> None:
    page = write_page()
    assert "[`Conv`](https://onnx.ai/onnx/operators/onnx__Conv.html)" in page
    assert "\n| `Affine` |" in page  # ONNX Runtime alone declares it
    assert "\n| `FusedConv` |" in page


def test_what_older_versions_and_forms_have_is_told() -> None:
    page = write_page()
    assert "`data region scales sizes` → `data`; before 11: `data scales` → `data`" in page
    assert re.search(r"^\| .*onnx__ConvInteger.* \| `Conv` \|", page, re.MULTILINE)
    assert re.search(
        r"^\| \[`Relu`\]\S+ \|  \| `data` → `data` \| .* \| none \|$", page, re.MULTILINE
    )


def test_the_example_works() -> None:
    example = re.search(r"```toml\n(# ops\.toml.*?)```", _OWN, re.DOTALL)
    assert example is not None
    entries = tomllib.loads(example[1])
    register_operators(entries)
    for op_type in entries["com.example"]:
        assert find_operator("com.example", op_type).family in ("linear", "normalization")
    costs = load_text(
        f"""{_HEAD} g (float[1, 3, 8, 8] x, float[4, 3, 3, 3] w, float s, uint8[5, 6] q, float[5] t,
        float[6] n) => (z)
        {{ a = com.example.FastConv (x, w) b = com.example.Normalize (a, n)
        z = com.example.QuantizedLinear (b, s, q, t) }}"""
    ).costs()
    assert costs.macs == 4 * 6 * 6 * 27 + 4 * 6 * 5 * 6
    assert costs.other_operations == 4 * (4 * 6 * 6)
    assert not costs.macs_is_lower_bound


def test_the_entry_point_of_the_example_is_of_our_group() -> None:
    example = re.search(r"```toml\n(\[project\.entry-points.*?)```", _OWN, re.DOTALL)
    assert example is not None
    assert [*tomllib.loads(example[1])["project"]["entry-points"]] == ["netloupe.operators"]


def test_every_member_of_an_entry_is_told() -> None:
    table = _OWN.split("## Members of an entry")[1]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [*MEMBERS]
