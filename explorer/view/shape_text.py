"""What folded shape arithmetic gives, in a few characters."""

from __future__ import annotations

from netloupe.explorer.model import Value


def describe_shape_value(value: Value) -> str:
    """Return the value of shape arithmetic as it stands on a consumer's face."""
    return f"{value.type or 'computed'}"
