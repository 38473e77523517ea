"""Cost reports of QONNX: multiplications and memory per node, as ``inference_cost`` writes them.

With a breakdown the report has ``node_cost``: by node ``op_mac_<types>`` (multiplications with
operands of these types), ``mem_w_<type>`` and ``mem_o_<type>`` (elements of weights and outputs)
and totals such as ``total_bops`` (bit operations) and ``total_mem_w_bits``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netloupe.explorer.errors import OverlayError
from netloupe.explorer.overlays.column import Column

from .text import LONGEST_WORD, list_fields

#: beginnings of fields that are added up, with the name of what they are and its unit
_ADDED = (
    ("op_mac_", "MACs", "MACs"),
    ("mem_w_", "elements of weights", ""),
    ("mem_o_", "elements of outputs", ""),
)
_TOTALS = {
    "total_bops": ("bit operations", ""),
    "total_mem_w_bits": ("bits of weights", "bit"),
    "total_mem_o_bits": ("bits of outputs", "bit"),
}


def is_cost_report(told: Any) -> bool:
    """Return whether JSON is a cost report, with or without a breakdown."""
    if not isinstance(told, Mapping):
        return False
    if isinstance(told.get("node_cost"), Mapping):
        return True
    whole = told.get("total_cost")  # newer reports have the sums in it
    sums = whole if isinstance(whole, Mapping) else told
    return any(isinstance(key, str) and key.startswith("op_mac_") for key in sums)


def read_cost_report(told: Mapping[str, Any], name: str) -> list[Column]:
    """Return the columns of a cost report.

    Raises
    ------
    OverlayError
        Where it has no breakdown by node.
    """
    nodes = told.get("node_cost")
    if not isinstance(nodes, Mapping):
        raise OverlayError(
            f"{name}: the cost report has sums for the whole model alone. Write it with the costs "
            "of each node (cost_breakdown)."
        )
    columns: dict[tuple[str, str], dict[str, float | str]] = {}
    for node, costs in nodes.items():
        if not isinstance(costs, Mapping):
            raise OverlayError(f"{name}: the costs of {str(node)[:200]!r} are no object.")
        for field, number in list_fields(costs):
            key = _TOTALS.get(field) or next(
                ((title, unit) for start, title, unit in _ADDED if field.startswith(start)), None
            )
            if key is not None:
                values = columns.setdefault(key, {})
                node_name = node[:LONGEST_WORD]
                values[node_name] = float(values.get(node_name, 0.0)) + number
    if not columns:
        raise OverlayError(f"{name}: no node of the cost report has a number.")
    return [
        Column(title, values, unit, aggregation="sum", source=name)
        for (title, unit), values in columns.items()
    ]
