"""Linear layers that give the gates of a recurrent cell which is written out."""

from __future__ import annotations

from .operations import PARTING, Operations

#: a cell has three gates at least
_LEAST_PARTS = 3
_MOST_SEEN = 32


def gives_gates(operations: Operations, number: int) -> bool:
    """Return whether what an operation gives is taken apart into the gates of a cell.

    These are sums of what comes in and what was kept, of which some are activated by σ, and what
    is new by a tanh (S. Hochreiter and J. Schmidhuber, 1997; K. Cho and others, 2014). Such a layer
    is part of the cell, and no last one of an MLP.
    """
    parts: list[int] = []
    count = 0
    pending = [number]
    for _ in range(_MOST_SEEN):
        if not pending:
            break
        for user in operations.users[pending.pop()]:
            if user < 0:
                return False
            node = operations.nodes[user]
            if node.operator.has(*PARTING):
                parts.append(user)
                count += sum(value is not None for value in node.outputs)
            elif operations.kinds[user] == "Add" and not parts:
                pending.append(user)
            else:
                return False
    if count < _LEAST_PARTS:
        return False
    behind = {user for part in parts for user in operations.users[part] if user >= 0}
    sums = {user for user in behind if operations.kinds[user] == "Add"}
    behind |= {user for one in sums for user in operations.users[one] if user >= 0}
    return {"Sigmoid", "Tanh"} <= {operations.kinds[user] for user in behind}
