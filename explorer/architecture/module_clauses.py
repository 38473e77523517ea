"""What a network is said to be along the modules that its picture draws, in few clauses.

A module of one kind of block is told by that kind; one of several by its author's name if that says
something, with its most telling parts; and else by what is in it. Modules in a row whose names
differ in a number only are a row of blocks, or stages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from netloupe.explorer.notation import write_count

from .cells import UnrolledDetails
from .clause import (
    MINOR,
    MOST_CLAUSES,
    Clause,
    join_equal,
    shorten,
    weigh_pieces,
    write_inner_clauses,
)
from .module_names import tell_class, tell_name
from .modules import Module, list_rows, open_lists, open_row, walk_modules
from .outline import Outline
from .piece_runs import PieceRun, find_piece_runs
from .piece_words import (
    count_pieces,
    follows_on,
    join_with_and,
    name_alike,
    name_piece,
    shorten_way,
    write_in_blocks,
    write_pieces,
    write_plural,
    write_run,
    write_shortly,
)
from .pieces import Piece
from .sketch import write_row

#: kinds of block that stages are counted in, the most telling first
_STAGED = (
    *("transformer", "attention", "group", "mixer", "residual", "inverted", "separable"),
    *("mlp", "conv"),
)
#: of these a stage has so many that they are told together only where nothing else is there
_PLAIN = frozenset({"conv", "mlp"})
#: kinds of block that go through stages
_IN_STAGES = frozenset({"group", "inverted", "residual", "separable"})
#: names that say no more of one layer than that it is one
_STEPS = frozenset({"action", "embedder", "embedding", "prediction", "projection"})
_ATTENDING = frozenset({"attention", "transformer"})
#: of fewer modules in a row each is told
_LEAST_OF_MANY = 4
#: so much of a row is of blocks that are told
_LEAST_OF_ROW = 0.6
#: of modules in a row that differ so many kinds of block are counted
_MOST_KINDS = 3
#: what rows of blocks are parts of
_WHOLES = frozenset({"backbone", "decoder", "encoder", "trunk"})
#: a name says nothing of a module that holds less besides its largest part
_LEAST_SHARE = 0.5


class ModuleTeller:
    """Tells modules of one outline."""

    def __init__(self, outline: Outline, pieces: Sequence[Piece]) -> None:
        self._outline = outline
        self._pieces = pieces

    def tell_whole(self, modules: Sequence[Module]) -> list[Clause]:
        """Return what all modules of a graph are, in as few clauses as are read in one breath."""
        clauses = self.tell(modules)
        once = [one for one in clauses if one.token is not None and one.uses == 1]
        kinds = Counter(map(_kind_of, once))
        for kind, count in kinds.items():
            alike = [one for one in once if _kind_of(one) == kind]
            is_row = all(len(clause.pieces) == 1 for clause in alike)
            is_one = len({clause.token for clause in alike}) == 1 and kind != "conv"
            if len(clauses) <= MOST_CLAUSES or count == 1 or not (is_one or (is_row and count > 3)):
                continue
            pieces = [piece for clause in alike for piece in clause.pieces]
            noun = name_alike(self._outline, pieces)
            text = write_in_blocks(self._outline, [[piece] for piece in pieces], 1)
            told = count_pieces(len(pieces), noun)
            told += text.removeprefix(noun) if text.startswith(noun) else ""
            weight = sum(clause.weight for clause in alike)
            joined = replace(alike[0], text=told, weight=weight, pieces=())
            gone = set(map(id, alike[1:]))
            clauses = [
                joined if clause is alike[0] else clause
                for clause in clauses
                if id(clause) not in gone
            ]
        return shorten(clauses)

    def tell(self, modules: Sequence[Module]) -> list[Clause]:
        """Return what modules in order are."""
        clauses: list[Clause] = []
        modules = _leave_out_steps(modules)
        for is_leaf, alike in groupby(modules, key=lambda module: module.group is None):
            if is_leaf:
                clauses += self._tell_leaves([piece for one in alike for piece in one.pieces])
                continue
            for row in list_rows([*alike]):
                opened = open_row(row)
                told = self._tell_row(opened) if len(opened) > 1 else self._tell_one(opened[0])
                clauses += told
        clauses = [*self._join_neighbours(clauses)]
        return join_equal(_join_used(self._join_stages(clauses)))

    def _join_stages(self, clauses: list[Clause]) -> list[Clause]:
        """Return clauses with blocks of one kind as stages, where little else is between them."""
        for token in dict.fromkeys(one.token for one in clauses if _is_staged(one)):
            places = [place for place, one in enumerate(clauses) if one.token == token]
            between = clauses[places[0] : places[-1] + 1]
            if len(places) < 2 or not all(
                one.token == token or (one.is_minor and not one.name) for one in between
            ):
                continue
            held = [clauses[place].pieces for place in places]
            weight = sum(one.weight for one in between)
            if all(map(self._is_way, held)):
                joined = self._write_staged(held, weight)
            else:
                pieces = [piece for found in held for piece in found]
                noun = name_piece(self._outline, pieces)
                joined = Clause(count_pieces(len(pieces), noun), weight)
            dropped = {_kind_of(one) for one in between} - {_kind_of(between[0])}
            before = clauses[: places[0]]
            if before and before[-1].is_minor and _kind_of(before[-1]) in dropped:
                before.pop()  # it is one of several
            clauses = [*before, joined, *clauses[places[-1] + 1 :]]
        return clauses

    def _join_neighbours(self, clauses: Sequence[Clause]) -> Iterator[Clause]:
        """Yield clauses, with blocks of one kind together that follow one another."""

        def find(clause: Clause) -> object:
            return clause.token or clause

        for token, found in groupby(clauses, key=find):
            alike = [*found]
            if len(alike) == 1 or isinstance(token, Clause):
                yield from alike
            else:
                yield self._tell_pieces([piece for clause in alike for piece in clause.pieces])

    def _tell_leaves(self, pieces: Sequence[Piece]) -> Iterator[Clause]:
        """Yield what blocks are that are in no group of their own: runs of alike ones."""
        for (uses, fold), row in groupby(pieces, key=lambda piece: (piece.uses, piece.fold)):
            alike = [*row]
            is_fold = fold[1] > 1
            runs = (
                [PieceRun([alike], fold[1])] if is_fold else find_piece_runs(self._outline, alike)
            )
            told = [self._tell_run(run) for run in runs]
            yield from [_join_uses(told, uses)] if uses > 1 else told

    def _tell_run(self, run: PieceRun) -> Clause:
        pieces = run.pieces
        text = write_run(self._outline, run)
        is_minor = all(piece.kind in MINOR for piece in pieces)
        is_one = len(run.members[0]) == 1 and pieces[0].uses == 1 and run.times == 1
        return Clause(
            text, weigh_pieces(pieces), is_minor=is_minor, pieces=tuple(pieces) if is_one else ()
        )

    def _tell_one(self, module: Module) -> list[Clause]:
        """Return what a module by itself is."""
        pieces = module.pieces
        if module.is_repeat and len(module.inner) > 1:
            return self._tell_row(module.inner)
        if module.is_repeat and module.times > 1:
            return [self._tell_blocks([module], [module.pieces])]
        uses = _count_uses(pieces)
        name = _name(module)
        if len({piece.token for piece in pieces}) == 1:
            return [self._tell_kind(pieces, name)]
        inside = self.tell(module.inner)
        if name:
            inside = self._choose_inside(inside, pieces, name)
            if len(inside) == 1 and inside[0].name == name:
                return inside
            shown = [replace(one, uses=1) if one.uses == uses else one for one in inside]
            return [_make_named(name, shown, weigh_pieces(pieces), uses)]
        if uses > 1 and all(clause.uses == uses for clause in inside):
            return [_join_uses(inside, uses)]
        return inside

    def _tell_kind(self, pieces: Sequence[Piece], name: str) -> Clause:
        """Return what blocks of one kind are that have a name together."""
        clause = self._tell_pieces(pieces)
        is_step = len(pieces) == 1 and pieces[0].kind in MINOR
        if not name or _says(clause.text, name) or (is_step and name.split(" ")[-1] in _STEPS):
            return clause
        is_only = sum(piece.layer is not None for piece in self._pieces) == len(pieces)
        is_short = (pieces[0].layer is not None and not is_only) or _has_poor_stages(clause.text)
        text = clause.text
        if is_short:
            text = write_shortly(self._outline, pieces, sum(piece.fold[1] for piece in pieces))
        return replace(clause, name=name, text=text)

    def _choose_inside(
        self, inside: list[Clause], pieces: Sequence[Piece], name: str
    ) -> list[Clause]:
        """Return what is told of a module with a name: what is in it, or how much of each kind."""
        is_plain = all(piece.kind in MINOR for piece in pieces)
        is_long = any(" blocks of " in one.text or " blocks with " in one.text for one in inside)
        if is_plain or is_long:
            return self._count_kinds(pieces)
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

    def _tell_pieces(self, pieces: Sequence[Piece]) -> Clause:
        """Return what blocks of one kind are."""
        one = pieces[0]
        runs = find_piece_runs(self._outline, pieces) if len(pieces) > 1 else []
        if len(runs) == 1 and one.fold[1] == 1:
            text = write_run(self._outline, runs[0])
        else:
            text = write_pieces(self._outline, pieces, one.fold[1])
        known = tuple(pieces) if one.fold[1] == 1 else ()
        return Clause(text, weigh_pieces(pieces), "", one.uses, one.kind in MINOR, pieces=known)

    def _tell_row(self, row: Sequence[Module]) -> list[Clause]:
        """Return what modules are whose names differ in a number."""
        pieces = [piece for module in row for piece in module.pieces]
        uses = {piece.uses for piece in pieces}
        if _count_uses(pieces) > 1:
            return [self._tell_loop(row, pieces)]
        if len({piece.token for piece in pieces}) == 1:
            return [self._tell_alike(row, pieces)]
        blocks = _keep_common(row) if len(uses) == 1 else []
        if blocks:
            return [self._tell_blocks(row, blocks)]
        classes = self._tell_classes(row)
        if classes:
            return classes
        staged = self._tell_stages(row)
        if staged:
            return [staged]
        name = self._name_row(row)
        if name:
            return [self._tell_named_row(row, name)]
        told = self._tell_mixed_stages(row) or self._tell_many(row)
        if told:
            return told
        return [clause for module in row for clause in self._tell_one(module)]

    def _tell_loop(self, row: Sequence[Module], pieces: Sequence[Piece]) -> Clause:
        """Return what is used again and again, of which each block is there once."""
        inside = [replace(one, uses=1) for one in self._tell_kinds([pieces])]
        name = _name_loop(row[0])
        uses = _count_uses(pieces)
        if len(inside) == 1 and not name:
            return replace(self._tell_pieces(pieces), pieces=())
        group = row[0].group.parent if row[0].group is not None else None
        is_loop = group is not None and group.is_loop
        return replace(_make_named(name, inside, weigh_pieces(pieces), uses), is_loop=is_loop)

    def _tell_alike(self, row: Sequence[Module], pieces: Sequence[Piece]) -> Clause:
        """Return what modules in a row are of one kind of block."""
        clause = self._tell_pieces(pieces)
        name = _name(row[0])
        each = len(row[0].pieces)
        is_even = each > 1 and all(len(module.pieces) == each for module in row)
        if is_even and pieces[0].layer is None:
            name = self._name_row(row) or name
        if not name or _says(clause.text, name) or len(pieces) == len(row):
            is_whole = name.split(" ")[-1] in _WHOLES and name not in clause.text
            return self._tell_kind(pieces, name) if is_whole else clause
        if is_even:
            text = write_in_blocks(self._outline, [one.pieces for one in row], each)
            named = _count_name(row, name)
            text += " each" if named[0].isdigit() else ""
            return replace(clause, name=named, text=text, pieces=())
        if pieces[0].kind in _IN_STAGES:
            told = self._write_staged([module.pieces for module in row], clause.weight)
            return replace(told, name=name if name in _WHOLES else _count_name(row, name))
        return replace(clause, name=name if name in _WHOLES else _count_name(row, name), pieces=())

    def _tell_named_row(self, row: Sequence[Module], name: str) -> Clause:
        """Return what modules are of one name that differ: what all of them have."""
        kept = _keep_common(row, is_forced=True)
        pieces = [piece for module in row for piece in module.pieces]
        inside = self._tell_kinds(kept) if kept and all(kept) else []
        return _make_named(_count_name(row, name), inside, weigh_pieces(pieces), 1)

    def _name_row(self, row: Sequence[Module]) -> str:
        """Return what each of several modules is called; "" where they differ or say nothing."""
        names = {self._name_block(module) for module in row}
        return names.pop() if len(names) == 1 else ""

    def _name_block(self, module: Module) -> str:
        """Return what one of modules in a row is called; "" where that says nothing."""
        module = module.inner[0] if module.times > 1 else module
        group = module.group
        if group is None:
            return ""
        found = group.recognised
        if found is not None and "·" not in found.name and found.family == "group":
            return found.name[:1].lower() + found.name[1:]
        said = _name(module, is_row=True) or tell_class(group.type_name)
        if said:
            return said
        inner = [
            (one.group.node_count, word)
            for one in module.inner
            if one.group is not None and (word := _name(one))
        ]
        weight, word = max(inner, default=(0, ""))
        is_most = weight > _LEAST_SHARE * group.node_count
        return f"{word} block" if is_most else ""

    def _tell_blocks(self, row: Sequence[Module], rows: Sequence[Sequence[Piece]]) -> Clause:
        """Return what several blocks are, by the pieces that all of them have.

        One repetition may stand for all.
        """
        pieces = [piece for one in rows for piece in one]
        weight = weigh_pieces([piece for module in row for piece in module.pieces])
        uses = min(piece.uses for piece in pieces)
        times = sum(module.times for module in row)
        if len({piece.token for piece in pieces}) == 1 and row[0].times > 1:
            text = write_pieces(self._outline, pieces, pieces[0].fold[1])
            return Clause(text, weight, uses=uses)
        name = self._name_row(row)
        inside = self._tell_kinds(rows, times if row[0].times > 1 else 1)
        main = [piece for piece in pieces if name == name_piece(self._outline, [piece])]
        if main:
            return replace(self._tell_pieces(main), weight=weight, pieces=())
        if name:
            return _make_named(_count_name(row, name), inside, weight, uses)
        unit = write_inner_clauses(inside, 2, " and ")
        word = "of" if len(inside) <= 2 else "with"
        return Clause(
            f"{write_count(times, 'block')} {word} {unit}",
            weight,
            uses=uses,
            is_minor=all(piece.kind in MINOR for piece in pieces),
            unit=(times, unit),
        )

    def _tell_kinds(self, rows: Sequence[Sequence[Piece]], times: int = 1) -> list[Clause]:
        """Return for each kind of piece what of it is in each of some blocks.

        Parameters
        ----------
        rows
            The pieces of each block.
        times
            So many blocks one stands for.
        """
        kinds = dict.fromkeys(_find_kind(piece) for piece in rows[0])
        told = []
        for kind in kinds:
            held = [[piece for piece in row if _find_kind(piece) == kind] for row in rows]
            alike = [piece for row in held for piece in row]
            each = max(sum(piece.fold[1] for piece in held[0]) // times, 1)
            text = write_in_blocks(self._outline, held, each)
            is_minor = alike[0].kind in MINOR
            told.append(Clause(text, weigh_pieces(alike), is_minor=is_minor, uses=alike[0].uses))
        return told

    def _count_kinds(self, pieces: Sequence[Piece]) -> list[Clause]:
        """Return for each kind of block how many there are, in the order of their first ones."""
        return self._tell_kinds([pieces])

    def _tell_classes(self, row: Sequence[Module]) -> list[Clause]:
        """Return stages of blocks that a class names, where that is most of a row; else nothing."""
        units = [_list_units(module) for module in row]
        stages = [
            (name, sum(count for _, count in found), [one for one, _ in found])
            for unit in units
            for name, found in _group_by_name(unit)
        ]
        told = [piece for _, _, found in stages for one in found for piece in one.pieces]
        whole = weigh_pieces([piece for module in row for piece in module.pieces])
        is_itself = all(unit and unit[0][1] is one for unit, one in zip(units, row, strict=True))
        if len(stages) < 2 or is_itself or weigh_pieces(told) < _LEAST_OF_ROW * whole:
            return []
        clauses = []
        for name in dict.fromkeys(name for name, _, _ in stages):
            of_name = [stage for stage in stages if stage[0] == name]
            counts = [count for _, count, _ in of_name]
            widths = [found[-1].pieces[-1].part.out_features for _, _, found in of_name]
            way = [width for width, _ in groupby(widths)]
            plural = write_plural(name)
            text = count_pieces(sum(counts), name) if {*counts} == {1} or len(counts) == 1 else ""
            text = text or f"stages of {write_row(counts)} {plural}"
            if all(way):
                way_text = shorten_way(way) if len(way) > 1 else f"{way[0]:,}"
                text += f"{', ' if len(way) > 1 else ' of '}{way_text} channels"
            pieces = [piece for _, _, found in of_name for one in found for piece in one.pieces]
            clauses.append(Clause(text, weigh_pieces(pieces)))
        return clauses

    def _tell_stages(self, row: Sequence[Module]) -> Clause | None:
        """Return stages, where most of some modules are of blocks of one kind; None for others.

        What stands before and between the blocks, as what makes maps smaller, is not told.
        """
        rows = [module.pieces for module in row]
        for kind in _STAGED:
            held = [found for one in rows if (found := [p for p in one if p.kind == kind])]
            pieces = [piece for found in held for piece in found]
            is_most = 2 * len(held) > len(rows) and len(held) > 1
            is_one = len({piece.name for piece in pieces}) == 1 or kind in _PLAIN
            is_alone = kind not in _PLAIN or all(p.kind == kind for one in rows for p in one)
            if is_most and is_one and is_alone:
                return self._write_stages(row, held)
        return None

    def _write_stages(self, row: Sequence[Module], held: Sequence[Sequence[Piece]]) -> Clause:
        pieces = [piece for found in held for piece in found]
        kind = pieces[0].kind
        weight = sum(weigh_pieces(module.pieces) for module in row)
        counts = [sum(piece.fold[1] for piece in found) for found in held]
        if {*counts} == {1}:
            name = self._name_row([one for one in row if any(p in pieces for p in one.pieces)])
            told = self._tell_pieces(pieces)
            if name and len(held) == len(row):
                return self._tell_named_row(row, name)
            return replace(told, weight=weight, pieces=())
        own = _count_by_class(row, held) if kind in _IN_STAGES else counts
        return self._write_staged(held, weight, own, is_numbered=True)

    def _write_staged(
        self,
        held: Sequence[Sequence[Piece]],
        weight: int,
        counts: Sequence[int] = (),
        *,
        is_numbered: bool = False,
    ) -> Clause:
        """Return stages of blocks of one kind, or a row of them where each stage is one block."""
        pieces = [piece for found in held for piece in found]
        kind = pieces[0].kind
        counts = counts or [sum(piece.fold[1] for piece in found) for found in held]
        noun = name_alike(self._outline, pieces)
        widths = [found[-1].part.out_features for found in held]
        way = [width for width, _ in groupby(widths)]
        is_trusted = is_numbered and kind != "conv"
        is_known = all(way) and (is_trusted or all(map(self._is_way, held)))
        if (is_known and len(way) < len(widths)) or {*counts} == {1}:
            text = count_pieces(sum(counts), noun)
        else:
            text = f"stages of {write_row(counts)} {write_plural(noun)}"
        if is_known and kind not in ("attention", "transformer"):
            unit = " channels" if kind != "mlp" else ""
            joint = " " if not text.startswith("stages") or kind == "conv" else ", "
            text += f"{joint}{shorten_way(way)}{unit}" if len(way) > 1 else f" of {way[0]:,}{unit}"
        return Clause(text, weight)

    def _is_way(self, pieces: Sequence[Piece]) -> bool:
        """Return whether blocks follow one another, so that the last one's width is theirs."""
        return follows_on(self._outline, pieces)

    def _tell_mixed_stages(self, row: Sequence[Module]) -> list[Clause]:
        """Return stages of which each is of one kind of block, if not all of the same."""
        held = [[piece for piece in one.pieces if piece.kind not in MINOR] for one in row]
        held = [found for found in held if found and found[0].kind in _STAGED]
        if len(held) < 2 or any(len({piece.token for piece in found}) > 1 for found in held):
            return []
        clauses = []
        for _, alike in groupby(held, key=lambda found: found[0].token):
            stages = [*alike]
            weight = sum(map(weigh_pieces, stages))
            clauses.append(self._write_staged(stages, weight, is_numbered=True))
        return clauses

    def _tell_many(self, row: Sequence[Module]) -> list[Clause]:
        """Return how many modules there are in a row that differ, and of what kinds most are."""
        blocks = [one for one in open_lists(row) if not all(p.kind in MINOR for p in one.pieces)]
        if len(blocks) < _LEAST_OF_MANY:
            return []
        pieces = [piece for module in row for piece in module.pieces]
        kinds: Counter[str] = Counter()
        for piece in pieces:
            if piece.kind not in MINOR:
                kinds[name_piece(self._outline, [piece])] += piece.uses * piece.fold[1]
        told = [count_pieces(count, name) for name, count in kinds.most_common(_MOST_KINDS)]
        return [Clause(join_with_and(told), weigh_pieces(pieces))]


def _kind_of(clause: Clause) -> str:
    return clause.pieces[0].kind if clause.pieces else ""


def _is_staged(clause: Clause) -> bool:
    is_once = clause.token is not None and clause.uses == 1
    return is_once and clause.pieces[0].kind in _IN_STAGES


def _join_used(clauses: Sequence[Clause]) -> list[Clause]:
    """Return clauses with those together that are used as often, one behind the other."""
    joined: list[Clause] = []
    for clause in clauses:
        before = joined[-1] if joined else clause
        is_bare = not (before.name and clause.name)
        if before is not clause and before.uses == clause.uses > 1 and is_bare:
            parts = [
                inner
                for one in (before, clause)
                for inner in (one.parts if one.parts and not one.name else [replace(one, uses=1)])
            ]
            joined[-1] = _make_named("", parts, before.weight + clause.weight, clause.uses)
            continue
        joined.append(clause)
    return joined


def _list_units(module: Module) -> list[tuple[str, Module, int]]:
    """Return blocks in a module, or itself, that their class names, and what each stands for."""
    said = _say_class(module)
    if said and not module.is_repeat:
        return [(said, module, 1)]
    found = []
    for one in module.inner:
        for inner in one.inner if one.is_repeat else (one,):
            said = _say_class(inner)
            if said:
                found.append((said, inner, one.times))
    return found


def _say_class(module: Module) -> str:
    """Return what a class is called; of transformer blocks that is what they are."""
    said = tell_class(module.type_name)
    return "transformer block" if said and module.pieces[0].layer is not None else said


def _group_by_name(
    units: Sequence[tuple[str, Module, int]],
) -> Iterator[tuple[str, list[tuple[Module, int]]]]:
    for name, alike in groupby(units, key=lambda unit: unit[0]):
        yield name, [(module, count) for _, module, count in alike]


def _count_by_class(row: Sequence[Module], held: Sequence[Sequence[Piece]]) -> list[int]:
    """Return how many blocks stages have, those counted of which an equal one has another form.

    So is a block without its projection, which an author put elsewhere.
    """
    pieces = {id(piece) for found in held for piece in found}
    inner = [[*walk_modules(module)] for module in row]
    classes = {
        one.type_name
        for modules in inner
        for one in modules
        if len(one.pieces) == 1 and id(one.pieces[0]) in pieces and not one.is_repeat
    } - {""}
    counts = []
    for module, modules in zip(row, inner, strict=True):
        own = [piece for piece in module.pieces if id(piece) in pieces]
        if own:
            number = sum(piece.fold[1] for piece in own)
            is_whole = all(piece.fold[1] == 1 for piece in own)
            alike = [
                one
                for one in modules
                if one.type_name in classes
                and not one.is_repeat
                and not any(
                    other.type_name == one.type_name
                    for other in walk_modules(one)
                    if other is not one
                )
            ]
            counts.append(max(number, len(alike)) if is_whole else number)
    return counts


def _leave_out_steps(modules: Sequence[Module]) -> list[Module]:
    """Return modules without what is a step from one to the next of a row, as to smaller maps."""
    kept: list[Module] = []
    waiting: list[Module] = []
    for module in modules:
        if module.group is None and module.pieces[0].kind in MINOR and kept:
            waiting.append(module)
            continue
        if not (kept and "#" in kept[-1].mask and kept[-1].mask == module.mask):
            kept += waiting
        waiting = []
        kept.append(module)
    return kept + waiting


def _count_uses(pieces: Sequence[Piece]) -> int:
    """Return how often all of some blocks are used; the steps of a layer that is written out."""
    steps = [piece.part.details.read_as(UnrolledDetails).steps or piece.uses for piece in pieces]
    uses = [piece.uses for piece in pieces if piece.uses > 1]
    return min(uses) if uses and min(steps) > 1 else min(steps)


def _make_named(name: str, inside: Sequence[Clause], weight: int, uses: int) -> Clause:
    return Clause("", weight, name, uses, parts=tuple(inside))


def _join_uses(inside: Sequence[Clause], uses: int) -> Clause:
    once = [replace(clause, uses=1) for clause in inside]
    return _make_named("", once, sum(one.weight for one in inside), uses)


def _count_name(row: Sequence[Module], name: str) -> str:
    """Return how many modules of a name there are: ``4 heads``; one after another of a whole.

    ``encoder of 4 blocks``.
    """
    count = sum(module.times for module in row)
    if count == 1:
        return name
    if name in _WHOLES and all(_leads(one, two) for one, two in pairwise(row)):
        return f"{name} of {count:,} blocks"
    plural = name if name.endswith(("s", "ing", "MLP")) else write_plural(name)
    return f"{count:,} {plural}"


def _leads(one: Module, two: Module) -> bool:
    return two.pieces[-1].part.follows(one.pieces[-1].part)


def _name_loop(module: Module) -> str:
    """Return what a step of a loop is called; of one named after what is in it if that is most."""
    group = module.group
    if group is None:
        return ""
    name = _name(module) or tell_class(group.type_name)
    if group.kind == "scope":
        return name
    inner = [one.group.node_count for one in module.inner if one.group is not None]
    return name if max(inner, default=0) > _LEAST_OF_ROW * group.node_count else ""


def _name(module: Module, *, is_row: bool = False) -> str:
    """Return what an author calls a module; what has no attention is no transformer."""
    name = tell_name(module.label, is_row=is_row)
    is_attending = any(piece.kind in _ATTENDING for piece in module.pieces)
    return "" if name.endswith("transformer") and not is_attending else name


def _find_kind(piece: Piece) -> tuple[str, str]:
    """Return the kind of a piece; of convolutions the kernel is left out."""
    return piece.kind, "" if piece.kind == "conv" else piece.name


def _keep_common(row: Sequence[Module], *, is_forced: bool = False) -> list[list[Piece]]:
    """Return for each module the pieces of kinds that all of them have as many of.

    Nothing where most of them are not alike, or have nothing in common that tells.
    """
    counts = [Counter(map(_find_kind, module.pieces)) for module in row]
    common = {
        kind for kind, count in counts[0].items() if all(one[kind] == count for one in counts)
    }
    alike = max(Counter(frozenset(one.items()) for one in counts).values())
    is_told = any(kind not in MINOR for kind, _ in common)
    is_whole = alike == len(row)
    if all(len(module.pieces) == 1 for module in row):
        return []  # these are a chain
    if not is_forced and not is_whole and (alike < _LEAST_OF_ROW * len(row) or not is_told):
        return []
    return [[piece for piece in one.pieces if _find_kind(piece) in common] for one in row]


def _has_poor_stages(text: str) -> bool:
    """Return whether what is told begins with two stages, of which one may be a head."""
    return text.startswith("stages of ") and text.split(" ", 4)[3].isdigit()


def _says(text: str, name: str) -> bool:
    """Return whether a name says no more than what is told of a module."""
    return all(word.removesuffix("s") in text.lower() for word in name.lower().split(" "))
