"""The catalogue of operators: complete, of known words, and in accord with the schemas."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netloupe.explorer.costs.rules import RULE_NAMES, find_cost_rule
from netloupe.explorer.operators import (
    Operator,
    RoleList,
    find_operator,
    find_schema,
    kind_of,
    list_known_domains,
    list_known_operators,
)
from netloupe.explorer.operators.schemas import _load_operators
from netloupe.explorer.operators.vocabulary import (
    ARRANGING_ROLES,
    LAYOUTS,
    OPERATOR_FAMILIES,
    PARTS,
    ROLES,
    TRAITS,
    WEIGHT_KINDS,
)

_FILE = Path(__file__).resolve().parents[2] / "explorer" / "operators" / "catalogue.json"
_ENTRIES: dict[str, dict[str, dict[str, Any]]] = json.loads(_FILE.read_text("utf-8"))
_NAMES = [(domain, op_type) for domain, entries in _ENTRIES.items() for op_type in entries]
_DECLARED = [(domain, op_type) for domain, found in _load_operators().items() for op_type in found]
_MEMBERS = {
    *("operands", "results", "traits", "form_of", "activation", "family", "weight", "rule"),
    *("per_element", "per_operand", "quantized", "scale_axes", "body", "before"),
}
#: what does not hold of each form: sums that are rounded in between depend on their order, codes of
#: blocks are no elements as they are, and shapes are computed by ONNX's own operators alone
_NOT_OF_FORMS = frozenset({"associative", "gathers", "shape_arithmetic"})
#: what multiplies; a form of it does as well
_PRODUCTS = ("attends", "convolves", "multiplies", "recurrent", "routes_experts")


def list_versions(domain: str, op_type: str) -> Iterator[Operator]:
    newest = find_operator(domain, op_type)
    yield newest
    for version in _ENTRIES[domain][op_type].get("before", {}):
        older = find_operator(domain, op_type, int(version) - 1)
        assert older is not newest
        yield older


def test_every_operator_stands_once_in_the_file() -> None:
    def refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        counts = Counter(name for name, _ in pairs)
        assert max(counts.values(), default=1) == 1, counts.most_common(1)
        return dict(pairs)

    assert json.loads(_FILE.read_text("utf-8"), object_pairs_hook=refuse_twice) == _ENTRIES


@pytest.mark.parametrize(("domain", "op_type"), _NAMES)
def test_an_entry_has_known_words_only(domain: str, op_type: str) -> None:
    entry = _ENTRIES[domain][op_type]
    assert entry.keys() <= _MEMBERS
    for operator in list_versions(domain, op_type):
        assert operator.traits <= TRAITS.keys()
        assert operator.family in OPERATOR_FAMILIES
        assert operator.weight_kind in {"", *WEIGHT_KINDS}
        assert operator.weight_layout in {"", *LAYOUTS}
        assert operator.rule in {"", *RULE_NAMES}
        for roles in (operator.operands, operator.results):
            for role in roles.names:
                owner, _, part = role.partition(".")
                assert kind_of(role) in ROLES, role
                assert not part or part in PARTS, role
                assert not part or owner == "result" or owner in roles.names, role
        assert operator.scale_axes.keys() <= {*operator.operands.names}


@pytest.mark.parametrize(("domain", "op_type"), _DECLARED)
def test_every_declared_operator_has_family_traits_and_a_role_for_each_operand(
    domain: str, op_type: str
) -> None:
    newest = find_operator(domain, op_type)
    assert newest.is_known
    assert newest.family
    assert newest.family != "other"
    assert newest.traits
    for version in map(int, _load_operators()[domain][op_type]):
        schema = find_schema(domain, op_type, version)
        assert schema is not None
        operator = find_operator(domain, op_type, version)
        for roles, parameters in (
            (operator.operands, schema.inputs),
            (operator.results, schema.outputs),
        ):
            for place, parameter in enumerate(parameters):
                assert roles.at(place), (version, parameter.name)
                if parameter.option == "variadic":
                    assert roles.at(place + 100), (version, parameter.name)


@pytest.mark.parametrize(("domain", "op_type"), _NAMES)
def test_what_multiplies_has_a_weight_or_data_and_a_rule_or_is_unknown(
    domain: str, op_type: str
) -> None:
    operator = find_operator(domain, op_type)
    if operator.weight_kind and operator.weight_kind != "ml":
        assert operator.weight_places
    rule = find_cost_rule(domain, op_type)
    if operator.has(*_PRODUCTS):
        # without a rule the total is said to be open: see tests/costs/test_defined_costs.py
        assert rule is None or rule.multiplies or operator.has("control_flow")
        if operator.operands.names:
            given = {kind_of(role) for role in operator.operands.names}
            assert given & {"data", "factor", "query", "ids", "state"}
    elif rule is not None and rule.multiplies:
        assert operator.has("generates"), "what multiplies has a trait that says so"
    if operator.has("convolves"):
        assert operator.weight_kind == "convolution" or not operator.operands.names
    if operator.weight_layout == "conv":
        assert operator.operands.find("weight") is not None


@pytest.mark.parametrize(("domain", "op_type"), _NAMES)
def test_a_form_has_the_roles_of_what_it_is_a_form_of(domain: str, op_type: str) -> None:
    entry = _ENTRIES[domain][op_type]
    if "form_of" not in entry:
        return
    operator = find_operator(domain, op_type)
    own = entry["form_of"] != op_type and entry["form_of"] in _ENTRIES[domain]
    base = find_operator(domain if own else "", entry["form_of"])
    assert base.is_known
    assert operator.form == base.form
    forms = {"factor": "weight"}  # a form may fix which factor is the weight
    wanted = {forms.get(kind_of(role), kind_of(role)) for role in base.operands.names}
    given = {forms.get(kind_of(role), kind_of(role)) for role in operator.operands.names}
    assert "data" in given or "data" not in wanted or not given
    assert ("weight" in given) == ("weight" in wanted) or not given
    assert base.traits - operator.traits <= _NOT_OF_FORMS


@pytest.mark.parametrize("domain", sorted(list_known_domains()))
def test_what_is_not_in_a_domain_is_unknown_there(domain: str) -> None:
    assert list_known_operators(domain) == tuple(sorted(_ENTRIES[domain]))
    unknown = find_operator(domain, "NoSuchOperator")
    assert (unknown.is_known, unknown.form, unknown.traits) == (False, "NoSuchOperator", set())
    assert unknown.operands.at(0) == ""


def test_an_operator_of_a_stranger_is_no_operator_of_onnx() -> None:
    found = find_operator("com.example", "Relu")
    assert not found.is_known
    assert found.form == "com.example::Relu"
    assert not found.has(*TRAITS)


def test_roles_take_turns_where_there_is_a_star() -> None:
    joined = find_operator("com.microsoft", "QLinearConcat").operands
    assert [joined.at(place) for place in range(8)] == [
        *("result.scale", "result.zero_point"),
        *("data", "data.scale", "data.zero_point"),
        *("data", "data.scale", "data.zero_point"),
    ]
    assert joined.kind_at(7) == "data"
    assert [joined.name_at(place) for place in (0, 4, 5, 8)] == [
        *("result.scale", "data.zero_point[0]", "data[1]", "data[2]"),
    ]
    assert RoleList(("data",)).at(1) == ""
    assert RoleList(("data",)).at(-1) == ""


def test_an_older_version_has_other_roles() -> None:
    assert find_operator("", "Resize", 10).operands.names == ("data", "scales")
    assert find_operator("", "Resize", 11).operands.at(1) == "region"
    assert find_operator("", "Tile", 1).arranges(2)
    assert not find_operator("", "Tile", 13).arranges(2)


def test_every_role_and_trait_is_used_and_explained() -> None:
    used_roles = {"result"}
    used_traits: set[str] = set()
    for domain, op_type in _NAMES:
        for operator in list_versions(domain, op_type):
            used_roles |= {*map(kind_of, operator.operands.names + operator.results.names)}
            used_traits |= operator.traits
    assert used_roles == ROLES.keys()
    assert used_traits == TRAITS.keys()
    assert ROLES.keys() >= ARRANGING_ROLES
    assert all({*ROLES.values(), *TRAITS.values(), *PARTS.values()})
