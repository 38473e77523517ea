"""Sines, cosines and Fourier transforms: positions as waves, and tokens mixed by frequencies."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_count

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_int, read_scalar
from .weight_sizes import read_dims

#: what a transform that is followed by another one, and its real part, may have between
_MOST_TRANSFORMS = 3


def find_encodings(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find sines and cosines of multiples of a value, put side by side.

    B. Mildenhall and others, NeRF, 2020, equation 4; M. Tancik and others, Fourier Features Let
    Networks Learn High Frequency Functions, 2020, section 4.
    """
    operations = blocks.operations
    for join, node in enumerate(operations.nodes):
        if not node.operator.has("joins") or blocks.owner[join] is not None:
            continue
        numbers, count = {join}, 0
        bases: set[Value] = set()
        has_base = False
        angles: dict[str, set[Value]] = {"Sin": set(), "Cos": set()}
        for value in operations.operands[join]:
            wave = operations.given_by(value, "Sin", "Cos")
            if wave is None:
                bases.add(value)
                has_base = True
                continue
            numbers.add(wave)
            (angle,) = operations.operands[wave]
            angles[operations.kinds[wave]].add(angle)
        if angles["Sin"] != angles["Cos"] or not angles["Sin"]:
            continue
        for angle in angles["Sin"]:
            base, taken, frequencies = _read_angle(operations, angle)
            numbers |= taken
            count += frequencies
            bases.add(base)
        # one value, of which there are several multiples, or which stands beside one
        if len(bases) != 1 or not (has_base or len(angles["Sin"]) > 1):
            features = _find_features(operations, join, angles["Sin"]) if len(bases) == 1 else None
            if features is not None:
                yield features
            continue
        facts = (write_count(count, "frequency", "frequencies"),) if count else ()
        yield FoundBlock("positions", "Positional encoding", frozenset(numbers), join, facts)


def _find_features(operations: Operations, join: int, angles: set[Value]) -> FoundBlock | None:
    """Return sines and cosines of products with a matrix, perhaps times 2π, side by side.

    M. Tancik and others, Fourier Features, 2020, equation 5.
    """
    if len(angles) != 1 or len(operations.operands[join]) != 2:
        return None
    numbers = {join, *operations.givers(join)}
    (angle,) = angles
    for _ in range(2):
        number = operations.given_by(angle, "Mul", "Gemm")
        if number is None or len(operations.operands[number]) != 1:
            return None
        numbers.add(number)
        angle = operations.operands[number][0]
        if operations.kinds[number] == "Gemm":
            break
        if operations.scalar(number) is None:
            return None
    else:
        return None
    dims = [read_dims(value) for value in operations.fixed(number)]
    if len(dims) != 1 or len(dims[0]) != 2:
        return None
    before = operations.giver(angle)
    if before is not None and operations.kinds[before] == "Mul":
        is_scaled = operations.scalar(before) is not None and operations.only_user(before) == number
        numbers |= {before} if is_scaled else set()
    facts = (write_count(dims[0][-1], "frequency", "frequencies"),)
    return FoundBlock("positions", "Fourier features", frozenset(numbers), join, facts)


def _read_angle(operations: Operations, angle: Value) -> tuple[Value, set[int], int]:
    """Return what an angle is a multiple of, how it is computed, and of how many frequencies."""
    product = operations.given_by(angle, "Mul", "Gemm")
    if product is None or len(operations.operands[product]) != 1:
        return angle, set(), 1
    dims = [read_dims(value) for value in operations.fixed(product)]
    count = max((max(each, default=1) for each in dims), default=1)
    return operations.operands[product][0], {product}, count


def find_transforms(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find Fourier transforms along one or several axes.

    Along tokens and features they mix tokens (J. Lee-Thorp and others, FNet, 2022, section 3.2);
    with weights between, and an inverse one behind, they are a spectral convolution (Z. Li and
    others, Fourier Neural Operator, 2021, section 4).
    """
    operations = blocks.operations
    taken: set[int] = set()
    for number, kind in enumerate(operations.kinds):
        if kind not in ("DFT", "STFT") or number in taken:
            continue
        numbers, end = {number}, number
        while len(numbers) < _MOST_TRANSFORMS:
            user = operations.only_user(end)
            if (
                user is None
                or operations.kinds[user] != kind
                or not _is_like(operations, number, user)
            ):
                break
            numbers.add(user)
            end = user
        taken |= numbers
        name = "FFT" if kind == "DFT" else "STFT"
        if read_int(operations.nodes[number], "inverse"):
            name = f"inverse {name}"
        name = f"{len(numbers)}-D {name}" if len(numbers) > 1 else name[0].upper() + name[1:]
        yield FoundBlock("transform", name, frozenset(numbers), end)


def _is_like(operations: Operations, number: int, other: int) -> bool:
    """Return whether two transforms are of one direction, along different axes."""
    one, two = (operations.nodes[each] for each in (number, other))
    if (read_int(one, "inverse") or 0) != (read_int(two, "inverse") or 0):
        return False
    axes = [read_int(node, "axis") for node in (one, two)]
    if axes == [None, None]:  # an operand since opset 20
        axes = [
            None if (at := read_scalar(node.input(2))) is None else int(at) for node in (one, two)
        ]
    return axes[0] is None or axes[0] != axes[1]
