"""Operator sets: which ones functions need the model to import, and how their names are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from netloupe.explorer.checks.findings import find_root
from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.model import Function, Graph, Node
from netloupe.explorer.model.reading import get_graph_reading
from netloupe.explorer.notation import join_parts, write_count

from .portability import OF_ORT, STANDARD

_LONGEST_NAME = 60
_MOST_SHOWN = 5
#: what ONNX Runtime finds without an import in the model, beside what has operators there
_FOUND_UNIMPORTED = STANDARD | OF_ORT | {"com.microsoft.experimental", "org.pytorch.aten"}


def _find_missing_imports(subject: Subject) -> Iterator[Occurrence]:
    """Yield the functions that call others of a set which they import, and the model does not.

    What a function does not import itself is told by missing-import, and what nothing calls is
    put nowhere.
    """
    model = subject.model
    if not subject.is_onnx:
        return
    for function, nodes in _list_called(subject):
        counts: Counter[str] = Counter()
        for node in nodes:
            domain = node.domain
            if domain in model.opset_imports or domain in _FOUND_UNIMPORTED:
                continue
            if node.function is not None and domain in function.own_opset_imports:
                counts[domain] += 1
        if counts:
            names = [model.dialect.name_domain(domain)[:_LONGEST_NAME] for domain in counts]
            shown = join_parts(names[:_MOST_SHOWN], len(names))
            message = f"its body calls functions of {shown}, which the model does not import"
            yield Occurrence(function.path, message, {"domains": names[:20]}, shown)


def _list_called(subject: Subject) -> Iterator[tuple[Function, list[Node]]]:
    """Yield the functions that run, with the nodes of their bodies."""
    called: dict[Function, None] = {}
    waiting: list[Graph] = [subject.model.graph, *subject.model.graph.subgraphs]
    while waiting:
        for node in waiting.pop().nodes:
            function = node.function
            if function is not None and function not in called:
                called[function] = None
                waiting += [function, *function.subgraphs]
    for function in called:
        yield function, [node for graph in (function, *function.subgraphs) for node in graph.nodes]


def _find_long_names(subject: Subject) -> Iterator[Occurrence]:
    """Yield graphs whose nodes, and functions whose imports, write ONNX's own domain in full.

    Graphs for training are read by neither onnx.checker nor ONNX Runtime.
    """
    if not subject.is_onnx:
        return
    counts: Counter[Graph] = Counter()
    for graph in subject.graphs:
        stated_domains = get_graph_reading(graph).stated_domains
        root = find_root(graph)
        if stated_domains and root.kind != "training":
            counts[root] += len(stated_domains)
    dialect = subject.model.dialect
    name = dialect.domain_name
    for root, count in counts.items():
        message = f"the domain of {write_count(count, 'node')} is written {name}"
        yield Occurrence(root.path, message, {"nodes": count}, "nodes", places=count)
    for function in subject.model.functions:
        stated = get_graph_reading(function).stated_imports
        if dialect.domain in stated or dialect.domain_spellings.isdisjoint(stated):
            continue
        if any(
            _is_plain(node) for graph in (function, *function.subgraphs) for node in graph.nodes
        ):
            message = f"the function imports the operator set {name} by that name"
            yield Occurrence(function.path, message, cause="import")


def _is_plain(node: Node) -> bool:
    """Return whether a node is of ONNX's own operator set, with its domain left empty."""
    graph = node.graph
    stated_domains = get_graph_reading(graph).stated_domains
    return node.domain == graph.dialect.domain and node.index not in stated_domains


RULES = (
    Rule(
        "NL-L38",
        "function-import",
        "error",
        "A function that calls another one of a set which the model does not import",
        "ONNX Runtime puts bodies of functions into the graph, and then finds no version of the "
        "set: it refuses the model. onnx.checker looks at the function's own imports alone.",
        "Import the set in the model too: `m.opset_import.append(onnx.helper.make_opsetid(…))`.",
        "ONNX IR specification, Functions; ONNX Runtime, core/graph/graph.cc",
        _find_missing_imports,
    ),
    Rule(
        "NL-L40",
        "long-domain",
        "error",
        "ONNX's own domain written ai.onnx instead of left empty",
        "The specification takes both for one, but only the model's import may have the long name: "
        "onnx.checker refuses nodes and imports of functions that have it, and so does ONNX "
        "Runtime but for nodes of the main graph.",
        'Leave the domain empty: `node.domain = ""`.',
        "onnx/checker.cc and onnx/defs/schema.h: operators are registered with the domain ''",
        _find_long_names,
    ),
)
