"""How far apart kernels of convolutions in a row read, in words."""

from __future__ import annotations

from collections.abc import Sequence

#: so many dilations that take turns are told one by one
_MOST_TOLD = 3


def write_dilations(dilations: Sequence[int]) -> str:
    """Return from where to where dilations go, and how often; "" where none is more than 1.

    As in a network of dilated causal convolutions (A. van den Oord and others, WaveNet, 2016,
    section 2.1): ``dilation 1 … 512 in 3 cycles``; of few that take turns ``dilation 1, 3, 5 in
    turn``.
    """
    if max(dilations, default=1) == 1:
        return ""
    if len({*dilations}) == 1:
        return f"dilation {dilations[0]:,}"
    cycle = _find_cycle(dilations)
    if len(cycle) < len(dilations) and len(cycle) <= _MOST_TOLD:
        return f"dilation {', '.join(f'{one:,}' for one in cycle)} in turn"
    low, high = min(cycle), max(cycle)
    if {*dilations} == {low, high} and [*dilations] == sorted(dilations):
        return f"dilation {low:,}, then {high:,}"
    span = f"dilation {low:,} … {high:,}"
    if len(cycle) < len(dilations) and [*cycle] == sorted(cycle):
        return f"{span} in {len(dilations) // len(cycle):,} cycles"
    return span


def _find_cycle(numbers: Sequence[int]) -> Sequence[int]:
    """Return the shortest row of which repetitions are all of some numbers: else all of them."""
    first = numbers[0]
    for length in range(2, len(numbers) // 2 + 1):
        if len(numbers) % length or numbers[length] != first:
            continue
        if all(one == two for one, two in zip(numbers, numbers[length:], strict=False)):
            return numbers[:length]
    return numbers
