"""Dense layers, which take all features before them together, and what stands between their blocks.

G. Huang and others, Densely Connected Convolutional Networks, 2017, section 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from netloupe.explorer.model import Value

from .convolution_details import ConvolutionDetails, DenseDetails
from .convolutions import is_pointwise
from .details import FeatureDetails, span_features
from .found_blocks import FoundBlock, FoundBlocks
from .linear import write_widths
from .readings import read_int
from .resampling import read_pool_stride
from .whole_groups import is_row, make_whole_block

#: the axis of channels, counted from either end; Caffe2 need not tell it
OF_CHANNELS = (1, -3, None)
_LEAST_STRIDE = 2
_BOTH = 2


def find_transitions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a norm, an activation, a 1×1 convolution to fewer channels, and an average pool.

    The pool makes maps smaller; each alone takes what is before it.
    """
    operations = blocks.operations
    for pool, kind in enumerate(operations.kinds):
        if kind != "AveragePool" or (read_pool_stride(operations, pool) or 1) < _LEAST_STRIDE:
            continue
        parts: list[FoundBlock] = []
        number = pool
        for wanted in ("conv", "activation", "norm"):
            givers = {*operations.givers(number)}
            part = blocks.ending(givers.pop(), wanted) if len(givers) == 1 else None
            if part is None or operations.only_user(part.end) is None:
                break
            parts.append(part)
            number = min(part.numbers)
        if len(parts) < 3 or not is_pointwise(parts[0]) or parts[0].parts:
            continue
        widths = parts[0].details.in_out
        if widths is None or widths[1] >= widths[0]:
            continue
        numbers = {pool}.union(*(part.numbers for part in parts))
        if not operations.is_closed(numbers, pool):
            continue
        details = FeatureDetails().with_features(widths)
        facts = (write_widths(*widths),)
        parts.reverse()
        yield FoundBlock(
            "transition", "Transition", frozenset(numbers), pool, facts, details, tuple(parts)
        )


def find_dense(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a layer of a DenseNet, or a transition between its blocks.

    A layer takes all features before it together, normalizes and activates before it convolves,
    and gives few new ones. These may be joined with all before them in the same layer, and it may
    pick those that it takes (G. Huang and others, CondenseNet, 2018, figures 2 and 3). So may those
    of several branches (R. Wang and others, Pelee, 2018, figure 1).
    """
    operations = blocks.operations
    for found in find_transitions(blocks):
        if len(found.numbers) == len(operations):
            yield found
    outline = blocks.list_outermost()
    yield from _find_of_branches(blocks, outline)
    if not is_row(blocks, outline) or len(outline) > 8:
        return
    kinds = [
        entry.kind if isinstance(entry, FoundBlock) else operations.kinds[entry]
        for entry in outline
    ]
    convolutions = [e for e in outline if isinstance(e, FoundBlock) and e.kind == "conv"]
    if kinds.count("Concat") != 1 or len(convolutions) != 2:
        return
    if read_int(operations.nodes[operations.kinds.index("Concat")], "axis") not in OF_CHANNELS:
        return
    if kinds[-1] == "Concat" and _joins_what_it_takes(blocks, outline):
        kinds = ["Concat", *(kinds[1:-1] if kinds[0] == "Gather" else kinds[:-1])]
    if kinds[:4] != ["Concat", "norm", "activation", "conv"]:
        return
    if kinds[4:] not in (["conv"], ["activation", "conv"], ["norm", "activation", "conv"]):
        return
    first, last = convolutions
    widths = span_features(first.details, last.details)
    if widths is None or widths[1] >= widths[0]:
        return
    if {*first.details.read_as(ConvolutionDetails).kernel} == {1}:
        taken, given = widths
        details = DenseDetails(growth=given).with_features(widths)
        yield make_whole_block(blocks, "dense", "Dense layer", (f"{taken} → +{given}",), details)


def _joins_what_it_takes(blocks: FoundBlocks, outline: Sequence[FoundBlock | int]) -> bool:
    """Return whether the last of some blocks joins what the first takes and the others give."""
    operations = blocks.operations
    first, last = outline[0], outline[-1]
    begin = min(first.numbers) if isinstance(first, FoundBlock) else first
    taken = operations.operands[begin][:1]
    is_picked = isinstance(first, FoundBlock) or operations.is_fixed(
        operations.nodes[first].input(1)
    )
    joined = operations.operands[last] if isinstance(last, int) else []
    return is_picked and len(joined) == _BOTH and len(taken) == 1 and taken[0] in joined


def _find_of_branches(
    blocks: FoundBlocks, outline: Sequence[FoundBlock | int]
) -> Iterator[FoundBlock]:
    """Yield a layer that joins what it takes with what branches of convolutions make of it."""
    operations = blocks.operations
    join = outline[-1] if outline else None
    if not isinstance(join, int) or operations.kinds[join] != "Concat":
        return
    if read_int(operations.nodes[join], "axis") not in OF_CHANNELS:
        return
    joined = operations.operands[join]
    taken = [value for value in joined if operations.giver(value) is None]
    branches = [_list_branch(blocks, value) for value in joined if value not in taken]
    count = sum(map(len, branches))  # none is in two branches: outline has each once
    if len(taken) != 1 or len(branches) < _BOTH or count != len(outline) - 1:
        return
    if not all(branch and _list_taken(blocks, branch[0]) == taken for branch in branches):
        return
    widths = [span_features(branch[0].details, branch[-1].details) for branch in branches]
    known = [one for one in widths if one is not None]
    growth = sum(given for _, given in known)
    if len(known) < len(branches) or not 0 < growth <= known[0][0]:
        return
    details = DenseDetails(growth=growth).with_features((known[0][0], growth))
    facts = (f"{known[0][0]} → +{growth}", f"{len(branches)} branches")
    yield make_whole_block(blocks, "dense", "Dense layer", facts, details)


def _list_branch(blocks: FoundBlocks, value: Value) -> list[FoundBlock]:
    """Return the convolutions that one after another make a value, from the first of a group on."""
    branch: list[FoundBlock] = []
    number = blocks.operations.giver(value)
    while number is not None:
        part = blocks.ending(number, "conv")
        taken = _list_taken(blocks, part) if part is not None else []
        if part is None or len(taken) != 1:
            return []
        branch.insert(0, part)
        number = blocks.operations.giver(taken[0])
    return branch


def _list_taken(blocks: FoundBlocks, part: FoundBlock) -> list[Value]:
    return blocks.operations.operands[min(part.numbers)][:1]
