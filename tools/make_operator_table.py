"""Make ``explorer/operators/table.json`` from the operator schemas of the ``onnx`` package.

The table holds facts only: names, kinds, defaults, versions. Its form is described in
``explorer/operators/schemas.py``. Operators that ``onnx`` does not declare come from
``contrib_operators.json`` beside this script. ``--contrib`` first makes that file anew from the
registry of an installed ``onnxruntime`` (its domains only: the others are kept by hand).
``--check`` writes nothing and exits with 1 if the committed table differs.
"""

import argparse
import itertools
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import onnx
import onnx.defs

sys.path.insert(0, str(Path(__file__).resolve().parent))
from type_names import shorten_type

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "explorer" / "operators" / "table.json"
CONTRIB = Path(__file__).with_name("contrib_operators.json")

#: operators that ``onnxruntime`` gives as functions, which its registry does not tell
#: (onnxruntime/core/graph/contrib_ops); ``tests/checks/test_kernel_judge.py`` sees what lacks here
CONTRIB_BODIES = {"com.microsoft": ("FastGelu", "QuickGelu")}

Operators = dict[str, dict[str, dict[str, Any]]]

CONSTANT_TYPES = {
    "value_float": "float32",
    "value_floats": "float32",
    "value_int": "int64",
    "value_ints": "int64",
}
SUFFIXES = {"single": "", "optional": "?", "variadic": "*"}


def describe_parameter(parameter: Any, type_text: str, is_homogeneous: bool) -> str:
    option = parameter.option.name.lower()
    if not re.fullmatch(r"[\w.-]+", parameter.name):
        raise ValueError(f"the table cannot hold the parameter name {parameter.name!r}")
    differ = "" if is_homogeneous or option != "variadic" else "~"
    return f"{parameter.name}{SUFFIXES[option]}{differ}:{shorten_type(type_text)}"


def describe_parameters(parameters: Iterable[Any]) -> list[str]:
    """Return parameters of a schema of ``onnx``, or of ``onnxruntime``."""
    return [
        describe_parameter(each, each.type_str, each.is_homogeneous)
        if hasattr(each, "type_str")
        else describe_parameter(each, each.typeStr, each.isHomogeneous)
        for each in parameters
    ]


def shorten_float(value: float) -> float:
    """Return the shortest decimal that rounds to the same 32-bit float."""
    import numpy

    return float(str(numpy.float32(value)))


def read_default(proto: onnx.AttributeProto) -> Any:
    """Return a default as a JSON value, or None where none is declared."""
    kind = onnx.AttributeProto.AttributeType.Name(proto.type)
    if kind == "UNDEFINED":
        return None
    value = onnx.helper.get_attribute_value(proto)
    match kind:
        case "INT" | "INTS":
            return value if kind == "INT" else list(value)
        case "FLOAT":
            return shorten_float(value)
        case "FLOATS":
            return [shorten_float(item) for item in value]
        case "STRING":
            return value.decode()
        case "STRINGS":
            return [item.decode() for item in value]
    raise ValueError(f"the table cannot hold a default of kind {kind}")


def describe_schema(schema: Any, defaults: dict[str, onnx.AttributeProto]) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    for name, attribute in sorted(schema.attributes.items()):
        kind = attribute.type.name.lower()
        default = read_default(defaults[name])
        key = f"{name}!" if attribute.required else name
        attributes[key] = kind if default is None else [kind, default]
    entry = {
        "inputs": describe_parameters(schema.inputs),
        "outputs": describe_parameters(schema.outputs),
        "types": {
            each.type_param_str: " ".join(sorted(map(shorten_type, each.allowed_type_strs)))
            for each in sorted(schema.type_constraints, key=lambda each: each.type_param_str)
        },
        "attributes": attributes,
        "deprecated": bool(schema.deprecated),
    }
    return {key: value for key, value in entry.items() if value}


def describe_bodies(schema: Any, newer: dict[str, list[int]]) -> list[list[Any]]:
    """Return the bodies that an operator has as a function, each with the opsets that it is for.

    A fixed body is not taken where an operator in it has a newer version than when the body was
    written (``ValidateReferencedOpsInFunction`` of onnx): the last opset stands for that, 0 for
    none. A body that depends on the node is not described.
    """
    bodies: list[list[Any]] = []
    for version in schema.function_opset_versions:
        body = onnx.FunctionProto.FromString(schema.get_function_with_opset_version(version))
        changes = [v for node in body.node for v in newer[node.op_type] if v > version]
        nodes = " ".join(map(describe_body_node, body.node))
        bodies.append([version, min(changes) - 1 if changes else 0, nodes])
    bodies += [[version, 0] for version in schema.context_dependent_function_opset_versions]
    bodies.sort()
    for each, following in itertools.pairwise(bodies):
        each[1] = min(each[1] or following[0] - 1, following[0] - 1)
    return bodies


def describe_body_node(node: onnx.NodeProto) -> str:
    """Return a node of a body: ``Cast(X)Y:float32``, with the type that attributes give it."""
    stated = ""
    for attribute in node.attribute:
        if attribute.name == "to" and not attribute.ref_attr_name:
            stated = name_element_type(attribute.i)
        elif node.op_type == "Constant" and attribute.name == "value":
            stated = name_element_type(attribute.t.data_type)
        elif node.op_type == "Constant":
            stated = CONSTANT_TYPES[attribute.name]
    text = f"{node.op_type}({','.join(node.input)}){','.join(node.output)}"
    return f"{text}:{stated}" if stated else text


def name_element_type(number: int) -> str:
    return shorten_type(onnx.TensorProto.DataType.Name(number).lower())


def read_onnx_operators() -> Operators:
    """Return the full declaration of every version of every operator in ``onnx``."""
    operators: Operators = {}
    schemas = onnx.defs.get_all_schemas_with_history()
    newer: dict[str, list[int]] = {}
    for schema in schemas:
        if not schema.domain:  # that of all that stands in bodies
            newer.setdefault(schema.name, []).append(schema.since_version)
    for schema in schemas:
        defaults = {name: item.default_value for name, item in schema.attributes.items()}
        versions = operators.setdefault(schema.domain, {}).setdefault(schema.name, {})
        bodies = describe_bodies(schema, newer)
        declared = describe_schema(schema, defaults)
        versions[str(schema.since_version)] = declared | ({"bodies": bodies} if bodies else {})
    return operators


def read_contrib_operators(known: Operators) -> Operators:
    """Return what ``onnxruntime`` registers beyond the operators and versions already known."""
    from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema

    operators: Operators = {}
    for schema in get_all_operator_schema():
        version = str(schema.since_version)
        if version in known.get(schema.domain, {}).get(schema.name, {}):
            continue
        defaults = {
            name: onnx.AttributeProto.FromString(item._default_value)  # noqa: SLF001 - onnxruntime has no other name for it
            for name, item in schema.attributes.items()
        }
        versions = operators.setdefault(schema.domain, {}).setdefault(schema.name, {})
        versions[version] = describe_schema(schema, defaults)
        if schema.name in CONTRIB_BODIES.get(schema.domain, ()):
            versions[version]["bodies"] = [[1, 0]]
    return operators


def merge_operators(sources: Iterable[Operators]) -> Operators:
    """Return the union; where two declare the same version, the first one counts."""
    merged: Operators = {}
    for source in sources:
        for domain, by_type in source.items():
            for op_type, versions in by_type.items():
                target = merged.setdefault(domain, {}).setdefault(op_type, {})
                for version, entry in versions.items():
                    target.setdefault(version, entry)
    return merged


def sort_versions(versions: dict[str, Any]) -> dict[str, Any]:
    return dict(sorted(versions.items(), key=lambda item: int(item[0])))


def share_versions(versions: dict[str, Any]) -> dict[str, Any]:
    """Replace a declaration that an earlier version has already by that version's number."""
    shared: dict[str, Any] = {}
    for version, declaration in sort_versions(versions).items():
        equal = [earlier for earlier, entry in shared.items() if entry == declaration]
        shared[version] = int(equal[0]) if equal else declaration
    return shared


def list_types(operators: Operators) -> list[str]:
    """Return the sets of types that operators take, each once, the most frequent first."""
    counts: Counter[str] = Counter()
    for by_type in operators.values():
        for versions in by_type.values():
            for entry in versions.values():
                counts.update(entry.get("types", {}).values() if isinstance(entry, dict) else ())
    return sorted(counts, key=lambda types: (-counts[types], types))


def number_types(operators: Operators, numbers: dict[str, int]) -> Operators:
    """Return operators with numbers in the place of sets of types."""

    def number(entry: Any) -> Any:
        if not isinstance(entry, dict) or not entry.get("types"):
            return entry
        return {**entry, "types": {key: numbers[types] for key, types in entry["types"].items()}}

    return {
        domain: {
            op_type: {version: number(entry) for version, entry in versions.items()}
            for op_type, versions in by_type.items()
        }
        for domain, by_type in operators.items()
    }


def format_table(sources: dict[str, str], operators: Operators) -> str:
    """Return the JSON text: sorted, one line for each version of an operator."""
    sets = list_types(operators)
    operators = number_types(operators, {types: number for number, types in enumerate(sets)})

    def compact(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"))

    domains = []
    for domain, by_type in sorted(operators.items()):
        types = []
        for op_type, versions in sorted(by_type.items()):
            lines = [f'"{version}":{compact(entry)}' for version, entry in versions.items()]
            types.append(f"{compact(op_type)}:{{\n" + ",\n".join(lines) + "}")
        domains.append(f"{compact(domain)}:{{\n" + ",\n".join(types) + "}")
    body = ",\n".join(domains)
    types = ",\n".join(map(compact, sets))
    return f'{{"sources":{compact(sources)},\n"types":[\n{types}],\n"operators":{{\n{body}}}}}\n'


def read_contrib() -> dict[str, Any]:
    """Return the contrib file, with sets of types in the place of their numbers."""
    contrib: dict[str, Any] = json.loads(CONTRIB.read_text(encoding="utf-8"))
    for by_type in contrib["operators"].values():
        for versions in by_type.values():
            for entry in versions.values():
                for name, number in entry.get("types", {}).items():
                    entry["types"][name] = contrib["types"][number]
    return contrib


def mark_beside(contrib: Operators, onnx_operators: Operators) -> None:
    """Mark what stands in the domains of ONNX and is not declared there."""
    for domain in onnx_operators.keys() & contrib.keys():
        for versions in contrib[domain].values():
            for entry in versions.values():
                entry["beside"] = True


def make_table() -> str:
    """Return the text of the table from the installed ``onnx`` and the contrib file."""
    contrib = read_contrib()
    onnx_operators = read_onnx_operators()
    mark_beside(contrib["operators"], onnx_operators)
    merged = merge_operators([onnx_operators, contrib["operators"]])
    shared = {
        domain: {op_type: share_versions(versions) for op_type, versions in by_type.items()}
        for domain, by_type in merged.items()
    }
    return format_table({"onnx": onnx.__version__, **contrib["sources"]}, shared)


def write_contrib() -> None:
    """Make the contrib file anew; domains that ``onnxruntime`` does not register are kept."""
    import onnxruntime

    contrib = read_contrib()
    registered = read_contrib_operators(read_onnx_operators())
    kept = {k: v for k, v in contrib["operators"].items() if k not in registered}
    operators = {
        domain: {op_type: sort_versions(versions) for op_type, versions in by_type.items()}
        for domain, by_type in {**kept, **registered}.items()
    }
    sources = {**contrib["sources"], "onnxruntime": onnxruntime.__version__}
    CONTRIB.write_text(format_table(sources, operators), encoding="utf-8")


def main() -> int:
    """Write the table, or compare it with the committed one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--contrib", action="store_true", help="make contrib_operators.json first")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    if arguments.contrib:
        write_contrib()
    text = make_table()
    if arguments.check:
        same = TABLE.exists() and TABLE.read_text(encoding="utf-8") == text
        print(f"{TABLE.name} {'is current' if same else 'differs'}")
        return 0 if same else 1
    TABLE.write_text(text, encoding="utf-8")
    print(f"{TABLE.name} written, {len(text):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
