"""Blocks in which channels go around what works on the rest, and pools of several sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .convolutions import is_pointwise
from .details import span_features
from .found_blocks import FoundBlock, FoundBlocks
from .linear import write_widths
from .operations import Operations
from .readings import read_ints
from .whole_groups import make_whole_block

#: parts of the channels beside the results of blocks: all or one goes around the first of these
_GOING_AROUND = 2


def find_partial_stages(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find blocks in which a part of the channels goes around what works on the rest.

    * CSP: what a 1×1 convolution gives is split; one part goes through residual blocks, and all
      parts together through another 1×1 convolution (C. Wang and others, CSPNet, 2020,
      figure 2; so C2f of YOLOv8, and C3 with two convolutions instead of a split).
    * SPP: pools of several sizes, side by side, between 1×1 convolutions (K. He and others,
      Spatial Pyramid Pooling, 2014; J. Redmon and A. Farhadi, YOLOv3, 2018). As SPPF the same is
      written with equal pools in a row, all of whose results count (as YOLOv5 has it).
    """
    operations = blocks.operations
    outline = blocks.list_outermost()
    kinds = Counter(e.kind if isinstance(e, FoundBlock) else operations.kinds[e] for e in outline)
    if kinds["Concat"] != 1 or len(outline) > 60:
        return
    first, last = outline[0], outline[-1]
    if not isinstance(first, FoundBlock) or not isinstance(last, FoundBlock):
        return
    if (
        first.kind != "conv"
        or last.kind != "conv"
        or not (is_pointwise(first) and is_pointwise(last))
    ):
        return
    widths = span_features(first.details, last.details)
    facts = [write_widths(*widths)] if widths is not None else []
    if (
        kinds["MaxPool"] > 1
        and kinds["conv"] == 2
        and kinds.keys() == {"Concat", "MaxPool", "conv"}
    ):
        name, sizes = _name_pools(operations, first.end)
        if name:
            yield make_whole_block(blocks, "spp", name, (*facts, sizes))
        return
    inner = kinds["residual"] + kinds["inverted"] + kinds["csp"]
    allowed = {"Concat", "Slice", "Split", "conv", "csp", "inverted", "residual"}
    is_split = bool(kinds["Slice"] or kinds["Split"])
    if not kinds.keys() <= allowed or not (is_split or kinds["conv"] == 3):
        return
    if not _goes_around(blocks):
        return
    # without shortcuts each of the inner blocks is two convolutions in a row
    count = inner or (kinds["conv"] - 2) // 2
    joined = len(operations.operands[operations.kinds.index("Concat")])
    if joined - _GOING_AROUND not in (0, count):
        return  # results of convolutions in steps are joined, too
    if count and (inner or (is_split and kinds["conv"] >= 4)):
        facts.append(f"{count} block{'s' if count > 1 else ''}")
        yield make_whole_block(blocks, "csp", "CSP block", tuple(facts))


def _name_pools(operations: Operations, start: int) -> tuple[str, str]:
    """Return what pools are together whose results stand beside what they are of, and their sizes.

    "" where some are neither side by side nor all in one row, or where one is left out.
    """
    pools = [number for number, kind in enumerate(operations.kinds) if kind == "MaxPool"]
    kernels = [read_ints(operations.nodes[number], "kernel_shape") for number in pools]
    sizes = [max(kernel, default=0) for kernel in kernels]
    (join,) = (number for number, kind in enumerate(operations.kinds) if kind == "Concat")
    if {*operations.givers(join)} != {start, *pools} or not all(sizes):
        return "", ""
    if any(max(read_ints(operations.nodes[number], "strides"), default=1) > 1 for number in pools):
        return "", ""
    before = [operations.givers(number) for number in pools]
    is_serial = before == [[one] for one in (start, *pools[:-1])]
    if is_serial and len({*kernels}) == 1:
        return "SPPF", f"pool {sizes[0]} ×{len(sizes)}"
    is_parallel = before == [[start]] * len(pools)
    if is_parallel and len({*sizes}) == len(sizes):
        return "SPP", f"pools {', '.join(map(str, sorted(sizes)))}"
    return "", ""


def _goes_around(blocks: FoundBlocks) -> bool:
    """Return whether a part of the channels is joined with others as it was split or convolved.

    What it is a part of nothing but the first convolutions made.
    """
    operations = blocks.operations
    join = operations.kinds.index("Concat")
    for value in operations.operands[join]:
        giver = operations.giver(value)
        if giver is None:
            continue
        if operations.nodes[giver].operator.has("slices", "splits"):
            return True
        found = blocks.ending(giver, "conv")
        if (
            found is not None
            and operations.giver(operations.operands[min(found.numbers)][0]) is None
        ):
            return True
    return False
