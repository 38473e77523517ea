"""What is public and takes a model takes a path, and says what else it expects."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import onnx.parser
import pytest

import netloupe

#: parameters that are models, by public function; the first is needed
TAKING: dict[str, tuple[str, ...]] = {
    "audit": ("quantized", "reference"),
    "check": ("model",),
    "diff": ("left", "right"),
    "explore": ("source", "against"),
    "load": ("source",),
    "overlay": ("model",),
    "report": ("model", "against", "float_twin"),
}
#: functions and classes of the public names that take no model
OTHERS = {"register_operators", "watched"}
#: the same of methods of public classes
METHODS: dict[str, tuple[str, ...]] = {
    "Explorer.check": ("reference",),
    "Notes.carry_from": ("older",),
}
TEXT = """<ir_version: 10, opset_import: ["": 21]>
    g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { [a] y = Add (x, w) }"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(TEXT), place)
    return place


def call(name: str, given: dict[str, Any]) -> Any:
    more = {"overlay": {"column": "parameters"}}.get(name, {})
    return getattr(netloupe, name)(**given, **more)


def test_every_public_function_is_known() -> None:
    functions = {
        name
        for name in netloupe.__all__
        if inspect.isfunction(getattr(netloupe, name)) and not name.startswith("_")
    }
    assert functions - OTHERS == {*TAKING}
    for name, parameters in TAKING.items():
        signature = inspect.signature(getattr(netloupe, name))
        assert {*parameters} <= {*signature.parameters}
        models = {n for n, p in signature.parameters.items() if p.annotation == "ModelSource"}
        assert models <= {*parameters}, "a model that no test gives as a path"
        # what is typed as a model takes no path
        for parameter in signature.parameters.values():
            assert parameter.annotation not in ("Model", "Model | None")


@pytest.mark.parametrize("name", TAKING)
@pytest.mark.parametrize("as_text", [True, False])
def test_a_path_is_taken_for_each_model(name: str, as_text: bool, path: Path) -> None:
    given = str(path) if as_text else path
    assert call(name, dict.fromkeys(TAKING[name], given)) is not None


@pytest.mark.parametrize("name", TAKING)
@pytest.mark.parametrize("wrong", [5, 2.5, ["a.onnx"], {"a": 1}, object()])
def test_anything_else_is_refused_in_words(name: str, wrong: Any, path: Path) -> None:
    for parameter in TAKING[name]:
        given = {**dict.fromkeys(TAKING[name], str(path)), parameter: wrong}
        with pytest.raises(netloupe.NetloupeError, match=r"Give a path"):
            call(name, given)


@pytest.mark.parametrize("name", TAKING)
def test_a_path_of_nothing_is_named(name: str, path: Path) -> None:
    for parameter in TAKING[name]:
        given = {**dict.fromkeys(TAKING[name], str(path)), parameter: "not_there.onnx"}
        with pytest.raises(netloupe.SourceError, match=r"not_there\.onnx"):
            call(name, given)


def list_methods() -> dict[str, tuple[str, ...]]:
    """Return the parameters of public methods that are models, by their annotations."""
    found: dict[str, tuple[str, ...]] = {}
    for name in netloupe.__all__:
        owner = getattr(netloupe, name)
        for method in dir(owner) if inspect.isclass(owner) else ():
            function = inspect.getattr_static(owner, method)
            if isinstance(function, classmethod | staticmethod):
                function = function.__func__
            if method.startswith("_") or not inspect.isfunction(function):
                continue
            models = [
                each.name
                for each in inspect.signature(function).parameters.values()
                if re.search(r"\b(Model|ModelSource)\b", str(each.annotation))
            ]
            if models:
                found[f"{name}.{method}"] = tuple(models)
    return found


def test_every_public_method_with_a_model_is_known() -> None:
    assert list_methods() == METHODS


@pytest.mark.parametrize("name", METHODS)
def test_no_method_takes_a_model_alone(name: str) -> None:
    owner, method = name.split(".")
    signature = inspect.signature(getattr(getattr(netloupe, owner), method))
    for parameter in METHODS[name]:
        assert signature.parameters[parameter].annotation in ("ModelSource", "ModelSource | None")


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("as_text", [True, False])
def test_a_method_takes_a_path_for_each_model(name: str, as_text: bool, path: Path) -> None:
    owner, method = name.split(".")
    # an explorer shows the model, and notes are on one
    own = netloupe.explore(path) if owner == "Explorer" else netloupe.load(path).notes
    given = str(path) if as_text else path
    assert getattr(own, method)(**dict.fromkeys(METHODS[name], given)) is not None
    for wrong in (5, ["a.onnx"]):
        with pytest.raises(netloupe.NetloupeError, match=r"Give a path"):
            getattr(own, method)(**dict.fromkeys(METHODS[name], wrong))
