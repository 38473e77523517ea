"""What is said of projections of which one model has one by a joined weight, the other several."""

from __future__ import annotations

from netloupe.explorer.compare import JoinedProjection, TensorDifference

from .file_text import write_line

_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight"}
_LONGEST = 200


def write_joined(joint: JoinedProjection) -> str:
    """Return in words what stands in the right model for what the left one has."""
    count = _NUMBERS.get(len(joint.parts), f"{len(joint.parts):,}")
    one = "one joined projection"
    if joint.joined[0].operator.form == "Attention":  # projects, and is all that is behind as well
        one = "one Attention with a joined projection"
    many = count if one == "one joined projection" else f"{count} projections"
    if joint.is_left:
        return f"{count} projections instead of {one}"
    return f"{one} instead of {many}"


def write_order(joint: JoinedProjection) -> str:
    """Return which weights the parts of a joined one are, in their order."""
    return ", ".join(write_line(one.weight.path, _LONGEST) for one in joint.parts)


def write_compared_weights(one: TensorDifference) -> str:
    """Return the path of a weight that differs; of a joined one also that of the other, and which.

    Where a weight was compared with a part of another, both are told, in the order of the models.
    """
    left, right = (write_line(tensor.path, _LONGEST) for tensor in (one.left, one.right))
    if one.part is None:
        return left
    if one.part.is_left:
        return f"{left}, {one.part} → {right}"
    return f"{left} → {right}, {one.part}"
