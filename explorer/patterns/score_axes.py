"""Which axis of queries and keys their product sums over, and what that axis was before.

Between places it is the features of a head, wherever they stand: as (batch, heads, tokens, width),
as (batch, heads, width, tokens) that a Transpose turns, or as any letter of an Einsum (A. Vaswani
and others, Attention Is All You Need, 2017, section 3.2.1). Between channels it is the places.
"""

from __future__ import annotations

from netloupe.explorer.costs.facts import Dim, Dims
from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Node

from .operations import Operations
from .readings import read_axes, read_int, read_ints, read_str


def find_summed_axis(product: Node, place: int) -> int | None:
    """Return which axis of an operand a product of two sums over, counted from the last: -1.

    None where there is not one, as in an Einsum over several.
    """
    if product.operator.form != "Einsum":
        return -2 if place else -1
    term, other, result = _read_einsum(product, place)
    summed = [letter for letter in term if letter in other and letter not in result]
    return term.index(summed[0]) - len(term) if len(summed) == 1 else None


def find_head_axis(product: Node, place: int) -> int | None:
    """Return which axis of an operand of four counts heads, counted from the last.

    It is the later of two that both operands and the result have; the other is the batch.
    """
    if product.operator.form != "Einsum":
        return -3
    term, other, result = _read_einsum(product, place)
    kept = [letter for letter in result if letter in term and letter in other]
    return term.index(kept[1]) - len(term) if len(kept) == 2 else None


def find_compared_axis(product: Node, place: int) -> int | None:
    """Return which axis of an operand of a product counts what is compared, from the last.

    That one is in the result, and not in the other operand. None where there is not one.
    """
    if product.operator.form != "Einsum":
        return -1 if place else -2
    term, other, result = _read_einsum(product, place)
    compared = [letter for letter in term if letter in result and letter not in other]
    return term.index(compared[0]) - len(term) if len(compared) == 1 else None


def _read_einsum(node: Node, place: int) -> tuple[str, str, str]:
    """Return the letters of one operand of an Einsum, of the other, and of the result."""
    terms, _, result = read_str(node, "equation").replace(" ", "").partition("->")
    both = terms.split(",")
    if len(both) != 2 or "." in terms:
        return "", "", ""
    return both[place], both[1 - place], result


def follow_axis(operations: Operations, node: Node, axis: int | None) -> int | None:
    """Return which axis of what a node takes one of its result is, both counted from the last.

    Behind a Reshape it is that one, or the first of those, that it is a part of. None where that
    is not known.
    """
    if axis is None:
        return None
    if node.operator.has("permutes"):
        order = read_ints(node, "perm")
        return order[axis] - len(order) if -axis <= len(order) else None
    facts = find_value_facts(operations.context.graph.model)
    before, after = (facts.find_dims(value) for value in (node.input(0), node.output(0)))
    if node.op_type == "Reshape":
        return None if before is None or after is None else _follow_split(before, after, axis)
    if before is None or after is None or len(before) == len(after):
        return axis
    axes = (read_int(node, "axis") or 0,) if node.operator.has("gathers") else read_axes(node)
    rank = max(len(before), len(after))
    if not axes or len(axes) != abs(len(before) - len(after)):
        return None
    lasting = [one for one in range(rank) if one not in {place % rank for place in axes}]
    if len(before) > len(after):
        return lasting[axis] - rank
    return lasting.index(axis + rank) - len(before) if axis + rank in lasting else None


def _follow_split(before: Dims, after: Dims, axis: int) -> int | None:
    """Return which axis a Reshape makes another one of, both counted from the last.

    From the last on, axes are gathered on both sides until as many elements are in both.
    """
    place, other = len(before), len(after)
    while place > 0 and other > 0:
        place, other = place - 1, other - 1
        one, two = before[place], after[other]
        while one != two:
            if not isinstance(one, int) or not isinstance(two, int):
                return None
            if one < two and place > 0:
                place -= 1
                one = _times(one, before[place])
            elif one > two and other > 0:
                other -= 1
                two = _times(two, after[other])
            else:
                return None
        if other <= axis + len(after):
            return place - len(before)
    return None


def _times(size: int, dim: Dim) -> Dim:
    return size * dim if isinstance(dim, int) else None
