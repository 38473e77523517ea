"""A graph told along the chains and branches that its clauses form, where all of it is of these."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from .agreed_counts import AgreedCounts
from .apart import split_apart
from .block_contents import tell_contents
from .branch_words import BranchWriter, is_gated
from .calls import Called
from .clause import Clause
from .clause_graph import find_clause_graph
from .located_pieces import LocatedPieces
from .module_clauses import ModuleTeller
from .modules import Module
from .outline import Outline
from .row_names import name_author
from .series_parallel import Chain, Item, Joining, ParallelChains, find_chains
from .topology_clauses import ToldTopology
from .verified_counts import confirm_counts

#: of so many words all is told of each clause, of more less, and of still more nothing
_MOST_WORDS_WHOLE = 52
_MOST_WORDS = 72
#: a branch of less is a step beside the others
_LEAST_OF_BRANCHES = 0.1
#: branches in branches in branches are no sentence any more
_MOST_DEPTH = 2


def tell_along_branches(
    outline: Outline,
    teller: ModuleTeller,
    root: Module,
    located: LocatedPieces,
    called: Called,
) -> ToldTopology | None:
    """Return what is said along branches.

    None where there are none, where some blocks are neither in a chain nor in branches, and where
    it would be too long.
    """
    apart = split_apart(outline, teller.tell(root.inner, is_joined=False))
    # what is counted together is in no one place, and then told as it stands
    for clauses in (AgreedCounts(located, teller.tell_kinds).agree(apart), apart):
        told = called.add_users(tell_contents(outline, clauses))
        told = confirm_counts(located, told)
        graph = find_clause_graph(outline, called, told)
        chains = find_chains(graph) if graph is not None else []
        if len(chains) == 1 and teller.is_true(told):
            found = _write(outline, teller, called, root, told, chains[0])
            if found is not None:
                return found
    return None


def _write(
    outline: Outline,
    teller: ModuleTeller,
    called: Called,
    root: Module,
    clauses: Sequence[Clause],
    chain: Chain,
) -> ToldTopology | None:
    """Return a chain in words; None where it says no more than its clauses, or too much."""

    def name(one: Chain) -> str:
        return name_author(root, [p for number in one.clauses for p in clauses[number].scope])

    ends = called.reach.inputs, outline.graph.outputs, name
    writer = BranchWriter(outline, clauses, *ends)
    is_worth = _is_worth(clauses, chain) or writer.tells_again(chain)
    if not is_worth or _find_depth(chain) > _MOST_DEPTH:
        return None
    told = writer.write(chain)
    if _count_words(told) > _MOST_WORDS_WHOLE:
        brief = [teller.tell_brief(one) for one in clauses]
        told = BranchWriter(outline, brief, *ends).write(chain)
    if _count_words(told) > _MOST_WORDS:
        return None
    last = chain.items[-1]
    tells_given = (
        isinstance(last, ParallelChains)
        and last.kind == "heads"
        and re.search(r" heads(?: \(|, )", told[-1]) is not None
    )
    return ToldTopology(tuple(told), tells_joint=True, tells_given=tells_given)


def _is_worth(clauses: Sequence[Clause], chain: Chain) -> bool:
    """Return whether branches say more than that some steps stand side by side.

    Streams of inputs do, and heads to outputs; of branches two hold more than steps, or all of them
    most of what there is, and none is a step beside the others.
    """
    return any(_is_telling(item, clauses) for item in chain.items) or any(
        is_gated(pair, clauses) for pair in pairwise(chain.items)
    )


def _is_telling(item: Item, clauses: Sequence[Clause]) -> bool:
    if isinstance(item, int):
        return False
    if isinstance(item, Joining):
        return bool(item.joint) and item.chain is not None
    if item.kind != "branches":
        return True
    if item.skip:
        return not any(clauses[number].is_class for number in item.clauses)
    return (len(item.chains) > 1 and _carry_most(item, clauses)) or any(
        _is_telling(one, clauses) for chain in item.chains for one in chain.items
    )


def _carry_most(item: ParallelChains, clauses: Sequence[Clause]) -> bool:
    """Return whether several branches are more than steps, or all of them most of a network."""
    held = [sum(clauses[number].weight for number in chain.clauses) for chain in item.chains]
    if min(held) <= _LEAST_OF_BRANCHES * sum(held):
        return False
    carrying = {number for number, one in enumerate(clauses) if not one.is_minor}
    count = sum(not carrying.isdisjoint(chain.clauses) for chain in item.chains)
    return count > 1 or 2 * len(carrying & item.clauses) > len(carrying)


def _find_depth(chain: Chain) -> int:
    """Return how deep branches that are told hold one another; a sum with its input is none.

    What joins on the way is a plain chain, or not read as one.
    """
    return max((_find_depth_of(item) for item in chain.items), default=0)


def _find_depth_of(item: Item) -> int:
    if isinstance(item, int):
        return 0
    if isinstance(item, Joining):
        is_plain = item.chain is None or all(isinstance(one, int) for one in item.chain.items)
        return 0 if is_plain else _MOST_DEPTH + 1
    is_told = len(item.chains) > 1 or (item.has_skip and item.joint != "added")
    return is_told + max(map(_find_depth, item.chains))


def _count_words(texts: Sequence[str]) -> int:
    return sum(len(text.split()) for text in texts)
