"""Trees in attributes: lists as long as there are nodes, and children that are there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from netloupe.explorer.checks.uses import Case, Demand
from netloupe.explorer.notation import write_count

from .attribute_counts import count_entries, judge_choice, judge_lengths

_Numbers = np.ndarray[Any, np.dtype[np.int64]]

_NODES = (
    *("nodes_nodeids", "nodes_treeids", "nodes_featureids", "nodes_modes", "nodes_truenodeids"),
    *("nodes_falsenodeids", "nodes_values", "nodes_values_as_tensor"),
)
#: since ai.onnx.ml 5 trees are written so
_INDEXED = (
    *("nodes_featureids", "nodes_modes", "nodes_splits", "nodes_truenodeids", "nodes_trueleafs"),
    *("nodes_falsenodeids", "nodes_falseleafs", "nodes_missing_value_tracks_true"),
    "nodes_hitrates",
)
#: trees that are deeper are not searched for circles
_DEEPEST = 10_000
_LARGEST_FEATURE = 2**31 - 1


def _read(case: Case, name: str) -> _Numbers | None:
    found = case.integers(name)
    return None if found is None else np.array(found, dtype=np.int64)


def _judge_range(name: str, numbers: _Numbers | None, end: int, what: str) -> Iterator[str]:
    """Say whether a number is not from 0 to below an end."""
    if numbers is None or not numbers.size:
        return
    wrong = numbers[(numbers < 0) | (numbers >= end)]
    if wrong.size:
        yield f"{name} has {int(wrong[0])}, but there are {end} {what}"


def _has_circle(parents: _Numbers, children: _Numbers, count: int) -> bool:
    """Return whether nodes of a graph, given by its edges, are their own descendants."""
    waiting = np.bincount(children, minlength=count)
    order = np.argsort(parents, kind="stable")
    starts = np.searchsorted(parents[order], np.arange(count + 1))
    ready = np.flatnonzero(waiting == 0)
    seen = int(ready.size)
    for _ in range(_DEEPEST):
        if not ready.size:
            return seen < count
        lengths = starts[ready + 1] - starts[ready]
        begins = np.repeat(starts[ready], lengths)
        steps = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        below = children[order[begins + steps]]
        np.subtract.at(waiting, below, 1)
        ready = np.unique(below[waiting[below] == 0])
        seen += int(ready.size)
    return False


def _follow(case: Case) -> Iterator[str]:
    """Say what of trees does not fit that are written by the ids of their nodes."""
    leaf, count = ("class", "classlabels_int64s") if "Class" in case.op_type else ("target", "")
    found = [
        *judge_lengths(case, *_NODES),
        *judge_lengths(
            case,
            *(f"{leaf}_nodeids", f"{leaf}_treeids", f"{leaf}_ids"),
            *(f"{leaf}_weights", f"{leaf}_weights_as_tensor"),
        ),
    ]
    if count:
        found += judge_choice(case, "classlabels_int64s", "classlabels_strings")
        names = ("classlabels_int64s", "classlabels_strings")
        outputs: int | None = max(count_entries(case, name) or 0 for name in names)
    else:
        outputs = case.integer("n_targets")
        base = [count_entries(case, f"base_values{end}") for end in ("", "_as_tensor")]
        given = max(number or 0 for number in base)
        if outputs is not None and given not in (0, outputs):
            told = write_count(given, "entry", "entries")
            found += [f"base_values of {case.op_type} has {told}, but n_targets is {outputs}"]
    yield from found
    if not found:
        yield from _follow_ids(case, leaf, outputs)


def _follow_ids(case: Case, leaf: str, outputs: int | None) -> Iterator[str]:
    trees, nodes = _read(case, "nodes_treeids"), _read(case, "nodes_nodeids")
    yes, no = _read(case, "nodes_truenodeids"), _read(case, "nodes_falsenodeids")
    modes: tuple[Any, ...] | None = case.numbers("nodes_modes")
    if trees is None or nodes is None or yes is None or no is None or modes is None:
        return
    features = _read(case, "nodes_featureids")
    if features is not None and features.size and int(features.min()) < 0:
        yield f"nodes_featureids has {int(features.min())}, which is no feature"
    ends = _read(case, f"{leaf}_ids")
    if outputs is not None and outputs > 0:
        what = "labels" if leaf == "class" else "targets"
        yield from _judge_range(f"{leaf}_ids", ends, outputs, what)
    branches = np.array([mode not in ("LEAF", b"LEAF") for mode in modes], dtype=np.bool_)
    at_trees, at_nodes = _read(case, f"{leaf}_treeids"), _read(case, f"{leaf}_nodeids")
    if at_trees is None or at_nodes is None:
        at_trees = at_nodes = np.zeros(0, dtype=np.int64)
    all_trees = np.concatenate([trees, trees[branches], trees[branches], at_trees])
    all_nodes = np.concatenate([nodes, yes[branches], no[branches], at_nodes])
    _, tree_numbers = np.unique(all_trees, return_inverse=True)
    ids, node_numbers = np.unique(all_nodes, return_inverse=True)
    keys = tree_numbers.reshape(-1) * max(ids.size, 1) + node_numbers.reshape(-1)
    own, named = keys[: nodes.size], keys[nodes.size :]
    order = np.argsort(own, kind="stable")
    places = np.searchsorted(own[order], named)
    is_there = places < own.size
    is_there[is_there] = own[order[places[is_there]]] == named[is_there]
    if np.unique(own).size < own.size:
        at = int(np.flatnonzero(np.diff(own[order]) == 0)[0])
        first = int(order[at])
        yield f"tree {int(trees[first])} has the node {int(nodes[first])} twice"
    elif not is_there.all():
        wrong = nodes.size + int(np.flatnonzero(~is_there)[0])
        is_child = wrong - nodes.size < 2 * int(branches.sum())
        what = "a branch leads to" if is_child else f"{leaf}_nodeids has"
        told = f"{what} node {int(all_nodes[wrong])} of tree {int(all_trees[wrong])}"
        yield f"{told}, which is not there"
    else:
        below = order[places[: 2 * int(branches.sum())]]
        above = np.flatnonzero(branches)
        if _has_circle(np.concatenate([above, above]), below, int(nodes.size)):
            yield f"a tree of {case.op_type} leads in a circle"


def _index(case: Case) -> Iterator[str]:
    """Say what of trees does not fit that are written by places (TreeEnsemble-5)."""
    found = [
        *judge_lengths(case, *_INDEXED),
        *judge_lengths(case, "leaf_weights", "leaf_targetids"),
    ]
    yield from found
    features, leaves = _read(case, "nodes_featureids"), count_entries(case, "leaf_targetids")
    if found or features is None or leaves is None:
        return
    if features.size and not 0 <= int(features.min()) <= int(features.max()) <= _LARGEST_FEATURE:
        yield "nodes_featureids has a number that is no feature"
    targets = case.integer("n_targets")
    if targets is not None and targets > 0:
        yield from _judge_range("leaf_targetids", _read(case, "leaf_targetids"), targets, "targets")
    roots, count = _read(case, "tree_roots"), int(features.size)
    wrong = [*_judge_range("tree_roots", roots, count, "nodes")]
    yield from wrong
    sides = [
        (side, ids, ends)
        for side in ("true", "false")
        if (ids := _read(case, f"nodes_{side}nodeids")) is not None
        and (ends := _read(case, f"nodes_{side}leafs")) is not None
    ]
    if not wrong and roots is not None and len(sides) == 2:
        yield from _walk(sides, roots, count, leaves)


def _walk(
    sides: list[tuple[str, _Numbers, _Numbers]], roots: _Numbers, count: int, leaves: int
) -> Iterator[str]:
    """Say what is wrong with the nodes that can be reached from the roots."""
    is_reached = np.zeros(count, dtype=bool)
    ready = np.unique(roots)
    for _ in range(_DEEPEST):
        is_reached[ready] = True
        below = []
        for side, ids, ends in sides:
            to_leaf = ends[ready] != 0
            name = f"nodes_{side}nodeids"
            told = [*_judge_range(name, ids[ready][to_leaf], leaves, "leaves")]
            told += _judge_range(name, ids[ready][~to_leaf], count, "nodes")
            if told:
                yield from told
                return
            below.append(ids[ready][~to_leaf])
        ready = np.unique(np.concatenate(below))
        ready = ready[~is_reached[ready]]
        if not ready.size:
            break
    inner = [np.flatnonzero(is_reached & (ends == 0)) for _, _, ends in sides]
    parents = np.concatenate(inner)
    children = np.concatenate([ids[nodes] for (_, ids, _), nodes in zip(sides, inner, strict=True)])
    shared = np.bincount(children, minlength=count) > 1
    if shared.any():
        yield f"node {int(np.flatnonzero(shared)[0])} of TreeEnsemble has two parents"
    elif _has_circle(parents, children, count):
        yield "a tree of TreeEnsemble leads in a circle"


#: what is demanded of the attributes of trees: a function of this module for each operator
TREES: Mapping[str, Demand] = {
    **dict.fromkeys(("TreeEnsembleClassifier", "TreeEnsembleRegressor"), _follow),
    "TreeEnsemble": _index,
}
