"""Findings that are known already: the JSON of an earlier check."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from netloupe.explorer.errors import CheckError, advise_in_shell

from .folding import Finding

_LARGEST = 2**28


@dataclass(frozen=True, slots=True)
class Baseline:
    """What earlier checks have found, by model.

    Parameters
    ----------
    entries
        For each model what it was called, and the counts of its findings by fingerprint.
    """

    entries: tuple[tuple[str, Mapping[str, int]], ...] = ()

    def find_known(self, source: str, *, is_alone: bool = True) -> Mapping[str, int]:
        """Return the counts of known findings of one model.

        A baseline of one model is for whatever is checked alone, as for a new version of another
        name. Else that of the same name counts, whatever folders one of the two names has before
        the other: a model that is new among them has nothing known.

        Parameters
        ----------
        source
            What the model is called.
        is_alone
            Whether no other model is checked with it.
        """
        if is_alone and len(self.entries) == 1:
            return self.entries[0][1]
        parts = _split(source)
        shared = {}
        for name, counts in self.entries:
            others = _split(name)
            length = min(len(parts), len(others))
            if parts[-length:] == others[-length:]:
                is_whole = len(parts) == len(others)
                shared[is_whole, length, name] = counts
        best = max(shared, default=None)
        return {} if best is None else shared[best]


def _split(name: str) -> list[str]:
    return [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")] or [""]


def read_baseline(file: str | PathLike[str]) -> Baseline:
    """Return what an earlier check has found.

    Parameters
    ----------
    file
        What ``netloupe check --json`` has printed, for one model or for several.

    Raises
    ------
    CheckError
        Where it cannot be read or is something else.
    """
    path = Path(file)
    try:
        if not path.is_file():
            raise FileNotFoundError("there is no such file")
        if path.stat().st_size > _LARGEST:
            raise ValueError("it is too large for a list of findings")
        text = path.read_text("utf-8")
        return Baseline(tuple(_read_entries(text)))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        refused = CheckError(
            f"the baseline {str(file)[:200]!r} cannot be used: {reason}. "
            "Give a file with the JSON that a check has written."
        )
        advise_in_shell(refused, "Make one with `netloupe check MODEL --json > FILE`.")
        raise refused from error


def _read_entries(text: str) -> Iterator[tuple[str, dict[str, int]]]:
    try:
        told = [json.loads(text)]
    except json.JSONDecodeError as whole:
        lines = text.splitlines()
        if len(lines) < 2:
            raise
        try:
            told = [json.loads(line) for line in lines if line.strip()]
        except json.JSONDecodeError:
            raise whole from None
    for place, entry in enumerate(told, 1):
        counts: dict[str, int] = {}
        for fingerprint, count in _read_entry(entry, f"entry {place}"):
            counts[fingerprint] = max(count, counts.get(fingerprint, 0))
        source = entry.get("source")
        yield source if isinstance(source, str) else "", counts


def _read_entry(entry: Any, place: str) -> Iterable[tuple[str, int]]:
    found = entry.get("findings") if isinstance(entry, Mapping) else None
    if not isinstance(found, list):
        raise ValueError(f"{place} has no list of findings")
    for number, finding in enumerate(found, 1):
        fingerprint = finding.get("fingerprint") if isinstance(finding, Mapping) else None
        count = finding.get("count", 1) if isinstance(finding, Mapping) else None
        if not isinstance(fingerprint, str) or not isinstance(count, int):
            raise ValueError(f"finding {number} of {place} has no fingerprint and count")
        yield fingerprint, count


def suppress_known(found: Iterable[Finding], known: Mapping[str, int]) -> list[Finding]:
    """Return findings, those marked that are known at as many places or more."""
    return [
        dataclasses.replace(finding, suppressed=finding.count <= known.get(finding.fingerprint, 0))
        for finding in found
    ]
