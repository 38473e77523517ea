"""Distribution over devices (ONNX IR 11: DeviceConfigurationProto and what nodes say of it)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeviceConfiguration:
    """A named set of devices that the model may be spread over."""

    name: str
    num_devices: int | None
    devices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShardedDimension:
    """How one axis is cut; ``shards`` lists (size or symbol, number of shards)."""

    axis: int | None
    shards: tuple[tuple[int | str | None, int | None], ...]


@dataclass(frozen=True, slots=True)
class ShardingSpec:
    """How one tensor of a node is spread over devices."""

    tensor_name: str
    devices: tuple[int, ...]
    device_groups: tuple[tuple[int | None, tuple[int, ...]], ...]
    dimensions: tuple[ShardedDimension, ...]


@dataclass(frozen=True, slots=True)
class NodeDeviceConfiguration:
    """A node's part in one device configuration."""

    configuration_id: str
    pipeline_stage: int | None
    sharding: tuple[ShardingSpec, ...]
