"""Costs as objects that JSON can hold."""

from __future__ import annotations

from typing import Any

from netloupe.explorer.costs import Costs


def collect_costs(costs: Costs) -> dict[str, Any]:
    """Return what a model or a part of it costs.

    Returns
    -------
    dict
        ``macs``, ``macs_expression``, ``macs_is_lower_bound``, ``least_macs`` and its expression
        (where each If takes the smaller branch), ``macs_by_operator``, ``other_operations``,
        ``parameters``, ``running_statistics``, ``elements``, ``weight_bytes``,
        ``activation_bytes``, ``peak_activation_bytes``, ``moved_bytes``,
        ``arithmetic_intensity``, ``symbols`` and ``unknown`` (what, reason, count, affects).
        Numbers that depend on symbols are null; expressions have the symbols.
    """
    return {
        "macs": costs.macs,
        "macs_expression": costs.macs_expression,
        "macs_is_lower_bound": costs.macs_is_lower_bound,
        "least_macs": costs.least_macs,
        "least_macs_expression": costs.least_macs_expression,
        "macs_by_operator": dict(costs.macs_by_operator),
        "other_operations": costs.other_operations,
        "other_operations_expression": costs.other_operations_expression,
        "parameters": costs.parameters,
        "running_statistics": costs.running_statistics,
        "elements": costs.elements,
        "weight_bytes": costs.weight_bytes,
        "activation_bytes": costs.activation_bytes,
        "activation_bytes_expression": costs.activation_bytes_expression,
        "activation_bytes_is_lower_bound": costs.activation_bytes_is_lower_bound,
        "peak_activation_bytes": costs.peak_activation_bytes,
        "peak_activation_bytes_expression": costs.peak_activation_bytes_expression,
        "moved_bytes": costs.moved_bytes,
        "arithmetic_intensity": costs.arithmetic_intensity,
        "symbols": costs.symbols,
        "unknown": [
            {"what": one.what, "reason": one.reason, "count": one.count, "affects": one.affects}
            for one in costs.unknown
        ],
    }
