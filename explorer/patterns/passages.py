"""What much arithmetic between two layers computes: distances, neighbours, a cost volume, a grid.

Programs write it as dozens of operations without weights, which no figure draws. It is told by the
few of them that say what it is for; the rest only serves these.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from netloupe.explorer.dataflow import find_giver, trace_back_where, trace_on
from netloupe.explorer.model import Node, Value, is_constant
from netloupe.explorer.operators import LAYOUT_TRAITS

from .readings import finds_smallest, read_scalar

_BOTH = 2
#: so many values are passed from a length back to a difference, or to a search for the nearest
_MOST_BETWEEN = 12
#: so many distances are no accident, and so many shifts are a search
_LEAST_DISTANCES, _LEAST_SHIFTS = 2, 3
_LENGTHS = ("ReduceL2", "Sqrt")
#: between a difference and its length: the sum of squares, what is added to it or limits it
_IN_LENGTHS = ("Add", "Clip", "Max", "Mul", "Pow", "ReduceSum", "ReduceSumSquare")
#: so many values are looked at in |x|² - 2 x·y + |y|², and what keeps the order of numbers
_MOST_IN_SQUARE, _RISING = 24, ("Relu", "Sqrt")
#: so many limits are put to a value one after the other at most
_MOST_LIMITS = 4
_ROUNDING = ("Ceil", "Floor", "Round")
_COMPARISONS = ("Greater", "GreaterOrEqual", "Less", "LessOrEqual")
#: how a value of two maps is compared with one of the other
_COMPARING = {"Sub": "differences", "Mul": "correlations", "Concat": "pairs"}


def name_passage(nodes: Sequence[Node]) -> tuple[str, tuple[str, ...]]:
    """Return what nodes without weights compute together, and facts of it; "" for no such thing.

    Distances are lengths of differences; nearest neighbours are searched among these. A cost volume
    compares one map with another one that is shifted step by step (A. Kendall and others,
    End-to-End Learning of Geometry and Context for Deep Stereo Regression, 2017, section 3.2;
    D. Sun and others, PWC-Net, 2018, section 3). A length mask says which places of a sequence are
    within a length that is computed (Y. Ren and others, FastSpeech, 2019, section 3.2).

    Parameters
    ----------
    nodes
        Of one graph.
    """
    inside = {*nodes}
    if _is_inverse_sigmoid(nodes):
        return "Inverse sigmoid", ("log(x / (1 − x))",)
    if _is_length_mask(nodes, inside):
        return "Length mask", ("places within a length",)
    shifts = _find_shifts(nodes, inside)
    if shifts:
        return "Cost volume", shifts
    lengths = {node for node in nodes if _is_distance(node, inside)}
    if _is_grid(nodes, inside):
        return "Sampling grid", ()
    searches = [node for node in nodes if _is_search(node, lengths)]
    if searches:
        return "Distances and nearest neighbours", ()
    return ("Distances", ()) if len(lengths) >= _LEAST_DISTANCES else ("", ())


def _is_inverse_sigmoid(nodes: Sequence[Node]) -> bool:
    """Return whether nodes compute log(x / (1 - x)), each perhaps limited, and no more.

    So boxes are refined before a sigmoid (X. Zhu and others, Deformable DETR, 2021, appendix A.4).
    """
    end = nodes[-1]
    of = end.input(0) if end.operator.form == "Log" else None
    ratio = of.producer if of is not None else None
    if ratio is None or ratio.operator.form != "Div" or len(ratio.inputs) != _BOTH:
        return False
    numerator, denominator = (_see_limits(value) for value in ratio.inputs)
    rest = denominator[-1].producer if denominator else None
    if rest is None or not rest.operator.has("subtracts") or read_scalar(rest.input(0)) != 1:
        return False
    taken = _see_limits(rest.input(1))
    if not taken or not numerator or taken[-1] is not numerator[-1]:
        return False
    limits = {node for value in (*numerator, *denominator, *taken) for node in _find_limit(value)}
    return {*nodes} == {end, ratio, rest, *limits}


def _is_length_mask(nodes: Sequence[Node], inside: set[Node]) -> bool:
    """Return whether nodes compare places that are counted with a length that is computed.

    All others only measure, limit, and lay out.
    """
    compared = [node for node in nodes if node.operator.form in _COMPARISONS]
    if len(compared) != 1 or not all(map(_measures, nodes)):
        return False
    sides = compared[0].inputs
    counted = [value for value in sides if find_giver(value, "counts", through=LAYOUT_TRAITS)]
    given = [value for value in sides if value not in counted and value is not None]
    if len(counted) != 1 or any(value.producer not in inside for value in given):
        return False
    return find_giver(nodes[-1].output(0), "compares_order", through=LAYOUT_TRAITS) is compared[0]


def _measures(node: Node) -> bool:
    """Return whether a node counts, limits or compares numbers, or lays them out."""
    operator = node.operator
    is_limit = operator.has("clips", "compares_order", "counts", "reduces")
    return is_limit or operator.form in _ROUNDING or operator.has(*LAYOUT_TRAITS)


def _see_limits(value: Value | None) -> list[Value]:
    """Return a value and what it was before it was limited."""
    found: list[Value] = []
    while value is not None and len(found) < _MOST_LIMITS:
        found.append(value)
        limits = _find_limit(value)
        value = next((_find_limited(node) for node in limits if _find_limited(node)), None)
    return found


def _find_limit(value: Value) -> tuple[Node, ...]:
    """Return the nodes that limit what a value was: one, or a choice and what it compares."""
    node = value.producer
    if node is None or _find_limited(node) is None:
        return ()
    compared = node.input(0)
    if node.operator.has("clips") or compared is None or compared.producer is None:
        return (node,)
    return node, compared.producer


def _find_limited(node: Node) -> Value | None:
    """Return what a node limits: that of ``x > c ? c : x`` is x."""
    if node.operator.has("clips"):
        return node.input(0)
    if node.operator.form != "Where":
        return None
    choice, *either = (node.input(place) for place in range(3))
    test = choice.producer if choice is not None else None
    computed = [value for value in either if value is not None and not is_constant(value)]
    is_test = test is not None and test.operator.form in _COMPARISONS
    if test is None or not is_test or len(computed) != 1:
        return None
    return computed[0] if computed[0] in test.inputs else None


def _find_shifts(nodes: Sequence[Node], inside: set[Node]) -> tuple[str, ...]:
    """Return facts of the shifts in which two maps are compared; nothing where they are not."""
    for form, word in _COMPARING.items():
        count = _count_shifts([node for node in nodes if node.operator.form == form], inside)
        if count:
            return f"{count} shifts", word
    return ()


def _count_shifts(comparing: Sequence[Node], inside: set[Node]) -> int:
    """Return how often nodes compare one map with another that is padded or cut; 0 for others.

    Each map is compared as it is or padded and cut, and nothing else is computed of it before.
    """
    moved: set[Node] = set()
    maps: set[Value] = set()
    count = 0
    for node in comparing:
        taken = [value for value in node.inputs if value is not None]
        if len(taken) != _BOTH or any(map(is_constant, taken)):
            if node.operator.has("joins"):
                continue  # it puts results together, or makes a setting
            return 0
        sources = []
        for value in taken:
            way = [*trace_back_where(value, lambda node: _shifts(node, inside), most=6)]
            moved.update(each.producer for each in way[:-1] if each.producer is not None)
            sources.append(way[-1])
        maps.update(sources)
        if len(maps) > _BOTH or sources[0] is sources[1]:
            return 0
        count += 1
    return count if count > _LEAST_SHIFTS and len(moved) >= _LEAST_SHIFTS else 0


def _shifts(node: Node, inside: set[Node]) -> bool:
    return node in inside and node.operator.has("pads", "slices", "gathers")


def _is_distance(node: Node, inside: set[Node]) -> bool:
    """Return whether a node gives the length of a difference of two computed values."""
    if node.operator.form not in _LENGTHS:
        return False
    way = [*trace_back_where(node.input(0), _is_in_length, most=_MOST_BETWEEN)]
    giver = way[-1].producer if way else None
    if giver is None or giver not in inside or not giver.operator.has("subtracts"):
        return False
    is_squared = node.operator.form == "ReduceL2" or any(
        value.producer is not None and value.producer.operator.has("reduces") for value in way
    )
    return is_squared and not any(value is None or is_constant(value) for value in giver.inputs)


def _is_in_length(node: Node) -> bool:
    return node.operator.form in _IN_LENGTHS


def _is_grid(nodes: Sequence[Node], inside: set[Node]) -> bool:
    """Return whether all that leaves some nodes says where maps are sampled.

    M. Jaderberg and others, Spatial Transformer Networks, 2015, section 3.2: the sampling grid.
    """
    users = [
        (user, taken)
        for node in nodes
        for value in node.outputs
        if value is not None
        for user, taken in trace_on(value, *LAYOUT_TRAITS)
        if user not in inside and not user.operator.has("reads_shape")
    ]
    return bool(users) and all(
        user.operator.has("samples") and user.input(0) is not taken for user, taken in users
    )


def _is_search(node: Node, lengths: set[Node]) -> bool:
    """Return whether a node finds which of some distances are the smallest."""
    if not node.operator.has("finds_largest", "selects"):
        return False
    if _searches_expanded(node):
        return True
    is_smallest = finds_smallest(node)
    pending = [node.input(0)]
    for value in islice(pending, _MOST_BETWEEN):  # it grows meanwhile
        giver = value.producer if value is not None else None
        if giver in lengths:
            return is_smallest
        if giver is not None and _computes(giver):
            is_smallest ^= giver.operator.form == "Neg"
            pending += giver.inputs
    return False


def _searches_expanded(node: Node) -> bool:
    """Return whether a node finds the smallest of |x|² - 2 x·y + |y|², or the largest of - that.

    So distances of all pairs are written as one product (Y. Wang and others, Dynamic Graph CNN for
    Learning on Point Clouds, 2019, in the code of ``knn``).
    """
    sign = -1 if finds_smallest(node) else 1
    squares: set[int] = set()
    products: set[int] = set()
    pending = [(node.input(0), -sign)]
    for value, way in islice(pending, _MOST_IN_SQUARE):  # it grows meanwhile
        giver = value.producer if value is not None else None
        if giver is None:
            continue
        first, second = giver.input(0), giver.input(1) if len(giver.inputs) > 1 else None
        factor = read_scalar(first), read_scalar(second)
        if giver.operator.form in ("ReduceSum", "ReduceSumSquare") and _sums_squares(giver):
            squares.add(way)
        elif giver.operator.has("multiplies") and not any(
            value is None or is_constant(value) for value in giver.inputs[:_BOTH]
        ):
            products.add(way)
        elif giver.operator.has("adds"):
            pending += ((first, way), (second, way))
        elif giver.operator.has("subtracts"):
            pending += ((first, way), (second, -way))
        elif giver.operator.has("multiplies_elements", "divides") and factor != (None, None):
            number, other = (factor[0], second) if factor[0] is not None else (factor[1], first)
            pending.append((other, way if (number or 0) > 0 else -way))
        elif giver.operator.form == "Neg":
            pending.append((first, -way))
        elif giver.operator.has(*LAYOUT_TRAITS, "clips") or giver.operator.form in _RISING:
            pending.append((first, way))
    return squares == {1} and products == {-1}


def _sums_squares(node: Node) -> bool:
    if node.operator.form == "ReduceSumSquare":
        return True
    value = node.input(0)
    giver = value.producer if value is not None else None
    if giver is None:
        return False
    if giver.operator.form == "Pow":
        return read_scalar(giver.input(1)) == _BOTH
    is_product = giver.operator.has("multiplies_elements") and len(giver.inputs) == _BOTH
    return is_product and giver.input(0) is giver.input(1)


def _computes(node: Node) -> bool:
    """Return whether a node computes each element by itself, as where some are masked."""
    return node.operator.has("elementwise", "adds", "multiplies_elements", "subtracts", "chooses")
