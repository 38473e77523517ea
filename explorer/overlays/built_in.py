"""Columns of a model itself: parameters, MACs, bytes, types, findings; SQNR, differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from netloupe.explorer.audit import QuantizationAudit
from netloupe.explorer.checks import check
from netloupe.explorer.compare import Diff
from netloupe.explorer.costs import count_nodes, write_replaced
from netloupe.explorer.costs.analysis import Analysis
from netloupe.explorer.costs.costs import analyze, find_work
from netloupe.explorer.costs.symbols import Bindings
from netloupe.explorer.errors import OverlayError
from netloupe.explorer.model import Model, Node
from netloupe.explorer.notation import write_count

from .column import Column, ModelColumn, to_number
from .scales import OTHER_WORDS

#: tones of findings, the worst first
_SEVERITIES = {"error": "error", "warning": "warning", "note": "note"}
_MOST_NOTED = 6


def _make_parameters(model: Model, _bind: Bindings | None) -> Column:
    return ModelColumn(
        "parameters",
        {},
        "",
        aggregation="sum",
        whole=to_number(model.totals.parameters),
        count=lambda nodes: to_number(count_nodes(model, nodes).parameters),
    )


def _make_bytes(model: Model, _bind: Bindings | None) -> Column:
    return ModelColumn(
        "bytes of weights",
        {},
        "B",
        aggregation="sum",
        whole=to_number(model.totals.bytes),
        count=lambda nodes: to_number(count_nodes(model, nodes).bytes),
    )


def _make_macs(model: Model, bind: Bindings | None) -> Column:
    analysis, notes = _analyze_with_sizes(model, bind)

    def count(nodes: Sequence[Node]) -> float | None:
        work = find_work(analysis, nodes[0].graph, nodes)
        is_known = isinstance(work.macs, int) and not any(
            gap.affects == "macs" for gap in work.gaps
        )
        return to_number(work.macs) if is_known and isinstance(work.macs, int) else None

    total = analysis.main.total
    if any(gap.affects == "macs" for gap in total.gaps):
        notes.append("MACs of some nodes are not known: the whole is at least this")
    whole = to_number(total.macs) if isinstance(total.macs, int) else None
    return ModelColumn(
        "MACs", {}, "MACs", aggregation="sum", whole=whole, count=count, notes=tuple(notes)
    )


def _make_intensity(model: Model, bind: Bindings | None) -> Column:
    analysis, notes = _analyze_with_sizes(model, bind)

    def count(nodes: Sequence[Node]) -> float | None:
        work = find_work(analysis, nodes[0].graph, nodes)
        macs, moved = work.macs, work.moved
        if not isinstance(macs, int) or not isinstance(moved, int) or not macs or not moved:
            return None
        is_open = any(gap.affects in ("macs", "bytes") for gap in work.gaps)
        operations, over = to_number(2 * macs), to_number(moved)
        return None if is_open or operations is None or not over else operations / over

    notes.append(
        "two operations for each MAC, over the bytes that each node takes and gives; of a group "
        "that of its sums; what multiplies nothing has none"
    )
    return ModelColumn(
        "arithmetic intensity",
        {},
        "operations/B",
        "higher",
        "mean",
        count=count,
        notes=tuple(notes),
    )


def _analyze_with_sizes(model: Model, bind: Bindings | None) -> tuple[Analysis, list[str]]:
    """Return what nodes cost with a size for each symbol, 1 where none is given; and notes."""
    given = dict(bind or {})
    analysis = analyze(model, given)
    free = _list_symbols(model, given)
    notes = [told] if (told := write_replaced(analysis.replaced)) else []
    if not free:
        return analysis, notes
    told = ", ".join(f"{name} = 1" for name in free[:_MOST_NOTED])
    more = f" and {len(free) - _MOST_NOTED:,} more" if len(free) > _MOST_NOTED else ""
    notes.append(f"counted with {told}{more}")
    return analyze(model, {**given, **dict.fromkeys(free, 1)}), notes


def _list_symbols(model: Model, given: Mapping[str, int | Sequence[int]]) -> list[str]:
    return [name for name in model.costs(given).symbols if name not in given]


def _make_dtype(model: Model, _bind: Bindings | None) -> Column:
    values: dict[str, float | str] = {}
    count = 0
    for graph in model.graphs:
        for node in graph.nodes:
            count += 1
            result = next((value for value in node.outputs if value is not None), None)
            known = None if result is None else result.type or result.inferred_type
            dtype = getattr(known, "dtype", None)
            if dtype is not None:
                values[node.path] = str(dtype)
    notes = (f"{count - len(values):,} of {count:,} nodes have no type that is stated or inferred",)
    return ModelColumn(
        "type of the first result", values, notes=notes if len(values) < count else ()
    )


def _make_findings(model: Model, _bind: Bindings | None) -> Column:
    values: dict[str, float | str] = {}
    findings = check(model)
    more = 0
    for finding in reversed(findings):  # the worst come first, and stay
        more += max(finding.count - len(finding.paths), 0)
        for path in finding.paths:
            values[path] = finding.severity
    notes = (f"{more:,} further places are not listed",) if more else ()
    return ModelColumn(
        "findings",
        values,
        order=tuple(_SEVERITIES),
        tones=_SEVERITIES,
        notes=notes,
    )


def make_sqnr(found: QuantizationAudit) -> Column:
    """Return the SQNR of each weight that an audit has compared with its float twin, in dB.

    It is at the node that takes the weight; a group has the lowest inside. Infinite ones, where
    nothing differs, have no place.

    Raises
    ------
    OverlayError
        Where no weight was compared.
    """
    values = {one.node or one.path: one.fidelity.sqnr_db for one in found.paired if one.fidelity}
    if not values:
        raise OverlayError(
            f"{found.source}: no weight was compared with a float twin. Give the float model that "
            "it was made of."
        )
    missing = sum(one.fidelity is None and not one.is_bias for one in found.weights)
    notes = (f"{missing:,} quantized weights were not compared",) if missing else ()
    return ModelColumn("SQNR", values, "dB", "higher", "min", notes=notes)


def make_difference(found: Diff) -> list[Column]:
    """Return what differs in the new model: what happened to each node, and how far weights are.

    Nodes that are gone have no place in it. The distance of weights is the length of all
    differences (L2) over that of the old numbers, at the nodes that take them.
    """
    states: dict[str, float | str] = {
        node.path: "kept" for pair in found.matching.pairs for node in pair.right
    }
    states |= {node.path: state for node, state in found.states.items() if state != "removed"}
    gone = len(found.left_alone)
    notes: tuple[str, ...] = ()
    if gone:
        nodes = write_count(gone, "node of the old model has", "nodes of the old model have")
        notes = (f"{nodes} no place",)
    columns: list[Column] = [
        ModelColumn(
            "difference",
            states,
            order=("added", "changed", "kept"),
            tones={"added": "added", "changed": "changed", "kept": OTHER_WORDS},
            notes=notes,
        )
    ]
    distances: dict[str, float] = {}
    for one in found.tensors:
        if one.numbers is not None:  # of the parts of a joined weight, that which differs most
            path, far = one.right.path, one.numbers.relative
            distances[path] = max(far, distances.get(path, far))
    if distances:
        columns.append(ModelColumn("change of weights (relative L2)", {**distances}))
    return columns


_MAKERS: Mapping[str, Callable[[Model, Bindings | None], Column]] = {
    "parameters": _make_parameters,
    "macs": _make_macs,
    "bytes": _make_bytes,
    "intensity": _make_intensity,
    "dtype": _make_dtype,
    "findings": _make_findings,
}

#: the names of the columns that every model has
BUILT_IN: tuple[str, ...] = tuple(_MAKERS)


def make_built_in(model: Model, name: str, bind: Bindings | None = None) -> Column:
    """Return a column that a model has of itself.

    Parameters
    ----------
    model
        The model.
    name
        ``parameters``; ``macs``; ``bytes``, those that the file stores for weights;
        ``intensity``, operations for each byte that nodes take and give; ``dtype``, of the first
        result of each node; ``findings``, the severity of what :func:`netloupe.check` finds.
    bind
        Of MACs and intensity: sizes of symbols, as for :meth:`netloupe.Model.costs`; without them
        each is 1.

    Raises
    ------
    OverlayError
        For any other name.
    BindingError
        For a symbol that the model does not have.
    """
    maker = _MAKERS.get(name)
    if maker is None:
        raise OverlayError(f"no column of a model is called {name[:80]!r}. {list_built_in()}")
    return maker(model, bind)


def list_built_in() -> str:
    """Return which columns there are, as a hint."""
    return f"Choose one of {', '.join(BUILT_IN)}, or give a file."
