"""What pages call models: their names, and of those of one name what tells them apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from .served import ServedModel


def tell_apart(models: Sequence[ServedModel]) -> list[str]:
    """Return what each model is called, no two alike.

    Of models of one name that is the name with the least of its folders that no other has,
    ``v2/model.onnx``; those of one file, and those that pages have sent, are numbered.

    Parameters
    ----------
    models
        Those that pages show.
    """
    alike: dict[str, list[int]] = defaultdict(list)
    for number, served in enumerate(models):
        alike[served.name].append(number)
    called = [served.name for served in models]
    for numbers in alike.values():
        folders = {number: _split_folder(models[number].place) for number in numbers}
        for number in numbers if len(numbers) > 1 else ():
            others = [parts for other, parts in folders.items() if other != number]
            called[number] = _name_with_folder(models[number], folders[number], others)
    seen: Counter[str] = Counter()
    for number, name in enumerate(called):
        seen[name] += 1
        if seen[name] > 1:
            called[number] = f"{name} ({seen[name]})"
    return called


def _split_folder(place: str) -> tuple[str, ...]:
    return Path(place).parent.parts if place else ()


def _name_with_folder(
    served: ServedModel, folder: tuple[str, ...], others: Sequence[tuple[str, ...]]
) -> str:
    """Return a name with the fewest parts of its folder that no other folder ends in."""
    if not folder:
        return served.name
    depth = 1
    while depth < len(folder) and any(parts[-depth:] == folder[-depth:] for parts in others):
        depth += 1
    told = Path(*folder[-depth:]).as_posix()
    if served.name == Path(served.place).name:
        return f"{told.rstrip('/')}/{served.name}"
    return f"{served.name} (in {told})"
