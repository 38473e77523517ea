"""What is said of kernels beside the installed ONNX Runtime, for every operator there is."""

from __future__ import annotations

from collections.abc import Iterator

import onnx
import pytest
from onnx import helper

from netloupe.explorer.checks import check
from netloupe.explorer.checks.runtimes import list_runtimes
from netloupe.explorer.operators import OperatorSchema, Parameter, find_schema
from netloupe.explorer.readers.load import load
from tests.checks.test_types import _TABLE, make_type
from tests.judges import IS_MEANT, UNSEEN, find_installed

onnxruntime = pytest.importorskip("onnxruntime")

#: values for attributes that an operator must have
_VALUES = {
    "int": 1, "float": 1.0, "string": "x", "ints": [1], "floats": [1.0], "strings": ["x"],
}  # fmt: skip
#: attributes that say of which type the result is
_OF_TYPES = ("to", "dtype", "output_dtype", "output_datatype")
#: the oldest operator set that ONNX Runtime has
_OLDEST = 7
#: every so many types of a version that is not the newest are tried
_STEP = 8


def name_variable(formal: Parameter) -> str:
    return formal.variable or formal.name


def list_choices(schema: OperatorSchema, *, is_newest: bool) -> Iterator[dict[str, str]]:
    """Yield types for the variables of an operator: of one each, with the first of the others."""
    variables: dict[str, list[str]] = {}
    for formal in (*schema.inputs, *schema.outputs):
        types = sorted(formal.types, key=lambda text: ("(" in text, text != "float32", text))
        variables.setdefault(name_variable(formal), types or ["float32"])
    first = {name: types[0] for name, types in variables.items()}
    yield first
    for name, types in variables.items():
        for text in types[1:] if is_newest else types[_STEP::_STEP]:
            yield {**first, name: text}


def list_versions() -> Iterator[tuple[OperatorSchema, bool]]:
    """Yield the versions of operators that ONNX Runtime may have, and whether it is the newest."""
    for domain in ("", "ai.onnx.ml", "com.microsoft"):
        for op_type, versions in _TABLE["operators"][domain].items():
            known = sorted(map(int, versions))
            for version, following in zip(known, [*known[1:], None], strict=True):
                schema = find_schema(domain, op_type, version)
                assert schema is not None
                is_old = not domain and following is not None and following <= _OLDEST
                if not schema.deprecated and not is_old:
                    yield schema, following is None


def make_model(schema: OperatorSchema, chosen: dict[str, str]) -> onnx.ModelProto | None:
    """Return a model of one node with all operands; None where it needs what is not made here."""
    attributes: dict[str, object] = {}
    for each in schema.attributes.values():
        if each.required and each.kind not in _VALUES:
            return None
        if each.required:
            attributes[each.name] = _VALUES[each.kind]
        if each.name in _OF_TYPES:
            result = make_type(chosen[name_variable(schema.outputs[0])])
            attributes[each.name] = result.tensor_type.elem_type
    inputs, outputs = (
        [
            helper.make_value_info(f"{letter}{place}", make_type(chosen[name_variable(formal)]))
            for place, formal in enumerate(side)
            if letter == "x" or formal.option != "optional"
        ]
        for letter, side in (("x", schema.inputs), ("y", schema.outputs))
    )
    node = helper.make_node(
        schema.op_type,
        [value.name for value in inputs],
        [value.name for value in outputs],
        domain=schema.domain,
        **attributes,
    )
    versions = {"": 22, schema.domain: schema.since_version}
    versions[""] = max(versions[""], _OLDEST)
    return helper.make_model(
        helper.make_graph([node], "g", inputs, outputs),
        opset_imports=[helper.make_opsetid(*each) for each in versions.items()],
        ir_version=10,
    )


def ask_runtime(model: onnx.ModelProto) -> str:
    """Return why ONNX Runtime does not load a model; "" where it does."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # whatever a judge raises is its verdict
        return str(error)
    return ""


@pytest.mark.skipif(not IS_MEANT, reason="the kernels are those for Linux on x86-64")
def test_a_kernel_is_missed_where_the_installed_release_has_none() -> None:
    target = find_installed()
    if target is None or not list_runtimes()[target].has_kernels:
        pytest.skip(f"of ONNX Runtime {onnxruntime.__version__} kernels are not known")
    loaded = refused = 0
    wrong, unseen = [], []
    for schema, is_newest in list_versions():
        for chosen in list_choices(schema, is_newest=is_newest):
            model = make_model(schema, chosen)
            said = ask_runtime(model) if model is not None else "not made"
            if said and "NOT_IMPLEMENTED" not in said:
                continue  # of shapes, attributes, and types that no kernel is looked for
            found = check(load(model), select=["NL-P06"], target=target)
            loaded, refused = loaded + (not said), refused + bool(said)
            case = f"{schema.domain} {schema.op_type}-{schema.since_version} {chosen}"
            if bool(said) == bool(len(found)):
                continue
            is_told = any(UNSEEN in each.reason for each in found.skipped_rules)
            (unseen if said and is_told else wrong).append(
                f"{case}: {[*map(str, found)]} {said[:200]}"
            )
    assert wrong == []
    # of bodies that depend on the node nothing is known, and that is said
    assert len(unseen) < 50
    assert loaded > 1_500
    assert refused > 500
