"""Normalizing flows that give how likely what goes in is."""

from __future__ import annotations

from netloupe.explorer.patterns.densities import sums_log_determinants, sums_spline_slopes

from .outline import Outline

FLOW = "Normalizing flow"


def name_by_density(outline: Outline) -> str:
    """Return what is called a flow: an output is a log-density and what steps add to it; else "".

    These are log-determinants of what leads there.
    """
    densities = {part.end for part in outline.of_kind("density")}
    if not densities:
        return ""
    if sums_spline_slopes(outline.operations, densities):
        return f"{FLOW} of monotone splines"
    return FLOW if sums_log_determinants(outline.operations, densities) else ""
