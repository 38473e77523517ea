"""Operator schemas, looked up in ``table.json``.

The form of the table: ``operators[domain][op_type][since_version]`` is either another
since_version, as an integer, whose declaration is the same, or an object with the members
(all but empty ones)

- ``inputs``, ``outputs``: names; ``B?`` is optional, ``inputs*`` is variadic, ``inputs*~`` is
  variadic and its operands may differ in type. After a colon follows the type, or the name of a
  type variable: ``A:T``;
- ``types``: by type variable the number of the types that it may be, among ``types`` beside
  ``operators``: lists with spaces between;
- ``attributes``: name to kind, or to ``[kind, default]``; ``axis!`` is required;
- ``bodies``: where it is given as a function, its bodies: the first and the last opset that each is
  for, 0 for no last one, and its nodes, with spaces between: ``Cast(X)Y:float32`` has the type of
  its result behind it. Nodes are left out where they depend on the call;
- ``deprecated``: true;
- ``beside``: true where it stands in a domain of ONNX, but ONNX Runtime alone declares it.

``sources`` says of which release of a package the declarations are.
"""

import json
import pkgutil
import struct
from functools import cache, lru_cache
from inspect import cleandoc
from typing import Any, Literal, NamedTuple

AttributeDefault = int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...]
ParameterOption = Literal["single", "optional", "variadic"]

_OPTIONS: dict[str, ParameterOption] = {"?": "optional", "*": "variadic"}


class Parameter(NamedTuple):
    """A formal input or output of an operator.

    Parameters
    ----------
    name
        As the specification has it.
    option
        Whether it may be left out, or stands for many.
    variable
        The type variable that it is of, which is the same type wherever it stands; "" for none.
    types
        The types that it may be: names of element types for tensors, and such as
        ``seq(float32)``. Empty where they are not known.
    is_homogeneous
        Whether all operands that a variadic one stands for have one type.
    """

    name: str
    option: ParameterOption
    variable: str = ""
    types: frozenset[str] = frozenset()
    is_homogeneous: bool = True


class AttributeSchema(NamedTuple):
    """A formal attribute of an operator.

    ``kind`` is the name of an AttributeProto.AttributeType in lower case: ``int``, ``floats``,
    ``graph``, ``type_proto`` and so on. ``default`` is None where none is declared; a float default
    is the shortest decimal that rounds to the declared 32-bit float.
    """

    name: str
    kind: str
    required: bool
    default: AttributeDefault | None

    def is_default(self, value: object) -> bool:
        """Return whether a value read from a file equals the declared default.

        Floats are compared as the file holds them, in 32 bits; lists may be any sequence.
        """
        if self.default is None or value is None:
            return False
        if self.kind == "float":
            return _round_float(self.default) == _round_float(value)
        if isinstance(self.default, tuple):
            if not isinstance(value, list | tuple) or len(value) != len(self.default):
                return False
            if self.kind == "floats":
                return [_round_float(v) for v in self.default] == [_round_float(v) for v in value]
            return self.default == tuple(value)
        return self.default == value


class BodyNode(NamedTuple):
    """A node in the body of an operator; all are of ``ai.onnx``.

    Parameters
    ----------
    inputs, outputs
        The values that it takes and gives, "" for one that is left out. Those that the operator
        itself takes and gives are called as its parameters.
    type
        The type of its result where an attribute decides on it; else "".
    """

    op_type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    type: str


class FunctionBody(NamedTuple):
    """A body that an operator has as a function.

    Parameters
    ----------
    first, last
        The versions of ``ai.onnx`` that it is for; 0 for no last one.
    nodes
        Its nodes; None where they depend on the call.
    """

    first: int
    last: int
    nodes: tuple[BodyNode, ...] | None = None


class OperatorSchema(NamedTuple):
    """What an operator declares since one version of its operator set.

    ``domain`` is ``""`` for ``ai.onnx``; ``is_beside_onnx`` is true for what ONNX does not declare
    in a domain of its own, but ONNX Runtime does.
    """

    domain: str
    op_type: str
    since_version: int
    deprecated: bool
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    attributes: dict[str, AttributeSchema]
    bodies: tuple[FunctionBody, ...] = ()
    is_beside_onnx: bool = False

    def find_body(self, opset_version: int | None) -> FunctionBody | None:
        """Return the body that it has as a function under a version of ``ai.onnx``, if any.

        None stands for the newest version.
        """
        for body in self.bodies:
            is_open = not body.last
            if opset_version is None:
                if is_open:
                    return body
            elif body.first <= opset_version and (is_open or opset_version <= body.last):
                return body
        return None

    def input_name(self, index: int) -> str | None:
        """Return the formal name of the input at a position, counted from 0.

        A variadic parameter gives ``inputs[0]``, ``inputs[1]``, …; None is past the last one.
        """
        return _name_parameter(self.inputs, index)

    def input(self, index: int) -> Parameter | None:
        """Return the formal input at a position; None past the last one."""
        return _find_parameter(self.inputs, index)

    def output(self, index: int) -> Parameter | None:
        """Return the formal output at a position; None past the last one."""
        return _find_parameter(self.outputs, index)

    def output_name(self, index: int) -> str | None:
        """Return the formal name of the output at a position, as `input_name` does."""
        return _name_parameter(self.outputs, index)


def find_schema(domain: str, op_type: str, opset_version: int | None) -> OperatorSchema | None:
    """Return the schema that applies under an imported version of the operator set.

    Parameters
    ----------
    domain
        The operator's domain, as nodes have it: ``""`` for ``ai.onnx``.
    op_type
        The operator's name.
    opset_version
        The version that the model imports, or None for the newest.

    Returns
    -------
    OperatorSchema or None
        The one with the highest since_version that is not above the imported version; None if
        there is none.
    """
    versions = _load_operators().get(domain, {}).get(op_type)
    if versions is None:
        return None
    since_versions = [int(version) for version in versions]
    if opset_version is not None:
        since_versions = [version for version in since_versions if version <= opset_version]
    return _build_schema(domain, op_type, max(since_versions)) if since_versions else None


def find_release(package: str) -> str:
    """Return of which release of ``onnx`` or ``onnxruntime`` the declarations are: ``1.32``."""
    release: str = _load_table()["sources"][package]
    return ".".join(release.split(".")[:2])


@lru_cache(maxsize=1024)
def read_documentation(domain: str, op_type: str, opset_version: int | None) -> str | None:
    """Return an operator's documentation (Markdown) from the ``onnx`` package.

    The arguments are those of `find_schema`. None if the package is not installed, or does not
    know the operator.
    """
    try:
        from onnx import defs
    except ImportError:
        return None
    newest = 2**31 - 1
    version = newest if opset_version is None else max(0, min(opset_version, newest))
    try:
        schema = defs.get_schema(op_type, version, domain)
    except defs.SchemaError:
        return None
    return cleandoc(schema.doc or "").strip() or None  # without the margin of the C++ source


def _round_float(value: object) -> object:
    """Round a number to 32 bits; anything else, and what does not fit, stays as it is."""
    if not isinstance(value, int | float):
        return value
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return value


def _name_parameter(parameters: tuple[Parameter, ...], index: int) -> str | None:
    if index < 0 or not parameters:
        return None
    last = len(parameters) - 1
    if parameters[-1].option == "variadic" and index >= last:
        return f"{parameters[-1].name}[{index - last}]"
    return parameters[index].name if index <= last else None


def _find_parameter(parameters: tuple[Parameter, ...], index: int) -> Parameter | None:
    if index < len(parameters):
        return parameters[index]
    is_open = bool(parameters) and parameters[-1].option == "variadic"
    return parameters[-1] if is_open else None


def _load_operators() -> dict[str, dict[str, dict[str, Any]]]:
    operators: dict[str, dict[str, dict[str, Any]]] = _load_table()["operators"]
    return operators


@cache
def _read_types(number: int) -> frozenset[str]:
    return frozenset(_load_table()["types"][number].split())


@cache
def _load_table() -> dict[str, Any]:
    data = pkgutil.get_data(__name__, "table.json")
    if data is None:  # only a loader that cannot read files at all
        raise FileNotFoundError("netloupe was installed without its operator table, table.json")
    table: dict[str, Any] = json.loads(data)
    return table


@cache
def _build_schema(domain: str, op_type: str, since_version: int) -> OperatorSchema:
    versions = _load_operators()[domain][op_type]
    entry = versions[str(since_version)]
    if isinstance(entry, int):
        entry = versions[str(entry)]
    attributes = [_build_attribute(*item) for item in entry.get("attributes", {}).items()]
    variables = {name: _read_types(number) for name, number in entry.get("types", {}).items()}
    return OperatorSchema(
        domain=domain,
        op_type=op_type,
        since_version=since_version,
        deprecated=entry.get("deprecated", False),
        inputs=tuple(_build_parameter(text, variables) for text in entry.get("inputs", ())),
        outputs=tuple(_build_parameter(text, variables) for text in entry.get("outputs", ())),
        attributes={attribute.name: attribute for attribute in attributes},
        bodies=tuple(_build_body(*each) for each in entry.get("bodies", ())),
        is_beside_onnx=entry.get("beside", False),
    )


def _build_parameter(text: str, variables: dict[str, frozenset[str]]) -> Parameter:
    name, _, kind = text.partition(":")
    is_homogeneous = not name.endswith("~")
    name = name.removesuffix("~")
    option = _OPTIONS.get(name[-1], "single")
    types = variables.get(kind)
    if types is None:
        types, kind = frozenset([kind] if kind else ()), ""
    name = name if option == "single" else name[:-1]
    return Parameter(name, option, kind, types, is_homogeneous)


def _build_body(first: int, last: int, nodes: str | None = None) -> FunctionBody:
    found = None if nodes is None else tuple(map(_build_body_node, nodes.split()))
    return FunctionBody(first, last, found)


def _build_body_node(text: str) -> BodyNode:
    op_type, _, rest = text.partition("(")
    inputs, _, rest = rest.partition(")")
    outputs, _, stated = rest.partition(":")
    names = tuple(inputs.split(",")) if inputs else ()
    return BodyNode(op_type, names, tuple(outputs.split(",")), stated)


def _build_attribute(text: str, declared: str | list[Any]) -> AttributeSchema:
    required = text.endswith("!")
    name = text.removesuffix("!")
    if isinstance(declared, str):
        return AttributeSchema(name, declared, required, None)
    kind, default = declared
    if isinstance(default, list):
        default = tuple(default)
    return AttributeSchema(name, kind, required, default)
