"""What graphs inside a model may use of what is around them: outputs of bodies, sizes, names."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.model import Function, SparseTensorType, TensorType, Value
from netloupe.explorer.model.value import list_each_type, may_have_type
from netloupe.explorer.notation import join_parts, write_count

_LONGEST_NAME = 60
#: the IR version from which on initializers need not be inputs
_LISTED = 4


def _find_outer_outputs(subject: Subject) -> Iterator[Occurrence]:
    """Yield the nodes of whose graphs an output is a value of the graph around."""
    for graph in subject.graphs if subject.is_onnx else ():
        node = graph.parent_node
        if node is None:
            continue
        for place, value in enumerate(graph.outputs):
            if value.graph is not graph:
                name = value.name[:_LONGEST_NAME]
                message = (
                    f"its {graph.parent_attribute} gives {name}, a value of {value.graph.path}; "
                    "no node inside gives it"
                )
                evidence = {"branch": graph.parent_attribute, "value": value.name[:200]}
                yield Occurrence(node.path, message, evidence, str(place))


def _find_negative_sizes(subject: Subject) -> Iterator[Occurrence]:
    """Yield the values that are stated with a size below 0."""
    for graph in subject.graphs if subject.is_onnx else ():
        given = [v for v in graph.values.values() if may_have_type(v)]
        for value, stated in zip(given, list_each_type(graph, given), strict=True):
            if not isinstance(stated, TensorType | SparseTensorType) or stated.shape is None:
                continue
            axes = [
                axis
                for axis, dim in enumerate(stated.shape)
                if isinstance(dim.value, int) and dim.value < 0
            ]
            if axes and value.initializer is None:  # of which the dimensions are told elsewhere
                yield _tell_negative(value, stated, axes)


def _tell_negative(value: Value, stated: object, axes: list[int]) -> Occurrence:
    shown = join_parts([str(axis) for axis in axes[:8]], len(axes))
    what = f"axis {shown} is" if len(axes) == 1 else f"axes {shown} are"
    message = f"is stated as {stated}: {what} no size, and taken for unknown"
    return Occurrence(value.path, message, {"axes": axes[:8]}, str(axes[:8]))


def _find_unlisted(subject: Subject) -> Iterator[Occurrence]:
    """Yield how many initializers are no inputs, where the IR version wants them to be."""
    model = subject.model
    version = model.ir_version
    if not subject.is_onnx or version is None or not 0 < version < _LISTED:
        return
    listed = {value.name for value in model.graph.inputs}
    missing = [tensor for tensor in model.graph.initializers if tensor.name not in listed]
    if missing:
        name = missing[0].name[:_LONGEST_NAME]
        message = (
            f"{write_count(len(missing), 'initializer')}, such as {name}, not among the inputs"
        )
        evidence = {"ir_version": version, "missing": len(missing)}
        yield Occurrence(model.graph.path, message, evidence, places=len(missing))


def _find_nameless(subject: Subject) -> Iterator[Occurrence]:
    """Yield graphs without a name."""
    for graph in subject.graphs if subject.is_onnx else ():
        if graph.name or isinstance(graph, Function):
            continue
        if graph.nodes or graph.inputs or graph.outputs:  # else it stands for a lone tensor
            yield Occurrence(graph.path, "the graph has no name")


RULES = (
    Rule(
        "NL-L37",
        "outer-output",
        "error",
        "A body that gives a value of the graph around it",
        "A graph's outputs are what its own nodes give; onnx.checker and ONNX Runtime refuse it.",
        "Put an Identity into the body that takes the value, and give its result.",
        "ONNX IR specification, Graphs; onnx/checker.cc: graph output is not an output of any node",
        _find_outer_outputs,
    ),
    Rule(
        "NL-L39",
        "nameless-graph",
        "note",
        "A graph without a name",
        "A graph must have one: onnx.checker refuses the model, runtimes load it.",
        'Give it one: `m.graph.name = "main"`.',
        "onnx/checker.cc: field 'name' of 'graph' is required to be non-empty",
        _find_nameless,
    ),
    Rule(
        "NL-I09",
        "initializer-not-in-inputs",
        "warning",
        "Initializers that are no inputs, before IR version 4",
        "Until then each has to be listed as an input too: onnx.checker refuses the model.",
        "Write a newer IR version: `m.ir_version = 4`, or more.",
        "ONNX IR specification, Graphs (IR 3): initializers and inputs",
        _find_unlisted,
    ),
    Rule(
        "NL-I08",
        "negative-size",
        "warning",
        "An axis whose size is stated as −1 or less",
        "ONNX has no such size: onnx.checker refuses what follows from it, runtimes take it for "
        "unknown, and whether two of them are the same cannot be told.",
        'Name the axis: `dim.dim_param = "batch"`.',
        "onnx.proto, TensorShapeProto.Dimension: dim_value or dim_param",
        _find_negative_sizes,
    ),
)
