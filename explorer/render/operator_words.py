"""What a node does in the words of figures, where its settings are lists or numbers of an exporter.

``reflect 3`` for a list of paddings, ``first token`` for an index, ``0 … 20`` for two limits: what
a paper would print, from the same sizes that :mod:`netloupe.explorer.costs` follows.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from itertools import starmap

from netloupe.explorer.costs.facts import Dims
from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import find_source, is_input_independent
from netloupe.explorer.grouping.thresholds import compares_with_thresholds
from netloupe.explorer.layout.value_sizes import write_dim
from netloupe.explorer.model import Node, Value, is_constant
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.notation import write_number
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.patterns import read_numbers, read_scalar
from netloupe.explorer.patterns.picked_parts import place_axis, read_limits
from netloupe.explorer.roles import find_weight

#: of a constant with more elements these are not read
_MOST_READ = 4096
#: axes that are padded are told one by one as long as there are no more
_MOST_AXES = 4
#: so many nodes before a picked place are looked at for what its axis counts
_MOST_BEFORE = 300
_PAIR = 2
#: beyond are limits of types
_UNLIMITED = 1e37
_SEQUENCE = 3
_PLACES = {0: "first", 1: "second", -1: "last"}
_TERMS = r"(?P<terms>[A-Za-z]+(,[A-Za-z]+)*)->(?P<result>[A-Za-z]*)"
#: how arithmetic with stored numbers is written, and what numbers of each channel are
_SIGNS = {
    "adds": ("+", "bias"),
    "subtracts": ("−", ""),
    "multiplies_elements": ("×", "scale"),
    "divides": ("÷", ""),
}


def tell_settings(node: Node) -> tuple[str, ...]:
    """Return what a node does in words; nothing where its settings say it, or it is not known.

    * One that pads, with what and how much: ``reflect 3 on each side``, ``zeros 2 before``.
    * One that limits, between what: ``0 … 20``, ``≥ 0.0001``.
    * One that takes one place of a sequence: ``first token``, ``last step``.
    * One that changes a shape, to which: ``to 5 × 2``.
    * A product of several axes, over what it sums: ``batched product over 40``.
    """
    operator = node.operator
    if operator.has("pads"):
        return _tell_padding(node)
    if operator.has("clips"):
        return _tell_limits(node)
    if operator.has("gathers"):
        return _tell_picked(node)
    if operator.has("reshapes"):
        return _tell_shape(node)
    if operator.has("compares_order"):
        return _tell_thresholds(node)
    return _tell_product(node)


def _tell_thresholds(node: Node) -> tuple[str, ...]:
    """Return ``than 42 × 34 thresholds`` where features are compared with stored numbers."""
    if not compares_with_thresholds(node):
        return ()
    fixed = next(value for value in node.inputs if value and is_input_independent(value))
    dims = find_value_facts(node.graph.model).find_dims(fixed) or ()
    return (f"than {' × '.join(write_dim(dim) for dim in dims if dim != 1)} thresholds",)


def tell_stored_operand(node: Node) -> tuple[str, int] | None:
    """Return what arithmetic does with stored numbers, and their place; None for other nodes.

    ``+ bias of 16`` for a number for each channel, ``× mask of 6`` where all are 0 or 1, ``+
    offsets of 39`` for the first rows of several tables that are stored as one, else ``− 16 × 11
    values``.
    """
    if len(node.inputs) != _PAIR:
        return None
    sign = next((sign for trait, sign in _SIGNS.items() if node.operator.has(trait)), None)
    stored = [place for place, value in enumerate(node.inputs) if value and is_constant(value)]
    if sign is None:
        return None
    if not stored:
        return _tell_composed_operand(node, sign)
    if len(stored) != 1:
        return None
    value = node.inputs[stored[0]]
    tensor = None if value is None else find_stored_tensor(value)
    if tensor is None or tensor.size < _PAIR:
        return None
    sizes = [dim for dim in tensor.dims if dim > 1]
    size = " × ".join(f"{dim:,}" for dim in sizes)
    numbers = {*read_numbers(tensor, _MOST_READ)} if tensor.size <= _MOST_READ else set()
    what = f"{size} values"
    if numbers == {0, 1} and node.operator.has("multiplies_elements"):
        what = f"mask of {size}"
    elif len(sizes) == 1 and _starts_ids(node, numbers):
        what = f"offsets of {size}"
    elif len(sizes) == 1 and sign[1] and _is_of_channels(node, stored[0], sizes[0], tensor.dims):
        what = f"{sign[1]} of {size}"
    return _write_operand(node, stored[0], sign[0], what), stored[0]


def _tell_composed_operand(node: Node, sign: tuple[str, str]) -> tuple[str, int] | None:
    """Return the same of numbers for each channel that are computed of stored ones alone."""
    places = [
        place for place, value in enumerate(node.inputs) if value and is_input_independent(value)
    ]
    if len(places) != 1:
        return None
    dims = find_value_facts(node.graph.model).find_dims(node.inputs[places[0]]) or ()
    whole = [dim for dim in dims if isinstance(dim, int)]
    sizes = [dim for dim in whole if dim > 1]
    if len(whole) < len(dims) or len(sizes) != 1:
        return None
    if not _is_of_channels(node, places[0], sizes[0], whole):
        return None
    what = f"{sign[1]} of {sizes[0]:,}" if sign[1] else f"{sizes[0]:,} values"
    return _write_operand(node, places[0], sign[0], what), places[0]


def _write_operand(node: Node, place: int, sign: str, what: str) -> str:
    is_first = place == 0 and node.operator.has("subtracts", "divides")
    return f"{what} {sign} x" if is_first else f"{sign} {what}"


def _starts_ids(node: Node, numbers: set[float]) -> bool:
    """Return whether different whole numbers are added to what then picks rows of tables."""
    result = node.output(0)
    users = () if result is None or not node.operator.has("adds") else result.users
    are_whole = all(number >= 0 and float(number).is_integer() for number in numbers)
    return (
        len(users) > 0
        and are_whole
        and len(numbers) > 1
        and all(user.operator.has("looks_up") and user.input(1) is result for user in users)
    )


def _is_of_channels(node: Node, place: int, size: int, dims: Sequence[int]) -> bool:
    """Return whether there is a number for each channel: the last axis, or the second of images.

    The second of three axes may be that of steps as well.
    """
    axis = len(dims) - 1 - [*dims].index(size)
    stream = node.inputs[1 - place]
    known = find_value_facts(node.graph.model).find_dims(stream)
    is_image = known is not None and len(known) > _SEQUENCE
    return axis == 0 or (known is not None and is_image and len(known) - 1 - axis == 1)


def _tell_padding(node: Node) -> tuple[str, ...]:
    how, sides = read_padding(node)
    return (f"{how} {sides}".strip(),) if how else ()


def read_padding(node: Node) -> tuple[str, str]:
    """Return with what a node pads, and how much: ``("reflect", "3 on each side")``.

    ``("nothing", "")`` where it pads nothing, and no words for what is not known.
    """
    facts = find_value_facts(node.graph.model)
    mode = node.attributes.get("mode")
    how = mode.value if mode is not None and isinstance(mode.value, str) else "constant"
    if how == "constant":
        place = node.operator.operands.find("fill")
        fill = None if place is None else node.input(place)
        number = 0.0 if fill is None else read_scalar(fill)
        how = "zeros" if number == 0 else "constant" if number is None else write_number(number)
    pads = read_limits(node, "pads", facts)
    axes = read_limits(node, "axes", facts)
    if node.operator.operands.find("pads") is None and "pads" not in node.attributes:
        return "", ""
    if pads is None or not all(isinstance(pad, int) and pad >= 0 for pad in pads) or len(pads) % 2:
        return how, ""
    sides = [*zip(pads, pads[len(pads) // 2 :], strict=False)]
    told = [(before, after) for before, after in sides if before or after]
    if not told or len(told) > _MOST_AXES or (axes is not None and len(axes) != len(sides)):
        return ("nothing", "") if not told else (how, "")
    if all(before == after for before, after in told):
        shown = told[:1] if len({*told}) == 1 else told
        return how, f"{', '.join(str(one) for one, _ in shown)} on each side"
    if len({*told}) == 1:
        return how, _write_sides(*told[0])
    return how, ", ".join(starmap(_write_sides, told))


def _write_sides(before: object, after: object) -> str:
    if before == after:
        return f"{before} on each side"
    ends = ((before, "before"), (after, "behind"))
    return " and ".join(f"{count} {where}" for count, where in ends if count)


def _tell_limits(node: Node) -> tuple[str, ...]:
    limits: list[float | None] = []
    for name, place in (("min", 1), ("max", 2)):
        attribute = node.attributes.get(name)
        value = node.input(place)
        if attribute is not None and isinstance(attribute.value, int | float):
            limits.append(attribute.value)
        elif value is None:
            limits.append(None)
        else:
            number = read_scalar(value)
            if number is None:
                return ()
            limits.append(number)
    least, most = (
        None if limit is None or abs(limit) > _UNLIMITED else write_number(limit).replace("-", "−")
        for limit in limits
    )
    if least is not None and most is not None:
        return (f"{least} … {most}",)
    if least is None and most is None:
        return ()
    return (f"≥ {least}",) if most is None else (f"≤ {most}",)


def _tell_picked(node: Node) -> tuple[str, ...]:
    """Return ``first token`` or ``last step`` where one place of a sequence is taken."""
    facts = find_value_facts(node.graph.model)
    place = node.operator.operands.find("indices")
    found = None if place is None else facts.find_elements(node.input(place))
    dims = facts.find_dims(node.input(0))
    if found is None or len(found) != 1 or dims is None or len(dims) != _SEQUENCE:
        return ()
    attribute = node.attributes.get("axis")
    axis = attribute.value if attribute is not None and isinstance(attribute.value, int) else 0
    axis, index = place_axis(axis, dims) or 0, found[0]
    size = dims[axis]
    if isinstance(index, int) and isinstance(size, int) and size > 1 and index == size - 1:
        index = -1
    which = _PLACES.get(index) if isinstance(index, int) else None
    what = _find_counted(node.input(0), axis)
    return (f"{which} {what}",) if which and what and size not in (1, None) else ()


def _find_counted(value: Value | None, axis: int) -> str:
    """Return what an axis of a sequence counts: tokens behind attention, steps behind a layer.

    A recurrent layer has steps first or, where its result was turned, second; a convolution over
    a sequence has them last; and behind attention tokens are the second axis.
    """
    pending = deque([value])
    seen: set[Node] = set()
    while pending and len(seen) < _MOST_BEFORE:
        node = None if (one := pending.popleft()) is None else one.producer
        if node is None or node in seen:
            continue
        seen.add(node)
        operator = node.operator
        if operator.has("recurrent"):
            return "step" if axis < _SEQUENCE - 1 and one is node.output(0) else ""
        if operator.has("convolves"):
            dims = find_value_facts(node.graph.model).find_dims(node.output(0))
            is_sequence = dims is not None and len(dims) == _SEQUENCE
            return "step" if is_sequence and axis == _SEQUENCE - 1 else ""
        if operator.has("attends") or _weighs(node):
            return "token" if axis == 1 else ""
        pending += [each for each in node.inputs if each is not None and not is_constant(each)]
    return ""


def _weighs(node: Node) -> bool:
    """Return whether a product takes shares that a softmax gave."""
    if not node.operator.has("multiplies"):
        return False
    sources = [find_source(v, *LAYOUT_TRAITS, "drops_out") for v in node.inputs[:2] if v]
    givers = [source.producer for source in sources if source is not None]
    return any(giver is not None and giver.operator.has("distributes") for giver in givers)


def _tell_shape(node: Node) -> tuple[str, ...]:
    """Return the shape that a node gives to each of a batch."""
    if not node.graph.dialect.has_opsets:
        return ()
    dims = find_value_facts(node.graph.model).find_dims(node.output(0))
    if dims is None or len(dims) < _PAIR:
        return ()
    before = find_value_facts(node.graph.model).find_dims(node.input(0))
    shown = dims[1:] if before is not None and before[:1] == dims[:1] else dims
    sizes = [write_dim(dim) for dim in shown]
    return () if "?" in sizes else (f"to {' × '.join(sizes)}",)


def _tell_product(node: Node) -> tuple[str, ...]:
    """Return what a product that is told by an equation does, and over what it sums.

    Of three operands only a bilinear form is told: ``xᵀ W y``, a matrix or several between two
    vectors (T. Dozat and C. Manning, Deep Biaffine Attention, 2017, equation 6).
    """
    attribute = node.attributes.get("equation")
    equation = attribute.value if attribute is not None else None
    match = re.fullmatch(_TERMS, equation.replace(" ", "")) if isinstance(equation, str) else None
    if match is None:
        return ()
    terms = match["terms"].split(",")
    if len(terms) != len(node.inputs):
        return ()
    if len(terms) == _PAIR:
        return () if find_weight(node) is not None else _tell_pair(node, terms, match["result"])
    if len(terms) == _PAIR + 1:
        return _tell_bilinear(node, terms, match["result"])
    return ()


def _tell_pair(node: Node, terms: Sequence[str], result: str) -> tuple[str, ...]:
    first, second = terms
    summed = [axis for axis in dict.fromkeys(first) if axis in second and axis not in result]
    shared = [axis for axis in dict.fromkeys(first) if axis in second and axis in result]
    if not summed:
        is_outer = all(set(term) - {*shared} for term in terms)
        told = f"{'batched ' if shared else ''}outer product"
        return (told if is_outer else "element by element",)
    return (f"{'batched ' if shared else ''}product{_write_over(node, terms, summed)}",)


def _tell_bilinear(node: Node, terms: Sequence[str], result: str) -> tuple[str, ...]:
    stored = [place for place, value in enumerate(node.inputs) if value and is_constant(value)]
    if len(stored) != 1:
        return ()
    between = terms[stored[0]]
    sides = [term for place, term in enumerate(terms) if place != stored[0]]
    summed = [axis for axis in dict.fromkeys(between) if axis not in result]
    holders = [[axis in side for side in sides] for axis in summed]
    if sorted(holders) != [[False, True], [True, False]]:
        return ()
    return (f"bilinear product{_write_over(node, terms, summed)}",)


def _write_over(node: Node, terms: Sequence[str], summed: Sequence[str]) -> str:
    """Return `` over 4 × 5`` with the sizes of the axes that are summed; "" where not known."""
    facts = find_value_facts(node.graph.model)
    sizes = []
    for axis in summed:
        known = (
            _find_size(term, axis, facts.find_dims(node.input(place)))
            for place, term in enumerate(terms)
            if axis in term
        )
        sizes.append(next((size for size in known if size != "?"), "?"))
    return "" if "?" in sizes else f" over {' × '.join(sizes)}"


def _find_size(term: str, axis: str, dims: Dims | None) -> str:
    place = term.index(axis)
    return write_dim(dims[place]) if dims is not None and len(dims) == len(term) else "?"
