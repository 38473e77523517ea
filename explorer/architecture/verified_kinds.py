"""Whether what a network is called holds for all that it gives, walked on its operations."""

from __future__ import annotations

from netloupe.explorer.roles import find_weight

from .outline import Outline

#: so many linear layers may stand beside each convolution
_MOST_PRODUCTS = 8


def is_convolved(outline: Outline) -> bool:
    """Return whether all that is given by layers with weights follows from a convolution.

    Else convolutions are one of several ways beside each other: what is convolved at one of them
    names no network of linear layers. Nor do few convolutions before very many of these.
    """
    operations = outline.operations
    convolutions = products = 0
    convolved: list[bool] = []
    weighted: list[bool] = []
    for number, node in enumerate(operations.nodes):
        givers = [giver for giver in operations.givers(number) if giver < number]
        convolves = node.operator.has("convolves")
        is_layer = convolves or (
            node.operator.has("multiplies", "recurrent") and find_weight(node) is not None
        )
        convolutions += convolves
        products += is_layer and not convolves
        convolved.append(convolves or any(convolved[giver] for giver in givers))
        weighted.append(is_layer or any(weighted[giver] for giver in givers))
    if products > _MOST_PRODUCTS * convolutions:
        return False
    ends = [operations.giver(operations.source(output)) for output in outline.graph.outputs]
    return all(convolved[end] or not weighted[end] for end in ends if end is not None)
