"""MLPs between whose linear layers a depthwise convolution looks at neighbouring places."""

from __future__ import annotations

from collections.abc import Iterator

from .convolution_details import ConvolutionDetails
from .found_blocks import FoundBlock, FoundBlocks
from .linear import list_widths, write_widths
from .transformer_details import MlpDetails

#: an activation, the convolution with one of its own
_MOST_BETWEEN = 2


def find_convolutional_mlps(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find two linear layers with one depthwise convolution and activations between them.

    E. Xie and others, SegFormer, 2021, equation 3, and W. Wang and others, PVT v2, 2022, section
    3.3: such a convolution tells places by their neighbours, zeros around the map included. With an
    activation before it as well: Z. Wang and others, Uformer, 2022, section 3.2.
    """
    for number in range(len(blocks.operations)):
        first = blocks.ending(number, "linear")
        found = _follow(blocks, first) if first is not None else None
        if found is not None:
            yield found


def _follow(blocks: FoundBlocks, first: FoundBlock) -> FoundBlock | None:
    """Return the block that begins with a linear layer; None where it is of another form."""
    operations = blocks.operations
    parts = [first]
    kernel: tuple[int, ...] = ()
    activations: list[str] = []
    for _ in range(_MOST_BETWEEN + 1):
        users = operations.users[parts[-1].end]
        following = blocks.holding(users[0] if users else None, "linear", "activation", "conv")
        if following is None or not following.numbers.issuperset(users):
            return None
        parts.append(following)
        if following.kind == "linear":
            break
        if following.kind == "activation":
            activations.append(following.name)
            continue
        convolution = following.details.read_as(ConvolutionDetails)
        if kernel or not convolution.is_depthwise or convolution.in_features is None:
            return None
        if convolution.out_features != convolution.in_features or convolution.stride is not None:
            return None
        kernel = convolution.kernel
        activations += following.name.split(" · ")[1:]
    if parts[-1].kind != "linear" or not kernel or not activations:
        return None
    numbers = frozenset().union(*(part.numbers for part in parts))
    if not operations.is_closed(set(numbers), parts[-1].end):
        return None
    widths = list_widths([first, parts[-1]])
    between = ", ".join(dict.fromkeys(activations))
    side = "×".join(map(str, kernel))
    facts = (*([write_widths(*widths)] if widths else []), f"depthwise {side}", between)
    details = MlpDetails(activation=between, widths=widths)
    return FoundBlock(
        "mlp", "Convolutional MLP", numbers, parts[-1].end, facts, details, tuple(parts)
    )
