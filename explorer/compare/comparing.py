"""Comparing two models: their elements are paired, and of each pair it is told what differs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from netloupe.explorer.arguments import explain_arguments
from netloupe.explorer.errors import CompareError
from netloupe.explorer.model import Graph, Model, Node, Tensor
from netloupe.explorer.model.collector import collector_paused
from netloupe.explorer.progress import part, step
from netloupe.explorer.readers.load import ModelSource, load

from .blocked_weights import compare_blocked, list_blocked
from .by_hand import Named
from .changed_elements import NodeDifference, TensorDifference
from .changes import (
    IGNORABLE,
    Change,
    compare_interfaces,
    compare_nodes,
    compare_statements,
    have_same_elements,
    says_same,
)
from .constants import is_told_of_weight
from .difference import Diff
from .elements import holds_paired_weight
from .folding import check_fold, find_taken_beside
from .fused_pairs import compare_fused
from .in_order import InOrder
from .joined import JoinedProjection
from .joined_weights import compare_joined
from .matching import Matching, match_models
from .numbers import compare_numbers
from .operator_versions import list_operand_tensors
from .pair import Pair
from .parameters import Parameters, list_stored_parameters
from .quantized import pair_quantized
from .replaced import find_replaced
from .resampling import list_unread_regions
from .rewiring import compare_operands, compare_results, compare_taken, may_be_rewired
from .stated import StatedFacts
from .turned_weights import find_turned_weights

_STEP = 1_000
#: so much of a comparison is the pairing of nodes
_SHARE_OF_MATCHING = 0.6


@explain_arguments
def diff(
    left: ModelSource,
    right: ModelSource,
    *,
    ignore: Collection[str] = (),
    pin: Sequence[Named] = (),
    unpin: Sequence[Named] = (),
) -> Diff:
    """Compare two models: pair their elements, and tell in what these differ.

    Parameters
    ----------
    left, right
        The models: the one before, and the one after; each a Model, a path, or what
        :func:`netloupe.load` takes.
    ignore
        What is no difference: any of ``"names"``, ``"docs"``, ``"storage"``, ``"defaults"`` and
        ``"order"``.
    pin, unpin
        Pairs of nodes that are known, and nodes that are no pair: each a node of the left and one
        of the right model, or their paths or names.

    Returns
    -------
    Diff
        What differs, and in a word how much.

    Raises
    ------
    CompareError
        For another word in ``ignore``, and for pairs that contradict one another.
    NotFoundError
        For a node that is not there.
    SourceError, ModelFormatError
        Where a model cannot be read.

    Notes
    -----
    Three judges look at the models. Of what is paired all is compared that matters to people; and
    beside it every field that the files state, and every operand. Before ``"identical"`` is said a
    third one, which knows of no pairs, compares all that both files state in their own order.

    Examples
    --------
    >>> found = netloupe.diff("old.onnx", "new.onnx")
    >>> found.verdict, found.is_compatible
    ('weights', True)
    """
    for word in ignore:
        if word not in IGNORABLE:
            raise CompareError(
                f"{word[:60]!r} cannot be ignored. Give any of {', '.join(IGNORABLE)}."
            )
    left, right = load(left), load(right)
    with part(0.0, _SHARE_OF_MATCHING):
        matching = match_models(left, right, pin=pin, unpin=unpin)
    with part(_SHARE_OF_MATCHING, 1.0), collector_paused():
        return _Comparison(matching, frozenset(ignore)).run()


def _gives_constant(node: Node) -> bool:
    return node.operator.form == "Constant"


def _is_unused_constant(node: Node) -> bool:
    results = [value for value in node.outputs if value is not None]
    return _gives_constant(node) and not any(v.is_used or v.is_output for v in results)


def _note_turned(change: Change) -> Change:
    """Return what differs in a product that takes a weight transposed: that is storage alone."""
    return change._replace(aspect="storage") if change.what == "attribute transB" else change


class _Comparison:
    def __init__(self, matching: Matching, ignored: frozenset[str]) -> None:
        self.found = Diff(matching.left, matching.right, matching, ignored=ignored)
        self._ignored = ignored
        self._stated = StatedFacts(matching)
        #: initializers that are attributes in the other model
        self._attributes: set[Tensor] = set()
        self._parameters = Parameters()
        self._turned = find_turned_weights(matching)
        #: products that take weights that are transposed in the other model
        self._turning = {node for one in self._turned.values() for node in one.nodes}
        #: regions that no node reads: their numbers are none of the model
        self._regions: set[Tensor] = set()

    def run(self) -> Diff:
        found, matching = self.found, self.found.matching
        found.interface = [*compare_interfaces(found.left.graph, found.right.graph)]
        found.about = self._keep(compare_statements(found.left, found.right))
        found.about += compare_results(matching)
        self._compare_nodes()
        self._add_stated(self._stated.compare_models())
        if self._is_reordered():
            found.about += self._keep([Change("order of nodes", None, None, "order")])
        sides = matching.list_left_alone(), matching.list_right_alone()
        unused = ([node for node in side if _is_unused_constant(node)] for side in sides)
        self._add_stated(self._stated.pair_unused(*unused))
        found.left_alone, found.right_alone = map(self._leave_out_constants, sides)
        found.replaced = find_replaced(matching, found.left_alone, found.right_alone)
        self._compare_tensors()
        found.unjudged = [*dict.fromkeys(self._stated.unjudged)]
        self._compare_in_order()
        found.places = self._stated.places
        return found

    def _compare_in_order(self) -> None:
        """Ask a judge that knows of no pairs, before nothing but texts for people differs.

        What is called, stored or written otherwise has no partner in order.
        """
        found = self.found
        known = {*found.aspects, *self._ignored}
        is_next = found.verdict in ("identical", "cosmetic") and known <= {"docs"}
        if is_next and found.left.dialect is found.right.dialect:
            changes = InOrder(found.matching).compare()
            self._add_stated(change for change in changes if change.aspect not in known)

    def _add_stated(self, changes: Iterable[Change]) -> None:
        """Add what nothing else tells of the models."""
        found = self.found
        told = {change.what for change in (*found.interface, *found.about)}
        for change in self._keep(changes):
            if change.what not in told:
                told.add(change.what)
                found.about.append(change)

    def _leave_out_constants(self, nodes: list[Node]) -> list[Node]:
        """Return nodes without those that another exporter writes as initializers.

        They are compared where they are used; those that nothing uses are told.
        """
        compared = {graph for pair in self.found.matching.graphs for graph in pair}
        return [
            node
            for node in nodes
            if not _gives_constant(node)
            or node.graph not in compared
            or (_is_unused_constant(node) and not self._stated.is_compared(node))
        ]

    def _keep(self, changes: Iterable[Change]) -> list[Change]:
        return [change for change in changes if change.aspect not in self._ignored]

    def _is_reordered(self) -> bool:
        places: dict[Graph, int] = {}
        for pair in self.found.matching.pairs:
            node = pair.right[0]
            if node.index < places.get(node.graph, -1):
                return True
            places[node.graph] = node.index
        return False

    def _compare_nodes(self) -> None:
        matching = self.found.matching
        for number, pair in enumerate(matching.pairs):
            if not number % _STEP:
                step("comparing attributes" if not number else "")
            if len(pair.left) != 1 or len(pair.right) != 1:
                self.found.fused.append(pair)
                fold = check_fold(pair, self.found.matching)
                if fold is not None:
                    self.found.folds[pair] = fold
                if fold is None:
                    changes = [*compare_fused(pair), *self._compare_taken(pair)]
                else:
                    changes = [*fold.changes]
                if changes:
                    self.found.nodes.append(NodeDifference(pair, tuple(changes)))
                continue
            left, right = pair.left[0], pair.right[0]
            is_said_same = says_same(left, right)
            self._attributes.update(list_operand_tensors(left, right))
            self._regions.update(list_unread_regions(left, right))
            found_changes = [
                *compare_nodes(
                    left,
                    right,
                    is_said_same=is_said_same,
                    calls_same=matching.calls_same(left, right),
                )
            ]
            if may_be_rewired(pair):
                found_changes += compare_operands(pair, self.found.matching)
            found_changes += self._parameters.compare(left, right)
            if left in self._turning:
                found_changes = [*map(_note_turned, found_changes)]
            told = {change.what for change in found_changes}
            if "operator" in told:
                told.add("domain")  # an operator is named with it
            stated = [*self._stated.compare_operands(left, right)]
            if not is_said_same:
                stated += self._stated.compare_nodes(left, right)
            found_changes += (change for change in stated if change.what not in told)
            if holds_paired_weight(pair, self.found.matching):  # these are compared as such
                found_changes = [
                    one for one in found_changes if not is_told_of_weight(one, left, right)
                ]
            changes = self._keep(found_changes)
            if changes:
                self.found.nodes.append(NodeDifference(pair, tuple(changes)))

    def _compare_taken(self, pair: Pair) -> Iterator[Change]:
        """Compare what several nodes take, but those that are compared part by part."""
        if pair in self.found.matching.joined:
            return iter(())
        return compare_taken(pair, self.found.matching)

    def _compare_tensors(self) -> None:
        found, pairs = self.found, dict(self.found.matching.tensors)
        folded = {pair: fold for pair, fold in found.folds.items() if fold.has_equal_weights}
        of_folds = {tensor for fold in folded.values() for tensor in fold.tensors}
        shared = {*find_taken_beside(found.matching.pairs, folded, of_folds)}
        for left, right in [*pairs.items()]:
            if {left, right} & of_folds and (left, right) not in shared:
                del pairs[left]
        for left in [left for left, right in pairs.items() if {left, right} & self._regions]:
            del pairs[left]
        of_codes = self._compare_quantized(pairs) | self._compare_blocked(pairs)
        for number, (left, right) in enumerate(pairs.items()):
            if not number % _STEP:
                step("comparing weights" if not number else "", number / len(pairs))
            self._compare_tensor(left, right)
        known = {*pairs, *pairs.values(), *of_codes, *of_folds, *self._attributes, *self._regions}
        # of layers that share their weights these are compared once
        joints = {tuple(joint.list_tensors()): joint for joint in found.matching.joined.values()}
        for tensors, joint in joints.items():
            self._compare_joined(joint)
            known.update(tensors)
        for joint in found.matching.joined.values():
            known.update(joint.list_bounds())
        found.left_tensors = [*_list_weights_alone(found.left, known)]
        found.right_tensors = [*_list_weights_alone(found.right, known)]

    def _compare_quantized(self, pairs: dict[Tensor, Tensor]) -> set[Tensor]:
        """Compare weights that one model has quantized, and take them out of the other pairs.

        Returns
        -------
        set of Tensor
            These weights, and the scales and zero points that belong to them.
        """
        done: set[Tensor] = set()
        parameters: set[Tensor] = set()
        for one in pair_quantized(self.found.matching):
            done |= {one.left, one.right}
            parameters.update(one.parameters)
            change = Change("quantized", one.before, one.after)
            entry = TensorDifference(
                one.left, one.right, (change,), one.numbers, are_unread=one.numbers is None
            )
            self.found.tensors.append(entry)
        for left in [left for left, right in pairs.items() if left in done or right in done]:
            del pairs[left]
        return done | parameters

    def _compare_blocked(self, pairs: dict[Tensor, Tensor]) -> set[Tensor]:
        """Compare weights that one model stores in blocks of channels; return them.

        They are taken out of the other pairs.
        """
        paired = self.found.matching.pairs
        sides = (
            {*list_blocked(node for pair in paired for node in pair.left)},
            {*list_blocked(node for pair in paired for node in pair.right)},
        )
        done: set[Tensor] = set()
        for left, right in [*pairs.items()]:
            is_right = right in sides[1]
            if is_right == (left in sides[0]):
                continue
            one = compare_blocked(left, right, is_right=is_right)
            if one is None:
                continue
            del pairs[left]
            done |= {left, right}
            before, after = ("one after the other", one.told)[:: 1 if is_right else -1]
            changes = [Change("order of channels", before, after, "storage")]
            if not one.is_filled_up:
                changes.append(Change("dims", left.dims, right.dims))
            numbers = one.numbers if one.numbers is not None and one.numbers.changed else None
            entry = TensorDifference(
                left, right, tuple(self._keep(changes)), numbers, one.numbers is None
            )
            self.found.tensors.append(entry)
            if one.numbers is not None and numbers is None and one.is_filled_up:
                self.found.equal_tensors += 1
        return done

    def _compare_joined(self, joint: JoinedProjection) -> None:
        """Compare each part of a joined weight with the weight that the other model has for it."""
        for one in compare_joined(joint):
            sides = (one.joined, one.separate) if joint.is_left else (one.separate, one.joined)
            before, after = (tensor.dtype.name for tensor in sides)
            changes = (Change("dtype", before, after),) if before != after else ()
            numbers = one.numbers
            if numbers is not None and not numbers.changed and not changes:
                self.found.equal_tensors += 1
                continue
            shown = numbers if numbers is not None and numbers.changed else None
            entry = TensorDifference(*sides, changes, shown, numbers is None, one.part)
            self.found.tensors.append(entry)

    def _compare_tensor(self, left: Tensor, right: Tensor) -> None:
        changes = []
        is_parameter = (left, right) in self._parameters.compared
        turned = self._turned.get((left, right))
        if turned is None and self._stated.says_same_tensor(left, right):
            self.found.equal_tensors += 1
            return
        told = {"dims"}
        if turned is not None:
            changes.append(Change("order of axes", "as it is", "transposed", "storage"))
        elif left.dims != right.dims and not is_parameter:
            changes.append(Change("dims", left.dims, right.dims))
        if left.dtype != right.dtype:
            changes.append(Change("dtype", left.dtype.name, right.dtype.name))
        if left.name != right.name:
            changes.append(Change("name", left.name, right.name, "names"))
        if left.storage != right.storage:
            changes.append(Change("storage", left.storage, right.storage, "storage"))
        if left.doc != right.doc:
            changes.append(Change("documentation", left.doc, right.doc, "docs"))
        told.update(change.what for change in changes)
        stated = self._stated.compare_tensors(left, right)
        changes += (change for change in stated if change.what not in told)
        changes = self._keep(changes)
        if is_parameter:  # its numbers are told of the nodes that take it
            numbers, are_unread = None, False
        else:
            numbers = compare_numbers(left, right) if turned is None else turned.numbers
            are_unread = False
            if numbers is None and left.dims == right.dims:
                are_same = have_same_elements(left, right)
                are_unread = are_same is None
                if are_same is False and left.dtype == right.dtype:
                    changes.append(Change("elements", None, None))
        if numbers is not None and not numbers.changed and not numbers.other_bits:
            numbers = None
        if changes or numbers is not None or are_unread:
            entry = TensorDifference(left, right, tuple(changes), numbers, are_unread)
            self.found.tensors.append(entry)
        is_other = numbers is not None or any(not change.aspect for change in changes)
        if not is_other and not are_unread and (left, right) not in self._parameters.differing:
            self.found.equal_tensors += 1


def _list_weights_alone(model: Model, known: Collection[Tensor]) -> Iterator[Tensor]:
    """Yield the initializers in no pair, but what tells nodes what to do: it is told with them."""
    for graph in model.graphs:
        alone = [tensor for tensor in graph.initializers if tensor not in known]
        parameters = {*list_stored_parameters(graph)} if alone else set[Tensor]()
        yield from (tensor for tensor in alone if tensor not in parameters)
