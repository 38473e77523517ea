"""What the model takes from the rooms above it, for its convenience methods.

``tensor.plot()`` and ``model.to_svg()`` read well, but plots and pictures are made from models,
and not models from these. So what such a method needs is looked up here when it is called; type
checkers see the imports below. No other module imports from a room above its own, not even for
types (``tests/test_rooms.py``).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netloupe.explorer.architecture import Architecture as Architecture
    from netloupe.explorer.architecture import describe_architecture as describe_architecture
    from netloupe.explorer.checks import find_oddities as find_oddities
    from netloupe.explorer.compare import Diff as Diff
    from netloupe.explorer.costs.costs import Analyses as Analyses
    from netloupe.explorer.costs.costs import Costs as Costs
    from netloupe.explorer.costs.costs import count_costs as count_costs
    from netloupe.explorer.costs.inferred_types import infer_type as infer_type
    from netloupe.explorer.costs.totals import Totals as Totals
    from netloupe.explorer.costs.totals import count_model as count_model
    from netloupe.explorer.describe.difference_json import encode_diff as encode_diff
    from netloupe.explorer.describe.difference_summary import write_verdict as write_verdict
    from netloupe.explorer.grouping import GroupTree as GroupTree
    from netloupe.explorer.grouping import ModelGroup as ModelGroup
    from netloupe.explorer.grouping import build_group_tree as build_group_tree
    from netloupe.explorer.grouping import group_model as group_model
    from netloupe.explorer.inference import infer_shapes as infer_shapes
    from netloupe.explorer.ladder.ladder import draw_ladder as draw_ladder
    from netloupe.explorer.notes import Note as Note
    from netloupe.explorer.notes import Notes as Notes
    from netloupe.explorer.notes import open_notes as open_notes
    from netloupe.explorer.overlays import Overlay as Overlay
    from netloupe.explorer.overlays import overlay as overlay
    from netloupe.explorer.panes.page import draw_panes as draw_panes
    from netloupe.explorer.plots import draw_scales as draw_scales
    from netloupe.explorer.plots import open_axes as open_axes
    from netloupe.explorer.plots import plot_channels as plot_channels
    from netloupe.explorer.plots import plot_histogram as plot_histogram
    from netloupe.explorer.quantization import Quantization as Quantization
    from netloupe.explorer.quantization import find_quantization as find_quantization
    from netloupe.explorer.render.differences import paint_differences as paint_differences
    from netloupe.explorer.render.differences import title_difference as title_difference
    from netloupe.explorer.render.figure import Figure as Figure
    from netloupe.explorer.render.html import write_graph_html as write_graph_html
    from netloupe.explorer.render.html import write_model_html as write_model_html
    from netloupe.explorer.render.html import write_node_html as write_node_html
    from netloupe.explorer.render.html import write_statistics_html as write_statistics_html
    from netloupe.explorer.render.html import write_tensor_html as write_tensor_html
    from netloupe.explorer.render.paint import Paint as Paint
    from netloupe.explorer.render.paint import Paints as Paints
    from netloupe.explorer.render.picture import build_dot as build_dot
    from netloupe.explorer.render.picture import draw_picture as draw_picture
    from netloupe.explorer.review import Reviewable as Reviewable
    from netloupe.explorer.search.search import search_model as search_model
    from netloupe.explorer.standalone.page import draw_page as draw_page
    from netloupe.explorer.tensors import ChannelHistogram as ChannelHistogram
    from netloupe.explorer.tensors import Elements as Elements
    from netloupe.explorer.tensors import Histogram as Histogram
    from netloupe.explorer.tensors import ModelFiles as ModelFiles
    from netloupe.explorer.tensors import Statistics as Statistics
    from netloupe.explorer.tensors import compute_channels as compute_channels
    from netloupe.explorer.tensors import compute_histogram as compute_histogram
    from netloupe.explorer.tensors import compute_statistics as compute_statistics
    from netloupe.explorer.tensors import decode_sparse_tensor as decode_sparse_tensor
    from netloupe.explorer.tensors import decode_tensor as decode_tensor
    from netloupe.explorer.tensors import open_elements as open_elements
    from netloupe.explorer.tensors import take_channel as take_channel
    from netloupe.explorer.view import ViewKeywords as ViewKeywords

#: the module of each name
_HOMES = {
    "Analyses": "costs.costs",
    "Architecture": "architecture",
    "ChannelHistogram": "tensors",
    "Costs": "costs.costs",
    "Diff": "compare",
    "Elements": "tensors",
    "Figure": "render.figure",
    "GroupTree": "grouping",
    "Histogram": "tensors",
    "ModelFiles": "tensors",
    "ModelGroup": "grouping",
    "Note": "notes",
    "Notes": "notes",
    "Paint": "render.paint",
    "Paints": "render.paint",
    "Quantization": "quantization",
    "Reviewable": "review",
    "Statistics": "tensors",
    "Totals": "costs.totals",
    "ViewKeywords": "view",
    "build_dot": "render.picture",
    "build_group_tree": "grouping",
    "compute_channels": "tensors",
    "compute_histogram": "tensors",
    "compute_statistics": "tensors",
    "count_costs": "costs.costs",
    "count_model": "costs.totals",
    "decode_sparse_tensor": "tensors",
    "decode_tensor": "tensors",
    "write_graph_html": "render.html",
    "write_model_html": "render.html",
    "write_node_html": "render.html",
    "write_statistics_html": "render.html",
    "write_tensor_html": "render.html",
    "write_verdict": "describe.difference_summary",
    "describe_architecture": "architecture",
    "draw_ladder": "ladder.ladder",
    "draw_page": "standalone.page",
    "draw_panes": "panes.page",
    "draw_picture": "render.picture",
    "draw_scales": "plots",
    "encode_diff": "describe.difference_json",
    "find_oddities": "checks",
    "find_quantization": "quantization",
    "group_model": "grouping",
    "infer_shapes": "inference",
    "infer_type": "costs.inferred_types",
    "Overlay": "overlays",
    "open_axes": "plots",
    "open_elements": "tensors",
    "open_notes": "notes",
    "paint_differences": "render.differences",
    "plot_channels": "plots",
    "plot_histogram": "plots",
    "overlay": "overlays",
    "search_model": "search.search",
    "take_channel": "tensors",
    "title_difference": "render.differences",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"the model takes no {name!r} from the rooms above it")
    found = globals()[name] = getattr(import_module(f"netloupe.explorer.{home}"), name)
    return found
