"""Pools of windows of one element, which tell the number of each place and nothing else."""

from __future__ import annotations

from netloupe.explorer.model import Node

from .readings import read_ints


def gives_places_alone(node: Node) -> bool:
    """Return whether of a max pool of single elements nothing but their places is used.

    These do not depend on the elements. PyTorch's exporter makes such a pool beside one with
    indices, to take off where each channel begins (``torch.onnx.symbolic_helper``,
    ``_max_pool_helper``).
    """
    operator = node.operator
    if not operator.has("pools") or operator.results.kind_at(1) != "indices":
        return False
    kernel = read_ints(node, "kernel_shape")
    pooled = node.output(0)
    is_unused = pooled is None or not (pooled.users or pooled.is_output)
    return is_unused and {*kernel} == {1} and {*read_ints(node, "pads")} <= {0}
