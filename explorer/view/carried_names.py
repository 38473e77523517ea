"""What the values are that repetitions hand on, by how the next one is computed from the last.

A cell mixes its old state with a new one, as gates say: h of a GRU (K. Cho and others, 2014), c of
an LSTM, whose tanh times a gate is h (S. Hochreiter and J. Schmidhuber, 1997); of a plain recurrent
layer the state is squashed after a product. What is only added to is a sum; what others read too is
the stream of residuals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import find_source, trace_back, trace_on
from netloupe.explorer.model import Node, Value
from netloupe.explorer.operators import LAYOUT_TRAITS, PASSING_TRAITS
from netloupe.explorer.roles import find_weight

from .repetitions import Handed
from .value_names import find_role_name

#: cells within cells, as those of a step along rows and then along columns
_MOST_CELLS = 4
#: so many nodes are looked at behind a value
_MOST_LOOKED = 24

STATE, CELL = "state h", "cell state c"
SKIPS, RESIDUALS, SUM = "sum of skips", "residual stream", "sum so far"
#: what is left when each takes away what it explains, as in N-BEATS (B. Oreshkin and others, 2020)
LEFT = "what is left"
PRODUCT = "product so far"
#: what a turn of a loop hands on, where nothing more is known of it
ANY_STATE = "state"
JOINED, TOKENS = "outputs so far", "tokens so far"
#: what attention gives
CONTEXT = "context"
#: by which shares it takes it, and their sum over the steps, as where a reader of text has been
#: (J. Shen and others, Natural TTS synthesis by conditioning WaveNet, 2018, section 2.2)
WEIGHTS, ALIGNMENT = "attention weights", "alignment so far"
#: what a step gives that the next one takes, too
OUTPUT = "last output"
#: what is read by such shares, and written and erased by them (A. Graves and others, Neural Turing
#: machines, 2014, section 3)
MEMORY = "memory"

#: names of outputs that say nothing
_EMPTY = re.compile(r"(?:out|outputs?|results?|y|[\W_]|\d)*", re.IGNORECASE)


def name_handed(handed: Sequence[Handed]) -> list[str]:
    """Return what each of some values is that repetitions hand on; "" where that is not known."""
    cells = [_is_cell_state(one, handed) for one in handed]
    names = []
    for one, is_cell in zip(handed, cells, strict=True):
        name = CELL if is_cell else _name(one)
        if not name and any(cells) and _is_result(one, handed, cells):
            name = STATE
        names.append(name)
    if CONTEXT in names:
        names = [
            name or (MEMORY if _is_written(one) else "")
            for name, one in zip(names, handed, strict=True)
        ]
    return names


def _name(handed: Handed) -> str:
    taken, given = handed.taken, handed.given
    role = find_role_name(taken, is_shared=True) if taken is not None else ""
    if role:
        return role
    if taken is None or given is None:
        return ""
    if _is_mixed(taken, given) or _is_squashed(taken, given):
        return STATE
    maker = _find_maker(given)
    if maker is None:
        return ""
    if _is_weighted_sum(maker):
        return CONTEXT
    if _is_distributed(given) and _is_multiplied(given):
        return WEIGHTS
    if all(_find_origin(value) is not taken for value in maker.inputs):
        return ""
    if maker.operator.has("adds"):
        return _name_sum(taken, maker)
    if maker.operator.has("subtracts") and _find_origin(maker.input(0)) is taken:
        return LEFT
    if maker.operator.has("multiplies_elements"):
        return PRODUCT
    if maker.operator.has("joins"):
        return TOKENS if _is_looked_up(taken) else JOINED
    return ""


def _name_sum(taken: Value, maker: Node) -> str:
    """Return what a value is to which a repetition adds something."""
    if any(map(_is_distributed, maker.inputs)):
        return ALIGNMENT
    others = [user for user, _ in trace_on(taken, *LAYOUT_TRAITS) if user is not maker]
    if others:
        return RESIDUALS
    return SUM if _is_number(maker.output(0)) else SKIPS


def _is_number(value: Value | None) -> bool:
    """Return whether a value is known to be one number for each example, as a likelihood."""
    dims = None if value is None else find_value_facts(value.graph.model).find_dims(value)
    return dims is not None and all(dim == 1 for dim in dims[1:])


def find_output_name(value: Value) -> str:
    """Return the name of the output that a value becomes by arithmetic and resampling alone."""
    for _ in range(_MOST_LOOKED):
        if value.is_output:
            return "" if _EMPTY.fullmatch(value.name) else value.name
        nodes = [user for user in value.users if not user.operator.has("reads_shape")]
        nodes = [node for node in nodes if _only_scales(node)]
        results = [one for node in nodes for one in node.outputs if one is not None]
        if len(results) != 1:
            return ""
        value = results[0]
    return ""


def _is_weighted_sum(maker: Node) -> bool:
    """Return whether a node multiplies by shares, or adds up what was multiplied by them."""
    if maker.operator.has("reduces"):
        operand = maker.input(0)
        product = _find_maker(operand) if operand is not None else None
        if product is None or not product.operator.has("multiplies_elements"):
            return False
        maker = product
    elif not maker.operator.has("multiplies"):
        return False
    return any(map(_is_distributed, maker.inputs))


def _is_written(handed: Handed) -> bool:
    """Return whether a value is a sum of what another is multiplied by and of something new."""
    maker = _find_maker(handed.given) if handed.given is not None else None
    if maker is None or not maker.operator.has("adds"):
        return False
    products = [_find_maker(addend) for addend in maker.inputs if addend is not None]
    return any(
        product is not None
        and product.operator.has("multiplies_elements")
        and any(_find_origin(factor) is handed.taken for factor in product.inputs)
        for product in products
    )


def _is_distributed(value: Value | None) -> bool:
    """Return whether a value is shares that add up to 1, as weights of attention."""
    maker = _find_maker(value) if value is not None else None
    if maker is None or not maker.operator.has("divides"):
        return maker is not None and maker.operator.has("distributes")
    total = _find_maker(maker.inputs[-1]) if maker.inputs[-1] is not None else None
    return (
        total is not None
        and total.operator.has("reduces")
        and _find_origin(total.input(0)) is _find_origin(maker.input(0))
    )


def _is_multiplied(value: Value) -> bool:
    """Return whether a value is a factor of a product, of matrices or elements."""
    users = (user for user, _ in trace_on(value, *LAYOUT_TRAITS))
    return any(user.operator.has("multiplies", "multiplies_elements") for user in users)


def _only_scales(node: Node) -> bool:
    return node.operator.has("subtracts", "resamples", "multiplies_elements", *PASSING_TRAITS)


def _find_origin(value: Value | None) -> Value | None:
    return find_source(value, *LAYOUT_TRAITS)


def _find_maker(value: Value) -> Node | None:
    """Return what computes a value, before it is moved or cast."""
    origin = _find_origin(value)
    return origin.producer if origin is not None else None


def _is_mixed(taken: Value, given: Value, cells: int = _MOST_CELLS) -> bool:
    """Return whether one value is the other, or what it was changed to, times a gate and so on."""
    maker = _find_maker(given)
    if maker is None or not maker.operator.has("adds"):
        return False
    for addend in maker.inputs:
        product = _find_maker(addend) if addend is not None else None
        if product is None or not product.operator.has("multiplies_elements"):
            continue
        for factor in product.inputs:
            for one in _list_differing(factor):
                origin = _find_origin(one)
                if origin is taken:
                    return _has_gate(product)
                if origin is not None and cells and _is_mixed(taken, origin, cells - 1):
                    return True
    return False


def _list_differing(factor: Value | None) -> Iterator[Value]:
    """Yield a factor, and what it is the difference of: n + z · (h - n) is (1 - z) · n + z · h."""
    if factor is None:
        return
    yield factor
    maker = _find_maker(factor)
    if maker is not None and maker.operator.has("subtracts"):
        yield from (value for value in maker.inputs if value is not None)


def _has_gate(product: Node) -> bool:
    """Return whether a factor was squashed between 0 and 1, or is what is left of that to 1."""
    for factor in product.inputs:
        for one in _list_differing(factor):
            for value in trace_back(one, *PASSING_TRAITS):
                if value.producer is not None and value.producer.operator.has("squashes"):
                    return True
    return False


def _is_squashed(taken: Value, given: Value) -> bool:
    """Return whether a value is squashed after a sum of products, one of them with the other."""
    squash = _find_maker(given)
    if squash is None or not squash.operator.has("squashes"):
        return False
    pending: list[Value | None] = [squash.input(0)]
    for _ in range(_MOST_LOOKED):
        if not pending:
            return False
        maker = None if (value := pending.pop()) is None else _find_maker(value)
        if maker is None:
            continue
        if maker.operator.has("multiplies", "convolves"):
            if any(_find_origin(operand) is taken for operand in maker.inputs):
                return True
            pending += [operand for operand in maker.inputs if _is_joined(operand)]
        elif maker.operator.has("adds", "joins"):
            pending += maker.inputs
            if any(_find_origin(operand) is taken for operand in maker.inputs):
                return maker.operator.has("joins")
    return False


def _is_joined(value: Value | None) -> bool:
    maker = _find_maker(value) if value is not None else None
    return maker is not None and maker.operator.has("joins")


def _is_cell_state(one: Handed, handed: Sequence[Handed]) -> bool:
    """Return whether a value is an LSTM's c: mixed with gates, and another one is made of it."""
    if one.taken is None or one.given is None or not _is_mixed(one.taken, one.given):
        return False
    return any(
        _is_gated_result(other.given, one.given)
        for other in handed
        if other is not one and other.given is not None
    )


def _is_result(one: Handed, handed: Sequence[Handed], cells: Sequence[bool]) -> bool:
    return any(
        is_cell
        and one.given is not None
        and other.given is not None
        and _is_gated_result(one.given, other.given)
        for other, is_cell in zip(handed, cells, strict=True)
    )


def _is_gated_result(result: Value, state: Value) -> bool:
    """Return whether a value is another one, squashed, times a gate."""
    product = _find_maker(result)
    if product is not None and product.operator.has("multiplies", "convolves"):
        product = _find_first_maker(product)  # of the state that the next step multiplies first
    if product is None or not product.operator.has("multiplies_elements"):
        return False
    makers = [_find_maker(factor) for factor in product.inputs if factor is not None]
    return any(
        maker is not None
        and maker.operator.has("squashes")
        and _find_origin(maker.input(0)) is _find_origin(state)
        for maker in makers
    )


def _find_first_maker(product: Node) -> Node | None:
    """Return what computes the first factor of a product with weights."""
    factor = product.input(0)
    return _find_maker(factor) if factor is not None and find_weight(product) else None


def _is_looked_up(value: Value) -> bool:
    return any(
        user.operator.has("looks_up") and user.input(1) is taken
        for user, taken in trace_on(value, *PASSING_TRAITS)
    )
