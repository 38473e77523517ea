"""What differs between two models whose elements are paired: a :class:`Diff`, and its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Unpack

from netloupe.explorer.arguments import explain_methods
from netloupe.explorer.errors import CopyError
from netloupe.explorer.model import Graph, Model, Node, Tensor, Value, upper_rooms
from netloupe.explorer.model.drawing import Drawable

from .by_element import DifferencesByElement
from .changed_elements import (
    NodeDifference,
    TensorDifference,
    list_all_changes,
    list_other_numbers,
)
from .changes import IGNORABLE, Change, Ignored, have_same_ends
from .counts import Counts, count_differences
from .difference_table import tabulate_diff
from .entries import list_difference_entries
from .entry import DifferenceEntry
from .folding import Fold
from .matching import Matching
from .merged_model import MergedModel
from .merging import merge_models
from .moved import find_moved
from .node_states import NodeState, classify_nodes, differs
from .pair import Pair
from .replaced import Replacement

if TYPE_CHECKING:
    from os import PathLike

    import pandas

    from netloupe.explorer.options import WeightContent

#: how two models differ: not at all; in what may be ignored; in the numbers of weights; in more;
#: or in nothing as far as it could be read
Verdict = Literal["identical", "cosmetic", "weights", "structure", "unread"]


@explain_methods()
@dataclass(repr=False)
class Diff(Drawable):
    """What differs between two models.

    Parameters
    ----------
    left, right
        The models.
    matching
        What of them is the same.
    interface
        What differs in what the models take and give.
    about
        What differs in what they say of themselves: opsets, ir_version, metadata …
    nodes
        Paired nodes that are not the same.
    fused
        Pairs of several nodes on a side.
    folds
        Of these the convolutions that hold a batch normalization of the other model, with what
        they have beside what that gives. Where both are equal, none of their weights is told.
    left_alone, right_alone
        Nodes that are on one side only, but constants.
    replaced
        Short chains of these, of the left and of the right model, that stand in each other's
        place; what they compute is not compared.
    tensors
        Paired weights that are not the same. A joined weight is in as many as parts of it differ.
    equal_tensors
        How many paired weights hold the same, whatever they are called and however they are
        stored; of joined weights each part counts.
    left_tensors, right_tensors
        Weights that nothing on the other side is paired with. Scales and zero points of weights
        that were quantized are none of them.
    ignored
        What was to be no difference.
    unjudged
        What could not be compared beside weights, and why: what a reader left out of a file, and
        constants that cannot be read.
    places
        Of what is in ``about``, by what it is, the values of sparse initializers and the graphs
        inside the models that it is told of.
    """

    left: Model
    right: Model
    matching: Matching
    interface: list[Change] = field(default_factory=list)
    about: list[Change] = field(default_factory=list)
    nodes: list[NodeDifference] = field(default_factory=list)
    fused: list[Pair] = field(default_factory=list)
    folds: dict[Pair, Fold] = field(default_factory=dict)
    left_alone: list[Node] = field(default_factory=list)
    right_alone: list[Node] = field(default_factory=list)
    replaced: list[Replacement] = field(default_factory=list)
    tensors: list[TensorDifference] = field(default_factory=list)
    equal_tensors: int = 0
    left_tensors: list[Tensor] = field(default_factory=list)
    right_tensors: list[Tensor] = field(default_factory=list)
    ignored: frozenset[str] = frozenset()
    unjudged: list[str] = field(default_factory=list)
    places: dict[str, list[Value | Graph]] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """How the models differ, in a word.

        ``"identical"`` and ``"cosmetic"`` are said only where everything was looked at:
        ``"unread"`` is for models in which nothing differs, but weights or other parts of a file
        could not be read.
        """
        if self.has_other_structure:
            return "structure"
        if self.has_other_weights:
            return "weights"
        if self.unread or self.unjudged:
            return "unread"
        return "cosmetic" if self.aspects else "identical"

    @property
    def is_compatible(self) -> bool:
        """Whether the inputs and outputs of the right model fit where those of the left one did.

        It takes inputs of the same names and gives at least the outputs of the left one, with
        types that hold what the left ones do.
        """
        return not self.interface

    @property
    def has_same_interface(self) -> bool:
        """Whether both models take and give values of the same names and types, in one order.

        That says nothing of what is computed between them.
        """
        return have_same_ends(self.left.graph, self.right.graph)

    @property
    def has_other_structure(self) -> bool:
        """Whether more than the numbers in weights differs."""
        return bool(
            self.fused
            or self.left_alone
            or self.right_alone
            or self.interface
            or any(not change.aspect for change in list_all_changes(self))
        )

    @property
    def has_other_weights(self) -> bool:
        """Whether any weight differs, was added or removed."""
        return bool(
            self.left_tensors or self.right_tensors or any(one.numbers for one in self.tensors)
        )

    @property
    def other_numbers(self) -> list[Change]:
        """What differs of numbers that are stored, but not as dense weights.

        These are values and indices of sparse initializers, and what ``Constant`` nodes hold in
        other attributes than ``value``.
        """
        return list_other_numbers(self)

    @property
    def unread(self) -> list[TensorDifference]:
        """Paired weights of equal dimensions whose elements could not be read and compared."""
        return [one for one in self.tensors if one.are_unread]

    @property
    def aspects(self) -> list[Ignored]:
        """What differs of ``names, docs, storage, defaults, order``, in that order."""
        found = {change.aspect for change in list_all_changes(self)}
        return [aspect for aspect in IGNORABLE if aspect in found]

    def to_dict(self) -> dict[str, Any]:
        """Return what differs as ``netloupe diff --json`` prints it: plain data, which pickles."""
        return upper_rooms.encode_diff(self)

    def __repr__(self) -> str:
        return f"<Diff: {upper_rooms.write_verdict(self)}>"

    def __reduce__(self) -> NoReturn:
        raise CopyError(
            "a Diff cannot be copied or pickled, since it holds both models. What it says, "
            "diff.to_dict() gives as plain data."
        )

    def to_dataframe(self) -> pandas.DataFrame:
        """Return a row for each difference, with what it was before and is after.

        Raises
        ------
        MissingPackageError
            Where pandas is not installed.
        """
        return tabulate_diff(self)

    @cached_property
    def states(self) -> dict[Node, NodeState]:
        """Nodes of both models that are not the same: those of the left one are removed.

        Paired nodes are changed where they do something else, or take a weight that differs; they
        are told by the node of the right model.
        """
        return classify_nodes(self)

    @cached_property
    def removed_nodes(self) -> list[Node]:
        """Nodes of the left model alone in whose place the right one has none."""
        replaced = {node for one in self.replaced for node in one.left}
        return [node for node in self.left_alone if node not in replaced]

    @cached_property
    def added_nodes(self) -> list[Node]:
        """Nodes of the right model alone in whose place the left one has none."""
        replaced = {node for one in self.replaced for node in one.right}
        return [node for node in self.right_alone if node not in replaced]

    @cached_property
    def moved(self) -> list[Pair]:
        """Pairs of nodes that stand elsewhere: in another module, or between others in a chain."""
        return find_moved(self.matching, self.nodes)

    @cached_property
    def entries(self) -> list[DifferenceEntry]:
        """What differs as a list in which each thing is told once, the most important first.

        Whole blocks come before operators, these before single nodes, these before weights; what
        is equal by calculation, what could not be read and what is only written otherwise are last.
        """
        return list_difference_entries(self)

    @cached_property
    def counts(self) -> Counts:
        """How many nodes and weights are kept, and how many are not."""
        return count_differences(self)

    @cached_property
    def merging(self) -> MergedModel:
        """Both models as one, and what of it comes from which."""
        other = [one.left for one in self.tensors if differs(one)]
        merged = merge_models(self.matching, self.states, other)
        merged.model.comparison = self
        return merged

    @property
    def merged(self) -> Model:
        """Both models as one: what the right one has, and with it what only the left one has.

        Its paths are those of the right model; what is removed has its own path, with
        ``(removed)`` behind it where that is taken.
        """
        return self.merging.model

    @property
    def paints(self) -> upper_rooms.Paints:
        """How the merged model is painted, by path: what is added, removed and changed."""
        return upper_rooms.paint_differences(self)

    def _subject(self, view: upper_rooms.ViewKeywords) -> tuple[Model, upper_rooms.ViewKeywords]:
        if view.get("title") is None:
            view = {**view, "title": upper_rooms.title_difference(self)}
        return self.merged, view

    def _complete(
        self, paint: Mapping[Any, upper_rooms.Paint] | None, view: upper_rooms.ViewKeywords
    ) -> Mapping[Any, upper_rooms.Paint]:
        return {
            **upper_rooms.paint_differences(self, view.get("grouping") or "auto"),
            **(paint or {}),
        }

    def to_panes(
        self,
        path: str | PathLike[str] | None = None,
        *,
        weights: WeightContent | None = None,
        size_limit: str | int | None = None,
        **view: Unpack[upper_rooms.ViewKeywords],
    ) -> str:
        """Write both models side by side as one HTML page, which needs nothing but a browser.

        Each pane is the explorer of one model, painted by what differs. What is selected, opened
        and looked at in one is shown in the other, by the pairs of :attr:`matching`.

        Parameters
        ----------
        path
            A file to write; ``~`` is the home folder.
        weights, size_limit
            As for :meth:`to_html`.
        **view
            What is shown of each model and how: see :class:`~netloupe.ViewKeywords`; no ``graph``
            and no ``focus``.

        Raises
        ------
        ViewError
            For an option that does not exist or does not fit.
        OutputError
            Where the file cannot be written, its name promises another format, or no page is as
            small as ``size_limit``.
        """
        return upper_rooms.draw_panes(self, path, weights, size_limit, **view).decode()

    def to_ladder(
        self,
        path: str | PathLike[str] | None = None,
        *,
        format: str | None = None,
        **view: Unpack[upper_rooms.ViewKeywords],
    ) -> bytes:
        """Draw both models as a ladder of blocks, with the list of :attr:`entries` beside it.

        The older model is the left column, the newer one the right one. What differs is opened
        into its blocks, all else is closed; links join what the matcher pairs.

        Parameters
        ----------
        path
            A file to write; ``~`` is the home folder.
        format
            ``svg``, ``html`` (a still picture), ``pdf`` or ``png``; what the name of the file ends
            in where None, ``svg`` without a file.
        **view
            Of :class:`~netloupe.ViewKeywords` these: ``theme``, ``background``, ``title``,
            ``font``, ``scale`` and ``page``.

        Returns
        -------
        bytes
            The picture; SVG and HTML in UTF-8.

        Raises
        ------
        ViewError
            For an option that a ladder does not have or that does not fit, and for an unknown
            format.
        OutputError
            Where the file cannot be written, or its name promises another format.
        """
        return upper_rooms.draw_ladder(self, path, format, **view)

    def find_pair(self, node: Node) -> Pair | None:
        """Return the pair that a node of either model is in; None for none.

        Parameters
        ----------
        node
            A node of the model before or of the one after.
        """
        return self._by_element.pairs.get(node)

    def list_changes(self, node: Node) -> tuple[Change, ...]:
        """Return in what a node of either model differs from its partner, weights aside.

        Parameters
        ----------
        node
            A node of the model before or of the one after.

        Returns
        -------
        tuple of Change
            Empty where nothing differs, and for a node without a partner.
        """
        pair = self._by_element.pairs.get(node)
        return () if pair is None else self._by_element.changes.get(pair.right[0], ())

    def find_tensor_difference(self, tensor: Tensor) -> TensorDifference | None:
        """Return how a weight of either model differs from its partner; None where it does not.

        Parameters
        ----------
        tensor
            A tensor of the model before or of the one after. Of a joined weight the first part that
            differs is told; see :meth:`list_tensor_differences`.
        """
        return next(iter(self.list_tensor_differences(tensor)), None)

    def list_tensor_differences(self, tensor: Tensor) -> tuple[TensorDifference, ...]:
        """Return how a weight of either model differs from what it is paired with.

        Parameters
        ----------
        tensor
            A tensor of the model before or of the one after.

        Returns
        -------
        tuple of TensorDifference
            One, or none; of a weight that is several in the other model one for each part that
            differs.
        """
        return tuple(self._by_element.tensors.get(tensor, ()))

    @cached_property
    def _by_element(self) -> DifferencesByElement:
        return DifferencesByElement(self.matching.pairs, self.nodes, self.tensors)
