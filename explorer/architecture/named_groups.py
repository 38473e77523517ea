"""Groups of the picture that have a name of their own, as parts of an outline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from netloupe.explorer.grouping import find_tree
from netloupe.explorer.grouping.group import Group
from netloupe.explorer.model import Model
from netloupe.explorer.notation import write_count
from netloupe.explorer.patterns import BlockDetails, Recognition
from netloupe.explorer.patterns.convolution_details import StridedDetails
from netloupe.explorer.patterns.prediction_heads import HEADS
from netloupe.explorer.patterns.transformer_details import TransformerDetails

from .composites import Merge, make_part
from .opened import has_levels
from .outline import Outline, OutlinePart
from .pieces import ROUTING

#: so many groups are looked at
_MOST_GROUPS = 3_000
#: a block that a sentence counts has no more nodes
_MOST_NODES = 600
#: names of blocks that parts of an outline may have as well
_RESIDUAL = frozenset(
    {
        *("Basic block", "Bottleneck block", "Inverted bottleneck", "Inverted residual"),
        "Residual block",
    }
)
#: names that are given to any branches of convolutions, as to the heads of a detector, those of
#: groups of which the layers inside are told, and of parts that need not be in a group
_LOOSE = frozenset({HEADS, "Inception block", "Message passing", ROUTING, "Summed branches"})
#: arithmetic without weights that a network is told by (D. Snyder and others, X-vectors, 2018,
#: section 2.1; T. Kim and others, Reversible Instance Normalization, 2022, section 3)
_STEPS = frozenset(
    {"Attentive statistics pooling", "Mean and deviation", "Standardization", "Statistics pooling"}
)
#: what stacks are called whose blocks are too large to be looked for, and their kind
_BY_STRUCTURE = {"Affine coupling": "coupling"}
#: stands between the operators that a block is called by where it has no name of its own
_ROW = " · "


def find_named_groups(model: Model, outline: Outline, *, is_folded: bool) -> Iterator[Merge]:
    """Find groups that the picture names, of which no part of the outline is half inside.

    Those of transformers are left to what is told of their layers. Of a graph that is folded one
    of each run is there.
    """
    numbers = {node: number for number, node in enumerate(outline.operations.nodes)}
    tree = find_tree(model, outline.graph)
    pending = list(reversed(tree.root.inner_groups()))
    seen = 0
    while pending and seen < _MOST_GROUPS:
        group = pending.pop()
        seen += 1
        named = _recognise(group)
        if group.kind == "repeat" and is_folded:
            chosen = group.children[group.exemplar]
            pending += [chosen] if isinstance(chosen, Group) else []
            continue
        if named is None and group.parent is not None and group.parent.label in _BY_STRUCTURE:
            named = Recognition(group.parent.label, "group")
        if named is None:
            pending += reversed(group.inner_groups())
            continue
        nodes = tree.order[group.low : group.high]
        own = {numbers[node] for node in nodes if node in numbers}
        parts: dict[OutlinePart, None] = dict.fromkeys(map(outline.owner, sorted(own)))
        if len(parts) > 1 and all(part.numbers <= own for part in parts):
            kind = "residual" if named.name in _RESIDUAL else _BY_STRUCTURE.get(named.name, "group")
            merged = make_part([*parts], kind, named.name, _detail(named, parts))
            merged.facts = _tell_blocks(parts) if kind == "coupling" else named.facts
            if kind != "residual" or not has_levels(outline, merged):
                yield [*parts], merged


def _tell_blocks(parts: Iterable[OutlinePart]) -> tuple[str, ...]:
    """Return how many residual blocks a group holds; nothing for fewer than two."""
    count = sum(part.kind == "residual" for part in parts)
    return (f"{write_count(count, 'residual block')} each",) if count > 1 else ()


def _detail(named: Recognition, parts: Iterable[OutlinePart]) -> BlockDetails:
    """Return what is known of a group; where that is nothing, the stride of its convolutions."""
    if named.details.in_out is not None:
        return named.details
    return StridedDetails(stride=next((one.stride for one in parts if one.is_strided), None))


def _recognise(group: Group) -> Recognition | None:
    """Return what a group is called, where that is the name of a block."""
    if group.kind == "repeat" or not 1 < group.node_count <= _MOST_NODES or group.is_beside:
        return None
    found = group.recognised
    if found is not None and found.name in _STEPS:
        return found
    if found is None or found.family != "group" or _ROW in found.name or found.name in _LOOSE:
        return None
    return None if isinstance(found.details, TransformerDetails) else found
