"""What models, groups and nodes cost: as rows, and as objects that JSON can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from netloupe.explorer.costs import (
    Costs,
    describe_unknown_costs,
    explain_costs,
    write_activations,
    write_amount,
    write_macs,
    write_ties,
)
from netloupe.explorer.costs.costs import analyze, find_work, is_analyzed, make_costs
from netloupe.explorer.costs.wording import write_share
from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Model, Node
from netloupe.explorer.notation import write_number
from netloupe.explorer.view import nodes_inside

from .description import Row
from .file_text import write_line

#: of a larger model nodes and groups tell costs only where these were counted before
MOST_NODES_COUNTED = 20_000


def list_model_costs(model: Model) -> list[Row]:
    """Return rows for what a model costs each time it runs."""
    costs = model.costs()
    return [
        Row("stored twice", write_ties(costs)),
        *_list_macs(costs, ""),
        Row(
            "activations",
            write_activations(costs) if costs.activation_bytes != 0 else "",
            "" if costs.macs != 0 else write_line(explain_costs(costs)),
        ),
        Row("arithmetic intensity", _write_intensity(costs)),
    ]


def list_part_costs(model: Model, nodes: Sequence[Node], note: str = "") -> list[Row]:
    """Return rows for what some nodes of one graph cost, and how much of the model that is.

    Nothing where they have no MACs, and where all of a large model would have to be looked at.
    """
    if not nodes or not _is_quick(model):
        return []
    analysis = analyze(model)
    graph = nodes[0].graph
    work = find_work(analysis, graph, nodes)
    if not work.macs and not work.gaps:
        return []
    whole = analysis.main.total.macs
    share = write_share(work.macs, whole) if graph is model.graph and work.macs != whole else ""
    costs = make_costs(model.totals, work, None)
    if not work.macs and not costs.macs_is_lower_bound:
        return []
    notes = [note, f"{share} of the model" if share else ""]
    return _list_macs(costs, ", ".join(filter(None, notes)))


def list_group_costs(group: Group) -> list[Row]:
    """Return rows for what the nodes of a group cost each time its graph runs.

    Of a repeat with what each of its groups costs, where they cost the same.
    """
    model = group.graph.model
    each = ""
    if group.kind == "repeat" and _is_quick(model):
        blocks = [[one] if isinstance(one, Node) else nodes_inside(one) for one in group.children]
        costs = {find_work(analyze(model), group.graph, nodes).macs for nodes in blocks}
        each = f"{write_line(write_amount(costs.pop()))} each" if len(costs) == 1 else ""
    return list_part_costs(model, nodes_inside(group), each)


def _is_quick(model: Model) -> bool:
    return model.node_count <= MOST_NODES_COUNTED or is_analyzed(model)


def _list_macs(costs: Costs, note: str) -> list[Row]:
    letters = write_line(explain_costs(costs))
    return [
        Row("MACs", write_line(write_macs(costs)), "; ".join(filter(None, (note, letters)))),
        Row("not counted", write_line(describe_unknown_costs(costs))),
    ]


def _write_intensity(costs: Costs) -> str:
    intensity = costs.arithmetic_intensity
    if not intensity or costs.macs_is_lower_bound or costs.activation_bytes_is_lower_bound:
        return ""
    return f"{write_number(round(intensity, 1))} operations a byte"


def collect_costs(costs: Costs) -> dict[str, Any]:
    """Return what a model or a part of it costs.

    Returns
    -------
    dict
        ``macs``, ``macs_expression``, ``macs_is_lower_bound``, ``least_macs`` and its expression
        (where each If takes the smaller branch), ``macs_by_operator``, ``other_operations``,
        ``parameters``, ``tied_parameters``, ``tying_is_checked``,
        ``running_statistics``, ``attention_biases``, ``attribute_values``, ``elements``,
        ``weight_bytes``,
        ``activation_bytes``, ``peak_activation_bytes``, ``moved_bytes``,
        ``arithmetic_intensity``, ``symbols``, ``replaced_shapes`` (by input what the file has
        ``stated`` and what is ``counted`` instead) and ``unknown`` (what, reason, count, affects).
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
        "tied_parameters": costs.tied_parameters,
        "tying_is_checked": costs.tying_is_checked,
        "running_statistics": costs.running_statistics,
        "attention_biases": costs.attention_biases,
        "attribute_values": costs.attribute_values,
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
        "replaced_shapes": {
            name: {"stated": stated, "counted": taken}
            for name, (stated, taken) in costs.replaced_shapes.items()
        },
        "unknown": [
            {"what": one.what, "reason": one.reason, "count": one.count, "affects": one.affects}
            for one in costs.unknown
        ],
    }
