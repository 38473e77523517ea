"""What mixes tokens, nodes or channels outside of all known blocks: products, scattering.

A network in which something like that stands beside linear layers is no feed-forward network, and
one that weighs values by shares has attention, whatever is written around it (D. Bahdanau and
others, Neural Machine Translation by Jointly Learning to Align and Translate, 2015, section 3.1).
"""

from __future__ import annotations

from typing import NamedTuple

from netloupe.explorer.patterns.routings import read_routing

from .outline import Outline, OutlinePart

#: what mixes by its own kind
_MIXING = ("attends", "attends_linearly", "loops", "scatters", "solves")
#: what may stand between shares and what they weigh
_BETWEEN = ("adds", "chooses", "divides", "elementwise", "multiplies_elements")
_MOST_BETWEEN = 6
_PAIR = 2
#: so many products are looked at
_MOST_PRODUCTS = 500


class Mixing(NamedTuple):
    """What there is outside of known blocks.

    Parameters
    ----------
    attends
        Whether shares that add up to 1 are multiplied with computed values.
    mixes
        Whether computed values are multiplied as matrices, or elements are written into others.
    gates
        Whether elements of computed values are multiplied, or chosen by how large they are.
    weighs
        Whether computed values are multiplied element by element by such shares, and summed up.
    mixes_experts
        Whether such shares weigh what several layers give, each one number for each layer.
    """

    attends: bool
    mixes: bool
    gates: bool
    weighs: bool
    mixes_experts: bool = False


def find_mixing(outline: Outline) -> Mixing:
    """Return what mixes outside of all known blocks of a graph."""
    products = [part for part in outline.parts if _is_product(outline, part)]
    looked_at = products[:_MOST_PRODUCTS]
    gating = {part for part in looked_at if _gates_experts(outline, part)}
    return Mixing(
        any(_weighs(outline, part) for part in looked_at if part not in gating)
        or any(_attends_inside(outline, part) for part in outline.of_kind("residual")),
        bool(products) or any(part.has(*_MIXING) for part in outline.parts),
        any(_gates(outline, part) for part in outline.parts),
        any(_sums_up(outline, part) for part in outline.parts),
        bool(gating),
    )


def _gates_experts(outline: Outline, product: OutlinePart) -> bool:
    """Return whether shares that a gate gives weigh a stack of what several layers give.

    R. Jacobs and others, Adaptive Mixtures of Local Experts, 1991, figure 1. The gate takes what
    the experts take; attention makes its shares of what it weighs.
    """
    givers = outline.givers(product)
    for stack, shares in (givers, givers[::-1]) if len(givers) == _PAIR else ():
        is_share = shares.has("distributes") or shares.name == "Softmax"
        if is_share and not shares.follows(stack) and _is_stack(outline, stack):
            return True
    return False


def _is_stack(outline: Outline, part: OutlinePart) -> bool:
    """Return whether a part puts what different layers give beside each other, each as one."""
    values = outline.operations.operands[part.end]
    if not part.has("joins") or len({outline.giver(value) for value in values}) < len(values) > 1:
        return False
    taken = outline.operations.nodes[part.end].inputs
    return all(
        value is not None
        and value.producer is not None
        and value.producer.operator.has("inserts_axes")
        for value in taken
    )


def _sums_up(outline: Outline, part: OutlinePart) -> bool:
    """Return whether elements are summed up that were multiplied by shares (section 3.1)."""
    if not part.has("reduces"):
        return False
    givers = outline.givers(part)
    product = givers[0] if len(givers) == 1 else None
    if product is None or not product.has("multiplies_elements"):
        return False
    factors = outline.givers(product)
    shares = [one for one in factors if one.has("distributes") or one.name == "Softmax"]
    return len(factors) == 2 and len(shares) == 1


def _attends_inside(outline: Outline, part: OutlinePart) -> bool:
    """Return whether shares and a product of computed values are inside of a block."""
    operations = outline.operations
    nodes = {number: operations.nodes[number].operator for number in part.numbers}
    return any(operator.has("distributes") for operator in nodes.values()) and any(
        operator.has("multiplies") and len(operations.operands[number]) > 1
        for number, operator in nodes.items()
    )


def _gates(outline: Outline, part: OutlinePart) -> bool:
    """Return whether a part multiplies elements of computed values, or chooses the largest."""
    if part.has("multiplies_elements"):
        return len(outline.operations.operands[part.end]) > 1
    return part.has("selects")


def _is_product(outline: Outline, part: OutlinePart) -> bool:
    """Return whether a part is a product of computed values alone."""
    return part.has("multiplies") and len(outline.operations.operands[part.end]) > 1


def _weighs(outline: Outline, product: OutlinePart) -> bool:
    """Return whether a product is one with shares that add up to 1 and follow from an input.

    Shares of routing by agreement are none of attention.
    """
    pending, seen = [*outline.givers(product)], {product}
    while pending and len(seen) <= _MOST_BETWEEN:
        part = pending.pop()
        if part in seen:
            continue
        seen.add(part)
        if part.has("distributes") or part.name == "Softmax":
            operations = outline.operations
            return (
                bool(operations.operands[part.end]) and read_routing(operations, part.end) is None
            )
        if part.has(*_BETWEEN):
            pending += outline.givers(part)
    return False
