"""Steps of feature pyramids: from coarse features to fine ones, and back again."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value

from .convolution_details import ConvolutionDetails, ResamplingDetails
from .convolutions import is_pointwise
from .found_blocks import FoundBlock, FoundBlocks
from .operations import OUTSIDE, Operations
from .resampling import is_join, is_older, is_shared, read_scale
from .whole_groups import is_row, make_whole_block

_MOST_OF_STEP = 8


def find_pyramid_steps(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a step of a feature pyramid, or of the path that goes back down.

    * FPN: coarse features are made larger and joined with finer ones from the backbone, of which
      one of both passes a lateral 1×1 convolution (T. Lin and others, Feature Pyramid Networks,
      2017, figure 3, by a sum; as YOLO and RT-DETR write it, side by side, with the convolution
      before the Resize, whose operand the path back takes, too).
    * PAN: a convolution with strides makes fine features smaller, they are joined with coarser
      ones of the pyramid, and convolved (S. Liu and others, Path Aggregation Network, 2018,
      figure 2).
    """
    operations = blocks.operations
    outline = blocks.list_outermost()
    joins = [e for e in outline if isinstance(e, int) and is_join(operations, e)]
    if len(joins) != 1 or not 3 <= len(outline) <= _MOST_OF_STEP:
        return
    join = joins[0]
    place = outline.index(join)
    before = [e for e in outline[:place] if isinstance(e, FoundBlock)]
    behind = [e for e in outline[place + 1 :] if isinstance(e, FoundBlock)]
    resizes = [e for e in outline[:place] if isinstance(e, int)]
    is_known = len(before) + len(resizes) + len(behind) + 1 == len(outline)
    if not is_known or len(before) != 1 or before[0].kind != "conv" or not behind:
        return
    if any(found.kind not in ("branches", "conv", "residual") for found in behind):
        return
    if len(resizes) == 1 and is_pointwise(before[0]):
        factor = read_scale(operations, resizes[0])
        if factor is None or not _is_level(blocks, before[0], resizes[0], join, behind):
            return
        details = ResamplingDetails(factor=factor)
        yield make_whole_block(blocks, "pyramid", "FPN step", (f"top-down ×{factor}",), details)
    elif not resizes and _goes_back(blocks, before[0], join, behind):
        stride = before[0].details.read_as(ConvolutionDetails).stride
        if isinstance(stride, int):
            details = ResamplingDetails(factor=stride)
            yield make_whole_block(
                blocks, "pyramid", "PAN step", (f"bottom-up /{stride}",), details
            )


def _is_level(
    blocks: FoundBlocks, lateral: FoundBlock, resize: int, join: int, behind: list[FoundBlock]
) -> bool:
    """Return whether a lateral convolution, a Resize and a join are a step of a pyramid."""
    operations = blocks.operations
    is_strided = lateral.details.read_as(ConvolutionDetails).stride is not None
    if is_strided or not is_row(blocks, [resize, join]):
        return False
    coarse, fine = _split(operations, join, resize)
    if fine is None:
        return False
    start = operations.operands[min(lateral.numbers)][0]
    if operations.kinds[join] == "Add":  # the fine features pass the convolution
        ends = operations.giver(fine) == lateral.end
        source = operations.operands[resize][0]
        is_outer = operations.giver(source) is None and operations.giver(start) is None
        return ends and is_outer and len(behind) == 1 and is_older(start, source)
    if operations.giver(coarse) != lateral.end or operations.giver(fine) is not None:
        return False
    is_taken_back = {*operations.users[lateral.end]} == {resize, OUTSIDE}
    return is_taken_back and is_older(fine, start) and is_row(blocks, [join, *behind])


def _split(operations: Operations, join: int, resize: int) -> tuple[Value, Value | None]:
    """Return what a Resize takes, and what it is joined with."""
    others = [v for v in operations.operands[join] if operations.giver(v) != resize]
    return operations.operands[resize][0], others[0] if len(others) == 1 else None


def _goes_back(
    blocks: FoundBlocks, smaller: FoundBlock, join: int, behind: list[FoundBlock]
) -> bool:
    """Return whether smaller features are joined with older ones, that others take too."""
    operations = blocks.operations
    details = smaller.details.read_as(ConvolutionDetails)
    if details.stride is None or details.groups is not None or details.transposed:
        return False
    if is_pointwise(smaller) or not is_row(blocks, [smaller, join, *behind]):
        return False
    outer = [v for v in operations.operands[join] if operations.giver(v) is None]
    start = operations.operands[min(smaller.numbers)][0]
    return len(outer) == 1 and is_older(outer[0], start) and is_shared(outer[0])
