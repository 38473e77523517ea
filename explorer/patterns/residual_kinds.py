"""Of which kind residual blocks are, by what convolves in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from .convolution_details import ConvolutionDetails
from .convolutions import narrows, widens
from .found_blocks import FoundBlock
from .transformer_details import MlpDetails

#: what stands between the name of a block and what tells it from others of that name
WITH = " with "
#: kinds of part that a residual block is told by
UNIT_KINDS = frozenset({"adaptive norm", "excitation", "unit"})
BOTTLENECK, INVERTED_BOTTLENECK = "Bottleneck block", "Inverted bottleneck"
PLAIN_RESIDUAL = "Residual block"
_USUAL = frozenset({"Squeeze-and-excitation"})
_PROPER = frozenset({"GDN", "Inception", "Res2Net module", "Snake"})
#: norms and activations that few networks have
_TELLING = frozenset({"GDN", "Global response norm", "Graph convolution", "Inverse GDN", "Snake"})
#: what is said in the plural where there are several
_COUNTED = ("convolution", "module")
_MOST_UNITS = 2
#: kernels along time and places
_AXES_OF_CLIPS = 3
#: longer names are cut where they stand in a box
_MOST_NAME = 52


def name_residual(
    main: list[ConvolutionDetails],
    linears: list[FoundBlock],
    *,
    has_layer_norm: bool,
    is_activated: bool = False,
    convolves_first: bool,
) -> str:
    """Return the kind of a block; "" for none.

    Parameters
    ----------
    main
        The convolutions on its main side, in order.
    linears
        Linear layers and MLPs there.
    has_layer_norm
        Whether there is a LayerNorm, too.
    is_activated
        Whether the sum is activated, as in blocks that are wider inside of some networks (C.
        Feichtenhofer, X3D, 2020, table 1; K. Wu and others, TinyViT, 2022, section 3.3); an
        inverted residual ends linearly.
    convolves_first
        Whether a convolution comes before all of these layers.
    """
    is_deep = [one.is_depthwise for one in main]
    if any(is_deep):
        if linears and is_deep[0]:
            is_convnext = (convolves_first and _is_convnext(main, linears)) or _is_inverted_behind(
                main
            )
            return "ConvNeXt block" if has_layer_norm and is_convnext else ""
        if is_inverted(main):
            return INVERTED_BOTTLENECK if is_activated else "Inverted residual"
        if _is_inverted_behind(main):
            return "ConvNeXt block" if has_layer_norm else "Conv MLP block"
        return PLAIN_RESIDUAL
    return BOTTLENECK if _is_bottleneck(main) else PLAIN_RESIDUAL


def add_units(name: str, parts: Iterable[FoundBlock], *, has_gate: bool = False) -> str:
    """Return the name of a block with the ideas in it: ``Residual block with involution``.

    Squeeze-and-excitation is told elsewhere, as so many blocks have it. A gate is told where there
    is nothing else.
    """
    every = [*parts]
    for part in every:  # grows
        every += part.parts if part.kind in ("conv", "mlp") else ()
    counts = Counter(
        part.name for part in every if part.kind in UNIT_KINDS or part.name in _TELLING
    )
    words = [
        write_inside(one) + ("s" if count > 1 and one.endswith(_COUNTED) else "")
        for one, count in counts.items()
        if one not in _USUAL
    ]
    if has_gate and not counts and name == PLAIN_RESIDUAL:
        return f"{name}{WITH}gate"
    if not 0 < len(words) <= _MOST_UNITS or not name:
        return name
    told = f"{name}{WITH}{_join(words)}"
    return told if len(told) <= _MOST_NAME else f"{name}{WITH}{words[0]}"


def _join(words: list[str]) -> str:
    """Return ``channel and spatial attention``, what both are being said once."""
    if len(words) == _MOST_UNITS:
        (one, _, noun), (_, _, other) = (word.rpartition(" ") for word in words)
        if one and noun == other:
            return f"{one} and {words[1]}"
    return " and ".join(words)


def find_common_units(names: Iterable[str]) -> str:
    """Return what stands behind the names of all of some blocks, `` with involution``; else ""."""
    ends = {joint + inner for _, joint, inner in (name.partition(WITH) for name in names)}
    return ends.pop() if len(ends) == 1 else ""


def write_inside(name: str) -> str:
    """Return a name as it stands inside of another one: a capital alone is made small."""
    return name[:1].lower() + name[1:] if name[1:2].islower() and name not in _PROPER else name


def is_inverted(main: list[ConvolutionDetails]) -> bool:
    """Return whether 1×1 expands, the depthwise one takes all that, and 1×1 projects.

    M. Sandler and others, MobileNetV2, 2018, table 1. Those of 1×1 may be in groups whose channels
    are shuffled (K. Sun and others, IGCV3, 2018, figure 2).
    """
    return any(
        deep.is_depthwise
        and {*wide.kernel} == {*projecting.kernel} == {1}
        and widens(wide)
        and wide.out_features == deep.in_features
        and deep.out_features == projecting.in_features
        and narrows(projecting)
        for wide, deep, projecting in zip(main, main[1:], main[2:], strict=False)
    )


def _is_inverted_behind(main: list[ConvolutionDetails]) -> bool:
    """Return whether 1×1 expands and projects behind the depthwise one.

    Z. Liu and others, A ConvNet for the 2020s, 2022, figure 4. Without its LayerNorm it is the
    convolutional MLP of other networks (P. Vasu and others, FastViT, 2023, figure 2c).
    """
    if len(main) != 3 or not main[0].is_depthwise or len({*main[0].kernel}) != 1:
        return False
    return all(one.is_pointwise for one in main[1:]) and widens(main[1]) and narrows(main[2])


def _is_bottleneck(main: list[ConvolutionDetails]) -> bool:
    """Return whether one convolves between two of 1×1, or all between work on fewer channels.

    What goes in and comes out is wider then (A. Paszke and others, ENet, 2016, figure 2b); between
    two of 1×1 it may be as wide (I. Radosavovic and others, Designing Network Design Spaces, 2020,
    section 3.2). Before a convolution of places one of time alone may stand for the first of 1×1
    (C. Feichtenhofer and others, SlowFast Networks, 2019, table 1).
    """
    if len(main) == 3 and main[0].is_pointwise and main[2].is_pointwise:
        within, outside = main[1].out_features, main[2].out_features
        if max(main[1].kernel, default=0) > 1:
            is_narrow = not within or not outside or within <= outside
            return is_narrow or main[1].groups is not None
    first, last = main[0], main[-1]
    is_of_time = len(main) == 3 and _is_of_time(first, main[1])
    if len(main) < 3 or not (first.is_pointwise or narrows(first) or is_of_time):
        return False
    inner, given = first.out_features or 0, last.out_features or 0
    is_inside = all((one.out_features or 0) <= inner for one in main[:-1])
    return last.is_pointwise and widens(last) and is_inside and inner < given


def _is_of_time(one: ConvolutionDetails, other: ConvolutionDetails) -> bool:
    """Return whether a convolution goes along time alone, and another one along places alone."""
    if len(one.kernel) != len(other.kernel) or len(one.kernel) != _AXES_OF_CLIPS:
        return False
    is_apart = {*one.kernel[1:]} == {1} and other.kernel[0] == 1
    return is_apart and one.kernel[0] > 1 and max(other.kernel) > 1


def _is_convnext(convolutions: list[ConvolutionDetails], linears: list[FoundBlock]) -> bool:
    """Return whether there is one depthwise convolution, and an MLP behind it, wider inside.

    A norm inside of the MLP leaves two linear layers (S. Woo and others, ConvNeXt V2, 2023, figure
    5).
    """
    if len(convolutions) != 1 or len({*convolutions[0].kernel}) != 1:
        return False
    if [one.kind for one in linears] == ["linear", "linear"]:
        first, last = (one.details.in_out for one in linears)
        return first is not None and last == first[::-1] and first[1] > first[0]
    if len(linears) != 1:
        return False
    widths = linears[0].details.read_as(MlpDetails).widths
    return linears[0].kind == "mlp" and (not widths or widths[1] > widths[0])
