"""Normalizing flows that give how likely what goes in is."""

from __future__ import annotations

from netloupe.explorer.patterns.densities import sums_log_determinants

from .outline import Outline

FLOW = "Normalizing flow"


def gives_density_of_flow(outline: Outline) -> bool:
    """Return whether an output is a log-density and the log-determinants of what leads there."""
    densities = {part.end for part in outline.of_kind("density")}
    return bool(densities) and sums_log_determinants(outline.operations, densities)
