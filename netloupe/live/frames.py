"""What travels between a page and the server: JSON, and with it bytes.

The page's side is ``widgets/frontend/src/live/frames.ts``. What has no bytes is a text. What has
some is binary: how many bytes the JSON takes, as an integer of 4 bytes, little-endian; the JSON,
whose ``buffers`` says how long each buffer is; and the buffers, each behind zeros at a multiple
of 8 bytes.

============ ================================================================ ===================
from page    content                                                          answer
============ ================================================================ ===================
``request``  what a canvas asks: ``explorer/session/messages.py``             ``message``
``traits``   by name what the user has set                                    none
``follow``   a path that is to be shown and selected                          ``message``
``link``     what an address says: ``explorer/session/page_link.py``; an ``id``    ``answer``
``review``   what a review tab asks: ``explorer/session/review_messages.py``  ``review``
``describe`` a path, "" for the model, or several paths; with an ``id``       ``answer``
``weight``   the number that a description gives a weight; with an ``id``     ``answer``
============ ================================================================ ===================

An ``answer`` has the ``id``, and ``html``, a buffer, an ``error``, or nothing to a ``link``. The
server sends ``traits`` that the session has set, ``seen`` where an address has to keep something
else, ``renew`` where more is known of what is described, and ``review`` where more is known of what
there is to review. Until the model is read it sends ``step``, a ``message`` and which ``share`` of
it is done, 0 to 1, or null; and ``failed``, a sentence, where there is nothing to show. Behind a
Jupyter server ``ended`` says why no more comes; the picture stays.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

_LENGTH = struct.Struct("<I")
_ALIGNMENT = 8


def write_frame(content: Mapping[str, Any], buffers: Sequence[bytes] = ()) -> str | bytes:
    """Return a frame; half a surrogate pair in a name is written as JSON escapes it."""
    if not buffers:
        return json.dumps(content, separators=(",", ":"))
    told = {**content, "buffers": [len(buffer) for buffer in buffers]}
    header = json.dumps(told, separators=(",", ":")).encode()
    parts = [_LENGTH.pack(len(header)), header]
    at = sum(map(len, parts))
    for buffer in buffers:
        padding = -at % _ALIGNMENT
        parts += [b"\0" * padding, buffer]
        at += padding + len(buffer)
    return b"".join(parts)
