"""Calls of functions as blocks: what bodies hold, with the weights that calls give them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import prod

from netloupe.explorer.model import Graph, Node, Value
from netloupe.explorer.patterns import read_dims

from .composites import Merge
from .counted_words import count_pieces, join_with_and
from .module_names import tell_name
from .outline import Outline, OutlinePart

#: so many calls and so many nodes in all their bodies are looked at
_MOST_CALLS = 500
_MOST_NODES = 20_000
_MOST_LEVELS = 4
#: what is known of calls that take less of the weights would be told as if it were the network
_LEAST_TOLD = 0.8
#: shares are multiplied with values, and made of a product themselves
_PRODUCTS_OF_ATTENTION = 2
#: how a block of calls is called; see :func:`~.piece_words.write_plural`
BLOCK_OF = "block of "


def find_called_blocks(outline: Outline) -> Iterator[Merge]:
    """Find calls of functions whose bodies multiply by weights that the call gives.

    So an exporter writes the modules of an author: each call of a layer has weights of its own.
    Nothing where most weights are given to calls of which it is not known what they do.
    """
    calls = outline.of_kind("call")[:_MOST_CALLS]
    weights = all_weights = 0
    found: list[Merge] = []
    budget = _MOST_NODES
    told: dict[tuple[object, ...], str] = {}
    for call in calls:
        node = outline.operations.nodes[call.end]
        if node.function is None:
            continue
        stored = tuple(
            value is not None and outline.operations.is_fixed(value) for value in node.inputs
        )
        key = (node.function, stored)
        if key not in told:
            budget -= len(node.function.nodes)
            if budget < 0:
                return  # then it is not known of some
            given = {
                one for one, is_fixed in zip(node.function.inputs, stored, strict=False) if is_fixed
            }
            told[key] = _describe(node.function, given)
        size = sum(
            prod(read_dims(value))
            for value, is_fixed in zip(node.inputs, stored, strict=True)
            if value is not None and is_fixed
        )
        all_weights += size
        if told[key]:
            weights += size
            part = OutlinePart("group", call.numbers, call.end, f"{BLOCK_OF}{told[key]}")
            found.append(([call], part))
    if weights >= _LEAST_TOLD * all_weights:
        yield from found


def _describe(body: Graph, stored: set[Value]) -> str:
    """Return what a body holds that is given some stored values: ``attention and 8 linear layers``.

    "" where no layer is in it.
    """
    counts: Counter[str] = Counter()
    products = _count_layers(body, stored, counts, 0)
    if not counts:
        return ""
    attends = products[0] >= _PRODUCTS_OF_ATTENTION and products[1]
    words = ["attention"] if attends else []
    words += [count_pieces(count, noun) if count > 1 else noun for noun, count in counts.items()]
    return join_with_and(words)


def _count_layers(
    body: Graph, stored: set[Value], counts: Counter[str], level: int
) -> tuple[int, bool]:
    """Count the layers of a body and of calls in it; return its products of computed values.

    And whether it makes shares that add up to 1.
    """
    products, distributes = 0, False
    for node in body.nodes:
        fixed = [value for value in node.inputs if value is not None and _is_stored(value, stored)]
        if node.function is not None and level < _MOST_LEVELS:
            said = tell_name(node.function.name)
            inner = {
                one
                for one, value in zip(node.function.inputs, node.inputs, strict=False)
                if value in fixed
            }
            own: Counter[str] = Counter()
            found = _count_layers(node.function, inner, own, level + 1)
            if said and own:
                counts[said] += 1
            else:
                counts.update(own)
                products, distributes = products + found[0], distributes or found[1]
            continue
        distributes |= node.operator.has("distributes")
        noun = _name_layer(node)
        if noun and fixed:
            counts[noun] += 1
        elif noun and node.operator.has("multiplies"):
            products += 1
    return products, distributes


def _is_stored(value: Value, stored: set[Value]) -> bool:
    return value in stored or value.initializer is not None


def _name_layer(node: Node) -> str:
    """Return what a node is with a stored matrix; "" for others."""
    if node.operator.has("recurrent"):
        return "recurrent layer"
    if node.operator.has("convolves"):
        return "convolution"
    return "linear layer" if node.operator.has("multiplies") else ""
