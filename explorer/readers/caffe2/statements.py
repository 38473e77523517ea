"""All that Caffe2's messages say of an element: what their fields mean beyond the schema."""

from __future__ import annotations

from typing import Any

from netloupe.explorer.model import Tensor
from netloupe.explorer.model.statement import Statement, Way
from netloupe.explorer.readers.protobuf.parts import Parts
from netloupe.explorer.readers.protobuf.statements import StatementReader, Wording

from .tensors import DATA_FIELDS, read_qtensor, read_tensor

#: fields by which Caffe2 asks whether they are given (caffe2/core/plan_executor.cc)
_STEP_FIELDS = ("num_iter", "only_once", "create_workspace", "concurrent_substeps")

WORDING = Wording(
    apart=frozenset(
        {
            ("NetDef", "op"),
            ("PlanDef", "network"),
            ("PlanDef", "execution_step"),
            ("ExecutionStep", "substep"),
            *(("OperatorDef", name) for name in ("input", "output", "control_input")),
        }
    ),
    keys={("NetDef", "arg"): "name", ("OperatorDef", "arg"): "name"},
    names=frozenset(
        {
            ("NetDef", "external_input"),
            ("NetDef", "external_output"),
            ("ExecutionStep", "report_net"),
            ("ExecutionStep", "should_stop_blob"),
        }
    ),
    tensors=frozenset({"TensorProto", "QTensorProto"}),
    element_fields=frozenset({*DATA_FIELDS, "data"}),
    graphs=frozenset({"NetDef"}),
    telling=frozenset(("ExecutionStep", name) for name in _STEP_FIELDS),
)


def read_caffe2_statement(
    message: Any, parts: Parts, *, way: Way = (), with_elements: bool = True
) -> Statement:
    """Return all that a message says; see :meth:`StatementReader.read`."""

    def read(proto: Any, path: str) -> Tensor:
        if proto.DESCRIPTOR.name == "QTensorProto":
            return read_qtensor(proto, path, parts)
        return read_tensor(proto, path, parts.source.files, parts)

    return StatementReader(parts, WORDING, read).read(message, way=way, with_elements=with_elements)
