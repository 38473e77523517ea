"""The audit of a quantized model, alone or beside the float model that it was made of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from netloupe.explorer.arguments import explain_arguments
from netloupe.explorer.checks.check import Findings, apply_rules, choose_rules
from netloupe.explorer.checks.skipped import tell_skipped
from netloupe.explorer.checks.stored_codes import StoredCodes
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.compare import match_models
from netloupe.explorer.compare.references import Reference, open_reference
from netloupe.explorer.compare.twin_weights import TwinWeights, WeightPair
from netloupe.explorer.costs import Bindings, count_bytes, count_stored_bytes
from netloupe.explorer.costs.analysis import Analysis
from netloupe.explorer.costs.costs import analyze
from netloupe.explorer.costs.polynomial import list_symbols
from netloupe.explorer.errors import BindingError, NetloupeError
from netloupe.explorer.model import Model
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.progress import is_ending, step
from netloupe.explorer.quantization.quantized_elements import QuantizedElements, open_weight
from netloupe.explorer.quantization.quantized_weights import (
    QuantizedWeight,
    find_output_axis,
    has_many_channels,
    list_quantized_weights,
)
from netloupe.explorer.readers.load import ModelSource, load

from .coverage import Coverage, measure_coverage
from .islands import find_islands
from .result import NO_TWIN, QuantizationAudit, State, Unchecked, WeightAudit
from .turned import is_turned
from .twins import Comparison, compare_with_twin
from .verdict import write_audit_verdict

_NO_CODES = "none is stored as codes with scales; a diff of both compares floats with floats"
#: rules of quantization
_RULES = ("NL-Q",)
_BATCH = re.compile(r"n|b|bs|.*batch.*", re.IGNORECASE)
#: sizes that symbols are given where the user gives none
_BATCH_SIZE, _OTHER_SIZE = 1, 128


@explain_arguments
def audit(
    quantized: ModelSource,
    reference: ModelSource | None = None,
    *,
    bind: Bindings | None = None,
) -> QuantizationAudit:
    """Look at how a model is quantized: how much of it, how well, and what is wrong.

    Parameters
    ----------
    quantized
        The quantized model, or its path: what :func:`netloupe.load` gives or takes.
    reference
        Likewise the float model that it was made of; None where it is not at hand. Nodes and
        names may differ: weights are paired by nodes, names and shapes, and each pair is verified
        by value.
    bind
        Sizes for symbols of dimensions, so that multiplications can be added up. Where one is not
        given, 1 is assumed of a batch and 128 of others, and it is said.

    Returns
    -------
    QuantizationAudit
        Verdict, coverage, defects, islands of floats, each weight, and what was not checked.
        Numbers of weights are fidelity: what they cost in accuracy does not follow from them.

    Raises
    ------
    BindingError
        For sizes of what the model does not have.

    Examples
    --------
    >>> found = netloupe.audit("int8.onnx", "float.onnx")
    >>> print(found.verdict)
    >>> found.to_dataframe().sort_values("sqnr_db").head()
    """
    floats = None if reference is None else load(reference)
    return _Audit(load(quantized), floats, bind).run()


class _Audit:
    def __init__(self, quantized: Model, reference: Model | None, bind: Bindings | None) -> None:
        self._model = quantized
        self._reference = reference
        self._bind = {} if bind is None else dict(bind)
        self._subject = Subject(quantized)

    def run(self) -> QuantizationAudit:
        subject, model = self._subject, self._model
        weights = subject.quantized.weights
        analysis, assumed = self._analyze()
        step("adding up what is quantized")
        coverage = measure_coverage(subject, analysis, weights, assumed)
        has_codes = coverage.has_quantized_activations or coverage.quantizing_nodes > 0
        islands = find_islands(subject, analysis) if has_codes else ()
        findings = apply_rules(subject, choose_rules(_RULES))
        audited = tuple(_explain_biases([*self._audit_weights()]))
        unchecked = (*self._list_unchecked(findings, coverage, audited),)
        return QuantizationAudit(
            model.source,
            "" if self._reference is None else self._reference.source,
            write_audit_verdict(
                coverage,
                findings,
                audited,
                self._compare_sizes(),
                self._count_coded_twin(audited),
                sum(len(graph.annotations) for graph in model.graphs),
                self._subject.quantized.left_count,
            ),
            coverage,
            findings.findings,
            islands,
            audited,
            unchecked,
        )

    def _analyze(self) -> tuple[Analysis, dict[str, int]]:
        """Return what nodes cost, symbols having sizes, and those that were assumed."""
        model = self._model
        first = analyze(model, self._bind)
        symbols = list_symbols(first.main.total.macs) + list_symbols(first.main.total.others)
        assumed = {
            name: _BATCH_SIZE if _BATCH.fullmatch(name) else _OTHER_SIZE
            for name in dict.fromkeys(symbols)
            if name not in self._bind
        }
        if not assumed:
            return first, {}
        try:
            return analyze(model, {**self._bind, **assumed}), assumed
        except BindingError:
            return first, {}

    def _compare_sizes(self) -> tuple[int, int] | None:
        """Return the bytes of all that both models store; None without a twin."""
        if self._reference is None:
            return None
        return count_stored_bytes(self._model), count_stored_bytes(self._reference)

    def _count_coded_twin(self, audited: tuple[WeightAudit, ...]) -> int:
        """Return how many quantized weights the twin has, where the model has none."""
        if self._reference is None or audited:
            return 0
        return sum(1 for graph in self._reference.graphs for _ in list_quantized_weights(graph))

    def _audit_weights(self) -> Iterator[WeightAudit]:
        twins = None
        if self._reference is not None:
            pairs = match_models(self._reference, self._model).pairs
            partners = {node: pair.left for pair in pairs for node in pair.right}
            twins = TwinWeights(self._reference, partners)
        codes = self._subject.quantized.codes
        total = sum(one.weight.size for one in codes) or 1
        done = 0
        for number, one in enumerate(codes):
            step("" if number else "comparing weights", min(done / total, 1.0))
            done += one.weight.size
            yield _audit_weight(one, twins)

    def _list_unchecked(
        self, findings: Findings, coverage: Coverage, audited: tuple[WeightAudit, ...]
    ) -> Iterator[Unchecked]:
        if audited or coverage.has_quantized_activations:
            yield Unchecked(
                "accuracy", "it needs data: fidelity of weights does not tell what it costs"
            )
        if coverage.has_quantized_activations:
            yield Unchecked(
                "ranges of activations", "they need data: only what the graph says is checked"
            )
        if self._reference is None and any(one.fidelity is None for one in audited):
            yield Unchecked("fidelity of weights", NO_TWIN)
        reasons = Counter(_leave_out_path(one) for one in audited if one.reason)
        for reason, count in reasons.items():
            yield Unchecked("weights", reason, count)
        compared = {one.path for one in audited if one.fidelity is not None}
        weights = (one.weight for one in self._subject.quantized.codes)
        many = sum(one.path in compared and has_many_channels(one) for one in weights)
        if many:
            reason = "there are over a million: such a weight is compared as a whole"
            yield Unchecked("channels of weights", reason, many)
        left = self._subject.quantized.left_count
        if self._reference is not None and not audited and not left:
            yield Unchecked("weights beside their floats", _NO_CODES)
        if left:
            yield Unchecked("weights", "there are too many: they were not read", left)
        for reason, rules in tell_skipped(findings.skipped_rules):
            yield Unchecked(f"all that rules look at: {rules}", reason)
        if coverage.macs_are_lower_bound:
            yield Unchecked(
                "MACs of some nodes", "they are not known, so that shares leave them out"
            )


def _audit_weight(one: StoredCodes, twins: TwinWeights | None) -> WeightAudit:
    weight = one.weight
    users = weight.list_users()
    axis = find_output_axis(weight)
    plain = WeightAudit(
        path=weight.path,
        node=users[0].path if users else "",
        op_type=users[0].op_type if users else "",
        scheme=weight.scheme,
        storage=weight.storage,
        bits=weight.bits,
        dims=weight.dims or (),
        size=weight.size,
        granularity=weight.granularity or "",
        axis=weight.axis if weight.granularity != "per tensor" else None,
        block_size=weight.block_size,
        bits_per_weight=_count_bits(weight),
        is_bias=weight.is_bias,
        output_axis=axis,
        codes=one.facts,
        state="no twin",
        reason=one.reason,
    )
    if one.reason:
        return _set(plain, "not comparable", reason=one.reason)
    try:
        quantized = open_weight(weight)
        if not quantized.codes.size:
            return _set(plain, "not comparable", reason="it has no elements")
        if quantized.own is not None:
            pair = WeightPair(weight.tensor, key="own")
            return _compare(plain, quantized, Reference(quantized.own), pair, axis)
        if twins is None:
            return plain
        if quantized.codes.is_constant:
            return _set(plain, "not comparable", reason="all its codes are the same")
        pair = twins.find(weight, quantized)
        if pair.tensor is None:
            state: State = "other numbers" if pair.is_unlike else "not comparable"
            return _set(plain, state, reason=pair.reason)
        reference = open_reference(pair.tensor, pair.turned)
        found = _compare(plain, quantized, reference, pair, axis)
        return replace(found, is_turned=is_turned(weight, quantized, twins.find_value(pair), pair))
    except NetloupeError as error:
        if is_ending(error):
            raise
        return _set(plain, "not comparable", reason=str(error))


def _explain_biases(audited: list[WeightAudit]) -> Iterator[WeightAudit]:
    """Yield weights; of biases beside rescaled weights that other numbers are expected."""
    rescaled = {one.node for one in audited if one.state == "rescaled" and not one.is_bias}
    for one in audited:
        if one.is_bias and one.state == "other numbers" and one.node in rescaled:
            why = "the weight beside it was rescaled, and a normalization folded in changes both"
            yield _set(one, "not comparable", reason=why)
        else:
            yield one


def _leave_out_path(one: WeightAudit) -> str:
    """Return why a weight was not compared, alike for all weights for which it is the same."""
    return one.reason.removeprefix(f"{one.path}: ")


def _compare(
    plain: WeightAudit,
    quantized: QuantizedElements,
    reference: Reference,
    pair: WeightPair,
    axis: int | None,
) -> WeightAudit:
    is_row = plain.is_bias and axis is None and len(quantized.dims) == 1
    found = compare_with_twin(quantized, reference, 0 if is_row else axis)
    fidelity = found.fidelity
    if is_row:  # each number is a channel of its own, and none is to have a scale of its own
        fidelity = replace(fidelity, per_channel_gain_db=None)
    return _set(
        plain,
        _name_state(found),
        reference=pair.tensor.path if pair.tensor is not None else "",
        order=pair.order,
        found_by=pair.key,
        reference_dtype=pair.tensor.dtype.name if pair.tensor is not None else "",
        expected=pair.expected.path if pair.expected is not None else "",
        rescaled_by=found.factors,
        rescaled_axis=found.factor_axis,
        fidelity=fidelity,
    )


def _name_state(found: Comparison) -> State:
    if found.factors is None:
        return "paired"
    return "multiplied" if found.factor_axis is None else "rescaled"


def _set(plain: WeightAudit, state: State, **changes: object) -> WeightAudit:
    return replace(plain, state=state, **changes)  # type: ignore[arg-type]


def _count_bits(weight: QuantizedWeight) -> float | None:
    """Return the bits that are stored for a weight, scales and zero points among them."""
    if not weight.size or weight.scheme == "simulated":
        return None
    stored = count_bytes(weight.tensor)
    if stored is None:
        return None
    statement = weight.statement
    values = [] if statement is None else [statement.scale, statement.zero_point]
    if statement is None and weight.node is not None:
        values = [*weight.node.inputs[2:3]]
    for value in values:
        tensor = find_stored_tensor(value) if value is not None else None
        if tensor is not None:
            stored += count_bytes(tensor) or 0
    return stored * 8 / weight.size
