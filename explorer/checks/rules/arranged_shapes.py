"""Shapes that operators are told to make: as many elements as there are, an entry for each axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import prod

from netloupe.explorer.checks.rule import Rule
from netloupe.explorer.checks.uses import Case, Demand
from netloupe.explorer.costs.facts import find_size
from netloupe.explorer.notation import say_how_many, write_count

from .operand_shapes import are_different, make_finder


def _reshape(case: Case) -> Iterator[str]:
    """Say why a shape cannot hold what there is (Operators.md, Reshape)."""
    data = case.dims(0)
    shape = case.operand(1).elements if case.has(1) else case.integers("shape")
    if shape is None:
        if case.rank(1) not in (None, 1):
            yield f"{case.say(1)}, but a shape is a list"
        return
    written = ["?" if size is None else str(size) for size in shape[:16]]
    told = f"the shape [{', '.join(written)}]"
    if shape.count(-1) > 1:
        yield f"{told} has −1 twice"
        return
    if any(isinstance(size, int) and size < -1 for size in shape):
        yield f"{told} has a negative size"
        return
    is_literal = case.integer("allowzero", 0) == 1
    if is_literal and 0 in shape and -1 in shape:
        yield f"{told} has 0 and −1, which allowzero=1 does not allow together"
        return
    if data is None:
        return
    dims: list[object] = [*shape]
    if not is_literal:
        beyond = [place for place, size in enumerate(shape) if size == 0 and place >= len(data)]
        if beyond:
            yield f"{told} keeps axis {beyond[0]}, but {case.say(0)}"
            return
        dims = [data[place] if size == 0 else size for place, size in enumerate(shape)]
    size = find_size(data)
    sizes = [one for one in dims if isinstance(one, int) and one != -1]
    if not isinstance(size, int) or len(sizes) + shape.count(-1) < len(dims):
        return
    wanted = prod(sizes)
    if -1 in shape and (size % wanted if wanted else size):
        yield f"{told} does not divide {write_count(size, 'element')} of {case.say(0)}"
    elif -1 not in shape and wanted != size:
        has = write_count(wanted, "element")
        yield f"{told} has {has}, but {say_how_many(size, 'element')}: {case.say(0)}"


def _tile(case: Case) -> Iterator[str]:
    times, rank = case.dims(1), case.rank(0)
    if case.version >= 6 and times is not None and rank is not None:
        if len(times) != 1:
            yield f"{case.say(1)}, but must be a list"
        elif are_different(times[0], rank):
            yield (
                f"{case.say(1)}, but must have "
                f"{write_count(rank, 'entry', 'entries')}: {case.say(0)}"
            )


def _pad(case: Case) -> Iterator[str]:
    rank = case.rank(0)
    name = "pads" if case.is_stated("pads") else "paddings"
    pads: Sequence[object] | None = case.integers(name) if case.is_stated(name) else None
    count = None if pads is None else len(pads)
    if count is None and case.has(1):
        dims = case.dims(1)
        if dims is not None and len(dims) == 1 and isinstance(dims[0], int):
            count = dims[0]
    axes: int | None = rank
    if case.has(3):
        dims = case.dims(3)
        axes = dims[0] if dims and isinstance(dims[0], int) else None
    if count is not None and axes is not None and count != 2 * axes:
        yield (
            f"pads has {write_count(count, 'entry', 'entries')}, "
            f"but must have {2 * axes}: {case.say(0)}"
        )
    mode = case.text("mode", "constant")
    if mode not in ("constant", "reflect", "edge", "wrap"):
        yield f"mode is {mode[:40]!r}"


def _resize(case: Case) -> Iterator[str]:
    """Say what of scales and sizes does not fit (Operators.md, Resize: one of both)."""
    rank = case.rank(0)
    if case.version < 10:
        return
    place = 1 if case.version == 10 else 2
    given = {
        name: dims
        for name, at in (("scales", place), ("sizes", 3))
        if case.has(at) and (dims := case.dims(at)) is not None and dims != (0,)
    }
    is_open = any(case.has(at) and case.dims(at) is None for at in (place, 3))
    if len(given) == 2 and case.version >= 11:
        yield f"{case.name(2)} and {case.name(3)} are both given, but only one of them may be"
        return
    if not given and not is_open and case.version >= 11:
        yield "neither scales nor sizes are given"
        return
    axes = case.integers("axes") if case.is_stated("axes") else None
    wanted = len(axes) if axes is not None else rank
    for name, dims in given.items():
        if len(dims) != 1:
            yield f"{name} must be a list"
        elif are_different(dims[0], wanted):
            has = "1 entry" if dims[0] == 1 else f"{dims[0]} entries"  # or a symbol
            yield f"{name} has {has}, but must have {wanted}: {case.say(0)}"
    if rank is not None and axes is not None and any(not -rank <= axis < rank for axis in axes):
        yield f"axes is {list(axes[:8])}, but {case.say(0)}"


def _scale_up(case: Case) -> Iterator[str]:
    rank = case.rank(0)
    scales = case.numbers("scales")
    count = len(scales) if scales is not None else None
    dims = case.dims(1) if case.has(1) else None
    if count is None and dims is not None and len(dims) == 1 and isinstance(dims[0], int):
        count = dims[0]
    if rank is not None and count is not None and count != rank:
        yield (
            f"scales has {write_count(count, 'entry', 'entries')}, "
            f"but must have {rank}: {case.say(0)}"
        )


def _move_depth(case: Case, *, divides_channels: bool) -> Iterator[str]:
    data, block = case.dims(0), case.integer("blocksize")
    if block is not None and block < 1:
        yield f"blocksize is {block}, but must be at least 1"
        return
    if data is None or not block:
        return
    if len(data) != 4:
        yield f"{case.say(0)}, but {case.op_type} takes 4 axes"
        return
    if divides_channels:
        pairs: list[tuple[object, int]] = [(data[1], block * block)]
    else:
        pairs = [(data[2], block), (data[3], block)]
    wrong = [(size, by) for size, by in pairs if isinstance(size, int) and size % by]
    if wrong:
        yield f"{case.say(0)}, whose {wrong[0][0]} is not divisible by {wrong[0][1]}"


#: a function of this module for each operator
_ARRANGED: Mapping[str, Demand] = {
    "Reshape": _reshape,
    "Tile": _tile,
    "Pad": _pad,
    "Resize": _resize,
    "Upsample": _scale_up,
    "DepthToSpace": partial(_move_depth, divides_channels=True),
    "SpaceToDepth": partial(_move_depth, divides_channels=False),
}
RULES = (
    Rule(
        "NL-T18",
        "arranged-shape",
        "error",
        "A shape that cannot hold the elements, or a list without an entry for each axis",
        "The operator is not defined for it; runtimes refuse the model or fail in the first run.",
        "Correct the shape, or let −1 stand for what is left.",
        "Operators.md, Reshape, Tile, Pad, Resize, DepthToSpace",
        make_finder(_ARRANGED),
    ),
)
