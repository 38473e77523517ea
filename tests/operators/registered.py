"""Operators that a test registers, and forgets again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from netloupe.explorer.operators import plugins, registry


@contextmanager
def only_shipped() -> Iterator[None]:
    """Forget afterwards what is registered meanwhile, and what there is already for so long.

    What installed packages register is not asked for.
    """
    before = {**registry.REGISTERED}
    registry.REGISTERED.clear()
    registry.clear_kept()
    plugins.PLUGINS.forget(is_done=True)
    try:
        yield
    finally:
        registry.REGISTERED.clear()
        registry.REGISTERED.update(before)
        registry.clear_kept()
        plugins.PLUGINS.forget()


def write_toml(entries: dict[str, dict[str, dict[str, Any]]]) -> str:
    """Return entries as TOML: texts, numbers and tables one level deep."""
    lines = []
    for domain, operators in entries.items():
        for op_type, entry in operators.items():
            lines.append(f'["{domain}".{op_type}]')
            lines += [f"{name} = {_write(value)}" for name, value in entry.items()]
    return "\n".join(lines) + "\n"


def _write(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {_write(held)}' for key, held in value.items())}}}"
    return f'"{value}"' if isinstance(value, str) else str(value)
