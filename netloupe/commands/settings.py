"""Settings of a project: ``[tool.netloupe]`` in its pyproject.toml."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from netloupe.explorer.errors import CheckError

_KEYS = {
    "select": list,
    "ignore": list,
    "fail-on": str,
    "baseline": str,
    "target": str,
    "operators": (list, str),
}
_FAIL_ON = ("error", "warning")
_LARGEST = 2**24


class CheckSettings(NamedTuple):
    """What a project says of checks; what it leaves out is empty.

    Parameters
    ----------
    select, ignore
        Rules, as the options have them.
    fail_on, target
        As the options have them.
    baseline
        A file, relative to the folder of pyproject.toml until it is read.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: str | None = None
    target: str | None = None
    baseline: Path | None = None


def read_settings(folder: Path) -> CheckSettings:
    """Return the settings for a folder: those of the nearest pyproject.toml that has any.

    Raises
    ------
    CheckError
        Where such a file cannot be read, or has settings that are not known.
    """
    table, file = find_table(folder)
    return CheckSettings() if file is None else _read_keys(table, file)


def find_table(folder: Path) -> tuple[Any, Path | None]:
    """Return ``[tool.netloupe]`` for a folder, and the nearest pyproject.toml that has it.

    Raises
    ------
    CheckError
        Where such a file cannot be read.
    """
    folder = folder.absolute()
    for each in (folder, *folder.parents):
        file = each / "pyproject.toml"
        if not file.is_file():
            continue
        table = _read_table(file)
        if table is not None:
            return table, file
    return None, None


def list_operator_files(table: Any, file: Path) -> list[Path]:
    """Return the files of operators that settings name, relative to the folder of their own file.

    Raises
    ------
    CheckError
        Where the setting is neither a text nor a list of texts.
    """
    if not isinstance(table, dict) or "operators" not in table:
        return []
    given = table["operators"]
    _check_kind("operators", given, file)
    return [file.parent / name for name in ([given] if isinstance(given, str) else given)]


def _read_table(file: Path) -> Any:
    import tomllib

    try:
        if file.stat().st_size > _LARGEST:
            raise ValueError("it is too large")
        tool = tomllib.loads(file.read_text("utf-8")).get("tool", {})
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CheckError(f"{file} cannot be read: {reason}. Correct it.") from error
    return tool.get("netloupe") if isinstance(tool, dict) else None


def _read_keys(table: Any, file: Path) -> CheckSettings:
    if not isinstance(table, dict):
        raise CheckError(f"{file}: tool.netloupe is no table. Write [tool.netloupe].")
    for key, value in table.items():
        if key not in _KEYS:
            raise CheckError(
                f"{file}: [tool.netloupe] has no setting {key[:60]!r}. "
                f"There are {', '.join(_KEYS)}."
            )
        _check_kind(key, value, file)
    fail_on = table.get("fail-on")
    if fail_on not in (None, *_FAIL_ON):
        raise CheckError(
            f"{file}: fail-on of [tool.netloupe] is {fail_on[:60]!r}. Give error or warning."
        )
    baseline = table.get("baseline")
    return CheckSettings(
        tuple(table.get("select", ())),
        tuple(table.get("ignore", ())),
        fail_on,
        table.get("target"),
        None if baseline is None else file.parent / baseline,
    )


def _check_kind(key: str, value: object, file: Path) -> None:
    kind = _KEYS[key]
    kinds = kind if isinstance(kind, tuple) else (kind,)
    is_list = isinstance(value, list) and all(isinstance(entry, str) for entry in value)
    if (is_list and list in kinds) or (isinstance(value, str) and str in kinds):
        return
    wanted = " or ".join("a list of texts" if each is list else "a text" for each in kinds)
    raise CheckError(f"{file}: {key} of [tool.netloupe] is not {wanted}. Write it as one.")
