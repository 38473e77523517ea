"""Which rule tells the results, MACs and other operations of which operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

from netloupe.explorer.model import data_type
from netloupe.explorer.operators import Operator, find_operator, kept_with_catalogue

from . import arrangement, elementwise, regions, selection
from .facts import Fact, Use
from .named_dims import count_by_formula
from .polynomial import Amount
from .products import (
    attend,
    attend_fused,
    attend_in_groups,
    attend_linearly,
    attend_to_keys,
    broadcast,
    connect,
    contract,
    count_product,
    count_recurrent,
    multiply_shapes,
    project,
    read_factors,
    recur,
)
from .windows import (
    Operands,
    convolve,
    convolve_caffe2,
    convolve_causally,
    count_caffe2_convolution,
    count_convolution,
    count_transposed,
    pool,
    pool_all,
    pool_caffe2,
    transpose_caffe2,
    transpose_convolution,
)

Results: TypeAlias = "list[Fact | None]"
#: gives facts of results and, of an operator that multiplies, its MACs: None where not known
Rule: TypeAlias = Callable[[Use, Sequence[Fact]], "tuple[Results, Amount | None]"]

_INT32, _FLOAT32 = data_type("int32"), data_type("float32")


class CostRule(NamedTuple):
    """How results and MACs of an operator are told.

    Parameters
    ----------
    find
        Gives results and MACs of a use, from operands and from results as far as they are known;
        None where nothing tells the results.
    multiplies
        Whether there are MACs, so that a use of which they are not known leaves a total open.
    per_element
        Other operations for each element of the first result.
    per_operand
        Other operations for each element of the first operand.
    has_attributes
        Whether attributes change anything of this.
    tells_macs
        Whether ``find`` gives MACs where it knows all shapes.
    """

    find: Rule | None = None
    multiplies: bool = False
    per_element: int = 0
    per_operand: int = 0
    has_attributes: bool = True
    tells_macs: bool = True


def _shape(find: Callable[[Use], Results]) -> Rule:
    """Return the rule of an operator without MACs."""
    return lambda use, results: (find(use), 0)


def _one(find: Callable[[Use], Fact]) -> Rule:
    return lambda use, results: ([find(use)], 0)


def _convolution(places: Operands = Operands(), dtype: str = "") -> Rule:  # noqa: B008 - a tuple
    def rule(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
        found = convolve(use, places)
        if dtype:
            found = found._replace(dtype=data_type(dtype))
        return [found], count_convolution(use, _better(found, results), places)

    return rule


def _better(found: Fact, results: Sequence[Fact]) -> Fact:
    """Return what the file says of a result where a rule does not know its size."""
    return found if found.size is not None or not results else results[0]


def _transposed(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
    found = transpose_convolution(use)
    return [found], count_transposed(use, found)


def _product(left: int = 0, right: int = 1, dtype: int | str = 0) -> Rule:
    def rule(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
        one, two = read_factors(use, left, right)
        found = data_type(dtype) if isinstance(dtype, str) else use.operand(dtype).dtype
        fact = Fact(multiply_shapes(one, two), found)
        return [fact], count_product(_better(fact, results).dims, one, two)

    return rule


def _stated_product(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
    fact, macs = project(use, use.integer("N"), use.integer("K"))
    return [fact], macs


def _recurrent(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
    return recur(use), count_recurrent(use)


def _both(find: Callable[[Use], tuple[Results, Amount | None]]) -> Rule:
    return lambda use, results: find(use)


def _single(find: Callable[[Use], tuple[Fact, Amount | None]]) -> Rule:
    def rule(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
        fact, macs = find(use)
        return [fact], macs

    return rule


def _linear(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
    """Return MACs of LinearClassifier and LinearRegressor: each row meets every coefficient."""
    coefficients, dims = use.numbers("coefficients"), use.dims(0)
    if coefficients is None or not dims:
        return [], None
    rows = 1 if len(dims) == 1 else dims[0]
    return [], None if rows is None else rows * len(coefficients)


def _caffe2_convolution(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
    fact = convolve_caffe2(use)
    return [fact], count_caffe2_convolution(use, _better(fact, results))


def _like(operand: int, dtype: int | str) -> Rule:
    def rule(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
        found = data_type(dtype) if isinstance(dtype, str) else use.operand(dtype).dtype
        return [Fact(use.dims(operand), found)], 0

    return rule


def _combine_quantized(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
    """Return the result of QLinearAdd and QLinearMul, whose data are operands 0 and 3."""
    dims = broadcast(use.dims(0), use.dims(3))
    return [Fact(dims, use.operand(0).dtype)], 0


def _concatenate_quantized(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
    data = [use.operand(index) for index in range(2, len(use.operands), 3)]
    return [arrangement.join(data, use.integer("axis"), use.operand(1).dtype)], 0


def _skip(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
    """Return the results of SkipLayerNormalization: the first and the fourth are data."""
    data = use.operand(0)
    fact = Fact(data.dims, data.dtype)
    return [fact, None, None, fact], 0


def _gate(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
    """Return the result of ONNX Runtime's SwiGLU, whose only operand may hold both halves."""
    data = use.operand(0)
    if data.dims is None or use.has(1):
        return [Fact(data.dims, data.dtype)], 0
    last = data.dims[-1] if data.dims else None
    half = last // 2 if isinstance(last, int) and last % 2 == 0 else None
    return [Fact((*data.dims[:-1], half), data.dtype)], 0


def _embed(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
    """Return the result of EmbedLayerNormalization: ids are operand 0, the table operand 2."""
    ids, table = use.dims(0), use.operand(2)
    if ids is None or table.dims is None or len(table.dims) != 2:
        return [], 0
    return [Fact((*ids, table.dims[1]), table.dtype)], 0


def _make_convolution(operator: Operator, dtype: str = "") -> Rule:
    """Return the rule of a convolution of ONNX's layout, whose operands stand where roles say."""
    find = operator.operands.find
    places = Operands(find("data") or 0, find("weight") or 1, find("result.zero_point") or 0)
    return _convolution(places, dtype)


def _make_product(operator: Operator, dtype: str = "") -> Rule:
    """Return the rule of a product; of quantized factors the result has its zero point's type."""
    find = operator.operands.find
    left, right = find("factor1", "data") or 0, find("factor2", "weight") or 1
    return _product(left, right, dtype or find("result.zero_point") or 0)


def _make_formula(operator: Operator) -> CostRule:
    """Return the rule of an operator whose entry names dims, or gives MACs."""
    return CostRule(
        partial(count_by_formula, operator),
        multiplies=operator.macs != 0,
        has_attributes=False,
        tells_macs=operator.macs is not None,
    )


_LIKE_FIRST = CostRule(_shape(elementwise.like_first), has_attributes=False)
_PLAIN = partial(CostRule, has_attributes=False)
_MULTIPLY = partial(CostRule, multiplies=True)

#: by the name that the catalogue of operators has for it
COST_RULES: dict[str, CostRule] = {
    # results are told by nothing, and there are no MACs; what runs others counts as what it runs
    "no_macs": _PLAIN(),
    "unknown_product": _MULTIPLY(),
    # element by element
    "like_first": _LIKE_FIRST,
    "like_first_as_bool": _PLAIN(_like(0, "bool")),
    "like_first_as_float32": CostRule(_like(0, "float32")),
    "like_first_as_uint8": CostRule(_like(0, "uint8")),
    "combine": _PLAIN(_shape(elementwise.combine)),
    "combine_quantized": CostRule(_combine_quantized),
    "compare": _PLAIN(_shape(elementwise.compare)),
    "choose": _PLAIN(_shape(elementwise.choose)),
    "same": _PLAIN(_shape(elementwise.same)),
    "drop_out": _PLAIN(_shape(elementwise.drop_out)),
    "gate": _PLAIN(_gate),
    # types
    "cast": CostRule(_shape(elementwise.cast)),
    "cast_like": _PLAIN(_shape(elementwise.cast_like)),
    "take_bits": CostRule(_shape(elementwise.take_bits)),
    "quantize": CostRule(_shape(elementwise.quantize)),
    "dequantize": CostRule(_shape(elementwise.dequantize)),
    "quantize_dynamically": _PLAIN(_shape(elementwise.quantize_dynamically)),
    # normalization
    "normalize_layer": CostRule(_shape(elementwise.normalize_layer)),
    "skip_and_normalize": _PLAIN(_skip),
    "embed": _PLAIN(_embed),
    # shapes
    "read_shape": CostRule(_shape(arrangement.read_shape)),
    "read_size": _PLAIN(_shape(arrangement.read_size)),
    "reshape": CostRule(_shape(arrangement.reshape)),
    "make_matrix": CostRule(_shape(arrangement.make_matrix)),
    "transpose": CostRule(_shape(arrangement.transpose)),
    "move_channels": _PLAIN(_shape(arrangement.move_channels)),
    "squeeze": CostRule(_shape(arrangement.squeeze)),
    "unsqueeze": CostRule(_shape(arrangement.unsqueeze)),
    "concatenate": CostRule(_shape(arrangement.concatenate)),
    "concatenate_with_sizes": CostRule(_shape(arrangement.concatenate_with_sizes)),
    "concatenate_quantized": CostRule(_concatenate_quantized),
    "expand": _PLAIN(_shape(arrangement.expand)),
    "tile": _PLAIN(_shape(arrangement.tile)),
    "pad": CostRule(_shape(arrangement.pad)),
    "resize": CostRule(_shape(arrangement.resize)),
    "move_depth": CostRule(_shape(arrangement.move_depth)),
    # choosing and making elements
    "split": CostRule(_shape(selection.split)),
    "slice": CostRule(_shape(selection.slice_)),
    "gather": CostRule(_shape(selection.gather)),
    "gather_nd": CostRule(_shape(selection.gather_nd)),
    "like_second": _PLAIN(_shape(selection.like_second)),
    "compress": CostRule(_shape(selection.compress)),
    "reduce": CostRule(_shape(selection.reduce)),
    "take_top": CostRule(_shape(selection.take_top)),
    "encode_one_hot": CostRule(_shape(selection.encode_one_hot)),
    "fill": CostRule(_shape(selection.fill)),
    "make_like": CostRule(_shape(selection.make_like)),
    "draw": CostRule(_shape(selection.draw)),
    "draw_samples": CostRule(_shape(selection.draw_samples)),
    "make_window": CostRule(_shape(selection.make_window)),
    "make_mel_weights": CostRule(_shape(selection.make_mel_weights)),
    "make_range": _PLAIN(_shape(selection.make_range)),
    # regions and lists
    "sample_grid": _PLAIN(_shape(regions.sample_grid)),
    "align_regions": CostRule(_shape(regions.align_regions)),
    "select_boxes": _PLAIN(_shape(regions.select_boxes)),
    "find_determinant": _PLAIN(_shape(regions.find_determinant)),
    "find_nonzero": _PLAIN(_shape(regions.find_nonzero)),
    "find_unique": CostRule(_shape(regions.find_unique)),
    "lose": CostRule(_shape(regions.lose)),
    "match_words": _PLAIN(_shape(regions.match_words)),
    "tell_presence": _PLAIN(_shape(regions.tell_presence)),
    "make_grid": _MULTIPLY(_single(regions.make_grid), has_attributes=False),
    # windows
    "pool": CostRule(_one(pool)),
    "pool_all": _PLAIN(_one(pool_all)),
    "pool_caffe2": CostRule(_one(pool_caffe2)),
    "transpose_convolution": _MULTIPLY(_transposed),
    "convolve_causally": _MULTIPLY(_both(convolve_causally)),
    "convolve_caffe2": _MULTIPLY(_caffe2_convolution),
    "transpose_caffe2": _MULTIPLY(_single(transpose_caffe2)),
    # products
    "multiply_to_float": _MULTIPLY(_product(dtype=2)),
    "multiply_as_stated": _MULTIPLY(_stated_product),
    "contract": _MULTIPLY(_single(contract)),
    "connect": _MULTIPLY(_single(connect)),
    "recur": _MULTIPLY(_recurrent),
    "attend": _MULTIPLY(_both(attend)),
    "attend_fused": _MULTIPLY(_both(attend_fused)),
    "attend_to_keys": _MULTIPLY(_both(attend_to_keys)),
    "attend_in_groups": _MULTIPLY(_both(attend_in_groups)),
    "attend_linearly": _MULTIPLY(_both(attend_linearly)),
    "apply_coefficients": _MULTIPLY(_linear),
}
#: those that go by the places of operands
_BY_PLACES: dict[str, Callable[[Operator], Rule]] = {
    "convolve": _make_convolution,
    "convolve_to_int32": partial(_make_convolution, dtype="int32"),
    "multiply": _make_product,
    "multiply_to_int32": partial(_make_product, dtype="int32"),
}
#: the names of all rules
RULE_NAMES = frozenset({*COST_RULES, *_BY_PLACES})


@kept_with_catalogue(maxsize=1 << 12)
def find_cost_rule(domain: str, op_type: str, version: int | None = None) -> CostRule | None:
    """Return how an operator's cost is told; None where it may have MACs that no rule counts.

    Parameters
    ----------
    domain, op_type, version
        The operator, as in :func:`~netloupe.explorer.operators.find_operator`.
    """
    operator = find_operator(domain, op_type, version)
    if operator.dims is not None or operator.macs is not None:
        found = _make_formula(operator)
    elif operator.rule in _BY_PLACES:
        found = _MULTIPLY(_BY_PLACES[operator.rule](operator))
    elif operator.rule in COST_RULES:
        found = COST_RULES[operator.rule]
    elif operator.per_element or operator.per_operand:
        found = _MULTIPLY()
    else:
        return None
    return found._replace(per_element=operator.per_element, per_operand=operator.per_operand)
