"""Where ONNX says that a model and its nodes run (IR version 11)."""

from __future__ import annotations

from typing import Any

from netloupe.explorer.model.device import (
    DeviceConfiguration,
    NodeDeviceConfiguration,
    ShardedDimension,
    ShardingSpec,
)
from netloupe.explorer.readers.protobuf.texts import read_text


def read_device_configurations(protos: Any) -> tuple[DeviceConfiguration, ...]:
    """Return sets of devices, of ``ModelProto.configuration``."""
    return tuple(
        DeviceConfiguration(
            read_text(proto.name),
            proto.num_devices if proto.HasField("num_devices") else None,
            tuple(map(read_text, proto.device)),
        )
        for proto in protos
    )


def read_node_configurations(protos: Any) -> tuple[NodeDeviceConfiguration, ...]:
    """Return a node's part in them, of ``NodeProto.device_configurations``."""
    return tuple(_read_node_configuration(proto) for proto in protos)


def _read_node_configuration(proto: Any) -> NodeDeviceConfiguration:
    return NodeDeviceConfiguration(
        read_text(proto.configuration_id),
        proto.pipeline_stage if proto.HasField("pipeline_stage") else None,
        tuple(_read_sharding(spec) for spec in proto.sharding_spec),
    )


def _read_sharding(proto: Any) -> ShardingSpec:
    return ShardingSpec(
        read_text(proto.tensor_name),
        tuple(proto.device),
        tuple(
            (entry.key if entry.HasField("key") else None, tuple(entry.value))
            for entry in proto.index_to_device_group_map
        ),
        tuple(
            ShardedDimension(
                dim.axis if dim.HasField("axis") else None,
                tuple(
                    (
                        _read_extent(sharding),
                        sharding.num_shards if sharding.HasField("num_shards") else None,
                    )
                    for sharding in dim.simple_sharding
                ),
            )
            for dim in proto.sharded_dim
        ),
    )


def _read_extent(proto: Any) -> int | str | None:
    kind = proto.WhichOneof("dim")
    if kind is None:
        return None
    return int(proto.dim_value) if kind == "dim_value" else read_text(proto.dim_param)
