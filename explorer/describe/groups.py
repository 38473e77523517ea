"""The groups of a model as a tree: as lines for a terminal, and as objects that JSON can hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from netloupe.explorer.costs import (
    Bindings,
    Costs,
    explain_costs,
    write_amount,
    write_macs,
    write_replaced,
)
from netloupe.explorer.costs.wording import name_amount
from netloupe.explorer.grouping import ModelGroup
from netloupe.explorer.model import Model
from netloupe.explorer.notation import clip_text, write_count
from netloupe.explorer.progress import step

from .encoding import Listing
from .file_text import write_line

DEPTH = 2
_WIDEST_LABEL = 48
_WIDEST_TEXT = 60
_MOST_LINES = 400


def collect_groups(
    group: ModelGroup, depth: int = DEPTH, bind: Bindings | None = None
) -> dict[str, Any]:
    """Return a group and those inside it, down to so many levels.

    Returns
    -------
    dict
        ``path``, ``label``, ``kind``, ``recognised``, ``type_name``, ``nodes`` (how many),
        ``parameters``, ``macs`` (null where they depend on symbols), ``macs_expression``,
        ``macs_is_lower_bound``, ``bytes``, and ``groups``: the same of each group directly inside,
        or null below the last level where there are any. Numbers of a repeat are those of all of
        its groups together.
    """
    step()
    costs, inner = group.costs(bind), group.groups
    listed: Any = Listing(inner, lambda one: collect_groups(one, depth - 1, bind), len(inner))
    return {
        "path": group.path,
        "label": group.label,
        "kind": group.kind,
        "recognised": group.recognised,
        "type_name": group.type_name,
        "nodes": group.node_count,
        "parameters": costs.parameters,
        "macs": costs.macs,
        "macs_expression": costs.macs_expression,
        "macs_is_lower_bound": costs.macs_is_lower_bound,
        "bytes": costs.weight_bytes,
        "groups": listed if depth > 0 or not inner else None,
    }


def list_groups(model: Model, depth: int = DEPTH, bind: Bindings | None = None) -> list[str]:
    """Return a line for each group down to so many levels: label, sizes, what it is, MACs.

    Of a repeat one of its groups is shown, and of arithmetic on shapes nothing.
    """
    rows = []
    for level, group, note in walk_groups(model.groups, depth):
        step()
        costs = group.costs(bind)
        label = "  " * level + clip_text(write_line(group.label), _WIDEST_LABEL) + note
        rows.append((label, _tell(group), *_list_numbers(group, costs)))
        if len(rows) > _MOST_LINES:
            break
    shown = rows[:_MOST_LINES]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    lines = [_align(row, widths).rstrip() for row in shown]
    whole = model.groups.costs(bind)
    lines += [
        write_line(text)
        for text in (explain_costs(whole), write_replaced(whole.replaced_shapes))
        if text
    ]
    if len(rows) > len(shown):
        lines.append("… and more. A smaller --depth shows fewer, --json all of them.")
    return lines


def walk_groups(root: ModelGroup, depth: int) -> Iterator[tuple[int, ModelGroup, str]]:
    """Yield a group and those inside it, with their levels and how often each is there.

    Of a repeat one of its groups is yielded, and nothing of arithmetic on shapes.
    """
    pending = [(0, root, "")]
    while pending:
        level, group, note = pending.pop()
        yield level, group, note
        inner = [one for one in group.groups if one.kind != "shape"] if level < depth else []
        if group.kind == "repeat" and inner:
            pending.append((level + 1, inner[0], f"  first of {len(inner):,}"))
        else:
            pending += [(level + 1, one, _count(one)) for one in reversed(inner)]


def _count(group: ModelGroup) -> str:
    return f" ×{len(group.groups):,}" if group.kind == "repeat" and group.groups else ""


def _tell(group: ModelGroup) -> str:
    return clip_text(write_line(group.recognised or group.type_name), _WIDEST_TEXT)


def _list_numbers(group: ModelGroup, costs: Costs) -> tuple[str, str, str]:
    parameters, macs = costs.parameters, write_line(write_macs(costs))
    return (
        write_count(group.node_count, "node"),
        name_amount(write_amount(parameters), "parameter") if parameters else "",
        name_amount(macs, "MAC") if macs != "0" else "",
    )


def _align(row: tuple[str, ...], widths: list[int]) -> str:
    label, told, nodes, parameters, macs = row
    return (
        f"{label:<{widths[0]}}  {nodes:>{widths[2]}}  {parameters:>{widths[3]}}  "
        f"{told:<{widths[1]}}  {macs}"
    )
