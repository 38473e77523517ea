"""Small files that stand for large ones which are kept elsewhere, and say where.

Git LFS checks out such a file where the large one was not fetched (its specification, docs/spec.md:
below 1,024 bytes, beginning with the line ``version https://git-lfs.github.com/spec/v1``), and so
does git-annex for unlocked files (its page "internals": a line that begins with
``/annex/objects/``).
"""

from __future__ import annotations

import re
from typing import NamedTuple

#: pointers are shorter
MOST_POINTER_BYTES = 1_024
#: how a pointer of Git LFS begins
LFS_MAGIC = b"version https://git-lfs"
_ANNEX_MAGIC = b"/annex/objects/"
_LFS_OID = rb"version https://git-lfs[^\n]*\n(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\n"


class Pointer(NamedTuple):
    """What a file is, and how what it stands for is fetched."""

    what: str
    advice: str


LFS_POINTER = Pointer("a Git LFS pointer", "Fetch the file with `git lfs pull`")
_ANNEX_POINTER = Pointer("a git-annex pointer", "Fetch the file with `git annex get`")


def find_pointer(content: bytes) -> Pointer | None:
    """Return what kind of pointer a file is, by its first 1,024 bytes; None for any other file."""
    if len(content) >= MOST_POINTER_BYTES:
        return None
    if content.startswith(LFS_MAGIC):
        return LFS_POINTER
    return _ANNEX_POINTER if content.startswith(_ANNEX_MAGIC) else None


def find_lfs_oid(content: bytes) -> str | None:
    """Return the SHA-256 of the file that a pointer of Git LFS stands for; None for other files."""
    found = re.match(_LFS_OID, content) if len(content) < MOST_POINTER_BYTES else None
    return None if found is None else found[1].decode()
