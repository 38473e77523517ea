"""Operators that were registered from outside, and what is kept only as long as they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

#: by domain and op_type
REGISTERED: dict[str, dict[str, Mapping[str, Any]]] = {}

_CLEARING: list[Callable[[], None]] = []


def kept_with_catalogue(
    maxsize: int,
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Return a decorator that keeps results until operators are registered."""

    def decorate(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        kept = lru_cache(maxsize=maxsize)(function)
        _CLEARING.append(kept.cache_clear)
        return kept  # type: ignore[return-value]

    return decorate


def set_entries(domain: str, entries: Mapping[str, Mapping[str, Any]]) -> None:
    """Let entries hold for a domain, beside those of other operators that hold already."""
    REGISTERED.setdefault(domain, {}).update(entries)
    clear_kept()


def list_registered() -> dict[str, dict[str, Mapping[str, Any]]]:
    """Return the entries that were registered, by domain and op_type."""
    return {domain: {**entries} for domain, entries in REGISTERED.items()}


def remove_domain(domain: str) -> None:
    """Forget what was registered for a domain."""
    REGISTERED.pop(domain, None)
    clear_kept()


def clear_kept() -> None:
    """Forget everything that was found by the entries."""
    for clear in _CLEARING:
        clear()
