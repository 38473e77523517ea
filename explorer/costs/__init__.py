"""How much there is, and what follows from types and shapes without computing.

A model, a graph or nodes come in; totals (nodes, parameters, bytes), costs (multiplications,
activations) or the type that a file leaves out go out. Shapes are followed by rules of our own, as
polynomials of the symbols that a file gives no size. Nothing here knows groups or pictures.
"""

from typing import TYPE_CHECKING

from netloupe.explorer.later import import_later

if TYPE_CHECKING:
    from .costs import Costs, Unknown, count_costs
    from .inferred_types import infer_type
    from .position_constants import find_pairs_of_factors
    from .symbols import Bindings
    from .totals import (
        Totals,
        count_bytes,
        count_elements,
        count_graphs,
        count_model,
        count_nodes,
        count_stored_bytes,
    )
    from .wording import (
        describe_costs,
        describe_unknown_costs,
        explain_costs,
        list_apart,
        write_activations,
        write_amount,
        write_macs,
        write_replaced,
        write_share,
        write_ties,
    )
else:
    __getattr__ = import_later(
        __name__,
        {
            "costs": ["Costs", "Unknown", "count_costs"],
            "inferred_types": ["infer_type"],
            "position_constants": ["find_pairs_of_factors"],
            "symbols": ["Bindings"],
            "totals": [
                "Totals",
                "count_bytes",
                "count_elements",
                "count_graphs",
                "count_model",
                "count_nodes",
                "count_stored_bytes",
            ],
            "wording": [
                "describe_costs",
                "describe_unknown_costs",
                "explain_costs",
                "list_apart",
                "write_activations",
                "write_amount",
                "write_macs",
                "write_replaced",
                "write_share",
                "write_ties",
            ],
        },
    )

__all__ = [
    "Bindings",
    "Costs",
    "Totals",
    "Unknown",
    "count_bytes",
    "count_costs",
    "count_elements",
    "count_graphs",
    "count_model",
    "count_nodes",
    "count_stored_bytes",
    "describe_costs",
    "describe_unknown_costs",
    "explain_costs",
    "find_pairs_of_factors",
    "infer_type",
    "list_apart",
    "write_activations",
    "write_amount",
    "write_macs",
    "write_replaced",
    "write_share",
    "write_ties",
]
