"""The list of packages in pyproject.toml is what is on disk; data files are packaged."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

import netloupe

_ROOT = Path(__file__).resolve().parent.parent
_HOMES = ("explorer", "proto", "widgets", "netloupe/commands", "netloupe/lab", "netloupe/live")


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((_ROOT / "pyproject.toml").read_text())


def packages_on_disk() -> dict[str, Path]:
    found = {"netloupe": _ROOT / "netloupe"}
    for home in _HOMES:
        for init in (_ROOT / home).rglob("__init__.py"):
            if "node_modules" not in init.parts:
                folder = init.parent
                parts = folder.relative_to(
                    _ROOT / "netloupe" if home.startswith("netloupe") else _ROOT
                )
                found[".".join(("netloupe", *parts.parts))] = folder
    return found


def test_the_list_of_packages_is_complete(project: dict[str, Any]) -> None:
    listed = project["tool"]["setuptools"]["packages"]
    assert sorted(listed) == listed
    assert set(listed) == set(packages_on_disk())


def test_folders_with_code_are_packages() -> None:
    folders = set(packages_on_disk().values())
    for home in _HOMES:
        for module in (_ROOT / home).rglob("*.py"):
            if "node_modules" not in module.parts:
                assert module.parent in folders, f"{module.parent} has no __init__.py"


def test_every_data_file_is_packaged(project: dict[str, Any]) -> None:
    data = project["tool"]["setuptools"]["package-data"]
    assert project["tool"]["setuptools"]["include-package-data"] is False
    for package, folder in packages_on_disk().items():
        for path in folder.iterdir():
            if path.suffix not in (".json", ".css", ".js", ".proto", ".pyi", ".typed", ".svg"):
                continue
            names = [
                (package, path.name),
                (package.rpartition(".")[0], f"{folder.name}/{path.name}"),
            ]
            assert any(
                fnmatch(name, pattern) for owner, name in names for pattern in data.get(owner, ())
            ), f"{path} is in no package-data"


def test_every_pattern_of_data_finds_files(project: dict[str, Any]) -> None:
    folders = packages_on_disk()
    for package, patterns in project["tool"]["setuptools"]["package-data"].items():
        for pattern in patterns:
            assert list(folders[package].glob(pattern)), f"{package}: {pattern}"


def test_the_links_for_uninstalled_use() -> None:
    for home in ("explorer", "proto", "widgets"):
        link = _ROOT / "netloupe" / home
        assert link.is_symlink()
        assert link.readlink() == Path("..") / home


def test_version_and_extras(project: dict[str, Any]) -> None:
    assert project["project"]["version"] == netloupe.__version__
    assert (_ROOT / "LICENSE").read_text().lstrip().startswith("Apache License")
    assert (_ROOT / "netloupe" / "py.typed").is_file()
    assert project["project"]["scripts"] == {"netloupe": "netloupe.commands.cli:main"}
    for extra in ("lab", "test"):
        assert project["project"]["optional-dependencies"][extra]


# the extensions of JupyterLab and its server


def test_the_extension_of_jupyterlab_names_its_script() -> None:
    home = _ROOT / "widgets" / "labextension"
    described = json.loads((home / "package.json").read_text())
    assert described["name"] == "netloupe"
    assert described["version"] == netloupe.__version__
    (script,) = (home / "static").iterdir()
    assert described["jupyterlab"]["_build"]["load"] == f"static/{script.name}"
    assert re.fullmatch(r"remoteEntry\.[0-9a-f]{16}\.js", script.name)
    assert script.stat().st_size < 50_000


def test_the_wheel_holds_what_jupyterlab_and_its_server_look_for(tmp_path: Path) -> None:
    source, built = tmp_path / "source", tmp_path / "built"
    unneeded = shutil.ignore_patterns(
        "node_modules", ".*", "__pycache__", "build", "*.egg-info", "tests", "gallery", "zoo"
    )
    shutil.copytree(_ROOT, source, symlinks=True, ignore=unneeded)
    built.mkdir()
    work = f"from setuptools.build_meta import build_wheel; print(build_wheel({str(built)!r}))"
    subprocess.run([sys.executable, "-c", work], cwd=source, check=True, capture_output=True)
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as content:
        names = set(content.namelist())
        data = f"netloupe-{netloupe.__version__}.data/data/"
        extension = f"{data}share/jupyter/labextensions/netloupe/"
        described = json.loads(content.read(f"{extension}package.json"))
        settings = json.loads(
            content.read(f"{data}etc/jupyter/jupyter_server_config.d/netloupe.json")
        )
    assert extension + described["jupyterlab"]["_build"]["load"] in names
    assert f"{extension}install.json" in names
    assert settings == {"ServerApp": {"jpserver_extensions": {"netloupe.lab": True}}}
    assert {"netloupe/lab/__init__.py", "netloupe/lab/model_server.py"} <= names
    assert not any("frontend" in name for name in names)
