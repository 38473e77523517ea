"""What an audit found, in a few sentences: numbers with unit and direction, and no single score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

from netloupe.explorer.checks import SEVERITIES, Findings
from netloupe.explorer.costs import write_replaced
from netloupe.explorer.notation import join_parts, write_bytes, write_count, write_percent

from .coverage import Coverage
from .fidelity import ChannelFidelity
from .off_channels import CHANGED_EXCESS, EXACT, MOST_STEPS, find_beyond
from .result import WeightAudit

#: by type which share of a number its rounding to nearest is at most: half of the last bit
_OWN_ROUNDING = {
    "float32": 2.0**-24,
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
    "float8_e4m3fn": 2.0**-4,
    "float8_e4m3fnuz": 2.0**-4,
    "float8_e5m2": 2.0**-3,
    "float8_e5m2fnuz": 2.0**-3,
}
_MOST_KINDS = 4


def write_audit_verdict(
    coverage: Coverage,
    findings: Findings,
    weights: Sequence[WeightAudit],
    sizes: tuple[int, int] | None,
    twin_weights: int = 0,
    annotated: int = 0,
    left: int = 0,
) -> str:
    """Return in a few sentences what an audit found.

    Parameters
    ----------
    coverage, findings, weights
        What it found.
    sizes
        The bytes that the model and its twin store; None without a twin.
    twin_weights
        How many quantized weights the twin has.
    annotated
        Of how many values annotations state in which format they are meant.
    left
        How many quantized weights were left out since there are too many.
    """
    plain = [one for one in weights if not one.is_bias]
    if not plain and not coverage.has_quantized_activations and not coverage.quantizing_nodes:
        nothing = "Nothing in this model is quantized."
        if annotated:
            nothing = (
                "No weight of this model is stored as codes with scales. Annotations state "
                f"formats of {write_count(annotated, 'value')}, which are not audited."
            )
        if not twin_weights:
            return nothing
        many = write_count(twin_weights, "quantized weight")
        return (
            f"{nothing} The one that it is compared with has {many}: perhaps they are the wrong "
            "way round."
        )
    told = [_write_scheme(coverage, plain), _write_coverage(coverage)]
    unread = _write_unread(plain, left)
    told += [_write_sizes(coverage, sizes), unread]
    told += [_write_defects(findings, is_part=bool(unread))]
    told += [_write_fidelity(plain) or (_write_none(plain) if sizes is not None else "")]
    told += [_write_other_numbers(weights), _write_expected(weights), _write_turned(weights)]
    told += [_write_biases([one for one in weights if one.is_bias]), _write_nonfinite(weights)]
    return " ".join(sentence for sentence in told if sentence)


def _write_scheme(coverage: Coverage, weights: Sequence[WeightAudit]) -> str:
    if not weights:
        return "Values are quantized as the model runs, stored weights are not."
    kinds = Counter(
        (one.scheme, one.storage or "unknown type", one.granularity or "") for one in weights
    )
    told = []
    for (scheme, storage, granularity), count in kinds.most_common(_MOST_KINDS):
        parts = [f"{scheme} {storage}", granularity]
        told.append(" ".join(part for part in parts if part) + f" ({count:,})")
    signs = f", multiplied {coverage.signs}" if coverage.signs else ""
    total = len(weights)
    left = f"; {write_count(coverage.float_weights, 'weight')} multiplied in floats" * bool(
        coverage.float_weights
    )
    many = write_count(total, "quantized weight")
    return f"{many}: {join_parts(told, len(kinds))}{signs}{left}."


def _write_coverage(coverage: Coverage) -> str:
    share = coverage.integer_share
    if share is None:
        return ""
    assumed = ", ".join(f"{name} = {size}" for name, size in coverage.assumed.items())
    sizes = [f"with {assumed[:200]}"] if assumed else []
    if coverage.replaced_shapes:
        sizes.append(write_replaced(coverage.replaced_shapes))
    where = f" ({'; '.join(sizes)})" if sizes else ""
    known = "known MACs" if coverage.macs_are_lower_bound else "MACs"
    told = [f"{write_percent(share)} of the {known} multiply integers"]
    small = coverage.share_of("small-float")
    if small:
        told.append(f"{write_percent(small)} floats of 8 bits or fewer")
    only = coverage.share_of("weight-only")
    if only:
        told.append(f"{write_percent(only)} floats by dequantized weights")
    simulated = coverage.share_of("simulated")
    if simulated:
        told.append(f"{write_percent(simulated)} floats that were rounded to few levels")
    rest = coverage.share_of("float", "activation-only", "unknown")
    if rest:
        told.append(f"{write_percent(rest)} floats")
    return f"{', '.join(told)}{where}."


def _write_sizes(coverage: Coverage, sizes: tuple[int, int] | None) -> str:
    told = []
    if coverage.bits_per_weight is not None:
        told.append(f"{coverage.bits_per_weight:.2f} bits per quantized weight with its scales")
    if sizes is not None and sizes[1]:
        told.append(
            f"{write_bytes(sizes[0])} instead of {write_bytes(sizes[1])}: "
            f"{sizes[0] / sizes[1]:.2f} times the size"
        )
    return f"{'; '.join(told)}." if told else ""


def _write_unread(weights: Sequence[WeightAudit], left: int) -> str:
    """Say of how many weights no rule can judge the codes, and why."""
    reasons = [
        one.reason.removeprefix(f"{one.path}: ").rstrip(".")
        for one in weights
        if one.codes is None and one.reason
    ]
    told = []
    if reasons:
        many = "all" if len(reasons) == len(weights) else f"{len(reasons):,}"
        subject = "Its codes" if len(weights) == 1 else f"The codes of {many} of them"
        others = " and other reasons" * (len({*reasons}) > 1)
        told.append(f"{subject} cannot be judged: {reasons[0][:200]}{others}.")
    if left:
        told.append(f"{write_count(left, 'more quantized weight')} were not read.")
    return " ".join(told)


def _write_defects(findings: Findings, *, is_part: bool) -> str:
    counts = [
        (name, sum(f.severity == name and not f.suppressed for f in findings))
        for name in SEVERITIES
    ]
    told = [write_count(count, name) for name, count in counts if count]
    return (
        f"{', '.join(told)} in how it is quantized."
        if told
        else f"The rules of quantization find nothing{' else' * is_part}."
    )


def _write_fidelity(weights: Sequence[WeightAudit]) -> str:
    compared = [one for one in weights if one.fidelity is not None]
    if not compared:
        return ""
    known = [(one.fidelity.sqnr_db, one) for one in compared if one.fidelity is not None]
    lowest, worst = min(known, key=lambda entry: entry[0])
    told = (
        f"{len(compared):,} of {write_count(len(weights), 'weight')} compared with floats: "
        f"SQNR {median(number for number, _ in known):.1f} dB ↑ in the median, lowest "
        f"{lowest:.1f} dB at {worst.path[:200]}."
    )
    changed = sum(is_changed(one) for one in compared)
    rescaled = sum(one.state == "rescaled" for one in compared)
    if rescaled:
        told += f" {write_count(rescaled, 'weight')} rescaled per channel against the twin."
    multiplied = [one for one in compared if one.state == "multiplied"]
    if multiplied:
        first = multiplied[0]
        factor = first.rescaled_by[0] if first.rescaled_by is not None else 1.0
        told += (
            f" {write_count(len(multiplied), 'weight')} multiplied as a whole against the twin, by "
            f"{factor:.3g} at {first.path[:200]}: wrong scales, unless the model divides elsewhere."
        )
    if changed:
        steps = any(is_changed(one) and _has_steps(one) for one in compared)
        how = f" (excess error ↓ over {CHANGED_EXCESS})" if steps else ""
        told += f" {write_count(changed, 'weight')} off by more than rounding{how}."
    return told


def _has_steps(one: WeightAudit) -> bool:
    return one.fidelity is not None and one.fidelity.excess_error is not None


def _write_none(weights: Sequence[WeightAudit]) -> str:
    """Say that a twin was given and nothing could be compared with it, and why."""
    if not weights:
        return ""
    reasons = [
        one.reason.removeprefix(f"{one.path}: ").rstrip(".")
        for one in weights
        if one.state != "other numbers"
    ]
    why = f": {reasons[0][:300]}" if reasons else ""
    others = ", and other reasons" * (len({*reasons}) > 1)
    return f"None of {write_count(len(weights), 'weight')} was compared with floats{why}{others}."


def _write_other_numbers(weights: Sequence[WeightAudit]) -> str:
    other = [one for one in weights if one.state == "other numbers"]
    if not other:
        return ""
    verb, first = ("has", ": ") if len(other) == 1 else ("have", ", the first ")
    return (
        f"{_count(other)} {verb} the numbers of no weight of the float model with as many "
        f"elements{first}{other[0].path[:200]}."
    )


def _write_expected(weights: Sequence[WeightAudit]) -> str:
    moved = [one for one in weights if one.expected]
    if not moved:
        return ""
    first = moved[0]
    verb = "has" if len(moved) == 1 else "have"
    return (
        f"{_count(moved)} {verb} the numbers of another one of the float model than the name says, "
        f"{first.path[:200]} those of {first.reference[:200]}: exchanged, unless names were given "
        "anew."
    )


def _write_turned(weights: Sequence[WeightAudit]) -> str:
    turned = [one for one in weights if one.is_turned]
    if not turned:
        return ""
    verb = "lies" if len(turned) == 1 else "lie"
    return (
        f"{_count(turned)} {verb} transposed against the float model, as the operators read it: "
        f"{turned[0].path[:200]}."
    )


def _count(weights: Sequence[WeightAudit]) -> str:
    """Return how many weights and biases there are, as in ``2 weights and 1 bias``."""
    biases = sum(one.is_bias for one in weights)
    parts = []
    if biases < len(weights):
        parts.append(write_count(len(weights) - biases, "weight"))
    if biases:
        parts.append(f"{biases:,} {'bias' if biases == 1 else 'biases'}")
    return " and ".join(parts)


def _write_biases(biases: Sequence[WeightAudit]) -> str:
    changed = [one for one in biases if is_changed(one) and one.fidelity is not None]
    if not changed:
        return ""
    worst = max(changed, key=lambda one: one.fidelity.max_step_error or 0.0 if one.fidelity else 0)
    most = worst.fidelity.max_step_error or 0.0 if worst.fidelity is not None else 0.0
    return (
        f"{_count(changed)} off by more than rounding, the most by {most:,.0f} steps at "
        f"{worst.path[:200]}."
    )


def _write_nonfinite(weights: Sequence[WeightAudit]) -> str:
    """Say how many numbers no measure has in it, of weights and biases."""
    counts = [one.fidelity.nonfinite for one in weights if one.fidelity is not None]
    total = sum(counts)
    if not total:
        return ""
    many = write_count(sum(count > 0 for count in counts), "weight")
    verb = "is" if total == 1 else "are"
    return (
        f"{write_count(total, 'number')} of {many} {verb} NaN or infinite, as stored or in the "
        "float model, and left out of these measures."
    )


def is_changed(one: WeightAudit) -> bool:
    """Return whether a weight, or a channel of it, is off by more than rounding.

    Of a bias, which has one number for each channel, where one is off by more than a step, and by
    more than floats of 32 bits leave. Of narrow floats, which have no steps, where a channel is a
    multiple of its twin. What the twin's own floats leave is no error of the codes.
    """
    found = one.fidelity
    if found is None:
        return False
    return find_changed_channel(one) is not None or (
        not one.is_bias
        and found.excess_error is not None
        and _is_beyond(found.sqnr_db, found.excess_error, CHANGED_EXCESS, _find_own(one))
    )


def find_changed_channel(one: WeightAudit) -> ChannelFidelity | None:
    """Return the first channel that is off by more than rounding: the one of the lowest SQNR.

    None where there is none, and where channels are not known and the whole is within rounding.
    """
    found = one.fidelity
    if found is None:
        return None
    is_one_bias = one.is_bias and found.excess_error is not None
    for each in found.worst or (found.as_channel(),) * is_one_bias:
        if _is_off(one, each):
            return each
    return None


def _is_off(one: WeightAudit, each: ChannelFidelity) -> bool:
    """Return whether a channel is off by more than rounding."""
    if one.fidelity is not None and one.fidelity.excess_error is None:
        # of floats: rounding to them multiplies no channel
        return each.is_multiplied and abs(each.ratio - 1) > 2 * _OWN_ROUNDING.get(one.storage, 1.0)
    own = _find_own(one)
    if one.is_bias:
        return each.sqnr_db < EXACT and _is_beyond(
            each.sqnr_db, each.max_step_error, MOST_STEPS, own
        )
    return _is_beyond(each.sqnr_db, each.excess_error, 2 * CHANGED_EXCESS, own)


def _find_own(one: WeightAudit) -> float:
    """Return which share of a number the rounding of the twin's own floats is at most."""
    return _OWN_ROUNDING.get(one.reference_dtype, 0.0)


def _is_beyond(sqnr_db: float, steps: float | None, most: float, own: float) -> bool:
    """Return whether an error is beyond so many steps, and what floats leave of a number beside."""
    return steps is not None and bool(find_beyond(sqnr_db, steps, most) > own)
