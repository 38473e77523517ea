"""Matrices that are picked of a table to multiply by, as those of the experts of each token."""

from __future__ import annotations

from netloupe.explorer.model import Node

from .operations import ARRANGING, list_data
from .weight_sizes import read_dims

#: matrices, and their rows and columns
_RANK = 3
_FACTORING = frozenset({"Einsum", "Gemm", "MatMul"})
_MOST_ARRANGED = 3
_MOST_USED = 8


def picks_factors(node: Node) -> bool:
    """Return whether a node picks matrices of a stored table, and these are factors of products.

    So each token is multiplied by the weights of the experts that it is sent to (D. Dai and others,
    DeepSeekMoE, 2024, section 2); a table has rows and columns for each.
    """
    table, *others = list_data(node) or (None,)
    if not node.operator.has("gathers") or not others or len(read_dims(table)) != _RANK:
        return False
    values = [node.output(0)]
    for _ in range(_MOST_ARRANGED):
        users = [user for value in values if value is not None for user in value.users[:_MOST_USED]]
        if not any(user.operator.has(*ARRANGING) for user in users):
            break
        values = [user.output(0) for user in users if user.operator.has(*ARRANGING)]
    return bool(users) and all(user.operator.form in _FACTORING for user in users)
