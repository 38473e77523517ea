"""Pictures made larger and smaller: pixel shuffles, up- and downsampling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from netloupe.explorer.model import TensorType, Value, is_before
from netloupe.explorer.model.constant import constant_tensor

from .convolution_details import (
    ConvolutionDetails,
    ResamplingDetails,
    ResidualDetails,
    StridedDetails,
)
from .details import span_features
from .found_blocks import FoundBlock, FoundBlocks
from .linear import write_widths
from .operations import Operations
from .readings import read_int, read_ints, read_numbers
from .shuffles import SHUFFLE, UNSHUFFLE, read_shuffle
from .whole_groups import is_row, make_whole_block

#: what they are called, and the sign of their factor, as of the strides of convolutions
_SHUFFLES = {SHUFFLE: ("Pixel shuffle", "×"), UNSHUFFLE: ("Pixel unshuffle", "/")}

#: so many steps has one of a UNet at most: what is joined, and convolutions before and behind it
_MOST_STEPS = 6
_MOST_USERS = 64


def find_pixel_shuffles(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find channels that become squares of pixels, and the other way around.

    W. Shi and others, Real-Time Single Image and Video Super-Resolution Using an Efficient
    Sub-Pixel Convolutional Neural Network, 2016, equation 4; by an operator or written out.
    """
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        if kind not in _SHUFFLES or blocks.owner[number] is not None:
            continue
        found = read_shuffle(operations.nodes[number], operations.context)
        if found is not None:
            name, sign = _SHUFFLES[kind]
            facts = (f"{sign}{found[1]}",)
            details = ResamplingDetails(factor=found[1])
            yield FoundBlock("pixel shuffle", name, frozenset({number}), number, facts, details)


def find_resampled(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a picture that is made larger or smaller, and the convolutions around that.

    * Upsampling: a Resize and a convolution (A. Odena and others, Deconvolution and Checkerboard
      Artifacts, 2016), or the step of a UNet's expanding path: what was made larger, by a
      transposed convolution or a Resize, is joined with features of the contracting path, and
      convolved (O. Ronneberger and others, U-Net, 2015, figure 1): that is with a skip.
    * Downsampling: a pool and two convolutions, the step of its contracting path; a pool or a
      norm and one convolution that is not activated, which for a norm has strides (Z. Liu and
      others, A ConvNet for the 2020s, 2022, section 2.6).
    """
    outline = blocks.list_outermost()
    if not 1 < len(outline) <= _MOST_STEPS:
        return
    found = _find_smaller(blocks, outline) or _find_larger(blocks, outline)
    if found is not None:
        yield found


def _find_smaller(blocks: FoundBlocks, outline: list[FoundBlock | int]) -> FoundBlock | None:
    operations = blocks.operations
    first = outline[0]
    convolutions = [e for e in outline[1:] if isinstance(e, FoundBlock) and e.kind == "conv"]
    if len(convolutions) < len(outline) - 1 or not is_row(blocks, outline):
        return None
    is_bare = len(convolutions) == 1 and not convolutions[0].parts
    factor: int | tuple[int, ...] | None
    details = [one.details.read_as(ConvolutionDetails) for one in convolutions]
    if isinstance(first, FoundBlock):
        factor = details[0].stride if first.kind == "norm" else None
        if not is_bare or details[0].groups is not None:
            return None
    else:
        factor = read_pool_stride(operations, first)
        if not is_bare and len(convolutions) != 2:
            return None
        if any(one.stride is not None for one in details):
            return None
    if any(one.transposed for one in details):
        return None
    return _make(blocks, "Downsampling", "/", factor, convolutions, ())


def read_pool_stride(operations: Operations, number: int) -> int | None:
    """Return the stride of a pool, where it is the same along all axes; None for anything else."""
    if operations.kinds[number] not in ("AveragePool", "MaxPool"):
        return None
    node = operations.nodes[number]
    strides = {*read_ints(node, "strides")}
    return strides.pop() if len(strides) == 1 else read_int(node, "stride")


def _find_larger(blocks: FoundBlocks, outline: list[FoundBlock | int]) -> FoundBlock | None:
    operations = blocks.operations
    first, rest = outline[0], outline[1:]
    before = [first] if isinstance(first, FoundBlock) else []
    factor: int | tuple[int, ...] | None
    if isinstance(first, FoundBlock):
        details = first.details.read_as(ConvolutionDetails)
        factor = details.stride if first.kind == "conv" and details.transposed else None
    else:
        factor = read_scale(operations, first)
    join = next((e for e in rest if isinstance(e, int)), None)
    behind = [e for e in rest if isinstance(e, FoundBlock) and e.kind in ("conv", "residual")]
    if not behind or len(behind) + (join is not None) < len(rest) or not is_row(blocks, outline):
        return None
    if any(one.details.read_as(StridedDetails).stride is not None for one in behind):
        return None
    if join is None:
        return None if before else _make(blocks, "Upsampling", "×", factor, behind, ())
    place = rest.index(join)
    if place == len(rest) - 1 or not _takes_skip(operations, join):
        return None
    before += behind[:place]
    # what is joined is wider by what it is joined with, or not known to be as wide
    widths = [*before[:1], behind[-1]] if before else []
    return _make(blocks, "Upsampling", "×", factor, widths, ("with skip",))


def _takes_skip(operations: Operations, number: int) -> bool:
    """Return whether a join of two takes one that was there before what is made larger."""
    taken = operations.operands[number]
    if not is_join(operations, number):
        return False
    outer = [value for value in taken if operations.giver(value) is None]
    start = operations.operands[0][0]
    return len(outer) == 1 and is_older(outer[0], start) and is_shared(outer[0])


def is_join(operations: Operations, number: int) -> bool:
    """Return whether two are added, or their channels put together."""
    if len(operations.operands[number]) != 2:
        return False
    kind = operations.kinds[number]
    is_of_channels = read_int(operations.nodes[number], "axis") in (1, -3)
    return kind == "Add" or (kind == "Concat" and is_of_channels)


def is_older(value: Value, other: Value) -> bool:
    """Return whether a value is computed before another one, in any graphs."""
    one, two = value.producer, other.producer
    return one is not None and two is not None and is_before(one, two)


def is_shared(value: Value) -> bool:
    """Return whether several nodes take the elements of a value."""
    users = {user for user in value.users[:_MOST_USERS] if not user.operator.has("reads_shape")}
    return len(users) > 1


def read_scale(operations: Operations, number: int) -> int | None:
    """Return how many times larger a Resize makes height and width; None where that is unknown.

    As a constant says, or the types that the file states.
    """
    node = operations.nodes[number]
    if operations.kinds[number] not in ("Resize", "Upsample") or not node.inputs:
        return None
    is_second = node.op_type == "Upsample" or node.opset_version == 10
    place = 1 if is_second else 2
    stated = node.input(place)
    tensor = constant_tensor(stated) if stated is not None else None
    scales = read_numbers(tensor, 4) if tensor is not None else ()
    attribute = node.attributes.get("scales")
    if attribute is not None and isinstance(attribute.value, tuple):
        scales = tuple(entry for entry in attribute.value if isinstance(entry, int | float))
    if not scales:
        before, after = (_read_sizes(value) for value in (node.input(0), node.output(0)))
        if len(before) == len(after) == 4 and all(before[1:]):
            scales = (1.0, *(new / old for old, new in zip(before[1:], after[1:], strict=True)))
    if len(scales) != 4 or scales[:2] != (1.0, 1.0) or scales[2] != scales[3]:
        return None
    return int(scales[2]) if scales[2] > 1 and scales[2].is_integer() else None


def _read_sizes(value: Value | None) -> list[int]:
    """Return the sizes that the file states of a value, 0 for an unknown one."""
    if value is None or not isinstance(value.type, TensorType) or value.type.shape is None:
        return []
    return [size.value if isinstance(size.value, int) else 0 for size in value.type.shape]


def find_joined(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a residual block of what is joined with features of a UNet's contracting path.

    J. Ho and others, Denoising Diffusion Probabilistic Models, 2020, appendix B: a UNet of
    residual blocks, of which those of the expanding path each take a skip.
    """
    operations = blocks.operations
    outline = blocks.list_outermost()
    if len(outline) != 2 or not is_row(blocks, outline):
        return
    join, block = outline
    if not isinstance(join, int) or not isinstance(block, FoundBlock) or block.kind != "residual":
        return
    if operations.kinds[join] != "Concat" or not is_join(operations, join):
        return
    for stream, skip in (operations.operands[join], operations.operands[join][::-1]):
        if is_older(skip, stream) and is_shared(skip) and not is_shared(stream):
            facts = (*block.facts, "with skip")
            details = replace(block.details.read_as(ResidualDetails), skip=True)
            yield make_whole_block(blocks, "residual", block.name, facts, details)


def _make(
    blocks: FoundBlocks,
    name: str,
    sign: str,
    factor: int | tuple[int, ...] | None,
    convolutions: list[FoundBlock],
    facts: tuple[str, ...],
) -> FoundBlock | None:
    if not isinstance(factor, int) or factor < 2:
        return None
    details = ResamplingDetails(factor=factor, skip=bool(facts))
    widths: tuple[int, int] | None = None
    if convolutions:
        widths = span_features(convolutions[0].details, convolutions[-1].details)
    told = () if widths is None else (write_widths(*widths),)
    return make_whole_block(
        blocks,
        "resampled",
        name,
        (*told, f"{sign}{factor}", *facts),
        details.with_features(widths),
    )
