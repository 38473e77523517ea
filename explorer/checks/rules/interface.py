"""Inputs and outputs: what a program that uses the model has to know of them."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import SparseTensorType, TensorType, Value
from netloupe.explorer.notation import join_parts, write_count

_IR = "ONNX IR specification"


def _list_fed(subject: Subject) -> list[Value]:
    """Return the inputs of the main graph that somebody has to give."""
    inputs = subject.model.graph.inputs
    return [value for value in inputs if value.initializer is None and not value.is_parameter]


def _find_untyped(subject: Subject) -> Iterator[Occurrence]:
    if not subject.is_onnx:  # Caffe2 states no types
        return
    for kind, values in (("input", _list_fed(subject)), ("output", subject.model.graph.outputs)):
        for value in values:
            stated = value.type
            if stated is None or (
                isinstance(stated, TensorType) and stated.dtype.name == "undefined"
            ):
                yield Occurrence(value.path, f"the {kind} has no type", {}, f"{kind} type")


def _find_shapeless(subject: Subject) -> Iterator[Occurrence]:
    if not subject.is_onnx:
        return
    for kind, values in (("input", _list_fed(subject)), ("output", subject.model.graph.outputs)):
        for value in values:
            stated = value.type
            if isinstance(stated, TensorType | SparseTensorType) and stated.shape is None:
                yield Occurrence(
                    value.path, f"the {kind} has a type but no shape", {}, f"{kind} shape"
                )


def _find_nameless_axes(subject: Subject) -> Iterator[Occurrence]:
    for value in _list_fed(subject) if subject.is_onnx else ():
        stated = value.type
        if not isinstance(stated, TensorType) or stated.shape is None:
            continue
        axes = [axis for axis, dim in enumerate(stated.shape) if dim.value in (None, "")]
        if axes:
            shown = join_parts([str(axis) for axis in axes[:8]], len(axes))
            yield Occurrence(
                value.path,
                f"{'axis' if len(axes) == 1 else 'axes'} {shown} of {stated} have neither size "
                "nor name"
                if len(axes) > 1
                else f"axis {shown} of {stated} has neither size nor name",
                {"axes": axes[:8]},
                str(axes[:8]),
            )


def _find_unused(subject: Subject) -> Iterator[Occurrence]:
    for value in _list_fed(subject) if subject.is_onnx else ():
        if not value.is_used and not value.is_output:
            yield Occurrence(
                value.path, "the input is used by no node", {"type": str(value.type or "?")}
            )


def _find_passed_on(subject: Subject) -> Iterator[Occurrence]:
    for value in subject.model.graph.outputs if subject.is_onnx else ():
        if value.is_input and value.initializer is None:
            yield Occurrence(value.path, "the output is an input, as it was given")


def _find_constant_outputs(subject: Subject) -> Iterator[Occurrence]:
    model = subject.model
    is_open = any(value.initializer is not None for value in model.graph.inputs)
    if not subject.is_onnx or not _list_fed(subject) or (is_open and (model.ir_version or 0) >= 4):
        return  # a caller may replace initializers that are listed among the inputs
    for value in model.graph.outputs:
        if (value.producer is not None or value.initializer is not None) and is_input_independent(
            value
        ):
            yield Occurrence(
                value.path,
                "the output depends on no input: it is the same in every run",
                {"inputs": len(_list_fed(subject))},
            )


def _find_initializers(subject: Subject) -> Iterator[Occurrence]:
    model = subject.model
    if not subject.is_onnx or (model.ir_version or 0) < 4:
        return  # before IR 4 they have to be
    graph = model.graph
    listed = [value for value in graph.inputs if value.initializer is not None]
    count = len(graph.initializers) + len(graph.sparse_initializers)
    if listed:
        yield Occurrence(
            listed[0].path,
            f"{write_count(len(listed), 'initializer')} of {count:,} "
            f"{'is' if len(listed) == 1 else 'are'} also listed among the inputs, so that a "
            "caller may replace them",
            {"listed": len(listed)},
            places=len(listed),
        )


RULES = (
    Rule(
        "NL-I01",
        "untyped-interface",
        "error",
        "An input or output without a type",
        "Inputs and outputs must have one; callers do not know what to give.",
        "Run shape inference: `onnx.shape_inference.infer_shapes(m)`, or export again.",
        f"{_IR}, Graphs: inputs and outputs MUST have a type",
        _find_untyped,
    ),
    Rule(
        "NL-I02",
        "shapeless-interface",
        "note",
        "An input or output without a shape",
        "Callers do not know the rank; memory cannot be planned, and compilers may refuse.",
        "Run shape inference: `onnx.shape_inference.infer_shapes(m)`, or export again.",
        "onnx-doctor ONNX034 to ONNX037",
        _find_shapeless,
    ),
    Rule(
        "NL-I03",
        "nameless-axis",
        "note",
        "An axis of an input with neither size nor name",
        "Whether two open axes are the same size cannot be told, and no size can be bound to it.",
        'Name it, as in `dynamic_axes={"x": {0: "batch"}}`.',
        f"{_IR}, Tensor shapes: dim_param",
        _find_nameless_axes,
    ),
    Rule(
        "NL-I04",
        "unused-input",
        "warning",
        "An input that nothing uses",
        "Callers prepare and copy it for nothing; it may show that something was left out.",
        "Remove it from the graph's inputs, or leave it out when exporting.",
        "ir-py, unused removal",
        _find_unused,
    ),
    Rule(
        "NL-I05",
        "passed-on-input",
        "warning",
        "An output that is an input",
        "It is copied for nothing.",
        "Remove it from the outputs.",
        "onnx-doctor ONNX101",
        _find_passed_on,
    ),
    Rule(
        "NL-I06",
        "constant-output",
        "warning",
        "An output that depends on no input",
        "Tracing has baked one run's result into the file, or it is no result.",
        "Compute it from an input when exporting, or remove it from the outputs.",
        "practice: tracing",
        _find_constant_outputs,
    ),
    Rule(
        "NL-I07",
        "initializer-in-inputs",
        "warning",
        "Initializers that are listed among the inputs",
        "A caller may replace them, so runtimes neither fold nor fuse them. ONNX Runtime warns.",
        "Remove them from the inputs: onnxruntime/tools/python/remove_initializer_from_input.py.",
        f"{_IR}, Graphs (IR 4); ONNX Runtime, core/graph/graph.cc",
        _find_initializers,
    ),
)
