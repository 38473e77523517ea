"""Recurrent layers whose steps are written out one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from netloupe.explorer.patterns import BlockDetails

from .both_ways import SequenceWay, pair_ways, reads_both_orders
from .composites import Merge, make_part
from .outline import Outline, OutlinePart
from .sizes import list_matrices

#: of what cuts gates out of what linear layers give, and adds the two
_BETWEEN = ("adds", "looks_up", "picks")
_MOST_BETWEEN = 24
#: how many gates the matrices of a cell give; no operator is asked: cells are written out
_GATES = {"GRU": 3, "LSTM": 4, "RNN": 1, "light GRU": 2}
#: what a state without gates is squashed by
_SQUASHING = frozenset({"ReLU", "tanh"})
#: fewer calls of one cell behind layers of their own may be two of a sequence
_LEAST_OF_LAYERS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class UnrolledDetails(BlockDetails):
    """Of a recurrent layer whose steps are written out.

    Parameters
    ----------
    hidden
        How many features its state has.
    steps
        How many steps there are; None for one, of a layer that is run step by step.
    bidirectional
        Whether the sequence is read both ways: by two layers, or by one of both side by side.
    """

    hidden: int | None = None
    steps: int | None = None
    bidirectional: bool = False


@dataclass(eq=False)
class _Step:
    """One step of a cell.

    Parameters
    ----------
    cell
        ``LSTM``, ``GRU`` or ``RNN``.
    parts
        All but its linear layers.
    linears
        Those that give its gates.
    state, held
        What gives the new state, and what takes the old one: its own result for a GRU, c for an
        LSTM.
    hidden
        What gives its result.
    """

    cell: str
    parts: list[OutlinePart]
    linears: list[OutlinePart]
    state: OutlinePart
    held: OutlinePart
    hidden: OutlinePart

    def follows(self, other: _Step, outline: Outline) -> bool:
        """Return whether this step goes on with the state and the result of another one."""
        if self.cell != other.cell:
            return False
        if self.cell == "RNN":  # its result is its state; a layer above takes that, too
            weights, before = (list_matrices(outline, step.linears) for step in (self, other))
            return weights >= before and self.find_carrying(other, outline) is not None
        if other.state not in outline.givers(self.held):
            return False
        return any(_takes(outline, linear, other.hidden) for linear in self.linears)

    def find_carrying(self, other: _Step, outline: Outline) -> OutlinePart | None:
        """Return the square layer that takes the state of another step without gates."""
        for linear in self.linears:
            is_square = linear.in_features == linear.out_features
            if is_square and outline.givers(linear) == [other.state]:
                return linear
        return None


def find_unrolled(outline: Outline) -> Iterator[Merge]:
    """Find LSTM, GRU and plain recurrent layers whose steps are written out.

    Of several steps each takes the state and the result of the one before and multiplies with the
    same matrices; a single one takes both from outside, as where a stream is worked on. LSTM:
    c = f·c + i·g and h = o·tanh(c) (S. Hochreiter and J. Schmidhuber, 1997; F. Gers and others,
    2000); GRU: h = (1 - z)·n + z·h (K. Cho and others, 2014, equations 5 to 8); plain:
    h = tanh(W·x + U·h + b) (J. Elman, Finding Structure in Time, 1990). Light GRU: that
    of a GRU without reset gate, n by ReLU (M. Ravanelli and others, 2018, section 3).
    """
    runs: list[list[_Step]] = []
    for part in outline.of_kind("activation"):
        step = None
        if part.name == "tanh":
            step = _read_lstm(outline, part) or _read_gru(outline, part)
        if step is None and part.name == "ReLU":
            step = _read_light(outline, part)
        if step is None and part.name in _SQUASHING:
            step = _read_plain(outline, part)
        if step is None:
            continue
        run = next((run for run in runs if step.follows(run[-1], outline)), None)
        if run is None:
            runs.append([step])
        else:
            run.append(step)
    found: list[SequenceWay] = []
    for run in (part for steps in runs for part in _part_by_layers(outline, steps)):
        width = _read_width(outline, run)
        if not width:
            continue
        parts = list(dict.fromkeys(p for step in run for p in (*step.parts, *step.linears)))
        steps = len(run) if len(run) > 1 else None
        linears = dict.fromkeys(part for step in run for part in step.linears)
        is_both_ways = steps is not None and reads_both_orders(outline, linears)
        details = UnrolledDetails(hidden=width, steps=steps, bidirectional=is_both_ways)
        convolves = all(part.kind == "conv" for step in run for part in step.linears)
        name = f"Conv{run[0].cell}" if convolves else run[0].cell
        merged = make_part(parts, "unrolled", name, details)
        merged.end = run[-1].hidden.end
        found.append(SequenceWay(parts, merged, [step.hidden for step in run]))
    for ways, behind in pair_ways(outline, found):
        parts = [part for way in ways for part in way.parts] + behind
        if len(ways) == 1:
            yield parts, ways[0].merged
            continue
        details = ways[0].merged.details.read_as(UnrolledDetails)
        both = make_part(
            parts, "unrolled", ways[0].merged.name, replace(details, bidirectional=True)
        )
        both.end = behind[-1].end
        yield parts, both


def _part_by_layers(outline: Outline, run: list[_Step]) -> list[list[_Step]]:
    """Return each step by itself where each is behind layers of its own, and else all together.

    So a state is updated behind each layer of a graph network; layers between the steps of a
    sequence have the same weights in all of them.
    """
    if len(run) < _LEAST_OF_LAYERS:
        return [run]
    own = {id(part) for step in run for part in (*step.parts, *step.linears)}
    before: set[int] = set()
    for one, two in pairwise(run):
        between = [
            part
            for part in outline.parts[one.hidden.place : two.hidden.place]
            if id(part) not in own
            and part.follows(one.hidden)
            and any(linear.follows(part) for linear in two.linears)
        ]
        held = {*list_matrices(outline, between)}
        if not held or held & before:
            return [run]
        before |= held
    return [[step] for step in run]


def _read_width(outline: Outline, run: Sequence[_Step]) -> int:
    """Return the width of the state; 0 where steps are no layer, as those of other weights."""
    if run[0].cell == "RNN" and not _are_of_sequence(outline, run):
        return 0
    if len(run) == 1:
        return _read_single(run[0]) if len(outline.operands(run[0].held)) == 2 else 0
    # the first step may lack what multiplies its state, which is zero
    weights = [list_matrices(outline, step.linears) for step in run]
    if not weights[1] or not weights[0] <= weights[1]:
        return 0
    if any(other != weights[1] for other in weights[2:]):
        return 0
    widths = set()
    for one, two in pairwise(run):
        linears = [part for part in two.linears if _takes(outline, part, one.hidden)]
        taken = {part.in_features for part in linears}
        given = sum(part.out_features for part in linears)
        if linears and all(one.hidden not in outline.givers(part) for part in linears):
            # with what comes in beside it
            taken = {given // _GATES[one.cell]} if given // _GATES[one.cell] < min(taken) else set()
        if len(taken) != 1 or given != _GATES[one.cell] * min(taken):
            return 0
        widths |= taken
    return widths.pop() if len(widths) == 1 else 0


def _are_of_sequence(outline: Outline, run: Sequence[_Step]) -> bool:
    """Return whether each of several steps without gates takes something of its own.

    Else they are iterations of one value. What all take is cut, or multiplied step by step.
    """
    if len(run) < _LEAST_OF_LAYERS:
        return False
    taken = []
    for before, step in zip((None, *run), run, strict=False):
        carrying = step.find_carrying(before, outline) if before is not None else None
        given = [part for part in step.parts if part.has("looks_up", "picks")]
        given += [part for part in step.linears if part is not carrying]
        taken.append({id(part) for part in given})
    every = set.intersection(*taken)
    own = [ids - every for ids in taken]
    return all(own) and sum(map(len, own)) == len(set.union(*own))


def _takes(outline: Outline, linear: OutlinePart, hidden: OutlinePart) -> bool:
    """Return whether a layer takes a result, alone or beside what else comes in."""
    givers = outline.givers(linear)
    joined = [giver for giver in givers if giver.has("joins")]
    return hidden in givers or any(hidden in outline.givers(join) for join in joined)


def _read_single(step: _Step) -> int:
    """Return the width of the state of a layer that goes one step, and takes and gives its state.

    The matrices of what it takes and of its result give all gates together, or one matrix of both.
    """
    given = {part.out_features for part in step.linears}
    if len(given) != 1:
        return 0
    width, rest = divmod(given.pop(), _GATES[step.cell])
    taken = sorted(part.in_features for part in step.linears)
    is_layer = width in taken if len(taken) == 2 else len(taken) == 1 and taken[0] > width
    return width if is_layer and not rest else 0


def _read_lstm(outline: Outline, squashed: OutlinePart) -> _Step | None:
    """Return the step whose new state is squashed by a tanh; None where it is no LSTM's."""
    hidden = outline.only_user(squashed)
    givers = outline.givers(squashed)
    if hidden is None or hidden.kind != "Mul" or len(givers) != 1 or givers[0].kind != "Add":
        return None
    state = givers[0]
    products = outline.givers(state)
    if len(products) != 2 or any(part.kind != "Mul" for part in products):
        return None
    entering = [part for part in products if _names(outline, part) == ["Sigmoid", "tanh"]]
    keeping = [part for part in products if part not in entering]
    if len(entering) != 1 or "Sigmoid" not in _names(outline, keeping[0]):
        return None
    if sorted(_names(outline, hidden)) != ["Sigmoid", "tanh"]:
        return None
    gates = [
        giver
        for product in (hidden, *products)
        for giver in outline.givers(product)
        if giver.kind == "activation" and giver is not squashed
    ]
    if sorted(gate.name for gate in gates) != ["Sigmoid", "Sigmoid", "Sigmoid", "tanh"]:
        return None
    parts = [squashed, hidden, state, *products, *gates]
    return _complete(outline, "LSTM", parts, gates, state, keeping[0], hidden)


def _read_gru(outline: Outline, fresh: OutlinePart) -> _Step | None:
    """Return the step whose new features a tanh gives; None where it is no GRU's.

    What is kept and what is new are mixed as (1 - z)·n + z·h, or n + z·(h - n), as the exporter of
    ``torch.export`` writes a ``GRUCell``.
    """
    mixed = _read_shares(outline, fresh) or _read_difference(outline, fresh)
    sums = outline.givers(fresh)
    if mixed is None:
        return None
    update, keeping, hidden, others = mixed
    resets = [
        part
        for one in sums
        if one.kind == "Add"
        for part in outline.givers(one)
        if part.kind == "Mul" and "Sigmoid" in _names(outline, part)
    ]
    if len(sums) != 1 or len(resets) != 1:
        return None
    gates = [giver for giver in outline.givers(resets[0]) if giver.name == "Sigmoid"]
    if len(gates) != 1 or gates[0] is update:
        return None
    parts = [fresh, update, hidden, keeping, *others, *sums, *resets, *gates]
    begins = [update, gates[0], sums[0], resets[0]]
    return _complete(outline, "GRU", parts, begins, hidden, keeping, hidden)


def _read_light(outline: Outline, fresh: OutlinePart) -> _Step | None:
    """Return the step whose new features a ReLU gives, of a GRU without reset gate."""
    scaled = outline.only_user(fresh)
    is_scaled = (
        scaled is not None
        and scaled.kind == "Mul"
        and outline.operations.scalar(scaled.end) is not None
    )
    last = scaled if is_scaled and scaled is not None else fresh
    mixed = _read_shares(outline, last)
    if mixed is None:
        return None
    update, keeping, hidden, others = mixed
    parts = [*dict.fromkeys((fresh, last, update, hidden, keeping, *others))]
    return _complete(
        *(outline, "light GRU", parts, [update, fresh], hidden, keeping, hidden), are_normed=True
    )


#: the update gate, what takes the old state, what gives the new one, and all else that mixes both
_Mixed = tuple[OutlinePart, OutlinePart, OutlinePart, list[OutlinePart]]


def _read_shares(outline: Outline, fresh: OutlinePart) -> _Mixed | None:
    """Return what (1 - z)·n + z·h is made of."""
    product = outline.only_user(fresh)
    if product is None or product.kind != "Mul":
        return None
    inverse = [part for part in outline.givers(product) if part.kind == "Sub"]
    hidden = outline.only_user(product)
    if len(inverse) != 1 or hidden is None or hidden.kind != "Add":
        return None
    update = outline.givers(inverse[0])
    if len(update) != 1 or update[0].name != "Sigmoid":
        return None
    if outline.operations.scalar(inverse[0].end) != 1:
        return None
    keeping = [part for part in outline.givers(hidden) if part is not product]
    if len(keeping) != 1 or keeping[0].kind != "Mul" or update[0] not in outline.givers(keeping[0]):
        return None
    return update[0], keeping[0], hidden, [product, inverse[0]]


def _read_difference(outline: Outline, fresh: OutlinePart) -> _Mixed | None:
    """Return what n + z·(h - n) is made of."""
    users = outline.users(fresh)
    apart = [part for part in users if part.kind == "Sub"]
    hidden = [part for part in users if part.kind == "Add"]
    if len(users) != 2 or len(apart) != 1 or len(hidden) != 1:
        return None
    operands = outline.operands(apart[0])
    product = outline.only_user(apart[0])
    if len(operands) != 2 or outline.giver(operands[1]) is not fresh:
        return None
    if product is None or product.kind != "Mul" or outline.only_user(product) is not hidden[0]:
        return None
    update = [part for part in outline.givers(product) if part.name == "Sigmoid"]
    return (update[0], apart[0], hidden[0], [product]) if len(update) == 1 else None


def _read_plain(outline: Outline, squashed: OutlinePart) -> _Step | None:
    """Return the step of which an activation gives the state; None where none can be.

    The first may lack what multiplies its state, which is zero.
    """
    step = _complete(outline, "RNN", [squashed], [squashed], squashed, squashed, squashed)
    return step if step and all(part.kind == "linear" for part in step.linears) else None


def _complete(
    outline: Outline,
    cell: str,
    parts: list[OutlinePart],
    gates: Sequence[OutlinePart],
    state: OutlinePart,
    held: OutlinePart,
    hidden: OutlinePart,
    *,
    are_normed: bool = False,
) -> _Step | None:
    """Add what is between gates and linear layers, and these.

    What layers give may be normalized where ``are_normed``.
    """
    linears: dict[OutlinePart, None] = {}
    between: dict[OutlinePart, None] = {}
    pending = [giver for gate in gates for giver in outline.givers(gate)]
    while pending:
        part = pending.pop()
        if part in linears or part in between or part in parts:
            continue
        if part.kind == "linear" or (part.kind == "conv" and not part.parts):
            linears[part] = None
            continue
        is_norm = are_normed and part.kind == "norm"
        if not (is_norm or part.has(*_BETWEEN)) or len(between) == _MOST_BETWEEN:
            return None
        between[part] = None
        pending += outline.givers(part)
    if not linears:
        return None
    return _Step(cell, [*parts, *between], list(linears), state, held, hidden)


def _names(outline: Outline, part: OutlinePart) -> list[str]:
    """Return the names of the activations that a part takes, in order."""
    return sorted(giver.name for giver in outline.givers(part) if giver.kind == "activation")
