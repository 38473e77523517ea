"""Which elements of two models are the same: pairs of nodes, and how sure they are.

Two models go in, a :class:`Matching` comes out. Names may have changed, nodes may be in another
order, folded, fused, quantized, left out or inserted. What differs between the elements of a pair
is found elsewhere; nothing here knows pictures or texts.
"""

from .matching import Matching, Pair, match_models

__all__ = ["Matching", "Pair", "match_models"]
