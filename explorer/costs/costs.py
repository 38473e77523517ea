"""What a model, a group or a node costs: parameters, multiplications, bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from netloupe.explorer.model import Graph, Model, Node
from netloupe.explorer.model.kept import find_kept, get_kept

from .analysis import Analysis
from .bound_inputs import Replaced, take_shapes
from .polynomial import Amount, TooLargeError, list_symbols, write_expression
from .symbols import Bindings, Symbols, explain_names
from .ties import Ties, find_ties
from .totals import Totals, count_nodes
from .work import NOTHING, Work, choose_work

#: analyses are kept for so many choices of sizes
_MOST_KEPT = 4
#: so many kinds of call of one function are compared
_MOST_CALLS = 16


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something that costs do not contain, so that they are lower bounds.

    Parameters
    ----------
    what
        An operator, with the domain before it where that is not the format's own.
    reason
        Why it is not known.
    count
        At how many nodes; those of a function once for each call.
    affects
        ``macs``, or ``bytes``: those of activations.
    """

    what: str
    reason: str
    count: int
    affects: Literal["macs", "bytes"] = "macs"


@dataclass(frozen=True, slots=True)
class Costs:
    """What a model or a part of it costs each time it runs.

    Numbers of operations and bytes are integers where all dimensions have sizes, and else None;
    the expressions beside them have the symbols: ``4089184256*batch``.

    Parameters
    ----------
    parameters
        The weights, each once; see :class:`~netloupe.Totals`. Of a model without those that are
        copies of others.
    tied_parameters
        Of a model: how many further numbers are copies of weights, perhaps transposed, as of an
        embedding that is the head, too.
    tying_is_checked
        Whether all weights that could be copies were compared. Not so for a part of a model, where
        elements are in a file that is not there, and where there would be too much to read.
    elements
        The numbers that are stored, of any kind.
    weight_bytes
        What the file stores for them.
    running_statistics
        Means and variances of batch normalization, which are no parameters.
    attention_biases
        Numbers that are added to the scores of attention, which are no parameters either: masks,
        and tables of relative positions written out; see :class:`~netloupe.Totals`.
    attribute_values
        Learned numbers in attributes: trees, coefficients, support vectors; see
        :class:`~netloupe.Totals`.
    unknown
        What is missing in the numbers below, and why.
    macs_by_operator
        Expressions of MACs by operator, the largest first.
    replaced_shapes
        By input whose stated sizes ``bind`` contradicts, the shape that the file states and the
        one that is counted instead. Runtimes refuse such an input.

    Notes
    -----
    A MAC is one multiplication with one addition; papers call it a FLOP as well, others count two.
    Padding counts as if it were data, a bias not at all, causal attention whole, and quantized
    operators like those that they stand for. Other operations (activation functions,
    normalization, pooling) are counted apart, and roughly. Nothing is computed in place.
    """

    parameters: int
    elements: int
    weight_bytes: int
    running_statistics: int
    attention_biases: int
    attribute_values: int
    unknown: tuple[Unknown, ...]
    macs_by_operator: Mapping[str, str]
    tied_parameters: int
    tying_is_checked: bool
    replaced_shapes: Replaced
    _work: Work = field(repr=False)
    _peak: Amount | None = field(repr=False)

    @property
    def macs(self) -> int | None:
        """Multiplications, each with an addition; None where they depend on symbols.

        Of an If those of the larger branch.
        """
        return _as_int(self._work.macs)

    @property
    def macs_expression(self) -> str:
        """The same with symbols, as Python writes it."""
        return write_expression(self._work.macs)

    @property
    def macs_is_lower_bound(self) -> bool:
        """Whether MACs of some nodes are not known; ``unknown`` says which."""
        return any(one.affects == "macs" for one in self.unknown)

    @property
    def least_macs(self) -> int | None:
        """MACs where each If takes the smaller branch."""
        return _as_int(self._work.least)

    @property
    def least_macs_expression(self) -> str:
        """The same with symbols."""
        return write_expression(self._work.least)

    @property
    def other_operations(self) -> int | None:
        """Operations that are no MACs, roughly: one for each function of an element."""
        return _as_int(self._work.others)

    @property
    def other_operations_expression(self) -> str:
        """The same with symbols."""
        return write_expression(self._work.others)

    @property
    def activation_bytes(self) -> int | None:
        """Bytes of everything that nodes give, without what is constant."""
        return _as_int(self._work.activations)

    @property
    def activation_bytes_expression(self) -> str:
        """The same with symbols."""
        return write_expression(self._work.activations)

    @property
    def activation_bytes_is_lower_bound(self) -> bool:
        """Whether the sizes of some results are not known."""
        return any(one.affects == "bytes" for one in self.unknown)

    @property
    def peak_activation_bytes(self) -> int | None:
        """The most bytes that are alive at once when nodes run in the order of the file.

        Inputs are alive from the beginning, outputs to the end. None also of a part of a graph,
        where the size of a value is not known, and where it depends on symbols which node has the
        most.
        """
        return None if self._peak is None else _as_int(self._peak)

    @property
    def peak_activation_bytes_expression(self) -> str:
        """The same with symbols; the empty string where it is not known."""
        return "" if self._peak is None else write_expression(self._peak)

    @property
    def moved_bytes(self) -> int | None:
        """Bytes that nodes take and give, constants among them, each node by itself."""
        return _as_int(self._work.moved)

    @property
    def arithmetic_intensity(self) -> float | None:
        """Two operations a MAC, over the bytes that are moved; None where not known."""
        macs, moved = self.macs, self.moved_bytes
        return 2 * macs / moved if macs is not None and moved else None

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of the dimensions that these numbers depend on."""
        work = self._work
        amounts = (work.macs, work.others, work.activations, work.moved)
        return tuple(sorted({name for amount in amounts for name in list_symbols(amount)}))

    def _key(self) -> tuple[Work, int]:
        return self._work, self.parameters


def _as_int(amount: Amount) -> int | None:
    return amount if isinstance(amount, int) else None


class Analyses:
    """What is known of each node of a model, by the sizes that symbols have."""

    def __init__(self) -> None:
        self.by_sizes: dict[tuple[object, ...], Analysis] = {}


def analyze(model: Model, bind: Bindings | None = None) -> Analysis:
    """Return what is known of each node of a model; it is kept, for several sizes of symbols.

    Raises
    ------
    BindingError
        For a name that no dimension and no input has, and for what is no size.
    """
    symbols = Symbols(bind)
    key = (*sorted(symbols.sizes.items()), *sorted(symbols.shapes.items()))
    analyses = find_kept(model, Analyses, Analyses).by_sizes
    known = analyses.get(key)
    if known is not None:
        return known
    symbols.reserve(_list_letters(model))
    given = [*symbols.sizes]
    replaced = take_shapes(model, symbols)
    found = Analysis(model, symbols, replaced)
    inputs = {value.name for value in model.graph.inputs if value.initializer is None}
    wrong = [
        *(name for name in given if name not in symbols.seen),
        *(name for name in symbols.shapes if name not in inputs),
    ]
    if wrong:
        _read_all_types(model, symbols)
        wrong = [name for name in wrong if name not in symbols.seen]
    if wrong:
        raise explain_names(model.source, wrong, _list_names(model))
    others = [other for other in analyses if other]
    if len(others) > _MOST_KEPT:
        del analyses[others[0]]
    analyses[key] = found
    return found


def _list_letters(model: Model) -> set[str]:
    """Return the symbols of a model's inputs that are one letter."""
    shapes = (getattr(value.type, "shape", None) or () for value in model.graph.inputs)
    texts = (dim.value for shape in shapes for dim in shape)
    return {text for text in texts if isinstance(text, str) and len(text) == 1}


def is_analyzed(model: Model) -> bool:
    """Return whether it is known already what each node of a model costs."""
    found = get_kept(model, Analyses)
    return found is not None and () in found.by_sizes


def _list_names(model: Model) -> list[str]:
    """Return the names that may be bound: symbols that matter, and inputs without a shape."""
    inputs = [v for v in model.graph.inputs if v.initializer is None and not v.is_parameter]
    without = [v.name for v in inputs if getattr(v.type, "shape", None) is None]
    return [*make_costs(model.totals, analyze(model).main.total, None).symbols, *without]


def _read_all_types(model: Model, symbols: Symbols) -> None:
    """Note the symbols that no rule has asked for."""
    for graph in model.graphs:
        for value in graph.values.values():
            shape = getattr(value.type, "shape", None) or ()
            for dim in shape:
                if isinstance(dim.value, str) and dim.value:
                    symbols.read(dim.value)


def count_costs(model: Model, bind: Bindings | None = None) -> Costs:
    """Return what a model costs each time its main graph runs; errors as of :func:`analyze`."""
    analysis = analyze(model, bind)
    total, peak = analysis.main.total, analysis.main.peak
    return make_costs(model.totals, total, peak, find_ties(model), analysis.replaced)


def count_nodes_costs(
    analysis: Analysis, graph: Graph, nodes: Sequence[Node], totals: Totals | None = None
) -> Costs:
    """Return what some nodes of one graph cost each time the graph runs.

    Parameters
    ----------
    analysis
        Of the model, with sizes for symbols.
    graph, nodes
        The graph and the nodes.
    totals
        How much these hold, where that is known.
    """
    totals = count_nodes(graph.model, nodes) if totals is None else totals
    work = find_work(analysis, graph, nodes)
    return make_costs(totals, work, None, replaced=analysis.replaced)


def find_work(analysis: Analysis, graph: Graph, nodes: Iterable[Node]) -> Work:
    """Return the work of some nodes of one graph each time the graph runs.

    Of a function that is called with operands of several shapes it is that of the dearest call,
    and ``least`` that of the cheapest.
    """
    indices = [node.index for node in nodes]
    works: list[Work] = []
    for frame in analysis.frames_of(graph)[:_MOST_CALLS]:
        work = analysis.sum_works([frame.works[index] for index in indices])
        if work not in works:
            works.append(work)
    try:
        return choose_work(works) if works else NOTHING
    except TooLargeError:
        return works[0]


def make_costs(
    totals: Totals,
    work: Work,
    peak: Amount | None,
    ties: Ties | None = None,
    replaced: Replaced | None = None,
) -> Costs:
    """Return costs of what is stored and what is done; ``ties`` are those of a whole model."""
    tied = 0 if ties is None else ties.parameters
    unknown = [
        Unknown(gap.what, gap.reason, count, gap.affects) for gap, count in work.gaps.items()
    ]
    unknown.sort(key=lambda one: (one.affects != "macs", -one.count, one.what, one.reason))
    operators = sorted(work.operators.items(), key=lambda entry: (-_weigh(entry[1]), entry[0]))
    return Costs(
        totals.parameters - tied,
        totals.elements,
        totals.bytes,
        totals.running_statistics,
        totals.attention_biases,
        totals.attribute_values,
        tuple(unknown),
        {name: write_expression(amount) for name, amount in operators},
        tied,
        ties is not None and ties.is_checked,
        replaced or {},
        work,
        peak,
    )


def _weigh(amount: Amount) -> int:
    """Return a number to order amounts by: their factors' sum."""
    return amount if isinstance(amount, int) else sum(amount.terms.values())
