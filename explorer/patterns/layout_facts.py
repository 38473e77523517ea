"""What nodes make of a value that they only lay out anew: windows of an image, or sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Node, Value, constant_tensor

from .readings import holds_ones, read_ints

#: rows and columns, cut in two each
_PARTS = 4
#: with a batch and features beside them
_MOST_AXES = 6
#: the operand of a Slice that tells which elements are left out
_STEPS = 4


def describe_layout(nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return facts of nodes of which each lays out what the one before gives.

    Parameters
    ----------
    nodes
        In the order in which the value passes them.

    Returns
    -------
    tuple of str
        ``into windows 8×8`` of an image of which places that are beside one another come together
        (Z. Liu and others, Swin Transformer, 2021, section 3.2), ``windows 8×8 to an image`` of
        the way back; ``60 × 8 × 8 → 64 × 60`` of anything else; nothing where sizes are unknown.
    """
    before = _find_dims(nodes[0].input(0))
    behind = _find_dims(nodes[-1].output(0))
    if not before or not behind or None in (*before, *behind):
        return ()
    turned = [node for node in nodes if node.operator.has("permutes")]
    if len(turned) == 1:
        perm, dims = read_ints(turned[0], "perm"), _find_dims(turned[0].input(0))
        for outer, inner in _list_parts(perm, dims):
            if _holds(before, (outer[0] * outer[1], inner[0] * inner[1])):
                # of rows and of columns windows stand before the places in each
                return (f"into windows {outer[1]}×{inner[1]}",)
            if _holds(behind, (outer[0] * inner[0], outer[1] * inner[1])):
                return (f"windows {inner[0]}×{inner[1]} to an image",)
    return (f"{_write(before)} → {_write(behind)}",)


def crops_one_value(node: Node) -> bool:
    """Return whether a node cuts off ends of a value, and leaves out nothing between them."""
    if not node.operator.has("slices"):
        return False
    steps = node.input(_STEPS) if len(node.inputs) > _STEPS else None
    return steps is None or holds_ones(constant_tensor(steps), _MOST_AXES)


def describe_crop(nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return ``320 × 320 → 256 × 256`` of nodes of which each crops what the one before gives."""
    before = _find_dims(nodes[0].input(0))
    behind = _find_dims(nodes[-1].output(0))
    cut = [
        axis for axis, sizes in enumerate(zip(before, behind, strict=False)) if len({*sizes}) > 1
    ]
    sizes = [dims[axis] for dims in (before, behind) for axis in cut]
    if len(before) != len(behind) or not cut or None in sizes:
        return ()
    return (" → ".join(" × ".join(str(dims[axis]) for axis in cut) for dims in (before, behind)),)


def _list_parts(
    perm: Sequence[int], dims: Sequence[int | None]
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield the sizes of four axes, two and two, where the inner ones of these change places."""
    if not _PARTS < len(perm) <= _MOST_AXES or len(dims) != len(perm) or None in dims:
        return
    sizes = [dim or 0 for dim in dims]
    for axes in combinations(range(len(perm)), _PARTS):
        places = [perm.index(axis) for axis in axes]
        if places[0] < places[2] < places[1] < places[3]:
            one, two, three, four = (sizes[axis] for axis in axes)
            if min(one, two, three, four) > 1:
                yield (one, two), (three, four)


def _find_dims(value: Value | None) -> tuple[int | None, ...]:
    dims = None if value is None else find_value_facts(value.graph.model).find_dims(value)
    return () if dims is None else tuple(dim if isinstance(dim, int) else None for dim in dims)


def _holds(dims: Sequence[int | None], image: tuple[int, int]) -> bool:
    return any((*dims[place : place + 2],) == image for place in range(1, len(dims) - 1))


def _write(dims: Sequence[int | None]) -> str:
    """Return sizes without a batch of one."""
    kept = dims[1:] if len(dims) > 1 and dims[0] == 1 else dims
    return " × ".join(map(str, kept))
