"""Blocks that mix tokens by other means than attention, and then the features of each token."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Node

from .convolution_details import ConvolutionDetails
from .details import BlockDetails
from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .residual_kinds import UNIT_KINDS
from .transformer_details import MlpDetails
from .whole_groups import make_whole_block

#: what makes complex numbers of features, and takes their real parts
_OF_COMPLEX = frozenset({"Concat", "Pad"})
#: what stands around both halves
_AROUND = frozenset({"Add", "Mul", "Sub", "Dropout", "Slice", "Split", "Gather"})
_MOST_PARTS = 24


def find_mixer_blocks(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a residual block that mixes tokens, and then features by an MLP.

    By an MLP over the transposed tokens (I. Tolstikhin and others, MLP-Mixer, 2021, figure 1), by
    a Fourier transform (J. Lee-Thorp and others, FNet, 2022, figure 1), by a pool (W. Yu and
    others, MetaFormer Is Actually What You Need for Vision, 2022, figure 2). Behind each MLP a gate
    may stand (V. Ekambaram and others, TSMixer, 2023, figure 3).
    """
    operations = blocks.operations
    outline = blocks.list_outermost()
    if len(outline) > _MOST_PARTS:
        return
    mlps = [e for e in outline if isinstance(e, FoundBlock) and is_mlp(e)]
    norms = [e for e in outline if isinstance(e, FoundBlock) and e.kind == "norm"]
    others = [e for e in outline if e not in mlps and e not in norms]
    kinds = [e.kind if isinstance(e, FoundBlock) else operations.kinds[e] for e in others]
    sums = kinds.count("Add") + sum(one.kind == "residual" for one in mlps)
    sums += sum("Residual" in norm.name for norm in norms)
    if not 2 <= sums <= 4 or not mlps or not (norms or mlps[0].parts):
        return
    mixing = [kind for kind in kinds if kind not in _AROUND]
    feeding = mlps[-1]
    what = ""
    names = sorted(e.name for e in others if isinstance(e, FoundBlock))
    is_gated = names == ["Linear", "Linear", "Softmax", "Softmax"] and kinds.count("Mul") == len(
        mlps
    )
    if len(mlps) == 2 and (is_gated or not mixing) and _is_turned(operations, mlps[0]):
        what = f"tokens {_write(mlps[0])}"
    elif len(mlps) == 1 and "DFT" in mixing and {*mixing} <= {"DFT"} | _OF_COMPLEX:
        what = "tokens by FFT"
    elif len(mlps) == 1 and mixing == ["AveragePool"]:
        what = "tokens by pooling"
    elif len(mlps) == 1 and mixing == ["mixer"] and _is_filter(others):
        what = "tokens by Fourier filter"
    if not what:
        return
    facts = (what, f"features {_write(feeding)}", *(["gated"] if is_gated else []))
    details: BlockDetails = feeding.details
    yield make_whole_block(blocks, "mixer", "Mixer block", facts, details)


def _is_filter(entries: list[FoundBlock | int]) -> bool:
    mixers = [one for one in entries if isinstance(one, FoundBlock) and one.kind == "mixer"]
    return mixers[0].name == "Fourier filter"


def is_mlp(found: FoundBlock) -> bool:
    """Return whether a block is an MLP, or two convolutions of single places that are added."""
    if found.kind != "residual":
        return found.kind == "mlp"
    details = [one.details for one in found.parts if one.kind == "conv"]
    pointwise = [one.read_as(ConvolutionDetails).is_pointwise for one in details]
    has_more = any(one.kind in UNIT_KINDS for one in found.parts)
    return len(pointwise) == 2 and all(pointwise) and not has_more


def _write(found: FoundBlock) -> str:
    widths = found.details.read_as(MlpDetails).widths or found.details.in_out
    return " → ".join(map(str, widths)) if widths else "by MLP"


def _is_turned(operations: Operations, found: FoundBlock) -> bool:
    """Return whether an MLP takes tokens as features: its operand is transposed, and its result."""
    first = operations.nodes[min(found.numbers)]
    return any(swaps_last(node) for node in operations.path(first.input(0)))


def swaps_last(node: Node) -> bool:
    """Return whether a node moves the last axis elsewhere."""
    if not node.operator.has("permutes"):
        return False
    attribute = node.attributes.get("perm")
    perm = attribute.value if attribute is not None else None
    return not isinstance(perm, tuple) or (len(perm) > 1 and perm[-1] != len(perm) - 1)
