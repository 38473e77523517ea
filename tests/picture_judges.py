"""What a picture says that its file does not bear out: edges, circles, titles, counts, widths."""

from __future__ import annotations

from pathlib import Path

from netloupe.explorer.render.picture import Picture
from tests.count_faults import find_false_counts
from tests.figure_widths import find_strung_widths
from tests.flow_faults import find_circles, find_false_edges, find_lost_flows
from tests.origin_faults import find_foreign_edges
from tests.raw_graph import RawGraph
from tests.title_faults import find_cut_titles, find_false_titles


def judge_picture(picture: Picture, path: Path) -> dict[str, list[str]]:
    """Return what is wrong by kind: a line each.

    Parameters
    ----------
    picture
        A picture of a model in one file.
    path
        That file.
    """
    raw = RawGraph(path)
    return {
        "edges": [
            *find_false_edges(picture, raw),
            *find_lost_flows(picture, raw),
            *find_circles(picture),
            *find_foreign_edges(picture, raw),
        ],
        "titles": [*find_false_titles(picture, raw), *find_cut_titles(picture)],
        "counts": find_false_counts(picture, raw),
        "widths": find_strung_widths(picture, path),
    }
