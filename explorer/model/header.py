"""What a model file says of itself and of its training, beside its graphs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .device import DeviceConfiguration
from .unknown import UnknownFields

if TYPE_CHECKING:
    from .graph import Graph


@dataclass(slots=True)
class TrainingInfo:
    """How the model is trained (ONNX IR 7, TrainingInfoProto).

    ``initialization_binding`` and ``update_binding`` map an initializer's name to the output
    that replaces its elements before the first step and after each step.
    """

    initialization: Graph | None
    algorithm: Graph | None
    initialization_binding: tuple[tuple[str, str], ...] = ()
    update_binding: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class ModelHeader:
    """What a model file says of itself before any graph."""

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
