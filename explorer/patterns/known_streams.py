"""The patterns of netloupe itself for units of sequences, signals and games."""

from __future__ import annotations

from .attention_flows import find_attention_flows
from .averaged_heads import find_averaged_heads
from .band_splits import find_band_splits
from .doubly_residual import find_backcasts, find_half_interactions
from .gated_layers import find_gated_skips
from .joint_networks import find_joint_networks
from .learned_memories import find_learned_memories
from .mixture_heads import find_mixture_heads
from .pair_relations import find_pair_relations
from .position_windows import find_addressings, find_position_windows
from .preconditioning import find_preconditionings
from .random_features import find_random_features
from .registered_patterns import register_part as _part
from .short_convolutions import find_short_convolutions
from .signal_units import find_channel_energies, find_cosine_embeddings, find_polar_spectra
from .text_pools import find_text_pools

#: ideas of papers that a block of a stack may be about
STREAM_UNITS = (
    _part("random-features", find_random_features, "attention", family="attention"),
    _part("averaged-heads", find_averaged_heads, "attention", family="attention"),
    _part("band-split", find_band_splits, "unit"),
    _part("short-convolution", find_short_convolutions, "unit"),
    _part("joint-network", find_joint_networks, "unit"),
)
#: looked for where nothing else tells what operations are
STREAM_IDEAS = (
    _part("gated-skip", find_gated_skips, "gated skip"),
    _part("gaussian-windows", find_position_windows, "attention", family="attention"),
    _part("memory-addressing", find_addressings, "unit"),
    _part("learned-memory", find_learned_memories, "attention", family="attention"),
    _part("preconditioning", find_preconditionings, "unit"),
    _part("polar-spectrum", find_polar_spectra, "unit"),
    _part("channel-energies", find_channel_energies, "unit", family="normalization"),
    _part("cosine-embedding", find_cosine_embeddings, "positions", family="generator"),
    _part("text-pooling", find_text_pools, "unit"),
    _part("pair-relations", find_pair_relations, "unit"),
    _part("mixture-density", find_mixture_heads, "unit"),
    _part("backcast", find_backcasts, "unit"),
    _part("half-interaction", find_half_interactions, "unit"),
    _part("attention-flow", find_attention_flows, "attention", family="attention"),
)
