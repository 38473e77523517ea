"""What a stream begins with where that is stored: no edge brings it, so a box has to say it.

A synthesis network begins with a learned map (T. Karras and others, StyleGAN, 2019, figure 1b); a
set of latents asks for what comes in (A. Jaegle and others, Perceiver, 2021, section 3.2).
"""

from __future__ import annotations

from collections.abc import Iterable

from netloupe.explorer.dataflow import find_source, is_input_independent
from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.member_nodes import list_member_nodes
from netloupe.explorer.model import Node
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.patterns import count_queries

#: in a group of more nodes nobody looks for it
_MOST_NODES = 200
#: what gives a map for each picture of a batch
_COPYING = (*LAYOUT_TRAITS, "broadcasts", "repeats")
#: batch and channels stand before places
_BEFORE = 2


def pick_queries(facts: Iterable[str]) -> list[str]:
    """Return the facts that tell with what a stream begins: ``16 × 32 latents``."""
    return [fact for fact in facts if count_queries([fact])]


def tell_stored_map(group: Group) -> str:
    """Return ``from a stored map, 4 × 4 × 64`` where a convolution takes one; "" for others.

    Its kernel follows from what comes in: a convolution of stored numbers alone gives others.
    """
    found = [_find_stored(node) for node in list_member_nodes(group, _MOST_NODES)]
    dims = [one for one in found if one]
    if len(dims) != 1:
        return ""
    channels, *places = dims[0]
    return f"from a stored map, {' × '.join(f'{size:,}' for size in (*places, channels))}"


def _find_stored(node: Node) -> tuple[int, ...]:
    """Return the channels and places of the stored map that a convolution takes; () for none."""
    kernel = node.input(1)
    if not node.operator.has("convolves") or kernel is None or is_input_independent(kernel):
        return ()
    source = find_source(node.input(0), *_COPYING)
    tensor = find_stored_tensor(source) if source is not None else None
    is_map = tensor is not None and tensor.dtype.is_float and len(tensor.dims) > _BEFORE
    return tuple(tensor.dims[1:]) if tensor is not None and is_map else ()
