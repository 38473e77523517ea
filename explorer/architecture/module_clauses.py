"""What a network is said to be along the modules that its picture draws, in few clauses.

A module of one kind of block is told by that kind; one of several by its author's name if that says
something, with its most telling parts; and else by what is in it. Modules in a row whose names
differ in a number only are a row of blocks, or stages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from .alternations import find_alternation, tell_alternation
from .claims import Inventory
from .clause import MINOR, Clause, join_equal, join_used, join_uses, make_named, weigh_pieces
from .common_clauses import tell_blocks, tell_kinds
from .counted_words import count_pieces
from .fitting import MOST_CLAUSES, MOST_WORDS, Fitter
from .interleaved import gather_lists
from .looped_layers import join_looped
from .modules import Module, join_first, join_last, list_rows, open_row
from .outline import Outline
from .piece_clauses import count_uses, tell_leaves, tell_named_pieces, tell_pieces
from .piece_sizes import follows_on
from .piece_words import name_piece, write_shortly
from .pieces import Piece, are_called_in_turn
from .row_clauses import tell_row
from .row_names import name_module
from .stage_clauses import IN_STAGES, write_staged

#: what is between stages has so small a share of them
_MOST_STEPS = 0.25
#: so many layers in a row may be told by how many they are
_MOST_OF_ROW = 12
#: kinds of block of which several may stand side by side, one for each of what follows them
_CHOOSING = frozenset({"experts", "gate"})


class ModuleTeller:
    """Tells modules of one outline.

    Parameters
    ----------
    outline
        The outline.
    pieces
        The blocks of the modules.
    inventory
        What there is of each kind.
    root
        The modules.
    layer_count
        How many layers of transformers the whole graph has; 0 for those of the modules.
    """

    def __init__(
        self,
        outline: Outline,
        pieces: Sequence[Piece],
        inventory: Inventory,
        root: Module,
        layer_count: int = 0,
    ) -> None:
        self._outline = outline
        self._root = root
        self._fitter = Fitter(outline, pieces, inventory, root)
        self._layer_count = layer_count or sum(piece.layer is not None for piece in pieces)

    def tell_whole(self, most: int = MOST_CLAUSES, words: int = MOST_WORDS) -> list[Clause]:
        """Return what all modules of a graph are, in as few clauses as are read in one breath."""
        return self._fitter.fit(self.tell(self._root.inner), most, words)

    def tell_shortly(self, clauses: Sequence[Clause]) -> list[Clause]:
        """Return clauses with less of what is so of layers of transformers."""
        return [self._fitter.tell_shortly(clause) for clause in clauses]

    def tell_kinds(self, pieces: Sequence[Piece]) -> list[Clause]:
        """Return for each kind among some blocks how many there are."""
        return self._fitter.tell_kinds(pieces)

    def is_true(self, clauses: Sequence[Clause]) -> bool:
        """Return whether clauses say no number of blocks that is not there."""
        return self._fitter.is_true(clauses)

    def tell_brief(self, clause: Clause) -> Clause:
        """Return a clause of which less is said: of small steps their number alone."""
        return self._fitter.tell_brief(clause)

    def tell(self, modules: Sequence[Module], *, is_joined: bool = True) -> list[Clause]:
        """Return what modules in order are; alike ones that stand apart together or each."""
        modules = gather_lists(modules)
        start, end = find_alternation(modules)
        turns = tell_alternation(self._outline, modules[start:end]) if end else None
        if turns is not None:
            before, behind = (
                self.tell(some, is_joined=is_joined) for some in (modules[:start], modules[end:])
            )
            return [*before, turns, *behind]
        clauses: list[Clause] = []
        modules = join_first(join_last(modules))
        steps: dict[int, list[Piece]] = {}
        if is_joined:
            modules, steps = _leave_out_steps(modules)
        for is_leaf, alike in groupby(modules, key=lambda module: module.group is None):
            if is_leaf:
                clauses += tell_leaves(
                    self._outline, [piece for one in alike for piece in one.pieces]
                )
                continue
            alike_modules = [*alike]
            for row in list_rows(alike_modules, in_turns=is_joined):
                opened = open_row(row)
                told = _tell_in_turns(self._outline, alike_modules, row, steps)
                if not told:
                    told = self._tell_row(opened) if len(opened) > 1 else self._tell_one(opened[0])
                between = [piece for module in row for piece in steps.get(id(module), ())]
                # what makes maps larger is told: it is what a decoder is for
                larger = [piece for piece in between if piece.part.is_transposed]
                between = [piece for piece in between if not piece.part.is_transposed]
                rest = sum(one.weight for one in told)
                if told and weigh_pieces(between) > _MOST_STEPS * rest:
                    told += self._fitter.tell_kinds(between)
                elif told and between:  # they are steps of what is told
                    told[0] = replace(told[0], scope=(*told[0].scope, *between), is_plain=False)
                clauses += told + self._fitter.tell_kinds(larger)
        if not is_joined:
            return join_used([*self._join_neighbours(join_looped(self._outline, clauses))])
        clauses = join_looped(self._outline, self._join_beside(clauses))
        clauses = [*self._join_neighbours(clauses)]
        return join_equal(join_used(self._join_stages(self._join_larger(clauses))))

    def _join_larger(self, clauses: list[Clause]) -> list[Clause]:
        """Return clauses with all transposed convolutions as one between alike blocks."""
        places = [
            place
            for place, one in enumerate(clauses)
            if one.pieces and all(piece.part.is_transposed for piece in one.pieces)
        ]
        if len(places) < 2:
            return clauses
        between = [
            one
            for place, one in enumerate(clauses[places[0] : places[-1]], places[0])
            if place not in places
        ]
        blocks = [p for one in between for p in one.scope if p.kind not in MINOR]
        if len({p.token for p in blocks}) != 1 or blocks[0].kind not in IN_STAGES:
            return clauses
        pieces = [piece for place in places for piece in clauses[place].pieces]
        kept = [one for place, one in enumerate(clauses) if place not in places]
        return [*kept[: places[0]], *self._fitter.tell_kinds(pieces), *kept[places[0] :]]

    def _join_stages(self, clauses: list[Clause]) -> list[Clause]:
        """Return clauses with blocks of one kind as stages, where little else is between them."""
        for token in dict.fromkeys(one.token for one in clauses if _is_staged(one)):
            places = [place for place, one in enumerate(clauses) if one.token == token]
            between = clauses[places[0] : places[-1] + 1]
            if len(places) < 2 or not all(
                one.token == token or (one.is_minor and not one.name) for one in between
            ):
                continue
            steps = sum(one.weight for one in between if one.token != token)
            if steps > _MOST_STEPS * sum(one.weight for one in between):
                continue
            held = [clauses[place].pieces for place in places]
            scope = tuple(piece for one in between for piece in one.scope)
            if all(follows_on(self._outline, found) for found in held):
                joined = write_staged(self._outline, held, scope)
            else:
                pieces = [piece for found in held for piece in found]
                noun = name_piece(self._outline, pieces)
                joined = Clause(count_pieces(len(pieces), noun), scope)
            rest: list[Clause] = []
            if not joined.text.startswith("stages"):  # else they are steps from one to the next
                own = {id(piece) for found in held for piece in found}
                apart = [piece for piece in scope if id(piece) not in own]
                rest = self._fitter.tell_kinds(apart)
                scope = tuple(piece for piece in scope if id(piece) in own)
                joined = replace(joined, scope=scope, is_plain=True)
            clauses = [*clauses[: places[0]], joined, *rest, *clauses[places[-1] + 1 :]]
        return clauses

    def _join_beside(self, clauses: list[Clause]) -> list[Clause]:
        """Return clauses with gates together that stand side by side, as before towers.

        None of them takes what another gives; they are told where the first of them is.
        """
        joined: list[Clause] = []
        for clause in clauses:
            place = next(
                (
                    at
                    for at, one in enumerate(joined)
                    if clause.token is not None
                    and one.token == clause.token
                    and clause.pieces[0].kind in _CHOOSING
                    and at < len(joined) - 1
                    and not any(p.part.follows(q.part) for p in clause.pieces for q in one.pieces)
                ),
                -1,
            )
            if place < 0:
                joined.append(clause)
            else:
                pieces = [*joined[place].pieces, *clause.pieces]
                joined[place] = tell_pieces(self._outline, pieces)
        return joined

    def _join_neighbours(self, clauses: Sequence[Clause]) -> Iterator[Clause]:
        """Yield clauses, with blocks of one kind together that follow one another."""

        def find(clause: Clause) -> object:
            layers = [piece for piece in clause.pieces if piece.layer is not None]
            widths = {piece.part.widths[-1:] for piece in layers}  # other widths are another stack
            return (clause.token, *widths) if clause.token else clause

        for token, found in groupby(clauses, key=find):
            alike = [*found]
            if len(alike) == 1 or isinstance(token, Clause):
                yield from alike
                continue
            for row in self._list_chains(alike):
                pieces = [piece for clause in row for piece in clause.pieces]
                yield tell_pieces(self._outline, pieces) if len(row) > 1 else row[0]

    def _list_chains(self, clauses: Sequence[Clause]) -> Iterator[list[Clause]]:
        """Yield clauses with those together of which each takes what the one before gives.

        Layers of heads side by side are no chain; blocks of other kinds are told together.
        """
        row = [clauses[0]]
        for clause in clauses[1:]:
            kind = clause.pieces[0].kind
            ends = [row[-1].pieces[-1], clause.pieces[0]]
            is_single = min(len(row[-1].pieces), len(clause.pieces)) == 1
            if kind != "linear" or is_single or follows_on(self._outline, ends):
                row.append(clause)
                continue
            yield row
            row = [clause]
        yield row

    def _tell_one(self, module: Module) -> list[Clause]:
        """Return what a module by itself is."""
        pieces = module.pieces
        if module.is_repeat and len(module.inner) > 1:
            return self._tell_row(module.inner)
        if module.is_repeat and module.times > 1:
            return [tell_blocks(self._outline, [module], [module.pieces])]
        uses = count_uses(pieces)
        name = name_module(module)
        if not name and _is_long_row(module):
            return self.tell(module.inner, is_joined=False)
        if len({piece.token for piece in pieces}) == 1:
            return [tell_named_pieces(self._outline, pieces, name, self._layer_count)]
        inside = self.tell(module.inner)
        if name:
            inside = self._fitter.fit_inside(self._choose_inside(inside, pieces, name), pieces)
            if len(inside) == 1 and inside[0].name == name:
                return inside
            shown = [replace(one, uses=1) if one.uses == uses else one for one in inside]
            return [make_named(name, shown, pieces, uses)]
        if uses > 1 and all(
            clause.uses == uses and are_called_in_turn(inside[0].scope, clause.scope)
            for clause in inside
        ):
            return [join_uses(inside, uses)]
        return inside

    def _tell_row(self, row: Sequence[Module]) -> list[Clause]:
        """Return what modules in a row are: together, or each by itself where that says nothing."""
        told = tell_row(self._outline, row, self._layer_count)
        return told or [clause for module in row for clause in self._tell_one(module)]

    def _choose_inside(
        self, inside: list[Clause], pieces: Sequence[Piece], name: str
    ) -> list[Clause]:
        """Return what is told of a module with a name: what is in it, or how much of each kind."""
        is_plain = all(piece.kind in MINOR for piece in pieces)
        is_long = any(" blocks of " in one.text or " blocks with " in one.text for one in inside)
        if is_plain or is_long:
            return tell_kinds(self._outline, [pieces])
        told: list[Clause] = []
        for clause in inside:
            is_same = clause.name and {*clause.name.split(" ")} <= {*name.split(" ")}
            if is_same and clause.parts:
                told += clause.parts
            elif clause.pieces and clause.pieces[0].layer is not None:
                text = write_shortly(self._outline, clause.pieces, len(clause.pieces))
                told.append(replace(clause, text=text, name=""))
            else:
                told.append(replace(clause, name="") if is_same else clause)
        return told


def _is_long_row(module: Module) -> bool:
    """Return whether a module is of so many layers of one kind that their number says nothing.

    What its parts are called says more, as encoder and decoder.
    """
    inner = [one for one in module.inner if one.group is not None]
    is_plain = len({piece.token for piece in module.pieces}) == 1 and all(
        piece.kind in MINOR and piece.uses == piece.fold[1] == 1 for piece in module.pieces
    )
    return (
        is_plain
        and len(module.pieces) > _MOST_OF_ROW
        and 1 < len(inner) == len(module.inner)
        and all(name_module(one) and len(one.pieces) > 1 for one in inner)
    )


def _tell_in_turns(
    outline: Outline,
    modules: Sequence[Module],
    row: Sequence[Module],
    steps: Collection[int],
) -> list[Clause]:
    """Return the stages that modules in a row are with others between them; nothing for others."""
    places = [place for place, module in enumerate(modules) if module in row]
    pieces = [piece for module in row for piece in module.pieces]
    is_apart = len(row) > 2 and (
        all(two - one > 1 for one, two in pairwise(places))
        or all(id(module) in steps for module in row[1:])
    )
    is_alike = len({piece.token for piece in pieces}) == 1 and pieces[0].kind in IN_STAGES
    if not is_apart or not is_alike or pieces[0].uses > 1 or pieces[0].fold[1] > 1:
        return []
    told = write_staged(outline, [module.pieces for module in row], pieces, is_apart=True)
    return [told] if told.text.startswith("stages") else []


def _is_staged(clause: Clause) -> bool:
    is_once = clause.token is not None and clause.uses == 1
    return is_once and clause.pieces[0].kind in IN_STAGES


def _leave_out_steps(modules: Sequence[Module]) -> tuple[list[Module], dict[int, list[Piece]]]:
    """Return modules without what is a step from one to the next of a row, as to smaller maps.

    And for each module, by its id, the steps before it that are left out.
    """
    kept: list[Module] = []
    steps: dict[int, list[Piece]] = {}
    waiting: list[Module] = []
    for module in modules:
        if module.group is None and module.pieces[0].kind in MINOR and kept:
            waiting.append(module)
            continue
        if not (kept and "#" in kept[-1].mask and kept[-1].mask == module.mask):
            kept += waiting
        elif waiting:
            steps[id(module)] = [piece for one in waiting for piece in one.pieces]
        waiting = []
        kept.append(module)
    inner = {piece.token for row in steps.values() for piece in row}
    if any(piece.token in inner for module in waiting for piece in module.pieces):
        return [*modules], {}  # one stands behind each of a row
    return kept + waiting, steps
