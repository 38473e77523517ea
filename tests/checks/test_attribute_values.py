"""Attributes that may be one of a few, in every version of every operator that has one."""

from __future__ import annotations

from collections.abc import Iterator

import onnx
import pytest
from onnx import defs, helper

from netloupe.explorer.checks import Finding, check
from netloupe.explorer.checks.rules.attribute_values import (
    CHOICES,
    CONTRIB_CHOICES,
    ELEMENT_TYPES,
    MAY_BE_EMPTY,
    RENAMED,
    find_choices,
)
from netloupe.explorer.operators import find_schema
from netloupe.explorer.readers.load import load
from tests.checks.ruling import find, parse, read_made

#: texts that may say anything
FREE = {
    *("cats_strings", "classes_strings", "classlabels_strings", "default_string", "delimiter"),
    *("equation", "keys_strings", "locale", "pattern", "pool_strings", "stopwords"),
    *("string_vocabulary", "value_string", "value_strings", "values_strings"),
}
_STRINGS = (defs.OpSchema.AttrType.STRING, defs.OpSchema.AttrType.STRINGS)


def _list_schemas() -> Iterator[defs.OpSchema]:
    """Yield all that onnx knows of the operator sets that we know, old versions too."""
    for schema in defs.get_all_schemas_with_history():
        if schema.domain in ("", "ai.onnx.ml") and not schema.deprecated:
            known = find_schema(schema.domain, schema.name, schema.since_version)
            if known is not None and known.since_version == schema.since_version:
                yield schema


_CASES = [
    (schema, name)
    for schema in _list_schemas()
    for name in sorted(schema.attributes)
    if (schema.name, name) in CHOICES
]


def judge(schema: defs.OpSchema, name: str, value: object) -> list[Finding]:
    node = helper.make_node(schema.name, ["x"], ["y"], "n", domain=schema.domain)
    if value is not None:
        node.attribute.append(helper.make_attribute(name, value))
    inputs = [helper.make_tensor_value_info("x", 1, ["N"])]
    outputs = [helper.make_empty_tensor_value_info("y")]
    graph = helper.make_graph([node], "g", inputs, outputs)
    opsets = [helper.make_opsetid(schema.domain, schema.since_version)]
    proto = helper.make_model(graph, opset_imports=opsets)
    found = check(load(proto.SerializeToString()), select=["NL-L41"])
    return [each for each in found if each.evidence.get("attribute") == name]


def list_choices(schema: defs.OpSchema, name: str) -> list[str]:
    known = find_schema(schema.domain, schema.name, schema.since_version)
    assert known is not None
    return sorted(find_choices(schema.name, name, known) or ())


def test_every_text_of_an_operator_is_one_of_a_few_or_free() -> None:
    texts = {
        (schema.name, name)
        for schema in _list_schemas()
        for name, attribute in schema.attributes.items()
        if attribute.type in _STRINGS and name not in FREE | ELEMENT_TYPES  # in Cast-1
    }
    assert texts == {*CHOICES}


def test_the_choices_are_those_that_are_documented() -> None:
    documented: dict[tuple[str, str], str] = {}
    for schema, name in _CASES:
        told = f"{schema.attributes[name].description} {schema.doc}"
        documented[schema.name, name] = documented.get((schema.name, name), "") + told
    # of an operator besides, given up, or ONNX Runtime's own
    later = {"BRANCH_MEMBER", "tf_half_pixel_for_nn", "cubic"}
    missing = [
        (*key, choice)
        for key, choices in CHOICES.items()
        for choice in choices
        if choice not in documented[key] and choice not in later
    ]
    assert missing == []


@pytest.mark.parametrize(
    ("schema", "name"), _CASES, ids=[f"{s.name}-{s.since_version}.{n}" for s, n in _CASES]
)
def test_what_is_none_of_the_choices_is_found(schema: defs.OpSchema, name: str) -> None:
    is_list = schema.attributes[name].type == defs.OpSchema.AttrType.STRINGS
    choices = list_choices(schema, name)
    default = schema.attributes[name].default_value.s.decode()
    may_be_empty = {name, f"{schema.name}.{name}"} & MAY_BE_EMPTY
    given = [*([""] if may_be_empty else []), *([default] if default else [])]
    for right in (None, *given, *choices):  # GRU-1 has a default that is misspelled
        value = [right] * 2 if is_list and right is not None else right
        assert judge(schema, name, value) == [], right
    if not may_be_empty:
        (found_empty,) = judge(schema, name, [choices[0], ""] if is_list else "")
        assert found_empty.message.startswith(f"{name} of {schema.name} is ''")
    for wrong in ("nonsense", f"{choices[0]}x", choices[0].swapcase()):
        found = judge(schema, name, [choices[0], wrong] if is_list else wrong)
        if (name, wrong) == ("activations", choices[0].swapcase()):
            assert found == []  # ONNX Runtime takes them in any case
            continue
        assert [each.severity for each in found] == ["error"]
        assert wrong in found[0].message
        assert choices[-1] in found[0].message


@pytest.mark.parametrize(("op_type", "name"), CONTRIB_CHOICES)
def test_words_of_onnx_runtime_are_known(op_type: str, name: str) -> None:
    known = find_schema("com.microsoft", op_type, 1)
    assert known is not None
    assert known.attributes[name].kind in ("string", "strings")
    is_list = known.attributes[name].kind == "strings"
    choices = find_choices(op_type, name, known) or ()
    for word, count in (*((choice, 0) for choice in choices), ("nonsense", 1)):
        node = helper.make_node(op_type, ["x"], ["y"], "n", domain="com.microsoft")
        node.attribute.append(helper.make_attribute(name, [word] if is_list else word))
        inputs = [helper.make_tensor_value_info("x", 1, ["N"])]
        graph = helper.make_graph([node], "g", inputs, [helper.make_empty_tensor_value_info("y")])
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        proto = helper.make_model(graph, opset_imports=opsets)
        found = check(load(proto.SerializeToString()), select=["NL-L41"])
        told = [each.message for each in found if each.evidence.get("attribute") == name]
        assert len(told) == count, told
        assert all(repr(word) in each for each in told)


@pytest.mark.parametrize(("op_type", "name"), RENAMED)
def test_words_of_another_version_are_found(op_type: str, name: str) -> None:
    schemas = [schema for schema in _list_schemas() if schema.name == op_type]
    every = {word for schema in schemas for word in list_choices(schema, name)}
    assert every == CHOICES[op_type, name]
    for schema in schemas:
        own = {*list_choices(schema, name)}
        assert own < every
        assert schema.attributes[name].default_value.s.decode() in own
        for word in every - own:
            (found,) = judge(schema, name, word)
            assert repr(word) in found.message


@pytest.mark.parametrize("name", sorted(ELEMENT_TYPES))
def test_what_is_no_element_type_is_found(name: str) -> None:
    schemas = [each for each in _list_schemas() if name in each.attributes]
    assert schemas
    for schema in schemas:
        if schema.attributes[name].type != defs.OpSchema.AttrType.INT:  # a text in Cast-1
            continue
        assert judge(schema, name, onnx.TensorProto.FLOAT16) == []
        for wrong in (99, -1):
            (found,) = judge(schema, name, wrong)
            assert str(wrong) in found.message
        default = schema.attributes[name].default_value
        is_undefined = default.type == onnx.AttributeProto.INT and default.i == 0
        assert (judge(schema, name, 0) == []) is is_undefined


def test_an_attribute_that_a_call_gives_is_not_judged() -> None:
    made = parse(
        """g (float[1, 3, 8, 8] x) => (float[1, 3, 8, 8] y) { y = own.F <p = "nonsense"> (x) }
        <domain: "own", opset_import: ["": 21]>
        F <p> (v) => (o) { o = MaxPool <kernel_shape = [1, 1], auto_pad: string = @p> (v) }"""
    )
    assert find(made, "NL-L41") == []


@pytest.mark.parametrize(
    "call",
    [
        "EyeLike <dtype = 6> (x)",
        "RandomNormal <shape = [4, 4], dtype = 10> ()",
        "RandomUniform <shape = [4, 4], dtype = 11> ()",
        "RandomNormalLike <dtype = 10> (x)",
        "RandomUniformLike <dtype = 10> (x)",
        "Bernoulli <dtype = 6> (x)",
        "Multinomial <sample_size = 4, dtype = 7> (x)",
        "HannWindow <output_datatype = 11> (n)",
        "HammingWindow <output_datatype = 11> (n)",
        "BlackmanWindow <output_datatype = 11> (n)",
        "MelWeightMatrix <output_datatype = 11> (n, n, n, f, f)",
    ],
)
def test_a_type_that_an_attribute_gives_is_held_against_what_is_stated(call: str) -> None:
    kind = call.partition("= ")[2] if "dtype" not in call else call.partition("dtype = ")[2]
    kind = kind.partition(">")[0]
    dims = "N" if "Window" in call else "4, 4"
    names = {"6": "int32", "7": "int64", "10": "float16", "11": "double"}
    for stated, ids in ((names[kind], []), ("float", ["NL-T03"])):
        text = f"g (float[4, 4] x, int64 n, float f) => ({stated}[{dims}] y) {{ y = {call} }}"
        found = check(read_made(parse(text)), select=["NL-T03", "NL-T05"])
        assert [each.id for each in found] == ids, [str(each) for each in found]


@pytest.mark.parametrize(
    ("stated", "shape", "ids"),
    [
        ("1, 3, 1", "int64[3]", []),
        ("7, 3, 2", "int64[3]", []),
        ("2, 7, 3, 2", "int64[4]", []),
        ("1, 11, 1", "int64[3]", ["NL-T05"]),
        ("1, 3, 1, 1", "int64[4]", ["NL-T05"]),
        ("1, 3", "int64[2]", ["NL-T05"]),
        ("1, 11, 1", "int64[N]", []),
    ],
)
def test_what_expand_leaves_is_held_against_what_is_stated(
    stated: str, shape: str, ids: list[str]
) -> None:
    text = f"g (float[1, 3, 1] x, {shape} s) => (float[{stated}] y) {{ y = Expand(x, s) }}"
    found = check(read_made(parse(text)), select=["NL-T05"])
    assert [each.id for each in found] == ids, [str(each) for each in found]


@pytest.mark.parametrize(
    ("call", "rule", "text"),
    [
        ('Einsum <equation = "ij,jk->iq"> (x, z)', "NL-T11", "'q', which no term has"),
        ('Einsum <equation = "ij,jk->iik"> (x, z)', "NL-T11", "a letter twice"),
        ("Unique <axis = 5> (x)", "NL-T15", "axis is 5"),
    ],
)
def test_what_a_result_cannot_have_is_found(call: str, rule: str, text: str) -> None:
    whole = "g (float[4, 4] x, float[4, 4] z) => (float[A, B] y) {{ y = {} }}"
    (found,) = find(parse(whole.format(call)), rule)
    assert text in found.message
    right = call.replace("iq", "ik").replace("iik", "ik").replace("= 5", "= 1")
    assert find(parse(whole.format(right)), rule) == []


@pytest.mark.parametrize(
    ("call", "stated", "ids"),
    [
        ("BitCast <to = 6> (x)", "int32[2, 3]", []),
        ("BitCast <to = 6> (x)", "uint32[2, 3]", ["NL-T03"]),
        ("BitCast <to = 6> (x)", "int32[3, 2]", ["NL-T05"]),
        ("Compress <axis = 1> (x, m)", "float[2, A]", []),
        ("Compress <axis = 1> (x, m)", "float[3, A]", ["NL-T05"]),
        ("Compress <axis = 1> (x, m)", "float[A]", ["NL-T05"]),
        ("Compress (x, m)", "float[A]", []),
        ("Compress (x, m)", "float[2, A]", ["NL-T05"]),
    ],
)
def test_what_picks_and_reads_anew_is_held_against_what_is_stated(
    call: str, stated: str, ids: list[str]
) -> None:
    text = f"""<ir_version: 13, opset_import: ["": 26]>
    g (float[2, 3] x, bool[3] m) => ({stated} y) {{ y = {call} }}"""
    found = check(read_made(text), select=["NL-T"])
    assert [each.id for each in found] == ids, [str(each) for each in found]
