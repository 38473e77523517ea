"""``netloupe text --textconv``: what git is told of a model of one of its revisions.

Git hands over a temporary file that holds the model alone. Files of external data that belong to it
are looked for in the history: they are those that lay beside this model in its commits.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from netloupe.explorer.describe.canonical import write_canonical
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Model
from netloupe.explorer.model.stored_tensors import list_stored_tensors
from netloupe.explorer.readers.load import load
from netloupe.explorer.tensors.pointers import find_lfs_oid

#: git is not waited for longer, in seconds
_PATIENCE = 60
#: so many commits with a model are looked at
_MOST_COMMITS = 200


class _GitError(Exception):
    """Git is not there, or has no answer."""


@dataclass
class _Found:
    """Files beside a model in a folder, and why some are not there."""

    folder: Path
    missing: list[str] = field(default_factory=list)


def write_for_git(file: Path, *, reads_weights: bool) -> Iterator[str]:
    """Yield the lines of a file that git hands over, whatever it is; raise nothing of it.

    Parameters
    ----------
    file
        A file of the work tree, or a temporary one with the content of a revision.
    reads_weights
        Whether weights are read for their digests.
    """
    try:
        model = load(file)
        locations = _list_locations(model) if reads_weights else []
        if not locations or all(_is_beside(file, one) for one in locations):
            yield from write_canonical(model, reads_weights=reads_weights)
            return
        with tempfile.TemporaryDirectory(prefix="netloupe-") as name:
            found = _bring(file, locations, Path(name))
            for reason in found.missing:
                yield f"# {reason}"
            yield from write_canonical(load(found.folder / file.name))
    except (NetloupeError, OSError) as error:
        yield f"# cannot be read: {str(error).replace(str(file), file.name)}"
        yield f"# {_digest_file(file)}"


def _list_locations(model: Model) -> list[str]:
    """Return the files of external data that a model names."""
    named = (
        tensor.external.location
        for graph in model.graphs
        for tensor in list_stored_tensors(graph)
        if tensor.external is not None
    )
    return [one for one in dict.fromkeys(named) if _stays_inside(one)]


def _stays_inside(location: str) -> bool:
    path = PurePosixPath(location)
    return bool(location) and not path.is_absolute() and ".." not in path.parts


def _is_beside(file: Path, location: str) -> bool:
    try:
        return (file.parent / location).exists()
    except OSError:  # such as a name that is too long
        return False


def _digest_file(file: Path) -> str:
    hashed, size = hashlib.sha256(), 0
    try:
        with file.open("rb") as stream:
            while piece := stream.read(2**20):
                hashed.update(piece)
                size += len(piece)
    except OSError as error:
        return f"the file cannot be opened ({error.strerror})"
    return f"{size} bytes sha256:{hashed.hexdigest()[:32]}"


def _bring(file: Path, locations: Iterable[str], folder: Path) -> _Found:
    """Put a model, and what external data of it git has, into a folder."""
    found = _Found(folder)
    (folder / file.name).write_bytes(file.read_bytes())
    try:
        places = _find_places(file)
    except _GitError as error:
        found.missing = [f"external data are not looked for: {error}"]
        return found
    for location in locations:
        try:
            reason = _bring_one(location, places, folder)
        except _GitError as error:  # such as a folder of that name
            reason = f"git does not give it ({error})"
        except OSError as error:
            reason = f"it cannot be put beside the model ({error.strerror})"
        if reason:
            found.missing.append(f"external data {location!r}: {reason}")
    return found


def _find_places(file: Path) -> list[tuple[str, PurePosixPath]]:
    """Return the commits that brought a model into the history, with its path in each."""
    blob = _ask("hash-object", f"--path={file.name}", "--", str(file)).decode().strip()
    told = _ask(
        *("log", "--all", "-z", "--raw", "--no-abbrev", "--no-renames", "-m"),
        *("--format=%x01%H", f"--find-object={blob}"),
    )
    places: list[tuple[str, PurePosixPath]] = []
    commit = ""
    fields = iter(told.decode("utf-8", "surrogateescape").replace("\n", "").split("\0"))
    for text in fields:
        if text.startswith("\x01"):
            commit, text = text[1:41], text[41:]
        if text.startswith(":"):
            path = next(fields, "")
            if text.split(" ")[3] == blob:
                places.append((commit, PurePosixPath(path)))
    named = [place for place in places if place[1].name == file.name]
    if not named:
        raise _GitError("no commit has this model")
    return named[:_MOST_COMMITS]


def _bring_one(location: str, places: list[tuple[str, PurePosixPath]], folder: Path) -> str:
    """Write one file of external data; return why that is not done, or nothing."""
    blobs: set[str] = set()
    for commit, path in places:
        beside = path.parent / location
        try:
            blobs |= _list_versions(commit, path, beside)
        except _GitError:
            continue
    if not blobs:
        return "git does not have it"
    if len(blobs) > 1:
        return f"git has {len(blobs)} versions of it beside this model; which one is not known"
    data = _ask("cat-file", "blob", blobs.pop())
    digest = find_lfs_oid(data)
    if digest is not None:
        stored = Path(_ask("rev-parse", "--git-path", "lfs/objects").decode().strip())
        kept = stored / digest[:2] / digest[2:4] / digest
        if not kept.is_file():
            return "it is in Git LFS, and not here: git lfs fetch --all"
        data = kept.read_bytes()
    target = folder / location
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    return ""


def _list_versions(commit: str, model: PurePosixPath, data: PurePosixPath) -> set[str]:
    """Return the versions that a file had from a commit on, until the model became another one."""
    first = _ask("rev-parse", "--verify", "-q", f"{commit}:{data}").decode().strip()
    own = _ask("rev-parse", "--verify", "-q", f"{commit}:{model}").decode().strip()
    later = _ask("rev-list", "--all", "--ancestry-path", f"^{commit}", "--", str(model), str(data))
    found = {first}
    for each in later.decode().split()[:_MOST_COMMITS]:
        try:
            if _ask("rev-parse", "--verify", "-q", f"{each}:{model}").decode().strip() == own:
                found.add(_ask("rev-parse", "--verify", "-q", f"{each}:{data}").decode().strip())
        except _GitError:  # a commit that has removed one of both
            continue
    return found


def _ask(*arguments: str) -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 - git itself has started this process
            ["git", *arguments],  # noqa: S607
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise _GitError(f"git does not answer ({type(error).__name__})") from error
    if done.returncode:
        raise _GitError(done.stderr.decode(errors="replace").strip().split("\n")[0][:200])
    return done.stdout
