"""Caffe2 plans: the tree of execution steps as graphs whose nodes are steps and runs of nets."""

from __future__ import annotations

from collections import deque
from typing import Any

from netloupe.explorer.model import (
    Attribute,
    Function,
    Graph,
    Model,
    ModelWarning,
    Node,
    NodeDetails,
)
from netloupe.explorer.model.model import add_function
from netloupe.explorer.model.statement import Statement
from netloupe.explorer.model.unknown import UnknownFields
from netloupe.explorer.readers.protobuf.parts import Parts
from netloupe.explorer.readers.protobuf.texts import read_text
from netloupe.explorer.tensors import ModelFiles

from .net import NetReader
from .parts import Net, lift_message
from .statements import read_caffe2_statement

#: domains of the nodes that a plan's graphs hold
STEP_DOMAIN = "caffe2.step"
NET_DOMAIN = "caffe2.net"

#: fields of an ExecutionStep that become attributes, with their kinds
_FIELDS = {
    "num_iter": "int",
    "criteria_network": "string",
    "report_net": "string",
    "report_interval": "int",
    "run_every_ms": "int",
    "concurrent_substeps": "int",
    "should_stop_blob": "string",
    "only_once": "int",
    "create_workspace": "int",
    "num_concurrent_instances": "int",
}


def read_plan(model: Model, parts: Parts, files: ModelFiles) -> None:
    """Read a PlanDef: its nets as functions, its steps as the main graph.

    A step is a node whose body holds its substeps, and a node for each net that it runs,
    which opens like the call of a function.
    """
    plan, reader = parts.proto, NetReader(files)
    for position, message in enumerate(plan.network):
        name = read_text(message.name)
        path = f"nets/{name or f'#{position}'}"
        if any(function.path == path for function in model.functions):
            path = f"{path}#{position}"
        net = Function(model, NET_DOMAIN, name, "", path)
        net.kind = "net"
        if not add_function(model, net):
            model.warnings.append(ModelWarning(path, "another net of the plan has the same name"))
        reader.read(net, Net(message, parts))
    model.graph.name = read_text(plan.name)
    _read_steps(model, parts)


def _read_steps(model: Model, parts: Parts) -> None:
    pending = deque([(model.graph, [(step, "") for step in parts.proto.execution_step])])
    while pending:
        graph, entries = pending.popleft()
        loader = _StepLoader([step for step, _ in entries], parts)
        for index, (step, net) in enumerate(entries):
            if step is None:
                graph.nodes.append(Node(graph, index, "", net, NET_DOMAIN, loader))
                if model.function(NET_DOMAIN, net) is None:
                    message = f"runs the net {net!r}, which the plan does not hold"
                    graph.warnings.append(ModelWarning(graph.path, message))
            else:
                name = read_text(step.name)
                graph.nodes.append(Node(graph, index, name, "ExecutionStep", STEP_DOMAIN, loader))
        for node, (step, _) in zip(graph.nodes, entries, strict=True):
            inner = (
                []
                if step is None
                else [(lift_message(parts, substep), "") for substep in step.substep]
            )
            inner += [] if step is None else [(None, read_text(name)) for name in step.network]
            if not inner:
                continue
            body = Graph(model, "step", node.name, f"{node.path}.body", node, "body")
            node.subgraphs = (body,)
            pending.append((body, inner))
            if step.substep and step.network:
                message = "has both substeps and nets, of which it may have only one kind"
                graph.warnings.append(ModelWarning(node.path, message))


class _StepLoader:
    """Reads the details of steps from their messages; the run of a net has none."""

    def __init__(self, steps: list[Any], parts: Parts) -> None:
        self._steps = steps
        self._parts = parts

    def may_have_attributes(self, node: Node) -> bool:
        return True

    def oddities(self, node: Node) -> tuple[str, ...]:
        return ()

    def metadata(self, node: Node) -> dict[str, str]:
        return {}

    def attribute_key(self, node: Node, *, is_whole: bool = False) -> bytes:
        return b""

    def statement_key(self, node: Node) -> bytes:
        step = self._steps[node.index]
        return b"" if step is None else step.SerializeToString(deterministic=True)

    def state(self, node: Node) -> Statement:
        step = self._steps[node.index]
        return {} if step is None else read_caffe2_statement(step, self._parts)

    def unknown_fields(self, node: Node) -> UnknownFields:
        step = self._steps[node.index]
        apart = frozenset(("ExecutionStep",))
        return () if step is None else self._parts.find_unknown(step, apart)

    def details(self, node: Node) -> NodeDetails:
        step = self._steps[node.index]
        if step is None:
            return NodeDetails()
        attributes = {}
        for field, kind in _FIELDS.items():
            if step.HasField(field):
                content = getattr(step, field)
                value = int(content) if kind == "int" else read_text(content)
                attributes[field] = Attribute(field, kind, value)
        return NodeDetails(attributes)
