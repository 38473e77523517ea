"""Where model files to try things on are found, beside the inline models of the tests.

Ours are made when a test asks for one: small ones by :mod:`tests.cases`, real architectures by
:mod:`tests.zoo`. A folder of more, ``../shared/corpus`` beside this repository, adds cases where
it is there; its files have names that begin with ``beside:``.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar

import onnx

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from tests.cases import CASES
from tests.zoo import ZOO, unpack, unpack_file

_REPOSITORY = Path(__file__).resolve().parent.parent
CORPUS = _REPOSITORY.parent / "shared" / "corpus"
_LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
_BESIDE = "beside:"
#: folders whose files belong together: a net and its weights
_TOGETHER = ("caffe2/", "hostile/external/")

Case = TypeVar("Case", str, tuple[Any, ...])

#: models that the onnx package ships, without their weights
LIGHT_MODELS = sorted(path.name for path in _LIGHT.glob("*.onnx"))
#: names of all files of ours
MADE = sorted([*CASES, *ZOO])


def corpus_file(name: str) -> Path:
    """Return a file of ours, or with ``beside:`` before its name one beside the repository.

    Of a skeleton there, which is packed, the name without ``.xz`` is that of the whole model.

    Raises
    ------
    LookupError
        No such file is made.

    """
    if name.startswith(_BESIDE):
        path = CORPUS / name.removeprefix(_BESIDE)
        packed = path.with_name(f"{path.name}.xz")
        return path if path.exists() or not packed.exists() else _unpack_beside(packed)
    if name not in MADE:
        raise LookupError(f"no {name} is made; add it to tests/cases or tools/make_zoo.py")
    folder = _folder()
    names = [name]
    if name.startswith(_TOGETHER):
        names = [other for other in MADE if Path(other).parent == Path(name).parent]
    for each in names:
        if not (folder / each).exists():
            write_made(each, folder)
    return folder / name


@cache
def _unpack_beside(packed: Path) -> Path:
    path = _folder() / "beside" / packed.parent.name / packed.stem
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(unpack_file(packed))
    return path


def write_made(name: str, folder: Path) -> None:
    """Write a file of ours into a folder, below which it has its name."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(CASES[name]() if name in CASES else unpack(name))


@cache
def _folder() -> Path:
    """Return a folder of this process, removed when it ends."""
    folder = Path(tempfile.mkdtemp(prefix="netloupe-corpus-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def also_beside(cases: Sequence[Case], pattern: str = "{}") -> list[Case]:
    """Return cases of files of ours, and the same of those files that are beside the repository.

    A case is a name or begins with one; ``pattern`` completes the names.
    """
    found: list[Any] = []
    for prefix in ("", _BESIDE):
        for case in cases:
            short, *rest = (case,) if isinstance(case, str) else case
            name = pattern.format(short)
            if not prefix or (CORPUS / name).is_file():
                found.append((prefix + name, *rest) if rest else prefix + name)
    return found


def beside(*names: str) -> list[str]:
    """Return the names of those files that are beside the repository."""
    return [_BESIDE + name for name in names if (CORPUS / name).is_file()]


def list_beside(pattern: str) -> list[str]:
    """Return the names of all files beside the repository that match."""
    found = (path for path in CORPUS.glob(pattern) if path.is_file())
    return sorted(_BESIDE + str(path.relative_to(CORPUS)) for path in found)


def list_only_beside(pattern: str) -> list[str]:
    """Return those of which none of ours has the name: ours are as good for what reads them all."""
    return [name for name in list_beside(pattern) if name.removeprefix(_BESIDE) not in MADE]


def light_file(name: str) -> Path:
    """Return one of the models that the onnx package ships."""
    return _LIGHT / name


@lru_cache(maxsize=24)
def shared_model(name: str) -> Model:
    """Return a model of ours or of the onnx package that tests only look at.

    Its groups are found once, whichever tests of this process draw it.
    """
    return load(light_file(name) if name in LIGHT_MODELS else corpus_file(name))
