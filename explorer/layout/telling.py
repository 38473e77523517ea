"""How unusual a block is: the parts of it that no ordinary block has.

One fixed table says what is ordinary: what every network of a kind is made of, as self-attention
and MLPs with norms around them, residual sums around convolutions, and recurrent layers. All else
that has a name in the field is what a paper draws its figure for, and so is a product of two values
that a block computes, where no name tells what it is for.
"""

from __future__ import annotations

from netloupe.explorer.grouping import Group, list_nodes_inside
from netloupe.explorer.model import is_constant
from netloupe.explorer.patterns import IDEA, WORK, Recognition
from netloupe.explorer.patterns.activations import ACTIVATIONS
from netloupe.explorer.patterns.convolution_details import ConvolutionDetails
from netloupe.explorer.patterns.details import FeatureDetails
from netloupe.explorer.patterns.ingredients import Ingredient
from netloupe.explorer.patterns.norms import NORMS

#: what is in the blocks of every network
_ORDINARY = frozenset(
    (
        "Self-attention",
        "Grouped-query attention",
        "Transformer block",
        "MLP",
        "SwiGLU",
        "GEGLU",
        "ReGLU",
        "GLU",
        "Linear",
        "Embedding",
        "Patch embedding",
        "Patch merging",
        "Token + position embedding",
        "Positional encoding",
        "Residual block",
        "Inverted residual",
        "Depthwise-separable conv",
        "Squeeze-and-excitation",
        "LSTM",
        "GRU",
        "RNN",
        "Softmax",
        "Scale and shift",
        *("AveragePool", "GlobalAveragePool", "MaxPool", "Resize"),
        *ACTIVATIONS.values(),
        *NORMS.values(),
    )
)
#: and what is of these families, or of these kinds of ingredient
_ORDINARY_FAMILIES = frozenset(("activation", "elementwise", "shape"))
_ORDINARY_KINDS = frozenset(
    (
        *("activation", "conv", "embedding", "excitation", "formula", "inverted", "length"),
        *("linear", "mlp", "norm", "pixel shuffle", "positions", "rearranged", "residual"),
        *("scale and shift", "separable", "softmax"),
    )
)
#: a norm that is told its scale by another input is none of the ordinary ones
_ADAPTIVE = "Adaptive"
#: operators that pick and count values: no figure is drawn for them
_PICKING = frozenset(("ArgMax", "ArgMin", "CumSum", "If", "Loop", "NonZero", "TopK", "Where"))
#: between the parts of a block that is called after them
_AND = " · "
#: before what a residual sum is around, where that has a name
_WITH = " with "
#: a product of two values that a block computes
_PRODUCT = "product"
#: what these give is a weight of what it is multiplied with
_BOUNDED = frozenset(("HardSigmoid", "Sigmoid", "Softmax", "Tanh"))
#: of a block with a residual sum no name tells what is in it
_ANY_RESIDUAL = "Residual block"
#: as many nodes and groups of a block are looked at
_MOST_NODES, _MOST_GROUPS = 400, 60


def list_telling(element: object) -> frozenset[str]:
    """Return the kinds of part in a block, or in each of a stack, that no ordinary block has."""
    if isinstance(element, Group) and element.kind == "repeat":
        return list_telling(element.children[element.exemplar])
    if not isinstance(element, Group):
        return frozenset()
    found: set[str] = set()
    pending = [(element, False)]
    for _ in range(_MOST_GROUPS):
        if not pending:
            break
        group, is_named = pending.pop()
        if group.is_beside or group.kind == "shape":
            continue
        known = group.recognised
        if known is not None and not _is_ordinary(known):
            found.add(known.name)
            continue
        if known is not None and known.family not in ("group", "residual"):
            continue  # it is ordinary, and so are its parts
        is_named |= known is not None and known.name != _ANY_RESIDUAL
        found.update(one.name for one in group.contents if not _is_ordinary_part(one, is_named))
        if not is_named:
            found |= _find_products(group)
        if group.kind == "repeat":
            block = group.children[group.exemplar]
            pending += [(block, is_named)] if isinstance(block, Group) else []
        else:
            pending += ((inner, is_named) for inner in group.inner_groups())
    return frozenset(found)


def is_ordinary(element: object) -> bool:
    """Return whether a block with a name has in it only what every network has."""
    return not list_telling(element)


def _is_ordinary(known: Recognition) -> bool:
    if known.name.startswith(_ADAPTIVE):
        return False
    if known.family in _ORDINARY_FAMILIES or known.family == "normalization":
        return True
    if isinstance(known.details, (ConvolutionDetails, FeatureDetails)):
        return _WITH not in known.name
    return all(part in _ORDINARY for part in known.name.split(_AND))


def _is_ordinary_part(part: Ingredient, is_named: bool) -> bool:
    """Return whether every network has a part, or it is what the name of a block is for."""
    if part.name.startswith(_ADAPTIVE):
        return False
    if part.rank < WORK or part.kind in _ORDINARY_KINDS:
        return True
    if part.kind == part.name:
        return is_named or part.name in _PICKING
    return all(one in _ORDINARY for one in part.name.split(_AND))


def _find_products(group: Group) -> frozenset[str]:
    """Return whether two values are multiplied in a group that it computes both."""
    if any(one.rank == IDEA and one.kind not in _ORDINARY_KINDS for one in group.contents):
        return frozenset()  # it may be of an idea with a name
    if group.node_count > _MOST_NODES:
        return frozenset()
    nodes = {*list_nodes_inside([group])}
    own = {n for n in group.children if n in nodes}
    for node in own:
        if not node.operator.has("multiplies_elements"):
            continue
        operands = {v for v in node.inputs if v is not None and not is_constant(v)}
        computed = [v.producer for v in operands if v.producer in nodes]
        is_gated = any(one is not None and one.op_type in _BOUNDED for one in computed)
        if len(operands) > 1 and (len(computed) == len(operands) or is_gated):
            return frozenset((_PRODUCT,))
    return frozenset()
