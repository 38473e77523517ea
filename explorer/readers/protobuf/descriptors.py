"""What versions of the protobuf runtime tell of fields in different ways."""

from __future__ import annotations

from typing import Any


def is_repeated(field: Any) -> bool:
    """Return whether a field may be given many times, by its descriptor."""
    repeated = getattr(field, "is_repeated", None)  # the label is deprecated where this is
    return field.label == field.LABEL_REPEATED if repeated is None else bool(repeated)
