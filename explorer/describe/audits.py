"""What an audit of a quantized model found, as JSON and as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from netloupe.explorer.audit import (
    FloatIsland,
    PrecisionShare,
    QuantizationAudit,
    StorageShare,
    WeightAudit,
)
from netloupe.explorer.audit.result import NO_TWIN
from netloupe.explorer.audit.verdict import find_changed_channel, is_changed
from netloupe.explorer.checks import SEVERITIES
from netloupe.explorer.notation import (
    join_parts,
    write_bytes,
    write_count,
    write_number,
    write_percent,
)

from .encoding import MOST_ENTRIES, Listing, encode_json
from .file_text import write_line

_SCHEMA = 1
#: so many lines of each kind are shown
_MOST_LINES = 12
_MOST_OPERATORS = 5
_LONGEST = 120
_LONGEST_VERDICT = 2_000
_WIDTH = 100
_MISSING = "-"


def encode_audit(found: QuantizationAudit, *, most: int | None = MOST_ENTRIES) -> dict[str, Any]:
    """Return an audit as JSON can hold it, as ``netloupe audit --json`` prints it.

    Parameters
    ----------
    found
        What an audit found.
    most
        So many entries of each list are written; all of them where None.
    """
    coverage = found.coverage
    told = {
        "schema": _SCHEMA,
        "source": found.source,
        "reference": found.reference or None,
        "verdict": found.verdict,
        "coverage": {
            "integer_share": coverage.integer_share,
            "weight_only_share": coverage.share_of("weight-only"),
            **asdict(coverage),
        },
        "defects": [
            {
                "id": finding.id,
                "name": finding.name,
                "severity": finding.severity,
                "paths": list(finding.paths),
                "message": finding.message,
                "evidence": dict(finding.evidence),
                "remedy": finding.remedy,
                "count": finding.count,
                "fingerprint": finding.fingerprint,
                "suppressed": finding.suppressed,
            }
            for finding in found.defects
        ],
        "islands": _list(found.islands, asdict),
        "tensors": _list(found.weights, encode_weight),
        "unchecked": _list(found.unchecked, asdict),
    }
    return encode_json(told, most=most)


def _list(entries: Sequence[Any], describe: Callable[[Any], Any]) -> Listing:
    return Listing(entries, describe, len(entries))


def encode_weight(one: WeightAudit) -> dict[str, Any]:
    """Return a weight as JSON can hold it; what was measured beside the twin stands beside it."""
    told = asdict(one)
    fidelity = told.pop("fidelity") or {}
    codes = told.pop("codes")
    if codes is not None and one.codes is not None:
        codes["used_span"] = one.codes.used_span
        codes["effective_bits"] = one.codes.effective_bits
        codes["ended"] = one.codes.ended
    return {**told, **fidelity, "codes": codes}


def format_audit(found: QuantizationAudit) -> str:
    """Return an audit as text: the verdict first, then defects before numbers."""
    title = write_line(found.source)
    if found.reference:
        title += f" beside {write_line(found.reference)}"
    lines = [title, *textwrap.wrap(write_line(found.verdict, _LONGEST_VERDICT), _WIDTH)]
    lines += _list_section("Multiplications", _list_precisions(found))
    lines += _list_section("Parameters", map(_write_storage, found.coverage.storage))
    lines += [*_list_defects(found)]
    lines += _list_section(
        "Computed in floats between quantized parts: why integers are not faster",
        map(_write_island, found.islands),
    )
    lines += [*_list_weights(found)]
    lines += _list_section("Not checked", (_write_unchecked(one) for one in found.unchecked))
    return "\n".join(lines)


def _list_section(title: str, told: Iterable[str]) -> Iterator[str]:
    entries = [*told]
    if entries:
        yield ""
        yield title
        for entry in entries[:_MOST_LINES]:
            yield f"  {entry}"
        if len(entries) > _MOST_LINES:
            yield f"  … {len(entries) - _MOST_LINES:,} more; --json lists them"


def _list_precisions(found: QuantizationAudit) -> Iterator[str]:
    yield from map(_write_precision, found.coverage.precisions)
    count = found.coverage.float_results
    if count:
        yield (
            f"{write_count(count, 'node')} of those on integers give floats that nothing quantizes "
            "again"
        )


def _write_precision(share: PrecisionShare) -> str:
    operators = [f"{count:,} {write_line(name, 60)}" for name, count in share.operators.items()]
    told = f"{share.name}: {write_count(share.macs, 'MAC')} at {write_count(share.nodes, 'node')}"
    if share.unknown:
        told += f", those of {share.unknown:,} not known"
    return f"{told} ({join_parts(operators[:_MOST_OPERATORS], len(operators))})"


def _write_storage(share: StorageShare) -> str:
    told = " ".join(part for part in (share.name, share.granularity) if part)
    scales = f" and {write_bytes(share.scale_bytes)} of scales" if share.scale_bytes else ""
    return (
        f"{told}: {share.parameters:,} in {write_count(share.tensors, 'tensor')}, "
        f"{write_bytes(share.bytes)}{scales}"
    )


def _list_defects(found: QuantizationAudit) -> Iterator[str]:
    for severity in SEVERITIES:
        group = [finding for finding in found.defects if finding.severity == severity]
        group = [finding for finding in group if not finding.suppressed]
        yield from _list_section(
            f"{severity.capitalize()}s",
            (
                f"{finding.id} {write_line(finding.paths[0], _LONGEST)}"
                + (f" (and {finding.count - 1:,} alike)" if finding.count > 1 else "")
                + f": {write_line(finding.message, 500)}"
                for finding in group
            ),
        )


def _write_island(island: FloatIsland) -> str:
    operators = [f"{count:,} {write_line(name, 60)}" for name, count in island.operators.items()]
    size = "?" if island.border_bytes is None else write_bytes(island.border_bytes)
    cost = [
        f"{'?' if island.macs is None else f'{island.macs:,}'} MACs",
        f"{size} across {write_count(island.borders, 'border')}",
    ]
    times = f" ({island.count:,} times)" if island.count > 1 else ""
    shown = join_parts(operators[:_MOST_OPERATORS], len(operators))
    return f"{write_line(island.paths[0], _LONGEST)}{times}: {shown}; {', '.join(cost)}"


def _list_weights(found: QuantizationAudit) -> Iterator[str]:
    """Yield a table of the weights that were compared, the least faithful first; else of codes."""
    paired = sorted(found.paired, key=_order_weight)
    if paired:
        yield ""
        yield "Weights beside their floats, the lowest SQNR first (fidelity, not accuracy)"
        header = ("SQNR dB ↑", "ideal dB", "excess ↓", "max step ↓", "clipped ↓", "cosine ↑")
        rows = [_list_fidelity(one) for one in paired[:_MOST_LINES]]
        yield from _write_table((*header, "weight"), rows)
        yield from _count_more(len(paired))
        return
    coded = sorted(
        (one for one in found.weights if one.codes is not None and not one.is_bias),
        key=lambda one: one.codes.used_span if one.codes is not None else 1.0,
    )
    if coded:
        yield ""
        yield "Codes of weights, the least used range first"
        columns = ("range used ↑", "bits used ↑", "entropy ↑", "at ends ↓", "zero")
        rows = [_list_codes(one) for one in coded[:_MOST_LINES]]
        yield from _write_table((*columns, "weight"), rows)
        yield from _count_more(len(coded))


def _count_more(count: int) -> Iterator[str]:
    if count > _MOST_LINES:
        yield f"  … {count - _MOST_LINES:,} more; --json lists them"


def _order_weight(one: WeightAudit) -> tuple[bool, float]:
    return not is_changed(one), one.fidelity.sqnr_db if one.fidelity is not None else 0.0


def _list_fidelity(one: WeightAudit) -> tuple[str, ...]:
    found = one.fidelity
    assert found is not None  # noqa: S101 - only such are listed
    told = f"{write_line(one.path, _LONGEST)}  {_name_kind(one)}"
    if one.state == "rescaled" and one.rescaled_by is not None:
        low, high = one.rescaled_by
        along = "" if one.rescaled_axis is None else f" along axis {one.rescaled_axis}"
        told += f", after factors {write_number(low)} to {write_number(high)}{along}"
    if one.state == "multiplied" and one.rescaled_by is not None:
        told += f", {write_number(one.rescaled_by[0])} times the twin as a whole"
    if one.expected:
        told += f", the numbers of {write_line(one.reference, _LONGEST)}, not those of its name"
    if one.is_turned:
        told += ", transposed against the float model as its operator reads it"
    elif one.order not in ("", "as stored"):
        told += f", {one.order}"
    if is_changed(one):
        worst = find_changed_channel(one) or next(iter(found.worst), None)
        where = ""
        if worst is not None and found.worst and found.channels > 1:
            where = f", channel {worst.channel} the worst"
            if worst.is_multiplied:
                where += f", {write_number(worst.ratio)} times its twin"
        told += f", off by more than rounding{where}"
    return (
        _write(found.sqnr_db, 1),
        _write(found.ideal_sqnr_db, 1),
        _write(found.excess_error, 3),
        _write(found.max_step_error, 3),
        write_percent(found.clipped),
        _write(found.cosine, 6),
        told,
    )


def _list_codes(one: WeightAudit) -> tuple[str, ...]:
    codes = one.codes
    assert codes is not None  # noqa: S101 - only such are listed
    return (
        write_percent(codes.used_span),
        f"{codes.effective_bits:.2f} of {one.bits:g}" if one.bits else _MISSING,
        f"{codes.entropy:.2f}",
        write_percent(codes.ended),
        write_percent(codes.zeros / codes.size if codes.size else 0.0),
        f"{write_line(one.path, _LONGEST)}  {_name_kind(one)}",
    )


def _name_kind(one: WeightAudit) -> str:
    size = f" of {one.block_size}" if one.block_size else ""
    return f"{one.storage} {one.granularity}{size}".strip()


def _write(number: float | None, digits: int) -> str:
    return _MISSING if number is None else f"{number:.{digits}f}"


def _write_table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield lines of columns; numbers to the right, the last column to the left."""
    widths = [max(len(row[place]) for row in (header, *rows)) for place in range(len(header) - 1)]
    for row in (header, *rows):
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=False)]
        yield f"  {'  '.join(cells)}  {row[-1]}"


def _write_unchecked(one: Any) -> str:
    times = f" ({one.count:,})" if one.count > 1 else ""
    option = " (--float)" if one.reason == NO_TWIN else ""
    return f"{write_line(one.what, 500)}{times}: {write_line(one.reason, 500)}{option}"
