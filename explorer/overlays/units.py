"""Units: what a heading such as ``latency_ms`` says of its numbers, and how these are written."""

from __future__ import annotations

import re
from typing import NamedTuple

from netloupe.explorer.notation import write_bytes

from .column import Aggregation

_UNITS = {
    "s": "s", "sec": "s", "seconds": "s",
    "ms": "ms", "msec": "ms", "milliseconds": "ms",
    "us": "µs", "µs": "µs", "μs": "µs", "usec": "µs", "microseconds": "µs",
    "ns": "ns", "nsec": "ns", "nanoseconds": "ns",
    "b": "B", "byte": "B", "bytes": "B",
    "db": "dB", "%": "%", "percent": "%",
    "macs": "MACs", "flops": "FLOPs",
}  # fmt: skip
#: units, and words in headings, of what adds up over the nodes of a group
_ADDED_UNITS = frozenset({"s", "ms", "µs", "ns", "B", "MACs", "FLOPs"})
_ADDED_WORDS = re.compile(
    r"(?<![a-z])(time|latency|duration|macs?|flops?|params?|parameters|bytes|memory|count)"
    r"(?![a-z])",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(r"^(.*?)\s*[(\[]\s*([^()\[\]]{1,16}?)\s*[)\]]\s*$")
_BEHIND = re.compile(r"^(.+)[_ \-.]([A-Za-zµμ%]{1,12})$")
_LONGEST = 200


class Meaning(NamedTuple):
    """What the heading of a column says: its name, the unit, and how groups add up."""

    name: str
    unit: str
    aggregation: Aggregation


def guess_meaning(heading: str) -> Meaning:
    """Return what the heading of a column says of its numbers.

    A unit is taken in brackets or behind the last underscore, as in ``latency (ms)`` and
    ``time_us``. Times, MACs, FLOPs, bytes and parameters add up; of anything else a group has the
    largest, which is so whatever the numbers are.
    """
    heading = heading.strip()[:_LONGEST]
    name, unit = heading, ""
    for pattern in (_IN_BRACKETS, _BEHIND):
        found = pattern.match(heading)
        if found and found[2].lower() in _UNITS and found[1].strip():
            name, unit = found[1].strip(), _UNITS[found[2].lower()]
            break
        if found and pattern is _IN_BRACKETS and found[1].strip():
            name, unit = found[1].strip(), found[2]
            break
    if not unit and heading.lower() in ("macs", "flops", "bytes"):
        unit = _UNITS[heading.lower()]
    adds_up = unit in _ADDED_UNITS or _ADDED_WORDS.search(heading) is not None
    return Meaning(name, unit, "sum" if adds_up else "max")


_TIMES = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
_PREFIXES = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
#: units that are written with prefixes, as counts are
_COUNTED = frozenset({"", "MACs", "FLOPs", "parameters"})


def write_amount_of(number: float, unit: str) -> str:
    """Return a number with its unit, three digits: ``1.23 ms``, ``45.2 MB``, ``4.09 G MACs``."""
    if number != number:
        return "no number"
    if unit in _TIMES:
        return _write_time(number, unit)
    if unit == "B" and number >= 0 and number < 1e21:
        return write_bytes(round(number))
    if unit in _COUNTED:
        return f"{_write_count(number)} {unit}".strip()
    return f"{write_three(number)} {unit}"


def _write_time(number: float, unit: str) -> str:
    seconds = abs(number) * _TIMES[unit]
    for name in ("s", "ms", "µs"):
        if seconds >= _TIMES[name] * 0.9995:
            break
    else:
        name = "ns" if seconds else unit
    return f"{write_three(number * (_TIMES[unit] / _TIMES[name]))} {name}"


def _write_count(number: float) -> str:
    size = abs(number)
    for factor, prefix in _PREFIXES:
        if size >= factor * 0.9995:
            if factor == 1e3 and size < 9_999.5 and number == int(number):
                return f"{int(number):,}".replace("-", "−")
            return f"{write_three(number / factor)} {prefix}"
    return write_three(number)


def write_three(number: float) -> str:
    """Return a number with three significant digits: ``1.23``, ``0``, ``−4.5e-9``."""
    if number == int(number) and abs(number) < 1000:
        return f"{int(number)}".replace("-", "−")
    text = f"{number:.3g}"
    if "e" in text:
        digits, exponent = text.split("e")
        power = int(exponent)
        text = f"{number:,.0f}" if 0 < power < 6 else f"{digits}e{power}"
    return "−" + text[1:] if text.startswith("-") else text


def write_part(share: float) -> str:
    """Return a share in per cent: ``63 %``, ``4.2 %``, ``< 0.1 %``."""
    percent = 100 * share
    if 0 < percent < 0.1:
        return "< 0.1 %"
    if 99.9 < percent < 100:  # not all of it
        return "> 99.9 %"
    return f"{percent:.1f} %" if percent < 9.95 and percent != int(percent) else f"{percent:.0f} %"
