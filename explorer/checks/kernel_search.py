"""Whether a release of ONNX Runtime finds a CPU kernel for a node, as its sources look for one.

A kernel is for one version of an operator, or for those up to its last one, and takes the types
that it lists (core/framework/kernel_registry.cc). A node without one is replaced by the body that
its operator has as a function (core/framework/graph_partitioner.cc); where an operand is float16 it
runs in float32 (core/optimizer/insert_cast_transformer.cc). Else the model is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from netloupe.explorer.operators import OperatorSchema, Parameter, find_schema

from .kernels import Kernel, find_kernels, list_domains

#: operators whose nodes become initializers before kernels are asked for
STORED = frozenset({"Constant"})
#: a body that depends on the call, and is always one node of another operator; ONNX Runtime's way
_WRITTEN_AS = {"CastLike": "Cast"}

UNKNOWN_TYPE = "a type that decides on it is not known"
UNKNOWN_BODY = "what the body of its operator is, which takes its place, depends on the node"

#: by type variable, or by name where there is none, the type; "" where it is not known
Types = Mapping[str, str]


class KernelRequest(NamedTuple):
    """What a kernel is looked for.

    Parameters
    ----------
    opset
        The version of the operator's set; None for the newest.
    taken, given
        The types of operands and results: "" for one that is not known, None for one left out.
    """

    domain: str
    op_type: str
    opset: int | None
    taken: Sequence[str | None]
    given: Sequence[str | None]


class MissingKernel(NamedTuple):
    """What has no kernel.

    Parameters
    ----------
    schema
        What the operator declares; None where that is not known.
    kernels
        Those that the release has of the operator.
    types
        The types that a kernel of its version would have to take.
    is_inner
        Whether it is in the body of the operator that was asked for.
    """

    op_type: str
    schema: OperatorSchema | None
    kernels: tuple[Kernel, ...]
    types: Types
    is_inner: bool = False

    @property
    def fitting(self) -> list[Kernel]:
        """The kernels of its version."""
        if self.schema is None:
            return []
        return [each for each in self.kernels if each.is_for(self.schema.since_version)]


def search_kernel(release: str, request: KernelRequest) -> MissingKernel | str | None:
    """Return what has no kernel, why that is not known, or None where nothing lacks one.

    Parameters
    ----------
    release
        A release whose kernels are known.
    request
        What is looked for.
    """
    domain, op_type, opset, taken, given = request
    if not domain and op_type in STORED:
        return None
    schema = find_schema(domain, op_type, opset)
    if schema is not None and not domain and op_type in _WRITTEN_AS:
        op_type, taken = _WRITTEN_AS[op_type], taken[:1]
        schema = find_schema(domain, op_type, opset)
    kernels = find_kernels(release, domain, op_type)
    if schema is None:  # versions are not known
        return None if kernels else MissingKernel(op_type, None, (), {})
    types = _list_types(schema, taken, given)
    missing = MissingKernel(op_type, schema, kernels, types)
    fitting = missing.fitting
    if any(_takes(kernel, types) for kernel in fitting):
        return None
    reduced = {name: "float32" if text == "float16" else text for name, text in types.items()}
    if "float16" in taken:
        if any(_takes(kernel, reduced) for kernel in fitting):
            return None
        missing = missing._replace(types=reduced)
    could_be = [types, reduced] if {"float16", ""} & {*taken} else [types]
    if any(_takes(kernel, each, is_known=False) for kernel in fitting for each in could_be):
        return UNKNOWN_TYPE
    body = schema.find_body(None if domain else opset)
    if body is None or domain not in list_domains(release):
        return missing
    if body.nodes is None:
        return UNKNOWN_BODY
    return _search_body(release, schema, request)


def _search_body(
    release: str, schema: OperatorSchema, request: KernelRequest
) -> MissingKernel | str | None:
    """Look for kernels for the nodes in the body of an operator, whose types are followed."""
    opset = None if request.domain else request.opset
    body = schema.find_body(opset)
    types: dict[str, str | None] = {"": None}
    types |= {formal.name: None for formal in schema.inputs}
    for formal, text in zip(schema.inputs, request.taken, strict=False):
        types[formal.name] = text
    unknown: str | None = None
    for node in (body.nodes or ()) if body is not None else ():
        inner = find_schema("", node.op_type, opset)
        if inner is None:
            unknown = UNKNOWN_BODY
            continue
        taken = [types.get(name, "") for name in node.inputs]
        given = [
            node.type or _find_result(inner, place, taken) for place in range(len(node.outputs))
        ]
        types |= dict(zip(node.outputs, given, strict=True))
        found = search_kernel(release, KernelRequest("", node.op_type, opset, taken, given))
        if isinstance(found, MissingKernel):
            return found._replace(is_inner=True)
        unknown = unknown or found
    return unknown


def _find_result(schema: OperatorSchema, place: int, taken: Sequence[str | None]) -> str:
    """Return the type of a result as far as it follows from the operands; "" where it does not."""
    formal = schema.output(place)
    if formal is None:
        return ""
    if len(formal.types) == 1:
        return next(iter(formal.types))
    return _list_types(schema, taken, ()).get(formal.variable, "") if formal.variable else ""


def _list_types(
    schema: OperatorSchema, taken: Sequence[str | None], given: Sequence[str | None]
) -> dict[str, str]:
    """Return the types that kernels are asked for: of each variable that of the first operand."""
    found: dict[str, str] = {}
    sides: list[tuple[tuple[Parameter, ...], Sequence[str | None]]] = [
        (schema.inputs, taken),
        (schema.outputs, given),
    ]
    for parameters, actual in sides:
        for formal, text in zip(parameters, actual, strict=False):
            if text is not None:
                found.setdefault(formal.variable or formal.name, text)
    return found


def _takes(kernel: Kernel, types: Types, *, is_known: bool = True) -> bool:
    """Return whether a kernel takes some types; what is not known passes unless it must be."""
    for name, allowed in kernel.types.items():
        actual = types.get(name)
        if actual is None:  # neither an operand nor a result is of it
            continue
        if actual not in allowed and (is_known or actual):
            return False
    return True
