"""Groups of a model by path."""

from __future__ import annotations

from difflib import get_close_matches

from netloupe.explorer.errors import NotFoundError, advise_in_shell
from netloupe.explorer.model import Graph, Model, Node
from netloupe.explorer.model.collector import collector_paused
from netloupe.explorer.model.kept import get_kept, keep
from netloupe.explorer.model.paths import CALL, find_element

from .group import Group
from .tree import GroupTree, build_group_tree

#: so many paths are compared with one that leads nowhere
_MOST_COMPARED = 20_000


def find_tree(model: Model, graph: Graph) -> GroupTree:
    """Return the groups of a graph, with the grouping that is the default; found once."""
    tree = get_kept(graph, GroupTree)
    if tree is None:
        with collector_paused():
            tree = keep(graph, build_group_tree(graph))
    return tree


def find_group(model: Model, path: str) -> Group:
    """Return the group at a path.

    Parameters
    ----------
    model
        Where to look.
    path
        ``main/encoder/layer.0/``, with or without the slash at the end; ``main`` is the group of
        the whole main graph. In a subgraph or function the path begins with that of the graph:
        ``main/If_3.then_branch/decoder/``, ``functions/pkg::Block/attn/``, and inside a call
        ``main/Block_1()/attn/`` stands for that of the function. Without a graph before it the
        end of the path of one group of the main graph is enough: ``layer.0``.

    Raises
    ------
    NotFoundError
        Where there is none, with the nearest paths, or with the node that the path leads to.
    """
    if not isinstance(path, str):
        raise NotFoundError(
            f"{model.source}: a group is asked for by its path, such as 'main/encoder/', and not "
            f"by {type(path).__name__}."
        )
    graph, local = _find_graph(model, _enter_calls(model, path))
    tree = find_tree(model, graph)
    found = tree.find(local) or tree.find(f"{local.rstrip('/')}/")
    if isinstance(found, Group):
        return found
    node = found or find_element(model, path.rstrip("/"))
    if isinstance(node, Node):
        raise NotFoundError(
            f"{model.source}: {path!r} is a node, not a group. model.node({node.path!r}) gives it."
        )
    raise _say_missing(model, tree, path)


def _enter_calls(model: Model, path: str) -> str:
    """Return the path in the function where one leads into a call."""
    prefix, call, rest = path.rpartition(f"{CALL}/")
    node = find_element(model, prefix) if call else None
    function = node.function if isinstance(node, Node) else None
    return path if function is None else f"{function.path}/{rest}"


def _find_graph(model: Model, path: str) -> tuple[Graph, str]:
    """Return the innermost graph that a path begins with, else the main graph."""
    whole = f"{path.rstrip('/')}/"
    graphs = model.graphs_by_path
    cut = len(whole)
    while (cut := whole.rfind("/", 0, cut)) > 0:
        graph = graphs.get(whole[:cut])
        if graph is not None:
            return graph, whole
    return model.graph, path


def _say_missing(model: Model, tree: GroupTree, path: str) -> NotFoundError:
    paths = [known for known, _ in zip(tree.groups, range(_MOST_COMPARED), strict=False)]
    leaves = {known.rstrip("/").rpartition("/")[2]: known for known in reversed(paths)}
    near = get_close_matches(path.rstrip("/").rpartition("/")[2], leaves, 3, 0.6)
    hint = f" Did you mean {', '.join(repr(leaves[leaf]) for leaf in near)}?" if near else ""
    advice = "" if near else " model.groups has them all."
    error = NotFoundError(f"{model.source}: there is no group at {path!r}.{hint}{advice}")
    advise_in_shell(error, "`netloupe info MODEL --groups` lists them.")
    return error
