"""What operators demand: that they exist, their operands and their attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from netloupe.explorer.checks.operands import CONTRIB_DOMAIN, KNOWN_DOMAINS, list_own_nodes
from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.model import (
    Graph,
    Node,
    SparseTensorType,
    Tensor,
    TensorType,
    count_each_operator,
)
from netloupe.explorer.model.node_keys import key_whole_attributes
from netloupe.explorer.model.value import may_have_type
from netloupe.explorer.notation import write_count, write_dims
from netloupe.explorer.operators import OperatorSchema, find_schema

#: the newest operator sets in the table
_NEWEST = {"": 28, "ai.onnx.ml": 5}
_CONTRIB = frozenset({CONTRIB_DOMAIN})
_CHECKER = "onnx/checker.cc; Operators.md"


def _find_schema(node: Node, domains: frozenset[str] = KNOWN_DOMAINS) -> OperatorSchema | None:
    """Return the schema that applies to a node of one of some domains."""
    version = node.opset_version
    if node.domain not in domains or version is None:
        return None
    if version > _NEWEST.get(node.domain, version):
        return None
    return None if node.function is not None else find_schema(node.domain, node.op_type, version)


def _find_unknown(subject: Subject) -> Iterator[Occurrence]:
    if not subject.is_onnx:
        return
    for graph in subject.graphs:
        for node, count in count_each_operator(graph):
            version = node.opset_version
            if node.domain not in KNOWN_DOMAINS or version is None:
                continue
            if version > _NEWEST[node.domain]:
                continue
            if find_schema(node.domain, node.op_type, version) is not None:
                continue
            if node.operator.is_registered and node.function is None:
                continue
            newest = find_schema(node.domain, node.op_type, None)
            name = graph.dialect.name_domain(node.domain)
            what = (
                f"is there since version {_find_first(node)} of {name}, "
                f"but version {version} is imported"
                if newest is not None
                else f"is no operator of {name}"
            )
            if node.function is not None:  # such as no runtime looks for in ONNX's own sets
                what += ", and the model's function cannot stand for one"
            evidence = {"op_type": node.op_type, "opset": version}
            yield Occurrence(
                node.path, f"{node.op_type} {what}", evidence, node.op_type, places=count
            )


def _find_first(node: Node) -> int:
    versions = range(1, _NEWEST[node.domain] + 1)
    return next(v for v in versions if find_schema(node.domain, node.op_type, v) is not None)


def _find_deprecated(subject: Subject) -> Iterator[Occurrence]:
    if not subject.is_onnx:
        return
    for graph in subject.graphs:
        for node, count in count_each_operator(graph):
            schema = _find_schema(node)
            if schema is not None and schema.deprecated:
                message = f"{node.op_type} is deprecated since operator set {schema.since_version}"
                evidence = {"op_type": node.op_type, "since": schema.since_version}
                yield Occurrence(node.path, message, evidence, node.op_type, places=count)


def _find_operand_counts(subject: Subject) -> Iterator[Occurrence]:
    if not subject.is_onnx:
        return
    for graph in subject.graphs:
        limits: dict[int, tuple[int, int, int, int] | None] = {}
        for number, node in _list_numbered(graph):
            if number not in limits:
                limits[number] = _find_limits(_find_schema(node, KNOWN_DOMAINS | _CONTRIB))
            limit = limits[number]
            if limit is None:
                continue
            least, most, least_given, most_given = limit
            taken, given = len(node.inputs), len(node.outputs)
            if not least <= taken <= most:
                what, count, low, high = "input", taken, least, most
            elif not least_given <= given <= most_given:
                what, count, low, high = "output", given, least_given, most_given
            else:
                name = _find_missing(node, min(least, taken))
                if name is not None:
                    yield Occurrence(
                        node.path,
                        f"{node.op_type} has no input {name!r}, which it must have",
                        {"input": name},
                        f"{node.op_type} {name}",
                    )
                continue
            wanted = (
                str(low)
                if low == high
                else f"at least {low}"
                if high > 2**30
                else f"{low} to {high}"
            )
            yield Occurrence(
                node.path,
                f"{node.op_type} has {write_count(count, what)}, but takes {wanted}"
                if what == "input"
                else f"{node.op_type} has {write_count(count, what)}, but gives {wanted}",
                {f"{what}s": count, "least": low, "most": high if high <= 2**30 else None},
                f"{node.op_type} {what} {count}",
                # another release of ONNX Runtime may take more
                severity="warning" if node.domain in _CONTRIB and count > high else None,
            )


def _find_missing(node: Node, count: int) -> str | None:
    """Return the name of the first input that is left out and must not be; of some only."""
    left_out = [index for index in range(count) if node.inputs[index] is None]
    schema = _find_schema(node, KNOWN_DOMAINS | _CONTRIB) if left_out else None
    for index in left_out if schema is not None else ():
        formal = schema.input(index) if schema is not None else None
        if formal is not None and formal.option == "single":  # optional ones may stand before it
            return formal.name
    return None


def _list_numbered(graph: Graph) -> Iterator[tuple[int, Node]]:
    """Yield each node with the number of its operator."""
    if graph.nodes:
        yield from zip(graph.wiring.operators.tolist(), graph.nodes, strict=True)


def _find_limits(schema: OperatorSchema | None) -> tuple[int, int, int, int] | None:
    """Return the fewest and most inputs, and the fewest and most outputs."""
    if schema is None:
        return None
    limits: list[int] = []
    for parameters in (schema.inputs, schema.outputs):
        single = [p.option == "single" for p in parameters]
        least = max((place for place, is_single in enumerate(single, 1) if is_single), default=0)
        is_open = any(p.option == "variadic" for p in parameters)
        limits += [least, 2**62 if is_open else len(parameters)]
    return limits[0], limits[1], limits[2], limits[3]


def judge_nodes(
    subject: Subject,
    judge: Callable[[Node, OperatorSchema], tuple[str, str] | None],
    domains: frozenset[str] = KNOWN_DOMAINS,
) -> Iterator[Occurrence]:
    """Yield what is wrong with attributes of nodes of some domains whose operators are known.

    ``judge`` gives the name of an attribute and what is wrong with it; nodes that say the same are
    judged once.
    """
    if not subject.is_onnx:
        return
    for graph in subject.graphs:
        schemas: dict[int, OperatorSchema | None] = {}
        judged: dict[tuple[int, bytes], tuple[str, str] | None] = {}
        for number, node in _list_numbered(graph):
            if number not in schemas:
                schemas[number] = _find_schema(node, domains)
            schema = schemas[number]
            if schema is None:
                continue
            if node.subgraphs:  # graphs are left out of the key
                wrong = judge(node, schema)
            else:
                key = (number, key_whole_attributes(node))
                if key not in judged:
                    judged[key] = judge(node, schema)
                wrong = judged[key]
            if wrong is not None:
                name, message = wrong
                yield Occurrence(
                    node.path, message, {"attribute": name}, f"{node.op_type} {message}"
                )


def _find_attributes(subject: Subject) -> Iterator[Occurrence]:
    yield from judge_nodes(subject, _judge_attributes)
    yield from judge_nodes(subject, _judge_known_attributes, _CONTRIB)
    for found in judge_nodes(subject, _judge_new_attributes, _CONTRIB):
        yield found._replace(severity="warning")


def _judge_attributes(node: Node, schema: OperatorSchema) -> tuple[str, str] | None:
    """Return an attribute that does not fit, and what is wrong; None for nothing."""
    wrong = _judge_known_attributes(node, schema)
    unknown = None if wrong is not None else _find_unknown_attribute(node, schema)
    if unknown is not None:
        return unknown, f"{node.op_type} has no attribute {unknown!r} in its operator set"
    return wrong


def _judge_known_attributes(node: Node, schema: OperatorSchema) -> tuple[str, str] | None:
    """Return an attribute that is missing or of another kind, and what is wrong."""
    attributes = node.attributes
    for name, declared in schema.attributes.items():
        if declared.required and name not in attributes:
            return name, f"{node.op_type} lacks the attribute {name!r}, which it must have"
    for name, attribute in attributes.items():
        declared_one = schema.attributes.get(name)
        if declared_one is None or attribute.reference:
            continue
        if attribute.kind != declared_one.kind:
            kinds = f"is of the kind {attribute.kind}, not {declared_one.kind}"
            return name, f"the attribute {name!r} of {node.op_type} {kinds}"
    return None


def _judge_new_attributes(node: Node, schema: OperatorSchema) -> tuple[str, str] | None:
    """Return an attribute that the release of ONNX Runtime in the table does not have."""
    unknown = _find_unknown_attribute(node, schema)
    if unknown is None:
        return None
    told = f"{node.op_type} has no attribute {unknown!r} in the release of ONNX Runtime that is"
    return unknown, f"{told} known here: another one may have it, and all others refuse the model"


def _find_unknown_attribute(node: Node, schema: OperatorSchema) -> str | None:
    for name in node.attributes:
        if name not in schema.attributes and "#" not in name:  # a repeated one is said of elsewhere
            return name[:60]
    return None


def _find_branches(subject: Subject) -> Iterator[Occurrence]:
    for node in list_own_nodes(subject.graphs, "If") if subject.is_onnx else ():
        for body in node.subgraphs:
            if len(body.outputs) != len(node.outputs):
                yield Occurrence(
                    node.path,
                    f"its {body.parent_attribute} gives {write_count(len(body.outputs), 'value')}, "
                    f"but the node {len(node.outputs)}",
                    {"branch": len(body.outputs), "node": len(node.outputs)},
                    f"{len(body.outputs)} {len(node.outputs)}",
                )
            elif body.inputs:
                yield Occurrence(
                    node.path,
                    f"its {body.parent_attribute} has inputs, which branches have not",
                    {"inputs": len(body.inputs)},
                )


def _find_loops(subject: Subject) -> Iterator[Occurrence]:
    for node in list_own_nodes(subject.graphs, "Loop") if subject.is_onnx else ():
        for body in node.subgraphs:
            carried = max(len(node.inputs) - 2, 0)
            if len(body.inputs) != carried + 2:
                message = (
                    f"its body has {write_count(len(body.inputs), 'input')}, but takes the number "
                    f"of the iteration, the condition and {write_count(carried, 'carried value')}"
                )
            elif len(body.outputs) != len(node.outputs) + 1 or len(node.outputs) < carried:
                message = (
                    f"its body gives {write_count(len(body.outputs), 'value')}, but the node "
                    f"{len(node.outputs)} beside the condition"
                )
            else:
                continue
            evidence = {"inputs": len(body.inputs), "outputs": len(body.outputs)}
            yield Occurrence(node.path, message, evidence)


def _find_stated_types(subject: Subject) -> Iterator[Occurrence]:
    for graph in subject.graphs if subject.is_onnx else ():
        for tensor in graph.initializers:
            value = graph.values.get(tensor.name)
            if value is None or value.initializer is not tensor:
                continue
            if not may_have_type(value):
                continue  # nothing is declared, as mostly
            stated = value.type
            if isinstance(stated, SparseTensorType) or not isinstance(stated, TensorType):
                continue
            if stated.dtype != tensor.dtype:
                message = f"is declared as {stated.dtype}, but stored as {tensor.dtype}"
                evidence: dict[str, object] = {
                    "declared": stated.dtype.name,
                    "stored": tensor.dtype.name,
                }
                yield Occurrence(value.path, message, evidence, "dtype")
            elif stated.shape is not None and not _fits(tensor, stated):
                dims = write_dims(tensor.dims) or "no dimensions"
                message = f"is declared as {stated}, but stored with {dims}"
                yield Occurrence(value.path, message, {"stored": list(tensor.dims[:16])}, "shape")


def _fits(tensor: Tensor, stated: TensorType) -> bool:
    shape = stated.shape or ()
    return len(shape) == len(tensor.dims) and all(
        not isinstance(dim.value, int) or dim.value == size
        for dim, size in zip(shape, tensor.dims, strict=True)
    )


RULES = (
    Rule(
        "NL-L30",
        "unknown-operator",
        "error",
        "An operator that its operator set does not have",
        "No runtime can run the node.",
        "Correct the name, or import the set that has it: `m.opset_import[0].version = …`.",
        _CHECKER,
        _find_unknown,
    ),
    Rule(
        "NL-L31",
        "deprecated-operator",
        "error",
        "An operator that its operator set has given up",
        "Runtimes need not have it, and onnx.checker refuses it at that operator set.",
        "Use what has come in its place, or an older operator set.",
        _CHECKER,
        _find_deprecated,
    ),
    Rule(
        "NL-L32",
        "operand-count",
        "error",
        "A node with too few or too many inputs or outputs",
        "The operator's schema does not allow it; runtimes refuse the model.",
        "Compare the node with the operator's documentation.",
        _CHECKER,
        _find_operand_counts,
    ),
    Rule(
        "NL-L33",
        "attribute-schema",
        "error",
        "An attribute that is missing, unknown to the operator, or of another kind",
        "The operator's schema does not allow it; runtimes refuse the model.",
        "Compare the node with the operator's documentation at the imported operator set.",
        _CHECKER,
        _find_attributes,
    ),
    Rule(
        "NL-L34",
        "branch-outputs",
        "error",
        "A branch of If that does not give what the node gives",
        "Whoever takes the result gets nothing from that branch.",
        "Give both branches as many outputs as the node, and no inputs.",
        "Operators.md, If",
        _find_branches,
    ),
    Rule(
        "NL-L35",
        "loop-body",
        "error",
        "A body of Loop whose inputs or outputs do not fit the node",
        "The body takes the iteration, the condition and each carried value, and gives the "
        "condition, the carried values and what is collected.",
        "Add what is missing to the body.",
        "Operators.md, Loop",
        _find_loops,
    ),
    Rule(
        "NL-L36",
        "declared-type",
        "error",
        "An initializer of another type or shape than the graph declares",
        "Runtimes refuse the model, or take the one that they see first.",
        "Correct the declaration, or leave it out.",
        "onnx.proto, GraphProto.initializer: the same type and shape",
        _find_stated_types,
    ),
)
