"""Where nodes run: device configurations of ONNX (IR 11) and device options of Caffe2."""

from dataclasses import dataclass

#: names of Caffe2's device types by their numbers (caffe2.proto: DeviceTypeProto)
DEVICE_TYPES: dict[int, str] = {
    0: "CPU",
    1: "CUDA",
    2: "MKLDNN",
    3: "OpenGL",
    4: "OpenCL",
    5: "IDEEP",
    6: "HIP",
    7: "FPGA",
    8: "MSNPU",
    9: "XLA",
    20901: "only for test",
}


@dataclass(frozen=True, slots=True)
class DeviceOption:
    """Where an operator of Caffe2 runs; None and empty where the file does not say.

    Parameters
    ----------
    is_inherited
        Whether the operator has it from its net.
    device_type
        Its number in caffe2.proto, DeviceTypeProto; see ``type_name``.
    device_id
        Which device of this type, from 0.
    random_seed
        For operators that draw random numbers.
    node_name
        The machine.
    numa_node_id
        The memory node of the machine.
    extra_info
        Further texts, whose meaning the device type defines.
    """

    device_type: int | None = None
    device_id: int | None = None
    random_seed: int | None = None
    node_name: str = ""
    numa_node_id: int | None = None
    extra_info: tuple[str, ...] = ()
    is_inherited: bool = False

    @property
    def type_name(self) -> str:
        """``CPU`` (also where no type is given), ``CUDA`` …; ``unknown(77)`` for other numbers."""
        number = self.device_type or 0
        return DEVICE_TYPES.get(number, f"unknown({number})")

    def __str__(self) -> str:
        return self.type_name if self.device_id is None else f"{self.type_name} {self.device_id}"


@dataclass(frozen=True, slots=True)
class DeviceConfiguration:
    """A named set of devices that the model may be spread over.

    Parameters
    ----------
    name
        By which nodes refer to it.
    num_devices
        How many devices it has; None where the file does not say.
    devices
        Their names, where they have any.
    """

    name: str
    num_devices: int | None
    devices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShardedDimension:
    """How one axis is cut; ``shards`` lists (size or symbol, number of shards).

    Parameters
    ----------
    axis
        The axis that is cut; None where the file does not say.
    shards
        For each part its size, or the symbol for it, and into how many shards it is cut.
    """

    axis: int | None
    shards: tuple[tuple[int | str | None, int | None], ...]


@dataclass(frozen=True, slots=True)
class ShardingSpec:
    """How one tensor of a node is spread over devices.

    Parameters
    ----------
    tensor_name
        Of the node's input or output.
    devices
        Numbers of devices, or of groups where they are negative.
    device_groups
        By number the devices of each group.
    dimensions
        How axes are cut.
    """

    tensor_name: str
    devices: tuple[int, ...]
    device_groups: tuple[tuple[int | None, tuple[int, ...]], ...]
    dimensions: tuple[ShardedDimension, ...]


@dataclass(frozen=True, slots=True)
class NodeDeviceConfiguration:
    """A node's part in one device configuration.

    Parameters
    ----------
    configuration_id
        The name of the configuration.
    pipeline_stage
        The node's stage of a pipeline; None where the file does not say.
    sharding
        How its inputs and outputs are spread.
    """

    configuration_id: str
    pipeline_stage: int | None
    sharding: tuple[ShardingSpec, ...]
