"""What Caffe2 says of nets and of where operators run."""

from __future__ import annotations

from netloupe.explorer.model import DeviceOption, Graph

from .attributes import list_values
from .description import MOST_ROWS, Row, Section, make_section
from .file_text import write_line
from .place import Place


def list_net_sections(graph: Graph, place: Place) -> list[Section]:
    """Return sections for what a net says of itself; none for a graph of another format."""
    net = graph.net
    if net is None:
        return []
    facts = [
        Row("type", write_line(net.net_type)),
        Row("workers", "" if net.num_workers is None else f"{net.num_workers:,}"),
    ]
    if net.device is not None:
        facts += list_device(net.device)
    listed = []
    for title, names in (
        ("external input", net.external_inputs),
        ("external output", net.external_outputs),
    ):
        for name in names[:MOST_ROWS]:
            value = graph.values.get(name)
            path = place.path_of(value.path) if value is not None else ""
            filled = value is not None and value.initializer is not None
            note = "filled by the init net" if filled else ""
            listed.append(Row(title, write_line(name) or '""', note, path))
    total = len(net.external_inputs) + len(net.external_outputs)
    return [
        make_section("Net", facts),
        make_section("Net arguments", list_values(net.arguments, place)),
        make_section("External blobs", listed, total=total, is_hidden=True),
    ]


def list_device(device: DeviceOption) -> list[Row]:
    """Return a row for each thing that a device option says."""
    note = "of the net" if device.is_inherited else ""
    numbers = (
        ("device id", device.device_id),
        ("random seed", device.random_seed),
        ("NUMA node", device.numa_node_id),
    )
    return [
        Row("device", device.type_name, note),
        *(Row(name, str(number), note) for name, number in numbers if number is not None),
        Row("device node", write_line(device.node_name), note),
        *(Row("device extra", write_line(text), note) for text in device.extra_info[:MOST_ROWS]),
    ]
