"""Names of modules that only say that there is something in them: ``layers``, ``main``."""

from __future__ import annotations

#: nouns for what holds other things, which say something with a word before them alone
CONTAINERS = frozenset(
    {"block", "layer", "level", "model", "module", "net", "network", "stage", "unit"}
)
#: words that tell which of several something is, and nothing of it; and containers of containers
ORDER = frozenset(
    {"base", "final", "first", "last", "list", "main", "next", "other", "sequential", "stack"}
    | {"step", "container", "new", "sub"}
)


def is_container(name: str) -> bool:
    """Return whether a name says no more than that there is something in a module: ``layers``."""
    if not name or name != name.lower():
        return False
    return name in ORDER or name in CONTAINERS or name.removesuffix("s") in CONTAINERS
