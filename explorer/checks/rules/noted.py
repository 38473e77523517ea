"""What readers and the search for oddities say, under ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from netloupe.explorer.checks.rule import Occurrence, Rule, Severity
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.errors import NotFoundError
from netloupe.explorer.model import Value, is_before

_IR = "ONNX IR specification"
_CHECKER = "onnx/checker.cc"


def _find_noted(subject: Subject, name: str) -> Iterator[Occurrence]:
    yield from subject.noted.get(name, ())


def _take(name: str) -> Callable[[Subject], Iterator[Occurrence]]:
    return partial(_find_noted, name=name)  # which pickles, as functions inside others do not


def _find_undefined(subject: Subject) -> Iterator[Occurrence]:
    """Yield values that nothing defines; of those without a name nameless-value tells."""
    for hit in subject.noted.get("undefined-value", ()):
        if not hit.path.endswith("/%"):
            yield hit


def _find_empty(subject: Subject) -> Iterator[Occurrence]:
    """Yield tensors without elements; Caffe2's random fills draw theirs when the net runs."""
    for hit in subject.noted.get("no-data", ()):
        yield hit if subject.is_onnx else hit._replace(severity="note")


def _find_hidden(subject: Subject) -> Iterator[Occurrence]:
    """Yield names that hide others: errors where nodes give them, and warnings where none does.

    That names be distinct from those around is asked of results of nodes alone (IR specification,
    Graphs: single static assignment); onnx.checker and ONNX Runtime take inputs and initializers
    of bodies for what they are there. A body sees what is given before the node that holds it
    (Names within a graph), so that of what comes later, such as the node's own results, only a
    note tells.
    """
    severity: Severity | None = None
    for hit in subject.noted.get("hidden-name", ()):
        try:
            found = subject.model.value(hit.path)
        except NotFoundError:
            yield hit._replace(severity=severity)  # the count of those that are left out
            continue
        severity, more = None, ""
        if not _hides_visible(found):
            severity, more = "note", "; that is given later, and not seen inside"
        elif found.producer is None:
            kind = "input" if found.is_input else "initializer"
            severity, more = "warning", f"; as an {kind} it may, and stands for itself inside"
        yield hit._replace(message=hit.message + more, severity=severity)


def _find_missing_imports(subject: Subject) -> Iterator[Occurrence]:
    """Yield nodes of sets that are not imported; nothing but training looks at its graphs."""
    training = {
        graph.path
        for info in subject.model.training
        for graph in (info.initialization, info.algorithm)
        if graph is not None
    }
    for hit in subject.noted.get("missing-import", ()):
        yield hit._replace(severity="warning") if hit.path in training else hit


def _find_shared_names(subject: Subject) -> Iterator[Occurrence]:
    """Yield graphs in which nodes share a name; ONNX Runtime refuses these."""
    severity: Severity | None = None if subject.target is None else "error"
    for hit in subject.noted.get("shared-node-name", ()):
        yield hit._replace(severity=severity)


def _hides_visible(value: Value) -> bool:
    node = value.graph.parent_node
    while node is not None:
        outer = node.graph.values.get(value.name)
        if outer is not None:
            is_given = outer.is_input or outer.initializer is not None
            if is_given or (outer.producer is not None and is_before(outer.producer, node)):
                return True
        node = node.graph.parent_node
    return False


def _rule(
    number: int, name: str, severity: Severity, title: str, why: str, remedy: str, source: str
) -> Rule:
    special = {
        "hidden-name": _find_hidden,
        "missing-import": _find_missing_imports,
        "no-data": _find_empty,
        "shared-node-name": _find_shared_names,
        "undefined-value": _find_undefined,
    }
    find = special.get(name) or _take(name)
    return Rule(f"NL-L{number:02}", name, severity, title, why, remedy, source, find)


RULES = (
    _rule(
        1,
        "undefined-value",
        "error",
        "An input or output that nothing defines",
        "No runtime can load the graph: the value has no producer and is no input.",
        "Export again, or give the value as an input or initializer.",
        f"{_IR}, Graphs; {_CHECKER}",
    ),
    _rule(
        2,
        "use-before-definition",
        "error",
        "A node before the node whose result it takes",
        "Nodes have to be in topological order: onnx.checker refuses others, some runtimes sort.",
        "Sort the nodes, as in `onnx_graphsurgeon.import_onnx(m).toposort()`.",
        f"{_IR}, Graphs: nodes MUST be topologically sorted",
    ),
    _rule(
        3,
        "defined-twice",
        "error",
        "A name that is given twice",
        "Graphs are in single static assignment form: which of the two is meant is not defined.",
        "Give each value a name of its own.",
        f"{_IR}, Names within a graph; {_CHECKER}",
    ),
    _rule(
        4,
        "tensor-data",
        "error",
        "A tensor whose stored elements contradict its type or dimensions",
        "Its elements cannot be read, or are read differently by different runtimes.",
        "Write the tensor again, as in `onnx.numpy_helper.from_array`.",
        f"onnx.proto, TensorProto; {_CHECKER}",
    ),
    _rule(
        5,
        "attribute-data",
        "error",
        "An attribute that contradicts itself",
        "Which of its values counts is not defined.",
        "Write the attribute again, as in `onnx.helper.make_attribute`.",
        f"onnx.proto, AttributeProto; {_CHECKER}",
    ),
    _rule(
        6,
        "cycle",
        "error",
        "Nodes that wait for each other",
        "The graph cannot run.",
        "Find the value that was renamed to one that depends on it.",
        f"{_IR}, Graphs: MUST be acyclic",
    ),
    _rule(
        7,
        "shared-node-name",
        "warning",
        "Nodes of one graph with the same name",
        "ONNX Runtime refuses the model; profiles and messages that go by names cannot tell them "
        "apart.",
        "Name them apart, as onnxoptimizer's set_unique_name_for_nodes does.",
        f"{_IR}, Names within a graph; ONNX Runtime, core/graph/graph.cc",
    ),
    _rule(
        8,
        "hidden-name",
        "error",
        "A value inside a body with the name of one around it",
        "A body sees the names around it; no node may give one of them anew, and an input or "
        "initializer of that name is easily taken for the outer one.",
        "Rename the inner value.",
        f"{_IR}, Graphs: single static assignment; Names within a graph",
    ),
    _rule(
        9,
        "nameless-value",
        "error",
        "An input, output or initializer without a name",
        "Nothing can be bound to it.",
        "Give it a name.",
        f"{_IR}, Graphs; {_CHECKER}",
    ),
    _rule(
        10,
        "recursive-function",
        "error",
        "A function that calls itself",
        "Functions stand for their bodies, which must end.",
        "Break the circle of calls.",
        f"{_IR}, Functions: MUST NOT be recursive",
    ),
    _rule(
        11,
        "unknown-function",
        "error",
        "A call of a function that the model does not hold",
        "Other functions of that domain are in the model, so that a runtime will look there.",
        "Add the function, or correct the name or overload of the call.",
        f"{_IR}, Functions",
    ),
    _rule(
        12,
        "missing-import",
        "error",
        "Nodes of an operator set that is not imported",
        "Which version of the operator is meant is not defined: onnx.checker and ONNX Runtime "
        "refuse the model, and a function without an import of its own even if nothing calls it.",
        "Add the domain to opset_import, as in `m.opset_import.add(domain=…, version=1)`.",
        f"{_IR}, Operator sets; {_CHECKER}",
    ),
    _rule(
        13,
        "invalid-text",
        "warning",
        "Names that are not UTF-8",
        "Some runtimes refuse them, and none shows them alike.",
        "Rename what has them.",
        f"{_IR}, Names: C90 identifiers or UTF-8",
    ),
    _rule(
        14,
        "many-dimensions",
        "warning",
        "A tensor of more dimensions than arrays can have",
        "numpy holds 64; runtimes fewer.",
        "Reshape the tensor.",
        "numpy, NPY_MAXDIMS",
    ),
    _rule(
        15,
        "no-data",
        "error",
        "A tensor that claims elements and stores none",
        "The model cannot run; it may be a skeleton without its weights.",
        "Load the model that has the weights, or add them.",
        f"onnx.proto, TensorProto; {_CHECKER}",
    ),
    _rule(
        16,
        "replaced-operator",
        "note",
        "A function with the name of a standard operator",
        "Runtimes that know the operator may take their own instead of the function.",
        "Give the function a domain of its own, if it differs from the operator.",
        f"{_IR}, Functions",
    ),
    _rule(
        17,
        "annotation",
        "warning",
        "A quantization annotation of nothing, or two of the same",
        "Tools that read annotations take none, or the last.",
        "Remove it.",
        "onnx.proto, TensorAnnotation",
    ),
    _rule(
        18,
        "missing-ir-version",
        "error",
        "No IR version",
        "It must be there: onnx.checker and ONNX Runtime refuse the file.",
        "Set it, as in `m.ir_version = 10`.",
        f"onnx.proto, ModelProto.ir_version; {_CHECKER}",
    ),
    _rule(
        19,
        "import-twice",
        "warning",
        "An operator set that is imported twice",
        "The highest version counts, but programs that take the first or last read it otherwise.",
        "Keep the import of the highest version.",
        "onnx.proto, ModelProto.opset_import",
    ),
    _rule(
        20,
        "function-twice",
        "error",
        "Two functions of the same identity",
        "Which of them is called is not defined.",
        "Rename one, or give it another overload.",
        f"{_IR}, Functions",
    ),
    _rule(
        21,
        "unknown-fields",
        "note",
        "Fields that the schema does not know",
        "They are of a newer schema or of a tool of its own; runtimes pass over them.",
        "Nothing, where they are expected.",
        "onnx.proto, IR 14",
    ),
    _rule(
        22,
        "file-oddity",
        "warning",
        "Something else that the reader found odd",
        "What the file says there contradicts itself, or is not known.",
        "See the message.",
        "netloupe's readers",
    ),
    _rule(
        23,
        "appended-model",
        "warning",
        "More behind the end of the model",
        "Two models were written into one file, or something was appended; protobuf makes one of "
        "both, and programs that scan the file may see another.",
        "Export the model again, into a new file.",
        "protobuf.dev, Encoding: Last One Wins",
    ),
)
