"""Sizes of what a network takes and gives: vocabulary, positions, patches, classes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod

from netloupe.explorer.dataflow import trace_back, trace_back_where
from netloupe.explorer.grouping.shared_tensors import find_originals
from netloupe.explorer.model import Node, TensorType, Value
from netloupe.explorer.model.constant import constant_tensor
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.patterns import read_dims, read_numbers
from netloupe.explorer.roles import find_weight

from .outline import Outline, OutlinePart

#: so few rows are kinds of token, not positions
_LEAST_POSITIONS = 16
_MOST_STEPS = 40
#: a picture has so many channels at most
_MOST_COLOURS = 4
#: smaller ones that overlap are a convolution as any
_LEAST_OVERLAPPING = 8
#: kinds of part that make features of what is no token
_FEATURES = frozenset({"conv", "linear", "mlp", "residual"})
#: sequences of tokens have so many axes, with that of the batch
_AXES_OF_ROWS = 2
#: and boxes of theirs one more, along which their sides are; these are looked at so far back
_AXES_OF_BOXES, _SIDES = 3, 4
_MOST_OF_SIDES = 8
#: a convolution stands so near behind what it convolves
_MOST_BEHIND = 4
#: of what makes one vector of a sequence or an image
_POOLING = ("pools", "reduces")


def find_token_tables(outline: Outline) -> list[OutlinePart]:
    """Return the tables whose rows are picked by the tokens of a graph, the largest first.

    Tokens are integers in a row, one row for each sequence; one number for each sequence, as a
    class or a step of a diffusion, is no token where the graph takes anything else. There are none
    where categories have several tables, and rows of one that are picked together become one.
    """
    tables = outline.of_kind("embedding")
    found = [
        part
        for part in tables
        if any(_are_tokens(outline, value) for value in outline.operands(part))
        and not _is_added(outline, part)
        and not _is_of_pixels(outline, part)
    ]
    if len({part.rows for part in tables}) > 1 and any(_becomes_one(outline, p) for p in found):
        return []
    return sorted(found, key=lambda part: -part.rows)


def _is_of_pixels(outline: Outline, table: OutlinePart) -> bool:
    """Return whether rows are of a grid of numbers that is convolved: pixels, and no tokens.

    A. van den Oord and others, Conditional Image Generation with PixelCNN Decoders, 2016, section
    2: each pixel is one of 256 values.
    """
    shapes = [read_stated_shape(value) for value in outline.operands(table)]
    if not any(shape is not None and len(shape) > _AXES_OF_ROWS for shape in shapes):
        return False
    near = outline.users(table)
    for _ in range(_MOST_BEHIND):
        behind = ([user] if user.kernel else outline.users(user) for user in near)
        near = [*dict.fromkeys(part for found in behind for part in found)]
    return bool(near) and all(len(user.kernel) > 1 and max(user.kernel) > 1 for user in near)


def _becomes_one(outline: Outline, table: OutlinePart) -> bool:
    """Return whether nothing but one row of all that were picked goes on: their mean or sum."""
    users = outline.users(table)
    return bool(users) and all(user.has(*_POOLING) for user in users)


def _is_added(outline: Outline, table: OutlinePart) -> bool:
    """Return whether rows are added to what comes from no table, as times are to features."""
    users = outline.users(table)
    if not users or not all(user.has("adds") for user in users):
        return False
    givers = [
        outline.giver(value)
        for user in users
        for value in outline.operands(user)
        if outline.giver(value) is not table
    ]
    return bool(givers) and all(giver is None or giver.kind in _FEATURES for giver in givers)


def _are_tokens(outline: Outline, value: Value) -> bool:
    """Return whether a value is a row of integers that the model takes, perhaps reshaped."""
    for source in trace_back(value, *LAYOUT_TRAITS, most=_MOST_STEPS):
        if source.producer is not None or source.initializer is not None:
            continue
        shape = read_stated_shape(source)
        is_row = shape is None or len(shape) > 1
        if is_row or [one for one in outline.graph.inputs if not one.initializer] == [source]:
            return True
    return False


def find_positions(outline: Outline, tokens: OutlinePart) -> int:
    """Return how many positions a table has whose rows are added to embedded tokens; 0 for none.

    Its rows are picked by a count of places: by arithmetic on shapes, by stored numbers 0, 1, 2 …,
    or by a running sum of the mask (S. Zhang and others, OPT, 2022). Kinds of token
    (J. Devlin and others, BERT, 2019, figure 2) have few rows.
    """
    width = tokens.row_width
    found: set[int] = set()
    current: OutlinePart | None = tokens
    for _ in range(6):
        if current is None:
            break
        users = [user for user in outline.users(current) if user.has("adds", "multiplies_elements")]
        if len(users) != 1:
            break
        current = users[0]
        if current.has("multiplies_elements"):
            continue
        for number in current.numbers:
            found |= {_read_rows(value, width) for value in outline.operations.fixed(number)}
        for giver in outline.givers(current):
            if giver.kind == "embedding" and giver.row_width == width and giver is not tokens:
                index = outline.givers(giver)
                counts = any(_counts_places(outline, part) for part in index)
                found |= {giver.rows} if counts else set()
    found = {rows for rows in found if rows >= _LEAST_POSITIONS}
    return found.pop() if len(found) == 1 else 0


def _counts_places(outline: Outline, part: OutlinePart) -> bool:
    pending, seen = [part], {part}
    while pending and len(seen) < _MOST_STEPS:
        current = pending.pop()
        if current.has("accumulates"):
            return True
        fresh = [giver for giver in outline.givers(current) if giver not in seen]
        seen.update(fresh)
        pending += fresh
    return False


def _read_rows(value: Value | None, width: int) -> int:
    """Return the rows of the table that a constant is taken from; 0 where it is none."""
    for one in trace_back_where(value, _gives_rows, most=_MOST_STEPS):
        dims = read_dims(one)
        if len(dims) >= 2 and dims[-1] == width and one.initializer is not None:
            return dims[-2]
        node = one.producer
        if node is not None and node.operator.weight_kind == "embedding":
            table = read_dims(node.input(0))
            if len(table) == 2 and table[1] == width:
                return table[0] if _counts(node.input(1)) else 0
    return 0


def _gives_rows(node: Node) -> bool:
    return node.operator.weight_kind == "embedding" or node.operator.has("slices", *LAYOUT_TRAITS)


def _counts(value: Value | None) -> bool:
    """Return whether numbers are 0, 1, 2 …: a Range, arithmetic with one, or stored."""
    pending = [value]
    for _ in range(_MOST_STEPS):
        if not pending:
            return False
        current = pending.pop()
        if current is None:
            continue
        tensor = constant_tensor(current)
        if tensor is not None:
            numbers = read_numbers(tensor, 65_536)
            if len(numbers) > 1 and numbers[1] - numbers[0] == 1 and numbers[0] >= 0:
                return True
            continue
        node = current.producer
        if node is None:
            continue
        if node.operator.has("accumulates", "counts"):
            return True
        pending += node.inputs[:2]
    return False


def find_patch(
    outline: Outline, before: int, *, of_pictures: bool = True, may_overlap: bool = False
) -> OutlinePart | None:
    """Return the convolution that cuts an image into patches, its stride being its kernel.

    A. Dosovitskiy and others, An Image is Worth 16×16 Words, 2021, section 3.1. Unless it is to
    be ``of_pictures``, what the graph takes may have more channels: W. Peebles and S. Xie, Scalable
    Diffusion Models with Transformers, 2023, section 3.2. Where they ``may_overlap`` the stride may
    be shorter: Y. Gong and others, AST: Audio Spectrogram Transformer, 2021, section 2.1. Where
    others cut it beside that into patches of other sizes, at the same places, it has no one size
    (W. Wang and others, CrossFormer, 2022, section 3.1).
    """
    kernels = [
        (part.kernel, part.stride)
        for part in outline.of_kind("conv")
        if part.place < before and 0 < part.in_features <= _MOST_COLOURS
    ]
    for part in outline.of_kind("conv"):
        if part.place >= before:
            break
        starts = not of_pictures and not outline.givers(part)
        is_cut = len(part.kernel) == 2 and {*part.kernel} == {part.stride}
        is_cut |= may_overlap and overlaps(part)
        if is_cut and (0 < part.in_features <= _MOST_COLOURS or starts):
            others = any(k != part.kernel and at == part.stride for k, at in kernels)
            return None if others else part
    return None


def overlaps(part: OutlinePart) -> bool:
    """Return whether a convolution takes large patches, each of which shares less than half."""
    size = part.kernel[0] if len({*part.kernel}) == 1 else 0
    stride = part.stride if isinstance(part.stride, int) else 0
    return len(part.kernel) == 2 and size >= _LEAST_OVERLAPPING and size < 2 * stride < 2 * size


def write_patches(part: OutlinePart) -> str:
    """Return ``patches of 16 × 16``, or ``overlapping patches of 16 × 16, 10 apart``."""
    size = f"patches of {part.kernel[0]} × {part.kernel[0]}"
    return f"overlapping {size}, {part.stride} apart" if overlaps(part) else size


def read_stated_shape(value: Value | None) -> tuple[int | str | None, ...] | None:
    """Return the sizes and symbols of a value's type; None where the file does not state them."""
    stated = value.type if value is not None else None
    shape = stated.shape if isinstance(stated, TensorType) else None
    return None if shape is None else tuple(dim.value for dim in shape)


def count_box_tables(outline: Outline, before: int) -> int:
    """Return how many tables have rows for sides of boxes, or for their widths and heights.

    Y. Xu and others, LayoutLM: Pre-training of Text and Layout for Document Image Understanding,
    2020, section 2.2: four integers for each token are the box that it stands in.

    Parameters
    ----------
    before
        The place of the part that such tables stand before.
    """
    boxes = {
        value
        for value in outline.graph.inputs
        if isinstance(value.type, TensorType)
        and value.type.dtype.is_integer
        and (shape := read_stated_shape(value)) is not None
        and len(shape) == _AXES_OF_BOXES
        and shape[-1] == _SIDES
    }
    return sum(
        part.place < before and _is_of_sides(outline, part, boxes)
        for part in outline.of_kind("embedding")
    )


def _is_of_sides(outline: Outline, table: OutlinePart, boxes: Collection[Value]) -> bool:
    """Return whether rows are picked by sides of boxes alone, or by differences between them."""
    pending = outline.operands(table)
    for _ in range(_MOST_OF_SIDES):
        if not pending:
            return True
        value = pending.pop()
        giver = outline.giver(value)
        if giver is None:
            if value not in boxes:
                return False
        elif giver.has("gathers", "subtracts", "slices", "picks"):
            pending += outline.operands(giver)
        else:
            return False
    return False


def find_head(outline: Outline, parts: Sequence[OutlinePart]) -> tuple[int, bool, bool] | None:
    """Return what the last linear layer gives: how many, whether one vector, whether classes.

    Parameters
    ----------
    outline
        The outline.
    parts
        The parts behind the body, in order.

    Returns
    -------
    tuple
        How many features; whether they are of the whole input and not of each place; whether a
        softmax or argmax makes classes of them. None where there is no such layer, where several
        lead to the outputs, or where more follows than softmax and the like.
    """
    heads = [part for part in parts if part.kind in ("conv", "linear", "mlp")]
    last = [part for part in heads if _finishes(outline, part) is not None]
    if len(last) != 1:
        return None
    part = last[0]
    given = part.widths[-1] if part.widths else part.out_features
    if not given:
        return None
    classifies = bool(_finishes(outline, part))
    ranks = {
        # of an image of one place are no places
        len([size for place, size in enumerate(shape) if size != 1 or place == 0])
        for output in outline.graph.outputs
        if (shape := read_stated_shape(output)) is not None and given in shape
    }
    is_one = ranks == {2} or (not ranks and _is_pooled(outline, part))
    return given, is_one, classifies


def _finishes(outline: Outline, part: OutlinePart) -> bool | None:
    """Return whether what a part gives becomes classes; None where it becomes no output."""
    classifies = False
    current: OutlinePart = part
    for _ in range(8):
        classifies |= current.classifies
        users = outline.users(current)
        if not users:
            return classifies
        if not all(
            user.kind == "activation" or user.classifies or user.has("activates", *_POOLING)
            for user in users
        ):
            return None
        current = users[0]
    return None


def _is_pooled(outline: Outline, part: OutlinePart) -> bool:
    """Return whether something before or behind a part makes one vector of all places."""
    pending, seen = [part], {part}
    while pending and len(seen) < 12:
        current = pending.pop()
        if current.has(*_POOLING) and not current.has("finds_largest"):
            return True
        pending += [giver for giver in outline.givers(current) if giver not in seen]
        seen.update(pending)
    return False


def weigh_matrices(outline: Outline, parts: Sequence[OutlinePart]) -> int:
    """Return how many numbers the matrices have that some parts multiply by, each once."""
    sizes = {}
    for node in outline.nodes(parts):
        weight = find_weight(node)
        if weight is not None and len(weight.dims or ()) > 1:
            key = weight.tensor if weight.tensor is not None else weight.value
            sizes[id(key)] = prod(dim for dim in weight.dims or () if isinstance(dim, int))
    return sum(sizes.values())


def list_matrices(outline: Outline, parts: Sequence[OutlinePart]) -> frozenset[int]:
    """Return by their ids the matrices that some parts multiply by.

    Those of the file, copies for calls of one module once, and what a graph makes of them before
    anything multiplies by it: gates of a recurrent layer are put in order.
    """
    found = set()
    originals = find_originals(outline.graph.model)
    for node in outline.nodes(parts):
        weight = find_weight(node)
        if weight is None:
            continue
        if weight.tensor is None:
            found |= {id(weight.value)} if weight.value is not None else set()
        elif len(weight.tensor.dims) > 1:
            found.add(id(originals.find(weight.tensor)))
    return frozenset(found)


def may_enlarge(outline: Outline) -> bool:
    """Return whether an output may have more places than inputs have, as far as sizes are stated.

    Inputs that have as many axes; a vector has no places.
    """
    taken, given = (
        [shape for value in values if (shape := read_stated_shape(value))]
        for values in (outline.graph.inputs, outline.graph.outputs)
    )
    if len(given) < len(outline.graph.outputs):
        return True
    for shape in given:
        sizes = [one[-1] for one in taken if len(one) == len(shape)]
        known = [size for size in sizes if isinstance(size, int)]
        if not known or not isinstance(shape[-1], int) or shape[-1] > max(known):
            return True
    return False
