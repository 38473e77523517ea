"""Which elements of two models are the same, and what differs between those.

Two models go in; a :class:`Matching` says which nodes are pairs and how sure that is, a
:class:`Diff` what is not the same in them. Names may have changed, nodes may be in another order,
folded, fused, quantized, left out or inserted. Nothing here knows pictures or texts.
"""

from .by_hand import split_pair
from .changed_elements import NodeDifference, TensorDifference
from .changes import IGNORABLE, Change
from .comparing import diff
from .counts import Counts
from .difference import Diff, Verdict
from .digests import digest_weight, shape_of_digest
from .elements import GroupPair
from .entry import REAL_LEVELS, DifferenceEntry, EntryLevel, EntryTopic
from .folding import Fold
from .joined import JoinedProjection
from .joined_weights import JoinedPart
from .keys import find_stated_origin, find_telling_name
from .matching import Matching, match_models
from .names import NamedElement, NameMatching, match_names
from .node_states import NodeState
from .numbers import NumberDifference
from .pair import Pair
from .reloading import reload_model
from .replaced import Replacement

__all__ = [
    "IGNORABLE",
    "REAL_LEVELS",
    "Change",
    "Counts",
    "Diff",
    "DifferenceEntry",
    "EntryLevel",
    "EntryTopic",
    "Fold",
    "GroupPair",
    "JoinedPart",
    "JoinedProjection",
    "Matching",
    "NameMatching",
    "NamedElement",
    "NodeDifference",
    "NodeState",
    "NumberDifference",
    "Pair",
    "Replacement",
    "TensorDifference",
    "Verdict",
    "diff",
    "digest_weight",
    "find_stated_origin",
    "find_telling_name",
    "match_models",
    "match_names",
    "reload_model",
    "shape_of_digest",
    "split_pair",
]
