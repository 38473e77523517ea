"""Networks that give images or boxes: UNets, decoders, super-resolution, detectors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from operator import attrgetter

from netloupe.explorer.notation import write_count
from netloupe.explorer.patterns import Detail
from netloupe.explorer.patterns.convolution_details import ResamplingDetails
from netloupe.explorer.patterns.residual_kinds import find_common_units
from netloupe.explorer.patterns.transformer_details import AttentionDetails

from .levels import write_axes
from .outline import Outline, OutlinePart
from .sizes import may_enlarge, read_stated_shape, weigh_matrices
from .sketch import BlockSketch, Sketch, write_row, write_way

_BLOCKS = frozenset({"conv", "residual"})
_LEAST_LEVELS = 2


def find_image_network(outline: Outline) -> Sketch | None:
    """Tell which family of networks that give images or boxes a graph is; None for none of them."""
    first = next((part for part in outline.parts if part.kind in _BLOCKS), None)
    if first is None:
        return None
    for rule in (_tell_unet, _tell_pyramid, _tell_super_resolution, _tell_decoder):
        found = rule(outline)
        if found is not None:
            return found
    return None


def _is_down(part: OutlinePart) -> bool:
    """Return whether a part gives fewer places than it takes."""
    return part.is_pool or (part.kind == "conv" and part.is_strided)


def _tell_unet(outline: Outline) -> Sketch | None:
    """Tell levels that become smaller, as many that become larger, and wires across.

    What one level gives on the way down is put beside what the level of the same size has on the
    way up, so the wires are nested (O. Ronneberger and others, U-Net, 2015, figure 1; with
    attention to a text R. Rombach and others, High-Resolution Image Synthesis with Latent
    Diffusion Models, 2022, figure 3).
    """
    ups = [part for part in outline.parts if part.enlarges]
    downs = [part for part in outline.parts if _is_down(part)]
    if len(ups) < _LEAST_LEVELS or len(ups) != len(downs) or downs[-1].place > ups[0].place:
        return None
    skips: list[tuple[OutlinePart, OutlinePart]] = []
    for join in outline.of_kind("Concat"):
        givers = outline.givers(join)
        if join.place < downs[-1].place or len(givers) != 2:
            continue
        early, late = sorted(givers, key=lambda part: part.place)
        # what is above the lowest level goes across
        if late.follows(downs[-1]) and late.follows(early):
            skips.append((early, join))
    sources = [early.place for early, _ in skips]
    if len(skips) < len(ups) or any(one <= two for one, two in pairwise(sources)):
        return None
    # blocks behind a join may stand before what makes places more
    lowest = min((ups[0], *(join for _, join in skips)), key=attrgetter("place"))
    widths = _list_widths(outline, downs, lowest)
    attentions = outline.of_kind("attention")
    crossing = [part for part in attentions if part.name == "Cross-attention"]
    facts: dict[str, Detail] = {"levels": len(ups) + 1, "skips": len(skips)}
    if all(widths):
        facts["stage_widths"] = tuple(widths)
    heads = {part.details.read_as(AttentionDetails).heads for part in attentions}
    if len(heads) == 1 and (head := next(iter(heads))) is not None:
        facts["heads"] = head
    residuals = outline.of_kind("residual")
    final = _count_channels_out(outline)
    if final:
        facts["outputs"] = final
    family = "UNet with cross-attention" if crossing else "UNet"
    if _adds_outside(outline):
        residuals = []  # there are others that are not known as such
    clauses = (
        f"{len(ups) + 1} levels" + (f" of {write_row(widths)} channels" if all(widths) else ""),
        write_count(len(residuals), "residual block") + _write_inside(residuals)
        if residuals
        else "",
        _write_attentions(attentions, crossing, facts.get("heads")),
        write_count(len(skips), "connection") + " across",
        f"{write_count(final, 'channel')} out" if final else "",
    )
    blocks = (
        (BlockSketch("residual block", len(residuals), outline.nodes(residuals)),)
        if residuals
        else ()
    )
    return Sketch(family, write_axes(outline, family), clauses, blocks, facts)


def _count_channels_out(outline: Outline) -> int:
    """Return how many channels the last convolution gives; 0 where that is not what comes out.

    A block may stand behind it, as where the last one of a level makes the channels of the output.
    """
    last = [part for part in outline.parts if part.kind == "conv"][-1]
    shapes = [read_stated_shape(output) for output in outline.graph.outputs]
    stated = shapes[0] if len(shapes) == 1 else None
    if stated is None or not all(isinstance(dim, int) for dim in stated[1:]):
        is_last = not any(part.follows(last) for part in outline.of_kind("conv", "residual"))
        return last.out_features if is_last else 0
    if last.out_features in stated[1:]:
        return last.out_features
    channels = stated[1] if len(stated) > len(("batch", "channels")) else 0
    return channels if isinstance(channels, int) else 0


def _write_inside(residuals: Sequence[OutlinePart]) -> str:
    return find_common_units(part.name for part in residuals)


def _adds_outside(outline: Outline) -> bool:
    """Return whether convolutions are added to what comes from elsewhere outside of all blocks."""
    for part in outline.parts:
        if part.has("adds"):
            givers = outline.givers(part)
            last = [one for one in givers if one.kind == "conv" and max(one.kernel, default=1) > 1]
            if len(givers) == 2 and last:
                return True
    return False


def _write_attentions(
    attentions: Sequence[OutlinePart], crossing: Sequence[OutlinePart], heads: Detail | None
) -> str:
    if not attentions:
        return ""
    by = f" of {heads} heads" if isinstance(heads, int) and heads > 1 else ""
    if not crossing:
        return f"{write_count(len(attentions), 'attention')}{by}"
    rest = len(attentions) - len(crossing)
    return f"{rest} self- and {len(crossing)} cross-attentions{by}"


def _list_widths(outline: Outline, downs: Sequence[OutlinePart], end: OutlinePart) -> list[int]:
    """Return the channels of each level, those before each part that makes it smaller.

    Convolutions inside of blocks may be wider than what these give: what takes a level tells then
    how wide it is, and 0 stands where nothing does.
    """
    widths, last, marks = [], 0, {id(part) for part in downs}
    is_wider_inside = False
    for part in outline.parts:
        if part is end:
            break
        if id(part) in marks:
            is_wider_inside |= part.in_features not in (0, last)
            widths.append(part.in_features or last)
        if part.kind in _BLOCKS and part.out_features:
            last = part.out_features
    return [*widths, end.in_features if is_wider_inside else last]


def _tell_pyramid(outline: Outline) -> Sketch | None:
    """Tell convolutions that predict at every place of maps of several sizes, joined at the end.

    T. Lin and others, Feature Pyramid Networks, 2017, figure 1d: what is small is made larger and
    put beside larger maps; J. Redmon and A. Farhadi, YOLOv3, 2018, section 2.3: the same
    convolutions predict at each of them.
    """
    ups = [part for part in outline.parts if part.enlarges]
    if not ups or outline.of_kind("attention"):
        return None
    scales: list[list[OutlinePart]] = []
    for join in outline.of_kind("Concat"):
        givers = outline.givers(join)
        heads = [giver for giver in givers if giver.is_pointwise]
        if len(givers) == 2 and len(heads) == 2 and join.place > ups[-1].place:
            scales.append(heads)
    widths = {tuple(head.out_features for head in heads) for heads in scales}
    if len(scales) < _LEAST_LEVELS or len(widths) != 1 or not all(next(iter(widths))):
        return None
    last = scales[-1][-1]
    if any(part.kind in _BLOCKS and part.place > last.place for part in outline.parts):
        return None
    facts: dict[str, Detail] = {"scales": len(scales)}
    one, two = next(iter(widths))
    places = write_count(len(scales), "scale")
    clauses = (f"predictions at every place of {places} ({one} and {two} channels)",)
    return Sketch("one-stage detector", "One-stage detector", clauses, (), facts)


def _tell_super_resolution(outline: Outline) -> Sketch | None:
    """Tell convolutions of a small image whose channels become places at the end.

    W. Shi and others, Real-Time Single Image and Video Super-Resolution Using an Efficient
    Sub-Pixel Convolutional Neural Network, 2016, figure 1.
    """
    shuffles = [
        part
        for part in outline.of_kind("pixel shuffle")
        if outline.operations.kinds[part.end] == "DepthToSpace"
    ]
    convolutions = outline.of_kind("conv")
    weighted = [part for part in outline.main if part.kind not in ("conv", "residual")]
    own, inner = (
        sum(weigh_matrices(outline, [part]) for part in outline.of_kind(kind))
        for kind in ("conv", "residual")
    )
    weighted += outline.of_kind("residual") if inner > own else []  # the blocks are the network
    if len(shuffles) != 1 or len(convolutions) < _LEAST_LEVELS or weighted:
        return None
    if not may_enlarge(outline):
        return None  # patches that were channels are put back
    shuffle = shuffles[0]
    if any(_is_down(part) or part.enlarges for part in outline.parts) or outline.users(shuffle):
        return None
    factor = shuffle.details.read_as(ResamplingDetails).factor or 0
    last = convolutions[-1].out_features
    if last % (factor * factor):
        return None
    facts: dict[str, Detail] = {"factor": factor}
    widths = [convolutions[0].in_features, *(part.out_features for part in convolutions)]
    is_row = not outline.of_kind("residual", "Add", "Concat")
    way = f" {write_way(widths)}" if all(widths) else ""
    counted = f"{write_count(len(convolutions), 'convolution')}{way}" if is_row else ""
    clauses = (counted, f"pixel shuffle ×{factor}")
    family = "super-resolution CNN"
    return Sketch(family, "Super-resolution CNN", clauses, (), facts, is_open=not is_row)


def _tell_decoder(outline: Outline) -> Sketch | None:
    """Tell blocks whose places become more and whose channels become fewer, up to an image.

    As the decoder of an autoencoder (P. Esser and others, Taming Transformers for High-Resolution
    Image Synthesis, 2021, table 7).
    """
    ups = [part for part in outline.parts if part.enlarges]
    residuals = outline.of_kind("residual")
    convolutions = outline.of_kind("conv")
    if len(ups) < _LEAST_LEVELS or len(residuals) < len(ups) or not convolutions:
        return None
    if any(_is_down(part) for part in outline.parts) or outline.of_kind("Concat", "embedding"):
        return None
    final = convolutions[-1]
    widths = [part.out_features for part in residuals]
    if not all(widths) or sorted(widths, reverse=True) != widths or widths[0] == widths[-1]:
        return None
    if outline.users(final) or not 0 < final.out_features <= 4 or final.place < ups[-1].place:
        return None
    runs = [
        [part for part in run if part.kind == "residual"]
        for is_up, run in groupby(outline.parts, key=attrgetter("enlarges"))
        if not is_up
    ]
    runs = [run for run in runs if run]
    if not all(two.follows(one) for run in runs for one, two in pairwise(run)):
        return None
    attentions = outline.of_kind("attention")
    facts: dict[str, Detail] = {
        "ups": len(ups),
        "outputs": final.out_features,
        "stage_widths": tuple(run[-1].out_features for run in runs),
        "stage_blocks": tuple(map(len, runs)),
    }
    inside = _write_inside(residuals)
    clauses = (
        f"levels of {write_row([len(run) for run in runs])} residual blocks{inside}",
        f"{widths[0]:,} → {write_count(widths[-1], 'channel')}",
        "made larger " + ("once" if len(ups) == 1 else f"{len(ups)} times"),
        write_count(len(attentions), "self-attention") if attentions else "",
        f"{write_count(final.out_features, 'channel')} out",
    )
    blocks = tuple(BlockSketch("residual block", len(run), outline.nodes(run)) for run in runs)
    return Sketch("convolutional decoder", "Convolutional decoder", clauses, blocks, facts)
