"""Makes a tree of scopes readable: repeats, blocks found by structure, shapes and parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import cast

from netloupe.explorer.model import Node, find_nodes_with
from netloupe.explorer.progress import step
from netloupe.explorer.roles import PreparationPiece, Roles

from .arrangement import join_arrangement
from .branches import find_summed, list_foldable, may_sum_modules, may_sum_tables
from .circles import open_circles
from .copies import put_copies
from .crowded import relieve_crowded
from .crowded_rows import close_crowded_rows
from .exemplars import is_first_odd
from .group import Group, GroupKind, adopt
from .heads import group_head
from .idea_names import number_blocks
from .incomplete_ends import add_incomplete_ends
from .joined_columns import fold_joined_columns
from .joined_preparation import join_preparation
from .kinds import outermost_family
from .like_columns import fold_like_columns
from .like_nodes import fold_like_nodes
from .likeness import are_left
from .listed_stages import group_listed_stages
from .loop_bodies import Steps, cut_run, find_steps, find_typical
from .member_nodes import is_layer, list_nodes_inside
from .parts import split_large
from .repeat_names import Member, join_several, name_calls, name_repeat, name_several, read_list
from .role_groups import add_postprocessing, add_preparation
from .scans import group_scans
from .selections import group_selections
from .shape_groups import add_shape_groups
from .shared_tensors import find_shared_tensors, measure_matrix
from .shared_weights import MOST_NODES, may_share_weights, share_weights
from .sibling_repeats import SiblingSearch
from .small_blocks import group_small, join_embeddings
from .spilled_arithmetic import group_arithmetic
from .spilled_ideas import group_ideas
from .spilled_layouts import group_layouts
from .spilled_passages import group_passages
from .split_groups import group_splits
from .structure import Children, GroupPlan, Planner
from .tables_beside import fold_tables
from .unchanging import group_unchanging

#: a step of a loop is called as the module in it that has such a share of its layers, or so
_LEAST_OF_STEP = 0.9
_STEP, _CYCLE = "step", "cycle"
#: so many loops are looked for among the children of one group
_MOST_LOOPS = 16
#: stands between the names of the first and the last block
_TO = " … "
#: nodes of a scope in so large a number are searched for blocks
LEAST_FLAT = 13


def simplify_tree(
    root: Group,
    labels: dict[int, str],
    singles: Mapping[str, Node],
    taken: set[str],
    shape_nodes: frozenset[int],
    grouping: str,
    roles: Roles,
    pieces: Sequence[PreparationPiece],
    copies: frozenset[int] = frozenset(),
) -> dict[int, Group]:
    """Fold what repeats, what is found by structure, other roles, and arithmetic on shapes.

    Parameters
    ----------
    root
        The root of a tree of scopes.
    labels
        The labels of nodes that stand for a group of one, by index.
    singles
        These nodes by the paths of these groups.
    taken
        Paths that no new group may have, beside those of the tree's groups.
    shape_nodes
        Indexes of the shown nodes of shape arithmetic; they are not in the tree yet.
    grouping
        ``auto`` and ``repeats`` search by structure what is flat; others only among names.
        Only ``auto`` puts postprocessing into groups, and what only arranges.
    roles
        Those of the graph's nodes.
    pieces
        The preparation; its nodes are not in the tree yet.
    copies
        Indexes of the copies of stored values; they are not in the tree yet.

    Returns
    -------
    dict
        The groups of kind ``operation`` by the index of the node that computes.
    """
    folder = Folder(root, labels, taken)
    groups = folder.collect()
    if grouping in ("auto", "repeats") and folder.group_loops(shape_nodes, pieces):
        groups = folder.collect()
    if grouping == "auto" and group_listed_stages(root, labels, folder.free_path):
        groups = folder.collect()
    step("looking for repeats")
    if len(groups) > 1 or labels:
        folder.group_siblings()
    if grouping in ("auto", "repeats"):
        folder.group_flat(groups)
    step()
    # only now: before, the end of the last layer would count as such
    if grouping == "auto":
        group_ideas(root, folder.free_path)
        add_postprocessing(root, roles, folder.free_path)
        group_small(root, labels, folder.free_path)
        group_splits(root, labels, folder.free_path)
    add_preparation(root, pieces, labels, folder.free_path)
    if grouping == "auto" and pieces:
        group_ideas(root, folder.free_path, are_prepared=True)
    put_copies(root, copies, folder.free_path)
    operations: dict[int, Group] = {}
    if grouping == "auto":
        operations = join_arrangement(root, roles, labels, singles, folder.free_path)
        folder.fold_summed_tables()
        join_embeddings(root, folder.free_path)
        fold_tables(root, folder.make_sibling_repeat)
        group_unchanging(root, folder.free_path)
        join_preparation(root, folder.free_path)
        group_scans(root, folder.free_path)
        group_selections(root, folder.free_path)
        group_passages(root, folder.free_path)
        group_arithmetic(root, folder.free_path)
        group_layouts(root, folder.free_path)
        number_blocks(root)
        group_head(root, folder.free_path)
        fold_like_columns(root, labels, folder.make_sibling_repeat)
        fold_like_nodes(root, folder.make_sibling_repeat)
        relieve_crowded(root, labels, folder.free_path)
        close_crowded_rows(root, labels, folder.free_path, folder.make_sibling_repeat)
        gone = {*open_circles(root)}
        operations = {index: one for index, one in operations.items() if one not in gone}
    split_large(root, folder.free_path)
    add_shape_groups(root, shape_nodes, folder.free_path)
    return operations


class Folder:
    """Puts groups between a group and its children.

    Parameters
    ----------
    labels
        The labels of nodes that stand for a group of one, by index.
    taken
        Paths that no new group may have.
    """

    def __init__(self, root: Group, labels: dict[int, str], taken: set[str]) -> None:
        self.root = root
        self._labels = labels
        self._taken = taken
        self._counters: dict[str, int] = {}
        self._may_sum_tables = may_sum_tables(root.graph)

    def collect(self) -> list[Group]:
        """Return all groups, and take their paths."""
        groups = [self.root]
        for group in groups:
            self._taken.add(group.path)
            groups += group.inner_groups()
        return groups

    def group_loops(self, left_out: frozenset[int], pieces: Sequence[PreparationPiece]) -> bool:
        """Make repeats of the steps of loops that use the same weights; return whether any are.

        Parameters
        ----------
        left_out
            Indices of nodes of arithmetic on shapes.
        pieces
            The preparation.
        """
        graph = self.root.graph
        if len(graph.nodes) > MOST_NODES:
            return False
        tensors = find_shared_tensors(graph)
        if not tensors:
            return False
        from .unrolled_loops import LoopSearch

        beforehand = [index for piece in pieces for index in piece.nodes]
        search = LoopSearch(graph, tensors, left_out, self._labels, beforehand)
        found = False
        pending = [self.root]
        while pending:
            step()
            group = pending.pop()
            if not search.has_several(group):
                continue
            if group.kind != "repeat":
                for _ in range(_MOST_LOOPS):
                    loop = search.find(group.children)
                    if loop is None:
                        break
                    found = True
                    cycles = self._make_cycles(group, loop.steps)
                    repeat = cycles or self.make_sibling_repeat(
                        group, loop.steps, find_typical(loop.steps)
                    )
                    group.children = [*loop.before, repeat, *loop.behind]
                    if cycles is None:
                        self._name_steps(repeat, group)
            pending += group.inner_groups()
        return found

    def _make_cycles(self, parent: Group, steps: Sequence[Sequence[Group | Node]]) -> Group | None:
        """Return a repeat of the cycles of a loop, with repeats of like steps in each.

        None where all steps take the same.
        """
        from .loop_cycles import find_loop_cycles

        bodies: list[list[Group | Node]] = []
        for cycle in find_loop_cycles(steps):
            body = [*cycle.before]
            for run in cycle.runs:
                if len(run) > 1:
                    inner = self.make_sibling_repeat(parent, run, 1)
                    _label_all(inner, _STEP)
                    body.append(inner)
                else:
                    body += run[0]
            bodies.append(body)
        if not bodies:
            return None
        repeat = self.make_sibling_repeat(parent, bodies, 1)
        _label_all(repeat, _CYCLE)
        return repeat

    def group_siblings(self) -> None:
        """Make repeats of named siblings that are alike."""
        search = SiblingSearch(self.root, self._labels)
        pending = [self.root]
        while pending:
            step()
            group = pending.pop()
            pending += group.inner_groups()
            if group.kind == "repeat":
                continue
            children, runs = search.find(group)
            folded: list[Group | Node] = []
            done = 0
            borders = [*(run.low for run in runs[1:]), len(children)]
            for run, border in zip(runs, borders, strict=False):
                steps = find_steps(children, run)
                if steps.low < done:  # the first step of a loop reaches into the run before
                    steps = Steps(run.low, cut_run(children, run), run.exemplar)
                low, blocks, exemplar = add_incomplete_ends(
                    children, steps, done, border, self._labels
                )
                count = _count_strangers(blocks[-1])
                blocks[-1] = blocks[-1][: len(blocks[-1]) - count]
                for part in list_foldable(blocks):
                    if are_left(map(list_nodes_inside, blocks[part.start : part.stop])):
                        continue
                    first = low + sum(map(len, blocks[: part.start]))
                    folded.extend(children[done:first])
                    own = blocks[part.start : part.stop]
                    shown = min(max(exemplar - part.start, 0), len(own) - 1)
                    folded.append(self.make_sibling_repeat(group, own, shown))
                    done = first + sum(map(len, own))
            if folded:
                group.children = folded + children[done:]
            self._fold_summed(group)
            if any(child.kind != "repeat" for child in group.inner_groups()):
                fold_joined_columns(group, self.free_path)

    def fold_summed_tables(self) -> None:
        """Put tables that are looked up side by side and summed into one repeat each.

        Only now: what picks the inputs that they are looked up by has stood between them.
        """
        pending = [self.root]
        while pending:
            group = pending.pop()
            pending += group.inner_groups()
            if group.kind in ("graph", "scope", "block"):
                self._fold_summed(group)

    def _fold_summed(self, group: Group) -> None:
        """Put branches of a group that are summed into one repeat each."""
        if not self._may_sum_tables and not may_sum_modules(group.inner_groups()):
            return  # of nodes alone only tables are such branches
        children = group.children
        folded: list[Group | Node] = []
        done = 0
        for low, high, blocks in find_summed(children, self._labels):
            folded += children[done:low]
            folded.append(self.make_sibling_repeat(group, blocks, 1))
            done = high
        if folded:
            group.children = folded + children[done:]

    def make_sibling_repeat(
        self, parent: Group, blocks: Sequence[Sequence[Group | Node]], exemplar: int
    ) -> Group:
        """Return a stack of some blocks of a group's children, one of which stands for all."""
        name, label, labels = name_repeat([[*map(self._describe, block)] for block in blocks])
        path = self.free_path(parent, name)
        heads = [max(block, key=_count_children) for block in blocks]
        described = self._describe(heads[exemplar]).label
        several, _ = name_several(self._count_layers(blocks[exemplar]), described)
        if several:
            other = blocks[0 if exemplar else -1]
            several = join_several(several, name_several(self._count_layers(other), described)[0])
        types = {_find_type(head, block) for head, block in zip(heads, blocks, strict=True)}
        type_name = "" if several or len(types) > 1 else types.pop()
        repeat = Group("repeat", parent.graph, path, several or label, type_name, parent)
        repeat.exemplar = exemplar
        if several:
            labels = [
                ", ".join(name_several(self._count_layers(block), described)[1]) for block in blocks
            ]
        elif _share_weights(blocks):
            repeat.label = name_calls([self._describe(head).label for head in heads]) or label
        if not exemplar and is_first_odd(blocks):
            repeat.exemplar = 1
        if all(len(block) == 1 for block in blocks):
            repeat.children = [block[0] for block in blocks]
            adopt(repeat)
            return repeat
        for number, (children_of_block, head) in enumerate(zip(blocks, heads, strict=True)):
            block = Group(
                "block",
                parent.graph,
                f"{path}{number}/",
                labels[number] or head.label,
                "" if several else _find_type(head, children_of_block),
                repeat,
            )
            block.children = [*children_of_block]
            adopt(block)
            repeat.add(block)
            self._fold_summed(block)
        return repeat

    def _name_steps(self, repeat: Group, around: Group) -> None:
        """Name a loop after the module of its first step, or so where none is most of a step."""
        example = repeat.children[repeat.exemplar]
        repeat.label = repeat.label.split(_TO, 1)[0]
        if not isinstance(example, Group) or example.kind != "block":
            return
        counts = self._count_layers(example.children)
        families = {outermost_family(label) for label, count in counts.items() if count}
        is_family = len(families) == 1 and outermost_family(repeat.label) in families - {""}
        most = max((count for label, count in counts.items() if label), default=0)
        is_most = most >= max(_LEAST_OF_STEP * counts.total(), 1)
        is_all = around.kind == "scope" and len(around.children) == 1
        if is_family or is_most or (", " in repeat.label and not is_all):
            return
        _label_all(repeat, _STEP)
        repeat.label = around.label if is_all else _STEP

    def _count_layers(self, children: Sequence[Group | Node]) -> Counter[str]:
        """Return how many layers with weights members have, by what these are called."""
        counts: Counter[str] = Counter()
        if len(children) > 1:
            for child in children:
                own = sum(measure_matrix(node) > 0 for node in list_nodes_inside([child]))
                counts[self._name_module(child)] += own
        return counts

    def _name_module(self, child: Group | Node) -> str:
        """Return the name of the module that a member is; "" where it is none."""
        if isinstance(child, Node):
            return self._labels.get(child.index, "")
        is_module = child.kind in ("scope", "repeat") or child.label != child.type_name
        return child.label if is_module and child.kind != "block" else ""

    def _describe(self, child: Group | Node) -> Member:
        if isinstance(child, Group):
            name = child.path.rstrip("/").rsplit("/", 1)[-1]
            return Member(child.label, name, len(child.children))
        label = self._labels.get(child.index) or child.label
        return Member(label, label.rsplit(" / ", 1)[-1], _count_children(child))

    def group_flat(self, groups: list[Group]) -> None:
        """Make repeats and blocks of the nodes of groups that have no groups in them."""
        planner = Planner(len(self.root.graph.nodes))
        known: dict[tuple[object, ...], list[Children]] = {}
        recurrent = {*find_nodes_with(self.root.graph, "recurrent").tolist()}
        for group in groups:
            nodes = group.nodes_alone()
            is_named = group is not self.root or len(groups) > 1
            if len(nodes) < (LEAST_FLAT if is_named else 2):
                layers = sum(node.index in recurrent for node in nodes) if recurrent else 0
                if layers < 2:
                    continue
            step()
            key = _wiring_key(nodes) if is_named else ()
            planned = known.get(key)
            if planned is None:
                planned = known[key] = planner.plan(nodes)
            group.children = self._carry_out(planned, nodes, group)

    def _carry_out(
        self, planned: Sequence[Children], nodes: Sequence[Node], parent: Group
    ) -> list[Group | Node]:
        """Return the children of a group as planned."""
        if set(map(type, planned)) == {int}:  # there may be a million
            return [nodes[place] for place in cast("Sequence[int]", planned)]
        children: list[Group | Node] = []
        for number, child in enumerate(planned):
            if not isinstance(child, GroupPlan):
                children.append(nodes[child])
                continue
            label = child.name
            if parent.kind == "repeat":
                path, label = f"{parent.path}{number}/", f"{child.name} {number}"
            else:
                path = self.free_path(parent, child.name)
            kind: GroupKind = "repeat" if child.kind == "repeat" else "block"
            group = Group(kind, parent.graph, path, label, child.name, parent)
            group.exemplar = child.exemplar
            group.children = self._carry_out(child.children, nodes, group)
            children.append(group)
        return children

    def free_path(self, parent: Group, name: str) -> str:
        """Return a path for a new child; a taken one gets `` 2``, `` 3`` … appended."""
        base = parent.path + (name.replace(" · ", "-").replace("/", "·") or "group")
        path = f"{base}/"
        while path in self._taken:
            self._counters[base] = self._counters.get(base, 1) + 1
            path = f"{base} {self._counters[base]}/"
        self._taken.add(path)
        return path


def _share_weights(blocks: Sequence[Sequence[Group | Node]]) -> bool:
    """Return whether blocks use the same stored weights; two tell it of most."""
    middle, last = (list_nodes_inside(block) for block in (blocks[len(blocks) // 2], blocks[-1]))
    return may_share_weights(middle, last) and share_weights([*map(list_nodes_inside, blocks)])


def _label_all(repeat: Group, word: str) -> None:
    """Call a loop and its repetitions by a word: ``step``, ``step 0``."""
    repeat.label, repeat.type_name = word, ""
    for number, block in enumerate(repeat.inner_groups()):
        block.label, block.type_name = f"{word} {number}", ""


def _count_strangers(block: Sequence[Group | Node]) -> int:
    """Return how many nodes at the end of a last block take nothing from it.

    They are the first of what stands behind it, and like the last of the other blocks.
    """
    inside = {*list_nodes_inside(block)}
    count = 0
    for child in reversed(block):
        if isinstance(child, Group) or any(
            value is not None and value.producer in inside for value in child.inputs
        ):
            break
        inside.discard(child)
        count += 1
    return count if count < len(block) else 0


def _wiring_key(nodes: Sequence[Node]) -> tuple[object, ...]:
    """Return what nodes wired alike have in common; for nodes of one scope, so nearby ones."""
    graph, base, end = nodes[0].graph, nodes[0].index, nodes[-1].index
    key: list[object] = []
    for node in nodes:
        key.append(node.op_type)
        for value in node.inputs:
            if value is None or value.producer is None:
                key.append(value is not None and value.initializer is not None)
            elif value.producer.graph is graph and base <= value.producer.index <= end:
                key.append(value.producer.index - base)
            else:
                key.append(None)
    return tuple(key)


def _count_children(child: Group | Node) -> int:
    return len(child.children) if isinstance(child, Group) else int(is_layer(child))


def _find_type(head: Group | Node, block: Sequence[Group | Node]) -> str:
    """Return the class of the module that a block is called after, if all of its list have it."""
    if isinstance(head, Node):
        return head.op_type if len(block) == 1 else ""
    own = read_list(head.label)
    types = {c.type_name for c in block if isinstance(c, Group) and read_list(c.label) == own}
    return head.type_name if len(types) == 1 else ""
