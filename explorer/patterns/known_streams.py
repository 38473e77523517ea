"""The patterns of netloupe itself for units of sequences, signals and games."""

from __future__ import annotations

from .attention_flows import find_attention_flows
from .gated_layers import find_gated_skips
from .joint_networks import find_joint_networks
from .registered_patterns import register_part as _part
from .short_convolutions import find_short_convolutions

#: ideas of papers that a block of a stack may be about
STREAM_UNITS = (
    _part("short-convolution", find_short_convolutions, "unit"),
    _part("joint-network", find_joint_networks, "unit"),
)
#: looked for where nothing else tells what operations are
STREAM_IDEAS = (
    _part("gated-skip", find_gated_skips, "gated network"),
    _part("attention-flow", find_attention_flows, "attention", family="attention"),
)
