"""Profiles of ONNX Runtime: the time of each node, over the runs in the file.

The file is a JSON array of events in Chrome's trace format, one a line, as
``onnxruntime/core/common/profiler.cc`` writes them; times are in microseconds. Names are written
without escaping, and the array stays open where the process has died: what is no JSON is read event
by event.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from netloupe.explorer.errors import OverlayError
from netloupe.explorer.notation import write_count
from netloupe.explorer.operators import find_operator, list_known_operators
from netloupe.explorer.overlays.column import Column, RunTimes
from netloupe.explorer.overlays.units import write_amount_of
from netloupe.explorer.progress import step

from .ort_names import list_candidates, say_why_unknown
from .text import LONGEST_WORD, take_number

#: the profiler stops after so many events, without a word
MOST_EVENTS = 1_000_000
_HEAD = 4_096
#: so many runs at one time are looked at
_MOST_BESIDE = 64
#: microseconds
_LATEST = 2.0**62
_EVENT = re.compile(r'^\s*\[?\s*\{\s*"cat"\s*:')
_KERNEL_TIME = "_kernel_time"
_NUMBERS = re.compile(
    r'"tid"\s*:\s*(?P<tid>\d+)\s*,\s*"dur"\s*:\s*(?P<dur>\d+)\s*,\s*"ts"\s*:\s*(?P<ts>\d+)'
)
_CATEGORY = re.compile(r'"cat"\s*:\s*"(\w+)"')
_NAME = re.compile(r'"name"\s*:\s*"')
_ARGS = re.compile(r'"\s*,\s*"args"\s*:')
_ARG = re.compile(r'"(op_name|provider|node_index)"\s*:\s*"([^"]*)"')

REMEDY = (
    "Names are those of the optimized graph: save it with SessionOptions.optimized_model_filepath "
    "and open that, or profile with graph optimization off."
)


class ProfileEvent(NamedTuple):
    """One event of a profile.

    Parameters
    ----------
    category
        ``Session``, ``Node``, ``Kernel`` or ``Api``.
    name
        As it is written.
    thread
        On which it ran.
    start, duration
        In microseconds.
    operator, provider, number
        Of a node: its operator, who ran it, and its index in the optimized graph; "" and -1 where
        not stated.
    """

    category: str
    name: str
    thread: int
    start: float
    duration: float
    operator: str = ""
    provider: str = ""
    number: int = -1

    @property
    def end(self) -> float:
        """When it was over."""
        return self.start + self.duration


@dataclass
class _Events:
    """The events of a file, and what had to be done to read them."""

    nodes: list[ProfileEvent] = field(default_factory=list)
    runs: list[ProfileEvent] = field(default_factory=list)
    count: int = 0
    repaired: int = 0
    unread: int = 0
    apart: int = 0
    is_cut: bool = False


def is_ort_profile(text: str) -> bool:
    """Return whether a text begins as a profile does."""
    return _EVENT.match(text[:_HEAD]) is not None and '"ph"' in text[:_HEAD]


def read_ort_profile(text: str, name: str) -> list[Column]:
    """Return the times of a profile as a column, in microseconds.

    Where the file has several runs the first one, which warms up, is left out; of each node the
    number is the median over the others of its time in one run, all of its calls together.

    Raises
    ------
    OverlayError
        Where no node has a time.
    """
    events = _read_events(text)
    times = [event for event in events.nodes if event.name.endswith(_KERNEL_TIME)]
    if not times:
        raise OverlayError(
            f"{name}: is a profile of ONNX Runtime without the time of any node. Run the session "
            "before end_profiling()."
        )
    notes = _say_reading(events)
    runs, first = _split_runs(times, events.runs)
    unfinished = len(times) - len(first) - sum(map(len, runs))
    if unfinished:
        notes.append(f"{write_count(unfinished, 'time')} of a run that did not end are left out")
    if first:
        notes.append(f"the first of {len(runs) + 1:,} runs, which warms up, is left out")
    if len(runs) > 1:
        notes.append(f"median of {len(runs):,} runs")
    nested = _find_nested(times)
    values, spreads, operators, reasons = _measure(runs)
    inside = _list_inside(times, nested)
    whole = _find_whole(events.runs, bool(first))
    notes += _say_gap(values, inside, whole)
    notes.append("profiling costs time itself: without it the model is faster")
    candidates = {
        key: list_candidates(key, index, operators.get(key, ""))
        for key, index in _list_indices(times).items()
    }
    return [
        Column(
            "time",
            values,
            "µs",
            "lower",
            "sum",
            whole=whole,
            runs=spreads,
            candidates=candidates,
            operators=operators,
            nested=inside,
            reasons=reasons,
            notes=tuple(notes),
            remedy=REMEDY,
            source=name,
        )
    ]


# reading


def _read_events(text: str) -> _Events:
    found = _Events()
    stripped = text.rstrip()
    found.is_cut = not stripped.endswith("]")
    for line in text.splitlines():
        one = line.strip().removeprefix("[").strip().removesuffix("]").strip().rstrip(",").strip()
        if not one:
            continue
        if not found.count % 20_000:
            step("reading the profile" if not found.count else "")
        if one.count('"cat"') > 1:  # all in one line
            for told in _split_line(one, found):
                _take(found, told)
            continue
        event = _parse(one)
        if event is None:
            event = _repair(one)
            if event is None:
                found.unread += 1
                continue
            found.repaired += 1
        _take(found, event)
    return found


def _split_line(line: str, found: _Events) -> Iterator[ProfileEvent]:
    """Yield the events of a line that has several, up to the first that is no JSON."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(line):
        try:
            told, at = decoder.raw_decode(line, at)
        except (ValueError, RecursionError):
            found.unread += 1
            return
        event = _make_event(told)
        if event is not None:
            yield event
        while at < len(line) and line[at] in ", \t":
            at += 1


def _parse(line: str) -> ProfileEvent | None:
    try:
        return _make_event(json.loads(line))
    except (ValueError, RecursionError):
        return None


def _make_event(told: Any) -> ProfileEvent | None:
    if not isinstance(told, Mapping):
        return None
    name, start, duration = told.get("name"), told.get("ts"), told.get("dur")
    if not isinstance(name, str):
        return None
    begin, length = _read_time(start), _read_time(duration)
    if begin is None or length is None:
        return None
    args = told.get("args")
    given = args if isinstance(args, Mapping) else {}
    index = given.get("node_index", given.get("graph_index", ""))
    thread = told.get("tid")
    return ProfileEvent(
        str(told.get("cat", "")),
        name[:LONGEST_WORD],
        thread if isinstance(thread, int) else 0,
        begin,
        length,
        _word(given.get("op_name")),
        _word(given.get("provider")),
        int(index) if isinstance(index, str) and index.isdecimal() and len(index) < 10 else -1,
    )


def _read_time(value: Any) -> float | None:
    number = take_number(value)
    return number if number is not None and 0 <= number < _LATEST else None


def _word(value: Any) -> str:
    return value[:200] if isinstance(value, str) else ""


def _repair(line: str) -> ProfileEvent | None:
    """Return the event of a line that is no JSON for what stands unescaped in its name."""
    category, numbers, begin = _CATEGORY.search(line), _NUMBERS.search(line), _NAME.search(line)
    ends = [*_ARGS.finditer(line, begin.end())] if begin else []
    if category is None or numbers is None or begin is None or not ends:
        return None
    args = dict(_ARG.findall(line, ends[-1].end()))
    index = args.get("node_index", "")
    return ProfileEvent(
        category[1],
        line[begin.end() : ends[-1].start()][:LONGEST_WORD],
        int(numbers["tid"][:18]),
        float(numbers["ts"][:18]),
        float(numbers["dur"][:18]),
        args.get("op_name", "")[:200],
        args.get("provider", "")[:200],
        int(index) if index.isdecimal() and len(index) < 10 else -1,
    )


def _take(found: _Events, event: ProfileEvent) -> None:
    found.count += 1
    if event.category == "Node":
        found.nodes.append(event)
    elif event.category == "Session" and event.name == "model_run":
        found.runs.append(event)
    elif event.category in ("Kernel", "Api"):
        found.apart += 1


def _say_reading(events: _Events) -> list[str]:
    notes = []
    if events.is_cut:
        notes.append(
            f"the file breaks off after {write_count(events.count, 'event')}: the last run may not "
            "be whole"
        )
    if events.count >= MOST_EVENTS:
        notes.append(
            f"the profiler stops silently at {MOST_EVENTS:,} events: later runs are missing"
        )
    if events.repaired:
        notes.append(f"{write_count(events.repaired, 'name')} with quotes or backslashes repaired")
    if events.unread:
        notes.append(f"{write_count(events.unread, 'line')} could not be read")
    if events.apart:
        notes.append(
            f"{write_count(events.apart, 'event')} of kernels run beside the nodes and are not "
            "added"
        )
    return notes


# runs


def _split_runs(
    times: Sequence[ProfileEvent], runs: Sequence[ProfileEvent]
) -> tuple[list[list[ProfileEvent]], list[ProfileEvent]]:
    """Return the times by run, without the first, and those of the first; one run alone counts."""
    if not runs:
        return [[*times]], []
    ordered = sorted(runs, key=lambda run: run.start)
    starts = [run.start for run in ordered]
    found: list[list[ProfileEvent]] = [[] for _ in ordered]
    for event in times:
        place = bisect_right(starts, event.start) - 1
        around = [
            number
            for number in range(place, max(place - _MOST_BESIDE, -1), -1)
            if ordered[number].end >= event.end
        ]
        # of runs at one time that on its own thread; what is in none is of one that never ended
        own = [number for number in around if ordered[number].thread == event.thread]
        for number in (own or around)[:1]:
            found[number].append(event)
    return (found, []) if len(found) == 1 else (found[1:], found[0])


def _find_whole(runs: Sequence[ProfileEvent], is_first_left_out: bool) -> float | None:
    """Return the median time of a run; None where none is in the file."""
    ordered = sorted(runs, key=lambda run: run.start)[1 if is_first_left_out else 0 :]
    return float(np.median([run.duration for run in ordered])) if ordered else None


def _key(event: ProfileEvent) -> str:
    return event.name.removesuffix(_KERNEL_TIME)


def _measure(
    runs: Sequence[Sequence[ProfileEvent]],
) -> tuple[dict[str, float | str], dict[str, RunTimes], dict[str, str], dict[str, str]]:
    """Return by name the median over runs, how runs differ, operators, and why some are unknown."""
    sums: dict[str, list[float]] = {}
    operators: dict[str, str] = {}
    reasons: dict[str, str] = {}
    for number, events in enumerate(runs):
        for event in events:
            key = _key(event)
            times = sums.get(key)
            if times is None:
                times = sums[key] = [0.0] * len(runs)
                operators[key] = event.operator
                reason = say_why_unknown(key, event.operator, event.provider)
                if reason:
                    reasons[key] = reason
            times[number] += event.duration
    values: dict[str, float | str] = {}
    spreads: dict[str, RunTimes] = {}
    for key, times in sums.items():
        median, p95 = np.percentile(times, (50, 95)).tolist()
        values[key] = median
        spreads[key] = RunTimes(len(times), median, min(times), p95)
    return values, spreads, operators, reasons


def _list_indices(times: Sequence[ProfileEvent]) -> dict[str, int]:
    found: dict[str, int] = {}
    for event in times:
        found.setdefault(_key(event), event.number)
    return found


# what is inside of something else


def _find_nested(times: Sequence[ProfileEvent]) -> list[bool]:
    """Return of each event whether it is within that of a node that runs graphs."""
    running_graphs = _list_running_graphs()
    nested = [False] * len(times)
    by_thread: dict[int, list[int]] = {}
    for number, event in enumerate(times):
        by_thread.setdefault(event.thread, []).append(number)
    for numbers in by_thread.values():
        numbers.sort(key=lambda n: (times[n].start, -times[n].duration))
        around: list[ProfileEvent] = []
        for number in numbers:
            event = times[number]
            while around and around[-1].end <= event.start:
                around.pop()
            nested[number] = bool(around) and event.end <= around[-1].end
            if event.operator in running_graphs:
                around.append(event)
    return nested


def _list_running_graphs() -> frozenset[str]:
    """Return the operators whose nodes run graphs; a profile tells operators by name alone."""
    return frozenset(
        op_type
        for domain in ("", "com.microsoft")
        for op_type in list_known_operators(domain)
        if find_operator(domain, op_type).has("control_flow")
    )


def _list_inside(times: Sequence[ProfileEvent], nested: Sequence[bool]) -> frozenset[str]:
    """Return the names that are always within others."""
    inside = {_key(event) for event, is_in in zip(times, nested, strict=True) if is_in}
    own = {_key(event) for event, is_in in zip(times, nested, strict=True) if not is_in}
    return frozenset(inside - own)


def _say_gap(
    values: Mapping[str, float | str], inside: frozenset[str], whole: float | None
) -> list[str]:
    """Return how much of a run is between its nodes."""
    if not whole:
        return []
    total = sum(float(value) for key, value in values.items() if key not in inside)
    gap = whole - total
    if gap >= 0:
        run = write_amount_of(whole, "µs")
        return [f"{write_amount_of(gap, 'µs')} of {run} a run is between the nodes"]
    together = write_amount_of(total, "µs")
    return [f"nodes ran beside each other: {together} in {write_amount_of(whole, 'µs')} a run"]
