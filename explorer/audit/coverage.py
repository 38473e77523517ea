"""How much of a model is quantized: multiplications, parameters and bytes per number format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.costs import count_bytes
from netloupe.explorer.costs.analysis import Analysis, GraphRun
from netloupe.explorer.costs.bound_inputs import Replaced
from netloupe.explorer.costs.initializer_kinds import find_initializer_kinds
from netloupe.explorer.model import (
    Graph,
    Model,
    Node,
    Tensor,
    Value,
    find_nodes_where,
)
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import Operator
from netloupe.explorer.progress import step
from netloupe.explorer.quantization.quantized_weights import MOST_STORED, QuantizedWeight

from .precisions import SEVERAL, Kind, Precision, find_precision, list_factors

_STEP = 10_000
_FLOAT_WEIGHTS = ("float", "activation-only")
_DEEPEST = 32


@dataclass(frozen=True, slots=True)
class PrecisionShare:
    """Multiplications in one number format.

    Parameters
    ----------
    name
        ``u8xi8`` (activations times weights), ``f32`` …
    kind
        Whether both operands are integers, floats of 8 bits or fewer, one of them, or none.
    nodes
        How many nodes multiply so.
    macs
        Their multiplications, each with an addition, as far as they are known.
    unknown
        Of how many of the nodes they are not known, or depend on symbols.
    operators
        How many nodes of each operator, the most frequent first.
    """

    name: str
    kind: Kind
    nodes: int
    macs: int
    unknown: int
    operators: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class StorageShare:
    """Parameters that are stored in one number format.

    Parameters
    ----------
    name
        ``int8``, ``uint4``, ``nf4``, ``float32`` …
    granularity
        How many share a scale: ``per tensor``, ``per channel``, ``per block``; "" for floats.
    tensors, parameters
        How many.
    bytes
        Of the numbers or codes.
    scale_bytes
        Of scales and zero points beside them.
    is_quantized
        Whether these are codes.
    """

    name: str
    granularity: str
    tensors: int
    parameters: int
    bytes: int
    scale_bytes: int
    is_quantized: bool


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a model is quantized.

    Parameters
    ----------
    schemes
        How weights are held, and how many of them in each way.
    signs
        Of multiplications in integers, activations and weights: ``U8S8``, ``S8S8``; "" for none.
    precisions
        Multiplications per number format, the most first.
    storage
        Parameters per number format, the most bytes first.
    macs
        All multiplications; None where they depend on symbols.
    macs_are_lower_bound
        Whether those of some nodes are not known; shares leave these nodes out.
    assumed
        Sizes that symbols were given so that multiplications can be added up.
    replaced_shapes
        By input the shape that the file states and the one that is counted instead.
    quantized_weights, float_weights
        How many weights that are multiplied are codes, and how many are floats.
    bits_per_weight
        (codes + scales + zero points) * 8 / number of quantized weights; None without any.
    bits_per_parameter
        The same of all parameters, floats among them; None without any.
    float_results
        How many nodes multiply integers, or floats of few bits, and give floats that nothing
        quantizes again.
    quantizing_nodes
        How many nodes quantize values as the model runs, or compute with such.
    """

    schemes: Mapping[str, int]
    signs: str
    precisions: tuple[PrecisionShare, ...]
    storage: tuple[StorageShare, ...]
    macs: int | None
    macs_are_lower_bound: bool
    assumed: Mapping[str, int]
    replaced_shapes: Replaced
    quantized_weights: int
    float_weights: int
    bits_per_weight: float | None
    bits_per_parameter: float | None
    float_results: int
    quantizing_nodes: int = 0

    @property
    def integer_share(self) -> float | None:
        """The share of multiplications whose operands both are integers; None where not known."""
        return self.share_of("integer")

    def share_of(self, *kinds: Kind) -> float | None:
        """Return the share of known multiplications of some kinds, 0 to 1; None of none.

        Parameters
        ----------
        *kinds
            Of :attr:`PrecisionShare.kind`.
        """
        known = sum(p.macs for p in self.precisions)
        return sum(p.macs for p in self.precisions if p.kind in kinds) / known if known else None

    @property
    def has_quantized_activations(self) -> bool:
        """Whether activations that are multiplied are integers, or floats of 8 bits or fewer."""
        kinds = ("integer", "small-float", "activation-only")
        return any(p.kind in kinds for p in self.precisions)


@dataclass(slots=True)
class _Tally:
    nodes: int = 0
    macs: int = 0
    unknown: int = 0
    operators: Counter[str] = field(default_factory=Counter)


def measure_coverage(
    subject: Subject,
    analysis: Analysis,
    weights: Sequence[QuantizedWeight],
    assumed: Mapping[str, int],
) -> Coverage:
    """Return how much of a model is quantized; no elements are read.

    Parameters
    ----------
    subject
        The model.
    analysis
        What its nodes cost, with sizes for symbols.
    weights
        Its quantized weights.
    assumed
        The sizes that were not given, but chosen.
    """
    tallies: dict[Precision, _Tally] = {}
    multiplied: set[Tensor] = set()
    float_results = 0
    coded = {weight.tensor for weight in weights}
    for node, macs in list_multiplying(analysis):
        precision = _find_inner_precision(node, subject, analysis)
        tally = tallies.setdefault(precision, _Tally())
        tally.nodes += 1
        tally.macs += macs or 0
        tally.unknown += macs is None
        tally.operators[node.op_type] += 1
        if precision.kind in ("integer", "small-float") and gives_float(node):
            float_results += 1
        for value in list_factors(node) if precision.kind in _FLOAT_WEIGHTS else ():
            tensor = find_stored_tensor(value) if value is not None else None
            if tensor is not None and tensor.dtype.is_float and tensor not in coded:
                multiplied.add(tensor)
    total = analysis.main.total.macs
    shares = [
        PrecisionShare(p.name, p.kind, t.nodes, t.macs, t.unknown, dict(t.operators.most_common()))
        for p, t in tallies.items()
    ]
    storage = [*_list_storage(subject.model, weights)]
    codes = [one for one in storage if one.is_quantized]
    plain = [weight for weight in weights if not weight.is_bias]
    return Coverage(
        schemes=dict(Counter(weight.scheme for weight in plain).most_common()),
        signs=_find_signs(tallies),
        precisions=tuple(sorted(shares, key=lambda share: (-share.macs, share.name))),
        storage=tuple(sorted(storage, key=lambda share: -(share.bytes + share.scale_bytes))),
        macs=total if isinstance(total, int) else None,
        macs_are_lower_bound=any(gap.affects == "macs" for gap in analysis.main.total.gaps),
        assumed=dict(assumed),
        replaced_shapes=analysis.replaced,
        quantized_weights=len(plain),
        float_weights=len(multiplied),
        bits_per_weight=_count_bits(codes),
        bits_per_parameter=_count_bits(storage),
        float_results=float_results,
        quantizing_nodes=sum(map(_count_quantizing, subject.graphs)),
    )


def _find_inner_precision(node: Node, subject: Subject, analysis: Analysis) -> Precision:
    """Return the precision of a node, or that of all nodes that multiply in what it runs."""
    graphs = [*node.subgraphs] if node.function is None else [node.function]
    if not graphs:
        return find_precision(node, subject)
    found = set()
    for graph in graphs:
        for each in (graph, *graph.subgraphs):
            frames = analysis.frames.get(each, ())[:1]
            for frame in frames:
                for inner, index in zip(each.nodes, frame.works, strict=True):
                    is_leaf = not inner.subgraphs and inner.function is None
                    if index and analysis.works[index].macs:
                        found.add(find_precision(inner, subject) if is_leaf else SEVERAL)
    return found.pop() if len(found) == 1 else SEVERAL


def _quantizes(operator: Operator) -> bool:
    return operator.is_quantized and not operator.has("dequantizes", "packed_weight")


def _count_quantizing(graph: Graph) -> int:
    """Return how many nodes of a graph quantize a value that is no constant, or take codes."""
    count = 0
    for index in find_nodes_where(graph, _quantizes).tolist():
        node = graph.nodes[index]
        given = node.input(0)
        count += given is not None and given.initializer is None
    if graph.dialect.self_quantized_prefixes:
        count += sum(bool(n.inputs) and graph.dialect.is_self_quantized(n) for n in graph.nodes)
    return count


def _count_bits(shares: Sequence[StorageShare]) -> float | None:
    parameters = sum(share.parameters for share in shares)
    stored = sum(share.bytes + share.scale_bytes for share in shares)
    return stored * 8 / parameters if parameters else None


def list_multiplying(analysis: Analysis) -> Iterator[tuple[Node, int | None]]:
    """Yield each node that multiplies, with its MACs each time the model runs; None if unknown.

    Those of a function or body count as often as it runs, where that follows from the total; else
    the node that runs it is given, with all that is inside.
    """
    yield from _walk(analysis, analysis.main, 1, 0)


def _walk(
    analysis: Analysis, frame: GraphRun, times: int, depth: int
) -> Iterator[tuple[Node, int | None]]:
    for number, (node, index) in enumerate(zip(frame.graph.nodes, frame.works, strict=True)):
        if not number % _STEP:
            step()
        macs = analysis.works[index].macs if index else 0
        if not isinstance(macs, int) or not macs:
            if not isinstance(macs, int) or node.operator.has("convolves", "multiplies"):
                yield node, None
            continue
        inner = _find_inner(analysis, node) if depth < _DEEPEST else None
        inside = inner.total.macs if inner is not None else 0
        if inner is not None and isinstance(inside, int) and inside and not macs % inside:
            yield from _walk(analysis, inner, times * (macs // inside), depth + 1)
        else:
            yield node, macs * times


def _find_inner(analysis: Analysis, node: Node) -> GraphRun | None:
    """Return the run of the one graph that a node runs; None where there are several, or kinds."""
    graph = node.function
    if graph is None:
        return _find_frame(analysis, node.subgraphs[0]) if len(node.subgraphs) == 1 else None
    return _find_frame(analysis, graph)


def _find_frame(analysis: Analysis, graph: Graph) -> GraphRun | None:
    frames = analysis.frames.get(graph, [])
    return frames[0] if len(frames) == 1 else None


def gives_float(node: Node) -> bool:
    """Return whether a node on dequantized operands gives floats that nothing quantizes again.

    A Relu or Clip between is part of what integer kernels do.
    """
    if node.operator.has("dequantizes_result"):
        return True
    if not any(
        value is not None
        and value.producer is not None
        and value.producer.operator.has("dequantizes")
        for value in node.inputs[:2]
    ):
        return False
    return not is_quantized_next(node)


def is_quantized_next(node: Node) -> bool:
    """Return whether all that takes the results of a node quantizes them, perhaps behind a Relu."""
    return all(value is None or _is_quantized(value, 1) for value in node.outputs)


def _is_quantized(value: Value, left: int) -> bool:
    if value.is_output or not value.users:
        return False
    for user in value.users:
        if user.operator.has("quantizes"):
            continue
        is_chained = user.operator.has("clips") and left and len(value.users) == 1
        if not is_chained or not all(
            out is None or _is_quantized(out, left - 1) for out in user.outputs
        ):
            return False
    return True


def _find_signs(tallies: Mapping[Precision, _Tally]) -> str:
    """Return the signs of most multiplications of 8-bit integers: ``U8S8``."""
    names = {"u8": "U8", "i8": "S8"}
    counts: Counter[str] = Counter()
    for precision, tally in tallies.items():
        if precision.kind == "integer":
            pair = names.get(precision.activations), names.get(precision.weights)
            if None not in pair:
                counts[f"{pair[0]}{pair[1]}"] += tally.nodes
    return counts.most_common(1)[0][0] if counts else ""


def _list_storage(model: Model, weights: Sequence[QuantizedWeight]) -> Iterator[StorageShare]:
    """Yield the parameters per number format."""
    sums: dict[tuple[str, str, bool], list[int]] = {}
    coded: set[Tensor] = set()
    parameters: set[Tensor] = set()
    for weight in weights:
        if weight.tensor in coded or weight.is_bias:
            continue
        coded.add(weight.tensor)
        if weight.scheme == "simulated":
            continue
        entry = sums.setdefault((weight.storage or "?", weight.granularity or "?", True), [0] * 4)
        scales = 0
        for value in _list_parameters(weight):
            tensor = find_stored_tensor(value)
            if tensor is not None and tensor not in parameters:
                parameters.add(tensor)
                scales += count_bytes(tensor) or 0
        for place, amount in enumerate((1, weight.size, count_bytes(weight.tensor) or 0, scales)):
            entry[place] += amount
    kinds = find_initializer_kinds(model)
    simulated = {weight.tensor for weight in weights if weight.scheme == "simulated"}
    for graph in model.graphs:
        for tensor in graph.initializers:
            is_plain = tensor not in coded or tensor in simulated
            if not is_plain or tensor in parameters or kinds.kind_of(tensor) != "parameter":
                continue
            if tensor.size >= MOST_STORED:
                continue
            entry = sums.setdefault((tensor.dtype.name, "", False), [0] * 4)
            for place, amount in enumerate((1, tensor.size, count_bytes(tensor) or 0, 0)):
                entry[place] += amount
    for (name, granularity, is_quantized), (tensors, count, size, scales) in sums.items():
        yield StorageShare(name, granularity, tensors, count, size, scales, is_quantized)


def _list_parameters(weight: QuantizedWeight) -> Iterator[Value]:
    statement = weight.statement
    if statement is not None:
        yield from (v for v in (statement.scale, statement.zero_point) if v is not None)
    elif weight.node is not None:
        yield from (value for value in weight.node.inputs[2:3] if value is not None)
