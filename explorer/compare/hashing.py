"""Hashes of 64 bits: equal things have equal ones, for many things at once in arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

Hashes = np.ndarray[Any, np.dtype[np.uint64]]

_MASK = 2**64 - 1
#: what stands for nothing, and equals nothing
NOTHING = np.uint64(0)
# increment and factors of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
# Generators, 2014)
_STEP, _FIRST, _SECOND = (
    np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


def hash_thing(thing: Hashable) -> int:
    """Return the hash of one thing; never 0."""
    return hash(thing) & _MASK or 1


def hash_each(things: Iterable[Hashable | None]) -> Hashes:
    """Return the hashes of things; 0 for each None."""
    return np.array([0 if thing is None else hash_thing(thing) for thing in things], np.uint64)


def mix(hashes: Hashes) -> Hashes:
    """Return hashes of hashes, in which each bit depends on all."""
    mixed = hashes + _STEP
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return mixed ^ (mixed >> np.uint64(31))


def join_hashes(*parts: Hashes) -> Hashes:
    """Return a hash of several, their order included; 0 where any is 0."""
    joined = mix(parts[0])
    for part in parts[1:]:
        joined = mix(joined ^ (part * _STEP))
    joined[np.any([part == NOTHING for part in parts], axis=0)] = NOTHING
    return joined
