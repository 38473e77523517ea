"""Values as JSON, as pages and scenes hold them."""

from __future__ import annotations

import json
from typing import Any


def write_json(value: Any) -> bytes:
    """Return a value as JSON in UTF-8, without white space."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # half a surrogate pair, which only an escape can write
        return json.dumps(value, separators=(",", ":")).encode()
