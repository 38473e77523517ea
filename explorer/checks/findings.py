"""Findings: what only shows when the whole model is looked at, as warnings on its elements.

Readers warn of what contradicts itself where it stands. What is found here needs more than one
place of the file: cycles, recursion, calls of what is not there, names that hide others, and
denotations that contradict types. It is looked for when somebody asks for warnings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from netloupe.explorer.model import (
    EscapedText,
    Function,
    Graph,
    Model,
    ModelWarning,
    Node,
    Tensor,
    Value,
)
from netloupe.explorer.model.tensor import is_plain
from netloupe.explorer.notation import join_parts, write_count
from netloupe.explorer.operators import find_schema
from netloupe.explorer.tensors import ModelFiles

from .cycles import find_cycles
from .denotations import find_denotations

_MOST_NAMES = 5
_MOST_PER_GRAPH = 20
_MOST_AROUND = 64  # graphs around a subgraph that are looked at for names it hides
_MOST_DIMENSIONS = 64  # what numpy can hold


#: what is found, by the name of the rule that it belongs to
Oddity = tuple[str, ModelWarning]


def find_oddities(model: Model) -> Iterator[ModelWarning]:
    """Yield what is odd in a model beyond what its reader saw."""
    return (warning for _, warning in list_oddities(model))


def list_oddities(model: Model) -> Iterator[Oddity]:
    """Yield what is odd with the name of the rule that it belongs to."""
    graphs = model.graphs
    for graph in graphs:
        yield from _name("cycle", _find_graph_cycles(graph))
        yield from _name("shared-node-name", _find_shared_names(graph))
        yield from _name("hidden-name", _find_hidden_names(graph))
        yield from _name("nameless-value", _find_nameless(graph))
        for tensor in graph.initializers:
            if not is_plain(tensor):
                yield from _judge_tensor(model, tensor)
    yield from _name("recursive-function", _find_recursion(model))
    yield from _name("replaced-operator", _find_hiding_functions(model))
    yield from _find_unknown_operators(model, graphs)
    yield from _name("invalid-text", _find_bad_text(graphs))
    yield from _name("denotation", find_denotations(model, graphs))


def _name(rule: str, warnings: Iterator[ModelWarning]) -> Iterator[Oddity]:
    return ((rule, warning) for warning in warnings)


def _find_graph_cycles(graph: Graph) -> Iterator[ModelWarning]:
    """Yield the cycles among the nodes of one graph; sorted nodes are passed over quickly."""
    if _is_sorted(graph):
        return
    cycles = find_cycles(
        [[graph.index_of(source) for source in _sources(node, graph)] for node in graph.nodes]
    )
    for members in cycles[:_MOST_PER_GRAPH]:
        names = [graph.nodes[index].label for index in members[:_MOST_NAMES]]
        what = (
            f"the nodes {join_parts(names, len(members))} wait for each other: a cycle"
            if len(members) > 1
            else f"the node {names[0]} waits for itself: a cycle"
        )
        yield ModelWarning(graph.path, what)
    yield from _count_rest(graph.path, len(cycles), "cycle")


def _is_sorted(graph: Graph) -> bool:
    """Return whether every node only waits for nodes before it, so that there is no cycle."""
    for node in graph.nodes:
        if node.captures:
            if any(graph.index_of(source) >= node.index for source in _sources(node, graph)):
                return False
            continue
        for value in node.inputs:
            if value is not None:
                producer = value.producer
                if (
                    producer is not None
                    and producer.graph is graph
                    and producer.index >= node.index
                ):
                    return False
    return True


def _sources(node: Node, graph: Graph) -> Iterator[Node]:
    """Yield the nodes of the same graph that a node, or what is inside it, takes values from."""
    for values in (node.inputs, node.captures):
        for value in values:
            if value is not None and value.producer is not None and value.graph is graph:
                yield value.producer


def _find_shared_names(graph: Graph) -> Iterator[ModelWarning]:
    counts = Counter(node.name for node in graph.nodes if node.name)
    if len(counts) == len(graph.nodes):
        return
    shared = [(name, count) for name, count in counts.items() if count > 1]
    for name, count in shared[:_MOST_PER_GRAPH]:
        yield ModelWarning(graph.path, f"{count:,} nodes have the name {name!r}")
    yield from _count_rest(graph.path, len(shared), "shared name")


def _find_hidden_names(graph: Graph) -> Iterator[ModelWarning]:
    """Yield the values of a subgraph whose names are those of values around it.

    Where graphs write the values around them, as Caffe2's nets do, it is no oddity.
    """
    if graph.dialect.bodies_share_names:
        return
    around = []
    node = graph.parent_node
    while node is not None:
        around.append(node.graph)
        node = node.graph.parent_node
    if not around:
        return
    hidden = [
        value.path
        for value in graph.values.values()
        if _is_defined(value) and any(_gives(outer, value.name) for outer in around[:_MOST_AROUND])
    ]
    for path in hidden[:_MOST_PER_GRAPH]:
        yield ModelWarning(path, "hides a value of the same name in a graph around it")
    yield from _count_rest(graph.path, len(hidden), "hidden name")


def _gives(graph: Graph, name: str) -> bool:
    """Return whether a graph gives a value of that name."""
    value = graph.values.get(name)
    return value is not None and _is_defined(value)


def _is_defined(value: Value) -> bool:
    return value.producer is not None or value.initializer is not None or value.is_input


def _find_nameless(graph: Graph) -> Iterator[ModelWarning]:
    for kind, values in (("input", graph.inputs), ("output", graph.outputs)):
        if any(not value.name for value in values):
            yield ModelWarning(graph.path, f"has an {kind} without a name")
    if graph.dialect.names_tensors and any(not tensor.name for tensor in graph.initializers):
        yield ModelWarning(graph.path, "has an initializer without a name")


def _judge_tensor(model: Model, tensor: Tensor) -> Iterator[Oddity]:
    if len(tensor.dims) > _MOST_DIMENSIONS:
        message = (
            f"has {len(tensor.dims)} dimensions; its elements can be shown up to {_MOST_DIMENSIONS}"
        )
        yield "many-dimensions", ModelWarning(tensor.path, message)
    if tensor.external is not None:
        keys = Counter(key for key, _ in tensor.external.entries)
        for key, count in keys.items():
            if count > 1:
                message = f"its external data state {key!r} {count} times; the first counts"
                yield "external-data", ModelWarning(tensor.path, message)
        files = model.files or ModelFiles()
        reason = files.judge_external(tensor.external, tensor.nbytes)
        if reason:
            message = f"its external data will not be read: {reason}"
            yield "external-data", ModelWarning(tensor.path, message)
    elif tensor.storage == "none" and tensor.size:
        yield "no-data", ModelWarning(tensor.path, "has no data")


def _find_recursion(model: Model) -> Iterator[ModelWarning]:
    """Yield the functions that call themselves, directly or through others."""
    numbers = {id(function): number for number, function in enumerate(model.functions)}
    calls: list[list[int]] = []
    for function in model.functions:
        called = set()
        for graph in (function, *function.subgraphs):
            for node in graph.nodes:
                target = node.function
                if target is not None:
                    called.add(numbers[id(target)])
        calls.append(sorted(called))
    for members in find_cycles(calls):
        names = [model.functions[number].name for number in members]
        chain = " and ".join(join_parts(names[:_MOST_NAMES], len(names)).rsplit(", ", 1))
        for number in members[:_MOST_PER_GRAPH]:
            yield ModelWarning(
                model.functions[number].path,
                f"is recursive, which ONNX does not allow: {chain} "
                + ("calls itself" if len(members) == 1 else "call each other"),
            )


def _find_hiding_functions(model: Model) -> Iterator[ModelWarning]:
    for function in model.functions:
        if find_schema(function.domain, function.name, None) is not None:
            yield ModelWarning(
                function.path, f"takes the place of the standard operator {function.name}"
            )


def _find_unknown_operators(model: Model, graphs: list[Graph]) -> Iterator[Oddity]:
    """Yield calls of functions that do not exist, and operator sets that are not imported.

    A function has to import what its body uses itself, whatever the model imports, and also where
    nothing calls it; what is imported is needed for calls of functions, too.
    """
    dialect = model.dialect
    if not dialect.has_opsets:
        return
    domains = {function.domain for function in model.functions}
    holders = {inner: one for one in model.functions for inner in one.default_graphs}
    missing: Counter[tuple[Graph, str]] = Counter()
    for graph in graphs:
        root = find_root(graph)
        root = holders.get(root, root)
        imports = root.own_opset_imports if isinstance(root, Function) else model.opset_imports
        written = 0
        for node in graph.nodes:
            domain = node.domain
            is_own = domain == dialect.domain
            if is_own and domain in imports:
                continue
            if domain not in imports:
                missing[root, domain] += 1
            elif (
                written < _MOST_PER_GRAPH
                and domain in domains
                and not is_own
                and node.function is None
                and find_schema(domain, node.op_type, None) is None
                and not node.operator.is_registered
            ):
                written += 1
                message = (
                    f"calls {domain}::{node.op_type}, which is not among the model's functions"
                )
                yield "unknown-function", ModelWarning(node.path, message)
    for (root, domain), count in missing.items():
        who = "the function does not import" if isinstance(root, Function) else "is not imported"
        message = (
            f"{write_count(count, 'node')} of the operator set {dialect.name_domain(domain)}, "
            f"which {who}"
        )
        yield "missing-import", ModelWarning(root.path, message)


def find_root(graph: Graph) -> Graph:
    """Return the outermost graph or function around a graph."""
    while graph.parent_node is not None:
        graph = graph.parent_node.graph
    return graph


def _find_bad_text(graphs: list[Graph]) -> Iterator[ModelWarning]:
    r"""Yield graphs with names that are not UTF-8, which are read with escapes like ``\xff``."""
    for graph in graphs:
        names = [graph.name, *(node.name for node in graph.nodes), *graph.values]
        if isinstance(graph, Function):
            names.append(graph.domain)
        if EscapedText in {*map(type, names)}:
            bad = [name for name in names if isinstance(name, EscapedText)]
            shown = join_parts([name[:40] for name in bad[:_MOST_NAMES]], len(bad))
            yield ModelWarning(graph.path, f"has names that are not UTF-8: {shown}")


def _count_rest(path: str, count: int, noun: str) -> Iterator[ModelWarning]:
    if count > _MOST_PER_GRAPH:
        yield ModelWarning(path, f"has {write_count(count - _MOST_PER_GRAPH, noun)} more")
