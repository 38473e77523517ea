"""What a model file says of itself and of its training, beside its graphs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .unknown import UnknownFields

if TYPE_CHECKING:
    from .device import DeviceConfiguration
    from .graph import Graph


@dataclass(slots=True)
class TrainingInfo:
    """How the model is trained (ONNX IR 7, TrainingInfoProto).

    ``initialization_binding`` and ``update_binding`` map an initializer's name to the output
    that replaces its elements before the first step and after each step.

    Parameters
    ----------
    initialization
        Computes what initializers are before the first step; None for nothing.
    algorithm
        Computes one step; None for nothing.
    initialization_binding, update_binding
        Pairs of the name of an initializer and that of an output.
    """

    initialization: Graph | None
    algorithm: Graph | None
    initialization_binding: tuple[tuple[str, str], ...] = ()
    update_binding: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class ModelHeader:
    """What a model file says of itself before any graph.

    Parameters
    ----------
    ir_version
        Version of the ONNX intermediate representation; None where not stated.
    producer_name, producer_version
        The tool that wrote the file.
    domain
        Names the namespace of the model, as in ``org.example.vision``.
    model_version
        The model's own; None where not stated.
    doc
        What it says for people.
    metadata
        The ``metadata_props``.
    opset_imports
        Version of each operator set by domain ("" is ai.onnx).
    device_configurations
        Sets of devices that the model may be spread over (IR 11).
    unknown_fields
        Fields that the schema does not know.
    """

    ir_version: int | None = None
    producer_name: str = ""
    producer_version: str = ""
    domain: str = ""
    model_version: int | None = None
    doc: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    opset_imports: dict[str, int] = field(default_factory=dict)
    device_configurations: tuple[DeviceConfiguration, ...] = ()
    unknown_fields: UnknownFields = ()
    message: str = ""  #: the protobuf message that the file is, where a format has several
