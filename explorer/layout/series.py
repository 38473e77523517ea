"""Long graphs in pieces: cut at boxes that everything passes through, and stacked again.

A box is a joint where taking it away leaves parts that give it values and parts that take
values from it, and no edge between these. Two layouts that both hold the joint, one at its
end and one at its beginning, can be put together there, so that a chain of blocks costs as
much as its different blocks, and a box that changes its size leaves all other pieces as they
were. The joints are the cut vertices of the undirected graph (Hopcroft and Tarjan 1973),
found in time linear in boxes and wires.
"""

from __future__ import annotations

from dataclasses import dataclass

from .level import Level

#: what hangs aside of the chain of pieces may be so large; larger parts are no mere twigs
_MOST_ASIDE = 8
#: a level whose last boxes are so many branches is not cut there
_MOST_FORKED = 30


@dataclass(slots=True)
class Part:
    """A part of a level as a level of its own, with the numbers that its contents had there."""

    level: Level
    children: list[int]
    wires: list[int]


def take_part(
    level: Level, children: list[int], wires: list[int], first: int = -1, last: int = -1
) -> Part:
    """Return some of a level's children and wires as a level; ports where wires go to them."""
    local = {child: number for number, child in enumerate(children)}
    taken = [level.wires[number] for number in wires]
    moved = [
        wire._replace(
            source=wire.source if wire.source < 0 else local[wire.source],
            target=wire.target if wire.target < 0 else local[wire.target],
        )
        for wire in taken
    ]
    part = Level(
        level.direction,
        [level.children[child] for child in children],
        level.input_count if any(wire.source < 0 for wire in taken) else 0,
        level.output_count if any(wire.target < 0 for wire in taken) else 0,
        moved,
        local.get(first, -1),
        local.get(last, -1),
    )
    return Part(part, children, wires)


def cut_series(level: Level) -> list[Part]:
    """Return the pieces of a connected level in the order of flow.

    Consecutive pieces share one child, which is the ``last`` of one and the ``first`` of the
    next. A level that cannot be cut is its own only piece.
    """
    whole = [Part(level, list(range(len(level.children))), list(range(len(level.wires))))]
    if len(level.children) < 3:
        return whole
    chain, joints, wires_of = _find_chain(level)
    if len(chain) < 2:
        return whole
    fork = _find_fork(level, chain, joints, wires_of)
    if fork is not None:  # all that is behind it is one piece with it
        for piece in chain[fork + 1 :]:
            wires_of[chain[fork]] += wires_of[piece]
        chain, joints = chain[: fork + 1], joints[:fork]
    parts = []
    for number, piece in enumerate(chain):
        wires = sorted(wires_of[piece])
        first = joints[number - 1] if number else -1
        last = joints[number] if number < len(joints) else -1
        ends = {first, last}
        for wire in wires:
            ends.add(level.wires[wire].source)
            ends.add(level.wires[wire].target)
        parts.append(take_part(level, sorted(end for end in ends if end >= 0), wires, first, last))
    if sum(part.level.input_count > 0 for part in parts) > 1 or _lacks_ports(level, parts):
        return whole
    return parts


def _find_fork(
    level: Level, chain: list[int], joints: list[int], wires_of: dict[int, list[int]]
) -> int | None:
    """Return at which of the last pieces branches begin that end as the chain does; None for none.

    They stand side by side then: a joint would stand below all that is in the piece before it.
    What one box ends with, as an output of an encoder, is no branch.
    """
    gives = {wire.source for wire in level.wires}
    behind: set[int] = set()
    for number in range(len(chain) - 1, -1, -1):
        wires = [level.wires[wire] for wire in wires_of[chain[number]]]
        behind.update(end for wire in wires for end in (wire.source, wire.target) if end >= 0)
        if len(behind) > _MOST_FORKED:
            return None
        first = joints[number - 1] if number else -1
        if number < len(joints) and any(
            wire.target not in gives and wire.source not in (first, -1)
            for wire in wires
            if wire.target >= 0 and wire.target != joints[number]
        ):
            return number
    return None


def _lacks_ports(level: Level, parts: list[Part]) -> bool:
    """Return whether ports would be missing, or stand elsewhere than at the ends."""
    inputs = [number for number, part in enumerate(parts) if part.level.input_count]
    outputs = [number for number, part in enumerate(parts) if part.level.output_count]
    if level.input_count and inputs != [0]:
        return True
    return bool(level.output_count) and outputs != [len(parts) - 1]


def _find_chain(level: Level) -> tuple[list[int], list[int], dict[int, list[int]]]:
    """Return the longest way through the pieces, the joints on it, and each piece's wires."""
    count = len(level.children)
    source, sink = count, count + 1  # all inputs of the border, all outputs
    ends = [
        (wire.source if wire.source >= 0 else source, wire.target if wire.target >= 0 else sink)
        for wire in level.wires
    ]
    blocks = _find_blocks(count + 2, ends)
    pieces = _Union(max(blocks) + 1 if blocks else 0)
    ins: list[set[int]] = [set() for _ in range(count + 2)]
    outs: list[set[int]] = [set() for _ in range(count + 2)]
    for block, (tail, head) in zip(blocks, ends, strict=True):
        outs[tail].add(block)
        ins[head].add(block)
    joints = []
    for vertex in range(count + 2):
        above, below = ins[vertex], outs[vertex]
        mixed = above & below
        if mixed:
            pieces.join_all(above | below)
            continue
        pieces.join_all(above)
        pieces.join_all(below)
        if above and below and vertex < count:
            joints.append(vertex)
    # what is one piece above and below a joint after all cannot be cut there
    edges = [(pieces.find(next(iter(ins[v]))), pieces.find(next(iter(outs[v]))), v) for v in joints]
    sizes: dict[int, int] = {}
    for block in blocks:
        piece = pieces.find(block)
        sizes[piece] = sizes.get(piece, 0) + 1
    start = pieces.find(next(iter(outs[source]))) if outs[source] else None
    end = pieces.find(next(iter(ins[sink]))) if ins[sink] else None
    path = _longest_path(sizes, edges, start, end)
    chain, cuts = _keep_twigs(pieces, sizes, edges, path)
    wires_of: dict[int, list[int]] = {piece: [] for piece in chain}
    if len(chain) < 2:
        return chain, cuts, wires_of
    for number, block in enumerate(blocks):
        wires_of[pieces.find(block)].append(number)
    return chain, cuts, wires_of


class _Union:
    """Sets that are joined (Tarjan 1975)."""

    def __init__(self, count: int) -> None:
        self.parents = list(range(count))

    def find(self, entry: int) -> int:
        parents = self.parents
        while parents[entry] != entry:
            parents[entry] = parents[parents[entry]]
            entry = parents[entry]
        return entry

    def join(self, first: int, second: int) -> None:
        first, second = self.find(first), self.find(second)
        self.parents[max(first, second)] = min(first, second)

    def join_all(self, entries: set[int]) -> None:
        iterator = iter(entries)
        first = next(iterator, None)
        if first is not None:
            for entry in iterator:
                self.join(first, entry)


def _find_blocks(count: int, ends: list[tuple[int, int]]) -> list[int]:
    """Return for each edge the number of its biconnected component."""
    around: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for number, (tail, head) in enumerate(ends):
        around[tail].append((head, number))
        if head != tail:
            around[head].append((tail, number))
    blocks = [-1] * len(ends)
    found = 0
    depth = [0] * count
    low = [0] * count
    clock = 0
    open_edges: list[int] = []
    for root in range(count):
        if depth[root] or not around[root]:
            continue
        clock += 1
        depth[root] = low[root] = clock
        stack = [(root, -1, iter(around[root]))]
        while stack:
            vertex, entered, others = stack[-1]
            for other, number in others:
                if number == entered or blocks[number] >= 0:
                    continue
                if other == vertex:
                    blocks[number] = found  # a loop is a component of its own
                    found += 1
                elif not depth[other]:
                    open_edges.append(number)
                    clock += 1
                    depth[other] = low[other] = clock
                    stack.append((other, number, iter(around[other])))
                    break
                elif depth[other] < depth[vertex]:
                    open_edges.append(number)
                    low[vertex] = min(low[vertex], depth[other])
            else:
                stack.pop()
                if not stack:
                    continue
                before = stack[-1][0]
                low[before] = min(low[before], low[vertex])
                if low[vertex] >= depth[before]:
                    while True:
                        edge = open_edges.pop()
                        blocks[edge] = found
                        if edge == entered:
                            break
                    found += 1
    return blocks


def _longest_path(
    sizes: dict[int, int],
    edges: list[tuple[int, int, int]],
    start: int | None,
    end: int | None,
) -> list[tuple[int, int]]:
    """Return the pieces of the way that holds most, each with the joint before it (-1: none).

    Pieces and joints form a forest, so that there is one way between two pieces at most.
    """
    below: dict[int, list[tuple[int, int]]] = {piece: [] for piece in sizes}
    waiting = dict.fromkeys(sizes, 0)
    for above, beneath, joint in edges:
        below[above].append((beneath, joint))
        waiting[beneath] += 1
    best = {piece: sizes[piece] for piece in sizes}
    before: dict[int, tuple[int, int]] = {}
    allowed = dict.fromkeys(sizes, start is None)
    if start is not None:
        allowed[start] = True
    ready = [piece for piece in sizes if not waiting[piece]]
    order = []
    while ready:
        piece = ready.pop()
        order.append(piece)
        for beneath, joint in below[piece]:
            total = best[piece] + sizes[beneath]
            if (
                allowed[piece]
                and (not allowed[beneath] or total > best[beneath])
                and (beneath != start)
            ):
                best[beneath], before[beneath] = total, (piece, joint)
                allowed[beneath] = True
            waiting[beneath] -= 1
            if not waiting[beneath]:
                ready.append(beneath)
    candidates = [piece for piece in order if allowed[piece]]
    if end is not None:
        candidates = [piece for piece in candidates if piece == end]
    if not candidates:
        return []
    piece = max(candidates, key=lambda candidate: (best[candidate], -candidate))
    path = []
    while piece in before:
        above, joint = before[piece]
        path.append((piece, joint))
        piece = above
    path.append((piece, -1))
    return path[::-1]


def _keep_twigs(
    pieces: _Union,
    sizes: dict[int, int],
    edges: list[tuple[int, int, int]],
    path: list[tuple[int, int]],
) -> tuple[list[int], list[int]]:
    """Unite what hangs aside of the way with the piece that it hangs on.

    Where that is much, as the second head of a network is, the way ends there: the two belong
    side by side, not one below the other.
    """
    place = {piece: number for number, (piece, _) in enumerate(path)}
    if len(path) < 2:
        return [], []
    around: dict[int, list[tuple[int, bool]]] = {}
    on_path = {joint for _, joint in path}
    for above, beneath, joint in edges:
        if joint not in on_path:
            around.setdefault(above, []).append((beneath, True))
            around.setdefault(beneath, []).append((above, False))
    united = [False] * len(path)  # with the piece before
    for piece, number in place.items():
        for twig, is_below in around.get(piece, ()):
            total, members = 0, [piece]
            pending = [(twig, piece)]
            while pending:
                member, origin = pending.pop()
                if member in place:
                    continue
                total += sizes[member]
                members.append(member)
                pending += [(n, member) for n, _ in around.get(member, ()) if n != origin]
            pieces.join_all(set(members))
            if total > _MOST_ASIDE:
                stretch = range(number + 1, len(path)) if is_below else range(1, number + 1)
                for other in stretch:
                    united[other] = True
    chain: list[int] = []
    cuts: list[int] = []
    for number, (piece, joint) in enumerate(path):
        if united[number]:
            pieces.join(path[number - 1][0], piece)
        elif number:
            cuts.append(joint)
    for piece, _ in path:
        found = pieces.find(piece)
        if not chain or chain[-1] != found:
            chain.append(found)
    return chain, cuts
