"""Nets without operator sets, as those of Caffe2: runs as in training, fills, devices, scales."""

from __future__ import annotations

import math
from collections.abc import Iterator

from netloupe.explorer.checks.operands import list_own_nodes_with, take_attribute
from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.notation import join_parts, write_count, write_number

_SOURCE = "caffe2.proto; caffe2/operators"
#: operators that move blobs between devices, and those that do not care
_MOVING = ("Copy", "Ensure")


def _list_nets(subject: Subject) -> Iterator[Graph]:
    if not subject.is_onnx:
        yield from subject.graphs


def _is_trained(subject: Subject) -> bool:
    """Return whether the model computes gradients, so that it is meant for training."""
    return any(
        node.op_type.endswith("Gradient") for graph in _list_nets(subject) for node in graph.nodes
    )


def _find_training(subject: Subject) -> Iterator[Occurrence]:
    if subject.is_onnx or _is_trained(subject):
        return
    for node in list_own_nodes_with(subject.graphs, "differs_in_training"):
        if not take_attribute(node, "is_test"):
            yield Occurrence(
                node.path,
                f"{node.op_type} runs as in training: is_test is not 1",
                {"op_type": node.op_type},
                node.op_type,
            )


def _find_unfilled(subject: Subject) -> Iterator[Occurrence]:
    for graph in _list_nets(subject):
        missing = [value for value in graph.inputs if value.is_parameter]
        if not missing or not graph.initializers:
            continue  # no init net was given, which info says
        names = join_parts([value.name[:60] for value in missing[:5]], len(missing))
        yield Occurrence(
            missing[0].path,
            f"{write_count(len(missing), 'weight')} of {graph.path} "
            f"{'is' if len(missing) == 1 else 'are'} filled by nothing: {names}",
            {"missing": len(missing), "filled": len(graph.initializers)},
            graph.path,
            places=len(missing),
        )


def _find_gradients(subject: Subject) -> Iterator[Occurrence]:
    for graph in _list_nets(subject):
        nodes = [node for node in graph.nodes if node.op_type.endswith("Gradient")]
        if nodes:
            yield Occurrence(
                nodes[0].path,
                f"{write_count(len(nodes), 'operator')} of {graph.path} "
                f"{'computes' if len(nodes) == 1 else 'compute'} gradients",
                {"operators": len(nodes)},
                graph.path,
                places=len(nodes),
            )


def _find_bad_scales(subject: Subject) -> Iterator[Occurrence]:
    for graph in _list_nets(subject):
        prefixes = graph.dialect.self_quantized_prefixes
        for node in graph.nodes if prefixes else ():
            if node.op_type.startswith(prefixes) and not node.operator.has("dequantizes"):
                message = _judge_scale(node)
                if message:
                    evidence = {"op_type": node.op_type}
                    yield Occurrence(node.path, message, evidence, message.split(",")[0][:60])


def _judge_scale(node: Node) -> str:
    """Return what is wrong with the scale and zero point that a node states; "" for nothing."""
    scale, zero = take_attribute(node, "Y_scale"), take_attribute(node, "Y_zero_point")
    if scale is None:
        return "it states no Y_scale, so that it counts as 1"
    if not isinstance(scale, float | int) or not math.isfinite(scale) or scale <= 0:
        shown = write_number(scale) if isinstance(scale, float | int) else "no number"
        return f"its Y_scale cannot be used, it is {shown}"
    # those of biases are of 32 bits, their zero point 0
    if zero is not None and (not isinstance(zero, int) or not 0 <= zero <= 255):
        return f"its Y_zero_point cannot be used, it is {str(zero)[:20]}, beyond 0 to 255"
    return ""


def _find_mixed_devices(subject: Subject) -> Iterator[Occurrence]:
    for graph in _list_nets(subject):
        for node in graph.nodes:
            if node.op_type.startswith(_MOVING):
                continue
            own = _find_device(node)
            for value in node.inputs:
                source = value.producer if value is not None else None
                if value is None or source is None or source.op_type.startswith(_MOVING):
                    continue
                other = _find_device(source)
                if other != own and source.graph is node.graph:
                    yield Occurrence(
                        node.path,
                        f"runs on {own}, but takes {value.name[:60]}, which is on {other}; nothing "
                        "copies it",
                        {"device": own, "operand": value.name[:200], "its_device": other},
                        f"{own} {other}",
                    )
                    break


def _find_device(node: Node) -> str:
    device = node.details.device
    return "CPU" if device is None else device.type_name


RULES = (
    Rule(
        "NL-C01",
        "net-in-training-mode",
        "error",
        "SpatialBN or Dropout that runs as in training",
        "Its argument is_test is 0 where it is left out: results depend on the batch or on chance.",
        "Set the argument is_test to 1, as `model_helper` does with train=False.",
        f"{_SOURCE}/spatial_batch_norm_op.cc, dropout_op.cc: is_test, default 0",
        _find_training,
    ),
    Rule(
        "NL-C02",
        "unfilled-weight",
        "error",
        "Weights that the init net does not fill",
        "The net cannot run before somebody gives them.",
        "Give the init net that belongs to this net, or fill them.",
        f"{_SOURCE}; NetDef.external_input",
        _find_unfilled,
    ),
    Rule(
        "NL-C03",
        "training-operator",
        "note",
        "A net that computes gradients",
        "It is meant for training; to run the model they cost time and memory for nothing.",
        "Take the net that was saved for prediction: `predictor_exporter`.",
        f"{_SOURCE}; OperatorDef.is_gradient_op",
        _find_gradients,
    ),
    Rule(
        "NL-C04",
        "net-scale",
        "error",
        "An int8 operator without a usable scale or zero point",
        "Its results are of unsigned bytes, (code - Y_zero_point) * Y_scale: without them all "
        "numbers are wrong.",
        "Quantize the net again, with calibration.",
        f"{_SOURCE}/quantized: Y_scale, default 1, and Y_zero_point",
        _find_bad_scales,
    ),
    Rule(
        "NL-C05",
        "mixed-devices",
        "warning",
        "An operator that takes what is on another device",
        "Caffe2 copies nothing by itself: the operator fails, or reads memory of the other device.",
        "Put CopyCPUToGPU or CopyGPUToCPU between them, or give both the same device_option.",
        f"{_SOURCE}/copy_op.cc; OperatorDef.device_option",
        _find_mixed_devices,
    ),
)
