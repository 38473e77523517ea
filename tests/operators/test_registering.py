"""Registering operators: what is right holds, what is wrong is a line that says what is allowed."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import netloupe
from netloupe import NetloupeError, OperatorsError, register_operators
from netloupe.explorer.operators import find_operator, list_known_domains, plugins
from netloupe.explorer.operators.entry_checks import MEMBERS
from netloupe.explorer.operators.vocabulary import OPERATOR_FAMILIES
from tests.installed import install_entry_points
from tests.operators.registered import only_shipped, write_toml

#: an entry for everything that an entry can say
LINEAR: dict[str, Any] = {
    "operands": "data weight bias",
    "results": "data",
    "traits": "multiplies",
    "family": "linear",
    "weight": "linear linear_transposed",
    "dims": "... K, N K, N -> ... N",
    "macs": "...*N*K",
}
QUANTIZED: dict[str, Any] = {
    "operands": "data data.scale weight weight.scale weight.zero_point result.scale",
    "results": "data",
    "form_of": "Conv",
    "activation": "Relu",
    "quantized": "linear",
    "scale_axes": {"weight": 0},
    "per_element": 1,
    "per_operand": 2,
    "before": {"3": {"operands": "data weight"}},
}


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with only_shipped():
        yield


def register(entry: Any, op_type: str = "Scale") -> None:
    register_operators({"com.example": {op_type: entry}})


def list_problems(source: Any) -> tuple[str, ...]:
    with pytest.raises(OperatorsError) as caught:
        register_operators(source)
    assert caught.value.problems
    for problem in caught.value.problems:
        assert "\n" not in problem
        assert len(problem) < 600
    return caught.value.problems


def test_an_entry_tells_everything() -> None:
    assert {*LINEAR, *QUANTIZED} == {*MEMBERS}
    register_operators({"com.example": {"Linear": LINEAR, "FastConv": QUANTIZED}})
    found = find_operator("com.example", "Linear")
    assert (found.is_known, found.is_registered, found.form) == (True, True, "com.example::Linear")
    assert found.operands.names == ("data", "weight", "bias")
    assert (found.family, found.weight_kind, found.weight_layout) == (
        *("linear", "linear", "linear_transposed"),
    )
    assert found.weight_places == (1,)
    conv = find_operator("com.example", "FastConv")
    assert (conv.form, conv.activation, conv.family) == ("Conv", "Relu", "linear")
    assert conv.has("convolves")
    assert conv.is_quantized
    assert (conv.scale_axes, conv.per_element, conv.per_operand) == ({"weight": 0}, 1, 2)
    assert conv.rule == ""  # with operands of its own it may multiply in another way
    assert find_operator("com.example", "FastConv", 2).operands.names == ("data", "weight")
    assert "com.example" in list_known_domains()
    assert not find_operator("com.example", "Other").is_known


def test_a_form_without_operands_of_its_own_is_counted_like_its_base() -> None:
    register_operators({"com.example": {"FastConv": {"form_of": "Conv"}}})
    register({"form_of": "FastConv"}, "FasterConv")
    for op_type in ("FastConv", "FasterConv"):
        found = find_operator("com.example", op_type)
        assert (found.rule, found.form) == ("convolve", "Conv")
        assert found.operands == find_operator("", "Conv").operands
    register({"form_of": "Conv", "macs": 0}, "FastConv")
    assert find_operator("com.example", "FastConv").rule == ""
    # of those that netloupe comes with none takes the rule of its base


def test_what_is_called_like_an_operator_of_onnx_is_none_unless_its_entry_says_so() -> None:
    register({"family": "shape"}, "Relu")
    assert find_operator("com.example", "Relu").form == "com.example::Relu"
    assert find_operator("com.example", "Gelu").form == "com.example::Gelu"
    register({"form_of": "Relu"}, "Relu")
    assert find_operator("com.example", "Relu").form == "Relu"


def test_registering_again_replaces_and_leaves_others() -> None:
    register_operators({"com.example": {"A": {"family": "shape"}, "B": {"family": "shape"}}})
    register_operators({"com.example": {"A": {"family": "logic"}}})
    assert find_operator("com.example", "A").family == "logic"
    assert find_operator("com.example", "B").family == "shape"


@pytest.mark.parametrize("domain", ["ai.onnx", ""])
def test_an_operator_that_a_domain_of_onnx_lacks_is_taken(domain: str) -> None:
    register_operators({domain: {"BrandNew": {"family": "shape", "macs": 0}}})
    assert find_operator("", "BrandNew").family == "shape"
    assert find_operator("", "BrandNew").form == "BrandNew"


@pytest.mark.parametrize(
    ("domain", "op_type"),
    [
        ("ai.onnx", "Relu"),
        ("com.microsoft", "FusedConv"),
        ("caffe2", "Conv"),
        ("ai.onnx.ml", "SVMRegressor"),
    ],
)
def test_what_netloupe_knows_cannot_be_changed(domain: str, op_type: str) -> None:
    (problem,) = list_problems({domain: {op_type: {"family": "shape"}}})
    assert problem.startswith(f"the mapping: {domain}::{op_type}: is known to netloupe")


#: an entry with one mistake, and what is said of it
WRONG: list[tuple[str, Any, str]] = [
    ("operands", "data wieght", "names the role 'wieght', which is none. Did you mean 'weight'?"),
    ("operands", 3, "is 3. Give roles with spaces between"),
    ("operands", "data weight.scale", "has 'weight.scale', but no 'weight'"),
    ("operands", "data data.scal", "nothing has a 'scal'. Did you mean 'scale'? Parts are"),
    ("operands", "data* weight", "has a star before a role without one"),
    ("operands", "d*ta", "names the role 'd*ta'"),
    ("operands", "data**", "names the role 'data**'"),
    ("operands", "data " * 2000, "is longer than 4000 characters"),
    ("results", "dat", "names the role 'dat', which is none. Did you mean 'data'?"),
    ("traits", "convolve", "names 'convolve', which is no trait. Did you mean 'convolves'?"),
    ("traits", ["convolves"], "is a list. Give traits with spaces between"),
    ("form_of", "Cnov", "names 'Cnov', which is none. Did you mean 'Conv'? Operators of ai.onnx"),
    ("form_of", "", "is ''. Give the name of an operator"),
    ("activation", "Rleu", "names 'Rleu', which is none. Did you mean 'Relu'?"),
    ("activation", "Conv", "names 'Conv', which is none."),
    ("activation", ":", "is ':'. Give the name of an activation"),
    ("family", "linaer", "is 'linaer'. Did you mean 'linear'? Families are linear, activation,"),
    ("family", None, "is None. Families are linear"),
    ("weight", "convolutoin", "begins with 'convolutoin'. Did you mean 'convolution'? Kinds are"),
    ("weight", "linear lineer", "has the layout 'lineer'. Did you mean 'linear'? Layouts are"),
    ("weight", "linear linear conv", "has more than two words"),
    ("weight", "linear", "is 'linear', but no operand has the role weight, factor or rows"),
    ("weight", "embedding", "is 'embedding', but no operand has the role rows"),
    ("weight", False, "is False. Give a kind and perhaps a layout"),
    ("dims", "N C", "has no single ->"),
    ("dims", "N -> N -> N", "has no single ->"),
    ("dims", "N-C -> N", "has 'N-C', which is neither a name of an axis nor a size"),
    ("dims", "N ... -> N", "has ... behind another axis"),
    ("dims", "in -> out", "has the name 'in', a word of Python"),
    ("dims", 4, "is 4. Write names of axes"),
    ("macs", "N**2", "is no formula: 'N**2'. A formula is made of whole numbers, names of dims"),
    ("macs", "N*", "is no formula"),
    ("macs", "N.real", "is no formula"),
    ("macs", "open(N)", "is no formula"),
    ("macs", "-N", "is no formula"),
    ("macs", "N/2", "is no formula"),
    ("macs", "True", "is no formula"),
    ("macs", "1e9", "is no formula"),
    ("macs", "2 if N else 3", "is no formula"),
    ("macs", "(" * 150 + "N" + ")" * 150, "names the dimension 'N'"),
    ("macs", "+".join("N" * 30), "is nested deeper than 20 levels"),
    ("macs", "N" * 500, "is longer than 400 characters"),
    ("macs", "99999999999999999999", "has a number above"),
    ("macs", "7//0", "divides by 0"),
    ("macs", "N*N", "names the dimension 'N', which dims does not. There are none"),
    ("macs", -1, "is -1. Give a formula of"),
    ("macs", 2.5, "is 2.5. Give a formula of"),
    ("per_element", -1, "is -1. Give a whole number from 0"),
    ("per_element", True, "is True. Give a whole number"),
    ("per_operand", "2", "is '2'. Give a whole number"),
    ("quantized", "log", "is 'log'. Give linear, or leave it out"),
    ("scale_axes", 0, "is 0. Give axes by role"),
    ("scale_axes", {"weight": "last"}, "has 'weight' = 'last'. Give axes by role"),
    ("scale_axes", {"weight": 0}, "names 'weight', which no operand is. There are none"),
    ("before", 3, "is 3. Give what differs by version"),
    ("before", {"new": {}}, "has 'new'. Give versions of the operator set"),
    ("before", {"0": {}}, "has '0'. Give versions"),
    ("before", {"3": 4}, "3 is 4. Give a table of members"),
    ("before", {"3": {"form_of": "Conv"}}, "3: has no member 'form_of'"),
    ("before", {"3": {"operands": "dta"}}, "3: operands names the role 'dta'"),
    ("before", {"3": {"weight": "linear"}}, "3: weight is 'linear', but no operand"),
    ("operand", "data", "has no member 'operand'. Did you mean 'operands'? Members are"),
    ("rule", "convolve", "has no member 'rule'"),
    ("body", {}, "has no member 'body'"),
]


@pytest.mark.parametrize(("member", "value", "told"), WRONG)
def test_a_mistake_is_a_line_and_the_rest_holds(member: str, value: Any, told: str) -> None:
    source = {"com.example": {"Wrong": {member: value}, "Right": {"family": "shape"}}}
    (problem,) = list_problems(source)
    assert problem.startswith("the mapping: com.example::Wrong: ")
    assert told in problem
    if member in MEMBERS:
        assert member in problem
    assert not find_operator("com.example", "Wrong").is_known
    assert find_operator("com.example", "Right").family == "shape"


def test_every_member_has_a_mistake_above() -> None:
    assert {member for member, _, _ in WRONG} >= {*MEMBERS}


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (
            {"dims": "N K -> N", "macs": "N*M"},
            "'M', which dims does not. Dimensions are K, N",
        ),
        ({"dims": "N K -> N", "macs": "...*N"}, "macs names leading axes (...)"),
        ({"dims": "N, K -> N", "operands": "data"}, "dims has 2 operands, but operands names 1"),
        ({"dims": "N -> N, N", "results": "data"}, "dims has 2 results, but results names 1"),
        (
            {"scale_axes": {"weigth": 0}, "operands": "data weight"},
            "names 'weigth', which no operand is. Did you mean 'weight'?",
        ),
    ],
)
def test_members_that_contradict_one_another(entry: dict[str, Any], told: str) -> None:
    (problem,) = list_problems({"com.example": {"Scale": entry}})
    assert told in problem


def test_forms_go_round_in_no_circle_and_not_on_forever() -> None:
    circle = {"A": {"form_of": "B"}, "B": {"form_of": "C"}, "C": {"form_of": "A"}}
    problems = list_problems({"com.example": {**circle, "D": {"form_of": "Relu"}}})
    assert len(problems) == 3
    assert "form_of goes round in a circle: A, B, C, A" in problems[0]
    assert find_operator("com.example", "D").form == "Relu"
    register_operators({"com.example": {"A": {"form_of": "B"}, "B": {}}})
    assert "circle" in list_problems({"com.example": {"B": {"form_of": "A"}}})[0]
    assert "circle" in list_problems({"ai.onnx": {"New": {"form_of": "New"}}})[0]
    chain = {f"F{number}": {"form_of": f"F{number + 1}"} for number in range(3000)}
    problems = list_problems({"com.example": {**chain, "F3000": {}}})
    assert all("leads over more than 20 forms" in problem for problem in problems)
    assert len(problems) == 3000 - 19


def test_forms_that_grow_long_by_registering_bases_anew_are_found() -> None:
    steps = range(19)
    for part in range(80):
        forms = {f"F{part}_{step}": {"form_of": f"F{part}_{step + 1}"} for step in steps}
        register_operators({"com.example": {**forms, f"F{part}_19": {"family": "shape"}}})
    for part in range(79):
        register({"form_of": f"F{part + 1}_1"}, f"F{part}_19")
    found = find_operator("com.example", "F0_0")
    assert (found.family, found.form) == ("shape", "com.example::F79_19")


def test_a_form_of_what_is_refused_is_refused() -> None:
    problems = list_problems({"com.example": {"A": {"weight": "linear"}, "B": {"form_of": "A"}}})
    assert [problem.split(": ")[1] for problem in problems] == ["com.example::A", "com.example::B"]


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ({"com.example": 3}, "com.example: is no table. Give entries by op_type"),
        ({3: {}}, "3: is no domain"),
        ({"com.example": {3: {}}}, "com.example::3: is no name of an operator"),
        ({"com.example": {"": {}}}, "com.example: is no name of an operator"),
        (
            {"com.example": {"A": "Conv"}},
            "A: is 'Conv'. Give a table of members: operands,",
        ),
        ({"com": {"example": {"A": {"family": "shape"}}}}, '["com.example".OpType]'),
    ],
)
def test_what_is_no_table_of_operators(source: Any, told: str) -> None:
    (problem,) = list_problems(source)
    assert told in problem


def test_an_error_tells_a_handful_and_how_many_more() -> None:
    source = {"com.example": {f"A{number}": {"family": "x"} for number in range(9)}}
    with pytest.raises(OperatorsError) as caught:
        register_operators(source)
    assert isinstance(caught.value, NetloupeError)
    assert len(caught.value.problems) == 9
    lines = str(caught.value).splitlines()
    assert lines[:5] == [*caught.value.problems[:5]]
    assert lines[5:] == ["… and 4 more"]


@pytest.mark.parametrize("ending", ["toml", "json"])
def test_a_file_says_the_same_as_a_mapping(tmp_path: Path, ending: str) -> None:
    entries = {"com.example": {"Linear": LINEAR, "FastConv": QUANTIZED}}
    file = tmp_path / f"ops.{ending}"
    file.write_text(json.dumps(entries) if ending == "json" else write_toml(entries))
    register_operators(file)
    from_file = [find_operator("com.example", name) for name in entries["com.example"]]
    register_operators(entries)
    for found in from_file:
        other = find_operator("com.example", found.op_type)
        for name in ("operands", "dims", "macs", "scale_axes", "per_operand", "form", "traits"):
            assert getattr(found, name) == getattr(other, name)
    register_operators(str(file))


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("ops.toml", b"[com.example", "cannot be read: Expected"),
        ("ops.toml", b"a = " + b"[" * 5000, "cannot be read"),
        ("ops.json", b"{", "cannot be read"),
        ("ops.json", b"[" * 100_000, "cannot be read"),
        ("ops.json", b"[1]", "holds no table"),
        ("ops.json", b'{"com.example": {"A": {}, "A": {}}}', "'A' stands twice"),
        ("ops.json", b'{"com.example": ' + b"9" * 5000 + b"}", "cannot be read"),
        ("ops.toml", b"\xff\xfe", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str, content: bytes, told: str) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    (problem,) = list_problems(file)
    assert problem.startswith(f"{file}: ")
    assert told in problem


def test_what_is_no_file(tmp_path: Path) -> None:
    assert "No such file" in list_problems(tmp_path / "ops.toml")[0]
    assert "no file" in list_problems(tmp_path)[0]
    assert "cannot be read" in list_problems("a\0b")[0]
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.toml")
        assert "no file" in list_problems(tmp_path / "pipe.toml")[0]


def test_a_mistake_in_a_file_names_it(tmp_path: Path) -> None:
    file = tmp_path / "ops.toml"
    file.write_text(write_toml({"com.example": {"A": {"family": "shap"}}}))
    (problem,) = list_problems(file)
    assert problem.startswith(f"{file}: com.example::A: family is 'shap'. Did you mean 'shape'?")


@pytest.mark.parametrize("wrong", [5, None, b"ops.toml", ["ops.toml"], 2.5])
def test_a_wrong_type_is_said(wrong: Any) -> None:
    with pytest.raises(netloupe.ArgumentError, match=r"^register_operators: source is .* Give str"):
        register_operators(wrong)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda held: st.lists(held, max_size=2) | st.dictionaries(st.text(max_size=4), held),
    max_leaves=4,
)
_WORDS = st.sampled_from(
    ["data", "weight", "weight.scale", "data*", "linear", "Conv", "A", "B", "N K -> N", "N*K", "->"]
)
_ENTRIES = st.dictionaries(
    st.sampled_from([*MEMBERS, "x"]), _VALUES | _WORDS | st.lists(_WORDS).map(" ".join), max_size=4
)


def try_to_register(source: Any) -> tuple[str, ...]:
    """Return what is wrong with a source; of nothing nothing."""
    try:
        register_operators(source)
    except OperatorsError as error:
        return error.problems
    return ()


@given(
    st.dictionaries(
        st.sampled_from(["com.example", "", "ai.onnx", "com\n"]),
        st.dictionaries(st.sampled_from(["A", "B", "C", "Conv"]), _ENTRIES | _VALUES, max_size=3),
        max_size=2,
    )
)
@settings(max_examples=300, deadline=None)
def test_any_mapping_is_taken_or_refused(source: Any) -> None:
    with only_shipped():
        problems = try_to_register(source)
        assert all(problem.isprintable() for problem in problems)
        for domain in ("", "com.example"):
            for op_type in ("A", "B", "C"):
                found = find_operator(domain, op_type)
                assert found.weight_places is not None
                assert found.family in ("", *OPERATOR_FAMILIES)


@given(st.text(max_size=60) | st.text("NMK+-*/(). 0123456789…", max_size=40))
@example("0x1for x in y")
@example("1_000")
@example("\ufb01*2")
@example("1if")
@example("...*...")
@settings(max_examples=300, deadline=None)
def test_any_formula_is_taken_or_refused(text: str) -> None:
    with only_shipped():
        for entry in ({"dims": "N K, M K -> N M", "macs": text}, {"dims": text}):
            problems = try_to_register({"com.example": {"Scale": entry}})
            assert all(problem.isprintable() for problem in problems)


@given(
    st.binary(max_size=60) | st.text(max_size=60).map(str.encode), st.sampled_from(["toml", "json"])
)
@settings(max_examples=200, deadline=None)
def test_any_file_is_taken_or_refused(tmp_path_factory: Any, content: bytes, ending: str) -> None:
    file = tmp_path_factory.getbasetemp() / f"any.{ending}"
    file.write_bytes(content)
    with only_shipped():
        problems = try_to_register(file)
        assert all(problem.startswith(f"{file}: ") for problem in problems)


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give a function that installs entry points."""

    def install(**given: Any) -> list[str]:
        plugins.PLUGINS.forget()
        return install_entry_points(monkeypatch, plugins.PLUGINS.group, **given)

    return install


def test_entry_points_are_asked_once_where_a_domain_is_not_known(
    install: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "ops.toml"
    file.write_text(write_toml({"com.other": {"B": {"family": "logic"}}}))
    asked = install(a={"com.example": {"A": {"family": "shape"}}}, b=file, c=str(file))
    assert find_operator("", "Relu").is_known
    assert find_operator("com.microsoft", "NoSuchOperator").is_known is False
    assert asked == []
    assert find_operator("com.example", "A").family == "shape"
    assert find_operator("com.other", "B").family == "logic"
    assert asked == [plugins.PLUGINS.group]
    assert caplog.records == []


def test_what_is_wrong_with_entry_points_is_a_warning(
    install: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    install(
        broken=RuntimeError("no\nway"),
        empty=None,
        missing=tmp_path / "ops.toml",
        wrong={"com.example": {"A": {"family": "shap"}, "B": {"family": "logic"}}},
    )
    with caplog.at_level(logging.WARNING, "netloupe"):
        assert find_operator("com.example", "B").family == "logic"
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 4
    assert all(line.startswith("netloupe: warning: entry point ") for line in told)
    assert "broken of netloupe.operators: no way (RuntimeError)" in told[0]
    assert "gives a NoneType. Let it give a mapping, or the path of a file" in told[1]
    assert "ops.toml: cannot be read" in told[2]
    assert "com.example::A: family is 'shap'" in told[3]


def test_what_somebody_registers_comes_before_entry_points(install: Any) -> None:
    install(a={"com.example": {"A": {"family": "shape"}, "B": {"family": "shape"}}})
    register_operators({"com.example": {"A": {"family": "logic"}, "C": {"form_of": "B"}}})
    families = [find_operator("com.example", name).family for name in "ABC"]
    assert families == ["logic", "shape", "shape"]
    plugins.PLUGINS.forget()
    plugins.PLUGINS.load()
    assert find_operator("com.example", "A").family == "logic"
