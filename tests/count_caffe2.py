"""Nodes, initializers and edges of Caffe2 files, counted in their messages without the reader.

An edge is a use of a blob by an operator (control inputs apart) that resolves to what another
operator wrote before: in its net, in a net around it, or in a net of an earlier operator.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from typing import Any

from google.protobuf import json_format, text_format
from google.protobuf.message import DecodeError

from netloupe.proto import caffe2_pb2

Counts = tuple[int, int, int]

_FILLS = {
    "ConstantFill",
    "GaussianFill",
    "GivenTensorBoolFill",
    "GivenTensorByteStringToUInt8Fill",
    "GivenTensorDoubleFill",
    "GivenTensorFill",
    "GivenTensorInt16Fill",
    "GivenTensorInt64Fill",
    "GivenTensorIntFill",
    "GivenTensorStringFill",
    "Int8GivenIntTensorFill",
    "Int8GivenTensorFill",
    "MSRAFill",
    "UniformFill",
    "UniformIntFill",
    "XavierFill",
}


def count_caffe2(data: bytes, container: str, root: str, init: bytes | None) -> Counts | None:
    """Return the numbers of a file; None where protobuf's own parsers do not take it.

    Parameters
    ----------
    data
        The file.
    container
        What it was found to be written as.
    root
        The message that it was found to be.
    init
        The file with its init net.
    """
    message = _parse(data, root, container)
    if message is None:
        return None
    if root != "NetDef":
        return _count_root(message, root)
    fills = None
    if init is not None:
        is_text = not any(byte < 9 for byte in init[:4096])
        fills = _parse(init, "NetDef", "protobuf text" if is_text else "protobuf")
        if fills is None:
            return None
    return _count_net_file(message, fills)


def _parse(data: bytes, root: str, container: str) -> Any:
    message = getattr(caffe2_pb2, root)()
    if container.endswith(" in gzip"):
        data = gzip.decompress(data)
    try:
        if container.startswith("protobuf text"):
            return text_format.Parse(data.decode(), message)
        if container.startswith("protobuf JSON"):
            return json_format.Parse(data.decode(), message)
        message.ParseFromString(data)
    except (DecodeError, UnicodeDecodeError, text_format.ParseError, json_format.ParseError):
        return None
    return message


def _count_root(message: Any, root: str) -> Counts:
    if root == "PlanDef":
        nets = [_Run(net, {}) for net in message.network]
        nodes = sum(_count_steps(step) for step in message.execution_step)
        return nodes + sum(net.nodes for net in nets), 0, sum(net.edges for net in nets)
    if root == "TensorProtos":
        return 0, len(message.protos), 0
    if root == "BlobProto":
        return 0, sum(map(message.HasField, ("tensor", "qtensor", "content"))), 0
    return 0, int(root in ("TensorProto", "QTensorProto")), 0


def _count_steps(step: Any) -> int:
    return 1 + len(step.network) + sum(map(_count_steps, step.substep))


def _count_net_file(net: Any, init: Any) -> Counts:
    blobs: dict[str, bool] = {}
    initializers = 0
    others = None
    if init is not None:
        rest = caffe2_pb2.NetDef(arg=init.arg)
        for operator in init.op:
            if _is_fill(operator):
                initializers += 1
                blobs[operator.output[0]] = False
            else:
                rest.op.append(operator)
        others = _Run(rest, dict(blobs))
    main = _Run(net, blobs)
    nodes = main.nodes + (others.nodes if others is not None else 0)
    return nodes, initializers, main.edges + (others.edges if others is not None else 0)


def _is_fill(operator: Any) -> bool:
    if operator.type not in _FILLS or operator.input or len(operator.output) != 1:
        return False
    holds = any(
        a.HasField("t") or a.HasField("n") or a.tensors or a.nets or a.qtensors
        for a in operator.arg
    )
    return bool(operator.output[0]) and not holds


class _Run:
    """A net run on paper: ``blobs`` says of each blob whether an operator wrote it."""

    def __init__(self, net: Any, blobs: dict[str, bool]) -> None:
        self.nodes = self.edges = 0
        self.blobs = blobs
        self.written: set[str] = set()
        for argument in net.arg:
            for inner in _nets_of(argument):
                self._add(_Run(inner, {}))
        for name in net.external_input:
            blobs.setdefault(name, False)
        for operator in net.op:
            self._run(operator)

    def _run(self, operator: Any) -> None:
        blobs = self.blobs
        self.nodes += 1
        for name in filter(None, operator.input):
            self.edges += blobs.setdefault(name, False)
        for name in filter(None, operator.control_input):
            blobs.setdefault(name, False)
        written: set[str] = set()
        for argument in operator.arg:
            for inner in _nets_of(argument):
                written.update(self._enter(operator, inner))
        for name in (*written, *filter(None, operator.output)):
            blobs[name] = True
            self.written.add(name)

    def _enter(self, operator: Any, net: Any) -> Iterator[str]:
        """Run a net of an operator, and yield the blobs here that it writes."""
        if operator.type == "Do":
            names = dict(_pairs_of(operator))
            inside = {
                name: self.blobs.get(operator.input[number], False)
                for name, number in names.items()
                if 0 <= number < len(operator.input)
            }
            operands = {name: operator.input[names[name]] for name in inside}
            inner = _Run(net, inside)
            yield from (operands[name] for name in inner.written if name in operands)
        else:
            inner = _Run(net, dict(self.blobs))
            is_step = operator.type.startswith("RecurrentNetwork")
            yield from (n for n in inner.written if not is_step or n in self.blobs)
        self._add(inner)

    def _add(self, inner: _Run) -> None:
        self.nodes += inner.nodes
        self.edges += inner.edges


def _nets_of(argument: Any) -> list[Any]:
    return [*([argument.n] if argument.HasField("n") else []), *argument.nets]


def _pairs_of(operator: Any) -> Iterator[tuple[str, int]]:
    arguments = {argument.name: argument for argument in operator.arg}
    if {"inner_blobs", "outer_blobs_idx"} <= set(arguments):
        names = (name.decode() for name in arguments["inner_blobs"].strings)
        yield from zip(names, arguments["outer_blobs_idx"].ints, strict=False)
