"""Which files are read whole, and which parts of others are scanned, set for a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from netloupe.explorer.readers import source
from netloupe.explorer.readers.protobuf import parts


@contextmanager
def threshold(size: int, small: int = parts.SMALL_MESSAGE_BYTES) -> Iterator[None]:
    """Scan files of more bytes than ``size``, and in them messages of more than ``small``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "WHOLE_BYTES", size)
        patch.setattr(parts, "WHOLE_BYTES", size)
        patch.setattr(parts, "SMALL_MESSAGE_BYTES", small)
        yield
