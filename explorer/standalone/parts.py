"""Everything that can be in a page, and the page that is put together of some of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, get_args

from netloupe.explorer.layout import Composer
from netloupe.explorer.notation import write_bytes, write_count
from netloupe.explorer.options import Direction
from netloupe.explorer.overlays import Overlay
from netloupe.explorer.progress import part, step
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.picture import Picture
from netloupe.explorer.view import Item, View

from .blocks import write_block
from .content import PageContent
from .describing import Describer
from .document import encode, write_html
from .legend_block import write_legend
from .level_block import Numbers
from .levels import write_levels
from .limits import USUAL, Limits
from .link_block import write_links
from .overlay_block import write_overlays
from .ranking import RankedFacts
from .renamed_repetitions import RepetitionComparer
from .search_block import write_search
from .weight_statistics import WeightBudget, WeightWriter

#: the number of the description of the model itself
_MODEL = -1
#: the levels that have the texts of both directions
_TEXTS = "levels-TB"


class PageParts:
    """All that can be in a page, before it is known what of it may be.

    Parameters
    ----------
    still
        The picture that the page begins with.
    composer
        What laid it out.
    limits
        How much is written at most.
    content, budget
        What is written of weights, and how much of them is read.
    is_ranked
        Whether descriptions can be left out, those first that can be spared most.
    closed
        A view of the same with everything closed that nothing else is done with; made where None.
    others
        Further blocks, by their names, which are never left out.
    overlays
        What boxes can be coloured by.
    """

    def __init__(
        self,
        still: Picture,
        composer: Composer,
        limits: Limits,
        content: PageContent,
        budget: WeightBudget | None,
        *,
        is_ranked: bool = False,
        closed: View | None = None,
        others: Mapping[str, bytes] = MappingProxyType({}),
        overlays: Sequence[Overlay] = (),
    ) -> None:
        model, options, view = still.model, still.options, still.view
        shares = still.labels.shares
        self.content, self.limits = content, limits
        self.weights = WeightWriter(content.weights, budget, model.source)
        repetitions = RepetitionComparer(view.operand_kinds)
        describer = Describer(model, self.weights, repetitions)
        self.facts = facts = RankedFacts(describer, limits, is_ranked=is_ranked)
        facts.add_model(_MODEL, view)
        self._findable = len(model)
        self._direction = options.direction
        #: the levels and what is found in them
        self.blocks: dict[str, bytes] = {}
        texts = Numbers()
        numbers: dict[str, int] = {}
        self.linked: list[str] = []
        self._left_closed: set[str] = set()
        everything = closed or View(model, view.graph, view.grouping, view.only, view.unnamed, view)
        for direction in get_args(Direction):
            is_first = direction == options.direction
            is_told = not self.blocks
            # describing takes about as long as laying out, and reading weights a little
            with part(*((0.0, 0.6) if is_told else (0.65, 0.9))):
                levels = write_levels(
                    everything,
                    still.labels if is_first else Labels(options.details, direction, shares),
                    direction,
                    composer.recall(view) if is_first else None,
                    texts,
                    partial(_note, facts, numbers, everything) if is_told else None,
                    limits,
                    self._left_closed,
                    repetitions,
                    composer.patience,
                    composer.placer,
                )
            self.blocks[f"levels-{direction}"] = levels
            if is_told:
                step("collecting what can be found", 0.6)
                self.blocks["search"] = write_search(everything, numbers, limits.findable)
                # what is not in the file is around something that is
                if view.only is None and limits is USUAL:
                    self.blocks["links"] = write_links(everything, numbers)
                self.linked = facts.add_linked(numbers, everything)
                if overlays:
                    step("colouring", 0.63)
                    self.blocks["overlays"] = write_overlays(overlays, everything, numbers)
        self.blocks |= others
        #: blocks of descriptions, what can be spared most last, and the elements in each
        self.described, self.elements = facts.write()

    @property
    def size(self) -> int:
        """How many characters levels and what is found in them take in a page."""
        return sum(len(encode(block)) for block in self.blocks.values())

    def put_together(
        self,
        data: dict[str, Any],
        svg: str,
        described: int | None = None,
        weighed: int | None = None,
    ) -> tuple[bytes, list[str]]:
        """Return a page of them, and notices about it.

        Parameters
        ----------
        data, svg
            What the page is told beside them, and the picture where no script runs.
        described, weighed
            So many blocks of descriptions and so many weights are in it; all where None.
        """
        limit = write_bytes(self.content.size_limit or 0)
        elements = self.elements[:described]
        listed = [number for each in elements for number in each]
        told = {*listed}
        linked = [path if -2 - k in told else "" for k, path in enumerate(self.linked)]
        blocks = {
            **self.blocks,
            "legend": write_legend(),
            "elements": write_block({"elements": listed}, {"linked": linked}),
            **{f"facts-{number}": block for number, block in enumerate(self.described[:described])},
        }
        with part(0.9, 1.0):
            histograms, weight_counts, unread = self.weights.write(
                weighed, f"the page would have been larger than {limit}"
            )
        blocks |= {f"weights-{number}": block for number, block in enumerate(histograms)}
        # a browser shows what stands first while it reads the rest
        first = (_TEXTS, f"levels-{self._direction}", "elements")
        blocks = {name: blocks[name] for name in first} | blocks
        notices = [*data["notices"]]
        notices += self._say_limits()
        notices += unread if weighed is None else []
        left_out = self._list_left_out(len(listed), weighed)
        if left_out:
            notices.append(f"To take at most {limit} this page leaves out {left_out}.")
        data = {
            **data,
            "mark": hashlib.sha256(blocks[_TEXTS]).hexdigest()[:8],
            "notices": notices,
            "described": [len(each) for each in elements],
            "weights": weight_counts,
            "has_links": "links" in self.blocks,
            "has_review": "review" in self.blocks,
        }
        return write_html(data["title"], data, blocks, svg).encode(), notices

    def _say_limits(self) -> list[str]:
        """Return a notice where the model is so large that not everything was looked at."""
        left_out = ["not everything can be opened"] if self._left_closed else []
        if self.facts.is_cut:
            left_out.append(f"descriptions are of {write_count(self.facts.count, 'element')}")
        if self.limits.findable < self._findable:
            left_out.append(f"a search looks at the first {self.limits.findable:,} elements")
        if not left_out:
            return []
        return [f"The model is so large that this page holds a part of it: {', '.join(left_out)}."]

    def _list_left_out(self, described: int, weighed: int | None) -> str:
        """Return in words what is left out for the page not to be too large."""
        left_out = []
        weights = len(self.weights)
        if weighed is not None and self.content.weights != "none" and weights:
            left_out.append(
                f"statistics of {weights - weighed:,} of {write_count(weights, 'weight')}"
            )
        missing = self.facts.count - described
        if missing:
            left_out.append(
                f"descriptions of {missing:,} of {write_count(self.facts.count, 'element')}"
            )
        if self.limits.depth is not None:
            left_out.append(
                "what is in any group"
                if self.limits.depth == 0
                else f"what is in more than {write_count(self.limits.depth, 'group')} "
                "inside one another"
            )
        return " and ".join(filter(None, (", ".join(left_out[:-1]), *left_out[-1:])))


def _note(
    facts: RankedFacts,
    numbers: dict[str, int],
    view: View,
    number: int,
    path: str,
    around: Item,
    depth: int,
) -> None:
    """Describe what is at a path in an open item, and remember its number."""
    numbers[path] = number
    facts.add(number, path, view, around, depth)
