"""Blocks that all operations of a group are together, in a row or around one another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Node, Value

from .added_tokens import name_added_tokens
from .convolution_details import ConvolutionDetails, ResamplingDetails
from .convolutions import is_pointwise, read_convolution
from .details import NO_DETAILS, BlockDetails, EmbeddingDetails, FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .linear import ARROW, list_widths, read_table, write_widths
from .operations import ARRANGING, Operations
from .readings import read_ints
from .residual_kinds import is_inverted

#: by how much maps become smaller
_SCALE = r"/\d+"
#: so many blocks in a row are named one by one
_MOST_IN_ROW = 4
_IN_ROW = frozenset({"activation", "conv", "linear", "norm", "pixel shuffle", "separable"})
_WEIGHTED = frozenset({"conv", "linear", "separable"})
_ROW_OPERATORS = {
    "Add": "Add",
    "AveragePool": "AveragePool",
    "GlobalAveragePool": "GlobalAveragePool",
    "MaxPool": "MaxPool",
    "Resize": "Resize",
    "Upsample": "Resize",
}


def find_row(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Name a few blocks in a row one by one: ``Linear · GELU``, ``Conv · BN · ReLU · MaxPool``."""
    operations = blocks.operations
    outline = blocks.list_outermost()
    if not 1 < len(outline) <= _MOST_IN_ROW:
        return
    entries = [_describe(operations, entry) for entry in outline]
    weighted = [e for e in outline if isinstance(e, FoundBlock) and e.kind in _WEIGHTED]
    if not any(isinstance(entry, FoundBlock) for entry in outline) or not is_row(blocks, outline):
        return
    if not all(entries):
        return
    facts: tuple[str, ...] = ()
    details = NO_DETAILS
    if len(weighted) == 1:
        facts, details = weighted[0].facts, weighted[0].details
    elif widths := list_widths(weighted):
        facts = (write_widths(*widths),)
        details = FeatureDetails(in_features=widths[0], out_features=widths[-1])
    facts = _correct_scale(facts, operations, outline)
    shuffled = [e for e in outline if isinstance(e, FoundBlock) and e.kind == "pixel shuffle"]
    for entry in shuffled:
        facts += entry.facts
    if course := _list_course(weighted, shuffled):
        told = write_widths(*course)
        facts = tuple(told if ARROW in fact else fact for fact in facts)
    yield make_whole_block(blocks, "row", " · ".join(entries), facts, details)


def _correct_scale(
    facts: tuple[str, ...], operations: Operations, outline: list[FoundBlock | int]
) -> tuple[str, ...]:
    """Return facts with what the strides of all convolutions and pools make together: ``/4``.

    Nothing is changed where something else makes maps larger or smaller, or axes differ.
    """
    strides: list[int] = []
    for entry in outline:
        if isinstance(entry, FoundBlock):
            details = entry.details.read_as(ConvolutionDetails)
            if entry.kind == "pixel shuffle" or details.transposed:
                return facts
            step = details.stride or 1
        else:
            node = operations.nodes[entry]
            if node.operator.has("pools_all", "resamples"):
                return facts
            taken = {*read_ints(node, "strides")} if node.operator.has("pools") else {1}
            step = taken.pop() if len(taken) == 1 else 1
        if not isinstance(step, int):
            return facts
        strides.append(step)
    kept = tuple(fact for fact in facts if not re.fullmatch(_SCALE, fact))
    scale = prod(strides)
    place = next((n for n, fact in enumerate(kept, 1) if ARROW in fact), len(kept))
    return (*kept[:place], f"/{scale}", *kept[place:]) if scale > 1 and kept else facts


def _list_course(weighted: list[FoundBlock], shuffled: list[FoundBlock]) -> list[int]:
    """Return what the first layer of a row takes, and what each layer and pixel shuffle gives.

    ``32 → 16 → 64``: what moves to places leaves the channels, by the square of the factor for
    images (W. Shi and others, Real-Time Single Image and Video Super-Resolution, 2016, equation 4).
    Behind a map a layer takes the features of all its places, which are no width of their own.
    Nothing where a width is not known.
    """
    course: list[int] = []
    for entry in sorted((*weighted, *shuffled), key=lambda one: one.end):
        factor = entry.details.read_as(ResamplingDetails).factor
        ends = entry.details.in_out
        if entry in weighted:
            if ends is None:
                return []
            course = [*(course or ends[:1]), ends[1]]
        elif course:
            if not isinstance(factor, int):
                return []
            square = factor**2
            is_larger = entry.facts[0].startswith("×")
            course.append(course[-1] // square if is_larger else course[-1] * square)
    return course


def _describe(operations: Operations, entry: FoundBlock | int) -> str:
    if isinstance(entry, FoundBlock):
        return entry.name if entry.kind in _IN_ROW else ""
    kind = operations.kinds[entry]
    return _ROW_OPERATORS.get(kind, "")


#: how a Transpose swaps groups of channels with the channels in each
_SWAPPED = (0, 2, 1, 3, 4)


def is_row(blocks: FoundBlocks, outline: list[FoundBlock | int]) -> bool:
    """Return whether each of some blocks alone takes what the one before it gives."""
    operations = blocks.operations
    for entry, following in pairwise(outline):
        end = entry.end if isinstance(entry, FoundBlock) else entry
        numbers = following.numbers if isinstance(following, FoundBlock) else frozenset({following})
        if not operations.users[end] or not numbers.issuperset(operations.users[end]):
            return False
    return True


def make_whole_block(
    blocks: FoundBlocks,
    kind: str,
    name: str,
    facts: tuple[str, ...] = (),
    details: BlockDetails = NO_DETAILS,
) -> FoundBlock:
    """Return all operations as one block."""
    outline = blocks.list_outermost()
    last = outline[-1]
    return FoundBlock(
        kind,
        name,
        frozenset(range(len(blocks.operations))),
        last.end if isinstance(last, FoundBlock) else last,
        facts,
        details,
        tuple(entry for entry in outline if isinstance(entry, FoundBlock)),
    )


def find_same(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find one activation or norm that a module was used for several times."""
    outline = blocks.list_outermost()
    first = outline[0]
    if (
        len(outline) < 2
        or not isinstance(first, FoundBlock)
        or first.kind not in ("activation", "norm")
    ):
        return
    if all(
        isinstance(entry, FoundBlock) and (entry.name, entry.facts) == (first.name, first.facts)
        for entry in outline
    ):
        yield make_whole_block(
            blocks, first.kind, first.name, (*first.facts, f"{len(outline)} times")
        )


def find_patches(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find an image cut into patches that are projected, perhaps with their positions.

    A convolution whose stride is its kernel, and whose places become a sequence
    (A. Dosovitskiy and others, An Image is Worth 16×16 Words, 2021, section 3.1). Where learned
    tokens are put beside them patches may overlap (Y. Gong and others, AST, 2021, section 2.1).
    """
    operations = blocks.operations
    outline = blocks.list_outermost()
    convolutions = [e for e in outline if isinstance(e, FoundBlock) and e.kind in ("conv", "row")]
    if len(convolutions) != 1 or len(outline) > 4:
        return
    found = convolutions[0]
    details = found.details.read_as(ConvolutionDetails)
    kernel, stride = details.kernel, details.stride
    if not isinstance(stride, int) or stride < 2 or len({*kernel}) != 1 or kernel[0] < stride:
        return
    if details.in_out is None or details.in_out[0] > 4 or details.groups is not None:
        return
    others = [e for e in outline if e is not found]
    kinds = [e.kind if isinstance(e, FoundBlock) else operations.kinds[e] for e in others]
    if any(kind not in ("Add", "Concat", "norm") for kind in kinds):
        return
    turned = {node.op_type for node in operations.arrangement}
    if not turned & {"Transpose", "Reshape", "Flatten"}:
        return
    tokens = [_name_tokens(operations, e) for e in others if isinstance(e, int)]
    if kernel[0] > stride and not any(tokens):
        return
    facts = ["×".join(map(str, kernel)), write_widths(*details.in_out)]
    facts += [f"/{stride}"] * (kernel[0] > stride) + [one for one in tokens if one]
    if "Add" in kinds:
        facts.append("positions")
    yield make_whole_block(blocks, "embedding", "Patch embedding", tuple(facts), details)


def _name_tokens(operations: Operations, number: int) -> str:
    """Return ``1 learned token`` of what joins such to others; else ""."""
    return name_added_tokens(operations.nodes[number]).removeprefix("+ ")


def find_token_embeddings(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find rows of tables that are picked by tokens, positions and the like, and summed.

    J. Devlin and others, BERT, 2019, figure 2.
    """
    operations = blocks.operations
    outline = blocks.list_outermost()
    tables = [e for e in outline if isinstance(e, FoundBlock) and e.kind == "embedding"]
    counted = _find_counted(operations, outline, tables)
    others = [e for e in outline if e not in tables and e not in counted]
    kinds = [e.kind if isinstance(e, FoundBlock) else operations.kinds[e] for e in others]
    sums = kinds.count("Add")
    if not tables or not sums or sums > 3 or kinds.count("norm") > 1:
        return
    if any(kind not in ("Add", "norm", "Mul") for kind in kinds):
        return
    adds = [e for e in others if isinstance(e, int) and operations.kinds[e] == "Add"]
    given = {table.end for table in tables} | {*adds}
    if any(not given & {*operations.givers(number)} for number in adds):
        return  # positions are computed by it
    has_fixed = any(operations.fixed(number) for number in adds)
    name = "Token + position embedding" if has_fixed or len(tables) > 1 else "Token embedding"
    largest = max(tables, key=lambda one: one.details.read_as(EmbeddingDetails).rows or 0)
    facts = [*largest.facts]
    facts += [fact for table in tables if table is not largest for fact in table.facts]
    facts += [
        fact for number in adds for value in operations.fixed(number) for fact in _tell(value)
    ]
    yield make_whole_block(blocks, "embedding", name, tuple(facts), largest.details)


def _find_counted(
    operations: Operations, outline: Sequence[int | FoundBlock], tables: Sequence[FoundBlock]
) -> set[int]:
    """Return the operations that only say which rows are picked, as positions of tokens counted."""
    counted: set[int] = set()
    picking = frozenset[int]().union(*(table.numbers for table in tables))
    for entry in reversed(outline):
        users = operations.users[entry] if isinstance(entry, int) else ()
        if isinstance(entry, int) and users and all(n in picking or n in counted for n in users):
            counted.add(entry)
    return (
        counted if any(operations.nodes[n].operator.has("accumulates") for n in counted) else set()
    )


def _tell(value: Value) -> tuple[str, ...]:
    """Return what is told of the table that rows are picked from by positions."""
    for _ in range(4):
        node = value.producer
        data = node.input(0) if node is not None else None
        if node is None or data is None:
            return ()
        if node.op_type == "Gather":
            told = read_table(node)
            return told[0] if told is not None else ()
        if not node.operator.has(*ARRANGING):
            return ()
        value = data
    return ()


def find_shuffles(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find the unit of ShuffleNet: a depthwise convolution, and channels that change places.

    X. Zhang and others, ShuffleNet, 2018, figure 2; N. Ma and others, ShuffleNet V2, 2018,
    figure 3. Channels are shuffled by a Reshape into groups and a Transpose of groups and
    channels (the former, figure 1), or by Caffe2's ChannelShuffle.
    """
    operations = blocks.operations
    outline = blocks.list_outermost()
    is_shuffled = "ChannelShuffle" in operations.kinds or any(
        _shuffles(operations, node) for node in operations.arrangement
    )
    if not is_shuffled:
        return
    details = [
        read_convolution(operations, number)
        for number, kind in enumerate(operations.kinds)
        if kind == "Conv"
    ]
    deep = [one for one in details if one.is_depthwise]
    if not 1 <= len(deep) <= 2 or not len(deep) < len(details) <= 5:
        return
    # what goes around is added to groups that were shuffled, or joined with the other half
    is_grouped = any(one.groups is not None for one in details if not one.is_depthwise)
    if "Concat" not in operations.kinds and not (is_grouped and "Add" in operations.kinds):
        return
    if "Concat" not in operations.kinds and is_inverted(details):
        return  # wide inside (K. Sun and others, IGCV3, 2018, figure 2)
    allowed = {"Add", "AveragePool", "ChannelShuffle", "Concat", "Gather", "Slice", "Split"}
    kinds = {operations.kinds[e] if isinstance(e, int) else e.kind for e in outline}
    if not kinds <= allowed | {"activation", "conv", "norm", "residual", "separable", "inverted"}:
        return
    facts = [f"/{one.stride}" for one in deep if isinstance(one.stride, int)]
    yield make_whole_block(blocks, "shuffle", "ShuffleNet unit", tuple(facts[:1]))


def _shuffles(operations: Operations, node: Node) -> bool:
    """Return whether a node swaps groups of channels with the channels in each.

    Groups are put apart before that: axes of a video are not.
    """
    if not node.operator.has("permutes") or read_ints(node, "perm") != _SWAPPED:
        return False
    path = operations.path(node.input(0))
    before = next((one for one in path if one.operator.has("reshapes")), None)
    if before is None:
        return False
    facts = find_value_facts(node.graph.model)
    apart, whole = facts.find_dims(before.output(0)) or (), facts.find_dims(before.input(0)) or ()
    if len(apart) != len(_SWAPPED) or not whole:
        return True  # nothing is stated
    # height and width stay as they are
    return len(whole) == len(apart) - 1 and apart[3:] == whole[2:]


def find_branches(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find blocks whose branches are put side by side.

    * Fire: what one 1×1 convolution squeezes goes through 1×1 and 3×3 ones (F. Iandola and
      others, SqueezeNet, 2016, figure 1).
    * Inception: several branches of convolutions and a pool of one value (C. Szegedy and others,
      Going Deeper with Convolutions, 2015, figure 2).
    """
    operations = blocks.operations
    outline = blocks.list_outermost()
    joins = [
        e
        for e in outline
        if isinstance(e, int) and operations.kinds[e] in ("Concat", "DepthConcat")
    ]
    if len(joins) != 1 or outline[-1] != joins[0] or len(outline) > 40:
        return
    convolutions = [e for e in outline if isinstance(e, FoundBlock) and e.kind == "conv"]
    others = [e for e in outline if e not in convolutions and e != joins[0]]
    kinds = {e.kind if isinstance(e, FoundBlock) else operations.kinds[e] for e in others}
    if not kinds <= {"MaxPool", "AveragePool", "activation", "norm", "row"}:
        return
    branches = operations.operands[joins[0]]
    begins = {
        value
        for entry in outline
        if entry != joins[0]
        for value in _outer_operands(operations, entry)
        if operations.giver(value) is None
    }
    if len(begins) != 1:
        return
    start = next(iter(begins))
    if start in branches:
        return
    if len(branches) == 2 and len(convolutions) == 3 and not kinds - {"activation"}:
        squeeze = [c for c in convolutions if start in _outer_operands(operations, c)]
        kernels = sorted(
            max(c.details.read_as(ConvolutionDetails).kernel, default=0)
            for c in convolutions
            if c not in squeeze
        )
        expanding = [c for c in convolutions if c not in squeeze]
        if kernels == [1, 3] and _squeezes(operations, squeeze, expanding):
            widths = squeeze[0].details.in_out
            known = [c.details.in_out[1] for c in expanding if c.details.in_out is not None]
            facts: tuple[str, ...] = ()
            details = FeatureDetails()
            if widths is not None and len(known) == 2:
                facts = (f"{write_widths(*widths)} → {known[0]} + {known[1]}",)
                details = details.with_features((widths[0], sum(known)))
            yield make_whole_block(blocks, "fire", "Fire module", facts, details)
        return
    # heads of a detector share a stem, and differ in what they tell
    begun = sum(start in _outer_operands(operations, entry) for entry in outline)
    if begun > 2 and len(branches) > 2 and len(convolutions) > 3:
        yield make_whole_block(
            blocks, "inception", "Inception block", (f"{len(branches)} branches",)
        )


def _squeezes(
    operations: Operations, squeeze: list[FoundBlock], expanding: list[FoundBlock]
) -> bool:
    """Return whether one 1×1 convolution gives fewer channels, which others take side by side."""
    if len(squeeze) != 1 or not is_pointwise(squeeze[0]):
        return False
    widths = squeeze[0].details.in_out
    taken = {operations.giver(v) for one in expanding for v in _outer_operands(operations, one)}
    return taken == {squeeze[0].end} and (widths is None or widths[1] < widths[0])


def _outer_operands(operations: Operations, entry: FoundBlock | int) -> list[Value]:
    if isinstance(entry, int):
        return list(operations.operands[entry])
    return [
        value
        for number in entry.numbers
        for value in operations.operands[number]
        if operations.giver(value) not in entry.numbers
    ]
