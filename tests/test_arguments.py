"""Whatever type is given to a public function, what it raises is an error of ours."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

import netloupe
from netloupe.explorer.arguments import (
    describe_hint,
    explain_arguments,
    explain_methods,
    find_mistake,
    fits,
    resolve_hint,
)
from netloupe.explorer.checks import Finding
from tests.corpus import corpus_file, shared_model

MODEL = "exported/lstm.legacy.onnx"
WRONG = [5, 2.5, "zzz", b"b", ["a"], {"a": 1}, object(), None, True, float("nan"), (1,), len]
#: of Python's own protocols, and of the widget library, which raise what is usual there
INHERITED = {"Findings.index", "Findings.count"}

SAYS_WHAT_IS_TAKEN = re.compile(r"\b(?:Give|Choose|is asked for|is no text, but of type)\b")
FINDING = Finding("NL-G02", "unused", "note", ("main",), "found", {}, "remove it", 1, "f")

Place = tuple[str, str]  # a public name, and a method of it


def list_callables() -> Iterator[Place]:
    for name in netloupe.__all__:
        found = getattr(netloupe, name)
        if inspect.isfunction(found):
            yield name, ""
        elif inspect.isclass(found):
            for method in dir(found):
                held = inspect.getattr_static(found, method)
                is_ours = (getattr(held, "__module__", None) or "").startswith("netloupe")
                if not inspect.isfunction(held) or not is_ours or method.startswith("_"):
                    continue
                if len(inspect.signature(held).parameters) > 1:
                    yield name, method


CALLABLES = [*list_callables()]


def make_object(name: str, folder: Path) -> Any:
    """Return an object of a public class; a note is one that is kept in a folder."""
    model = shared_model(MODEL)
    if name == "Function":
        return shared_model("exported/lstm.legacy-functions.onnx").functions[0]
    if name == "Quantization":
        model = shared_model("quantized/bert.qdq.onnx")
        stored = (model.quantization(tensor) for tensor in model.graph.initializers)
        return next(found for found in stored if found is not None)
    makers: dict[str, Callable[[], Any]] = {
        "Architecture": lambda: model.architecture,
        "Diff": lambda: netloupe.diff(model, model),
        "Explorer": lambda: netloupe.explore(model),
        "Figure": lambda: netloupe.Figure(),
        "Findings": lambda: netloupe.check(model),
        "Graph": lambda: model.graph,
        "Model": lambda: netloupe.load(corpus_file(MODEL)),
        "ModelGroup": lambda: model.groups,
        "Node": lambda: model.graph.nodes[0],
        "Notes": lambda: netloupe.load(corpus_file(MODEL)).notes,
        "Overlay": lambda: netloupe.overlay(model, "parameters"),
        "Paint": lambda: netloupe.Paint(),
        "Tensor": lambda: model.graph.initializers[0],
        "Value": lambda: model.graph.inputs[0],
    }
    made = makers[name]()
    if name == "Notes":
        made.open(folder / "notes.jsonl")
    return made


def needed(function: Callable[..., Any], holder: Any) -> dict[str, Any]:
    """Return something for each parameter that has no default.

    Where a function has others, too, it takes that: or else nobody would know what it says of them.
    """
    model = corpus_file(MODEL)
    known: dict[str, Any] = {"column": "parameters", "element": "main", "place": "main"}
    known |= dict.fromkeys(("model", "left", "right", "source", "quantized", "reference"), model)
    known |= {"old": holder, "severity": "error"}
    if isinstance(holder, netloupe.Notes):
        known |= {"note": holder.add("main", "x"), "finding": FINDING}
    return {
        name: known.get(name, "x")
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }


def catch(function: Callable[..., Any], *given: Any, **named: Any) -> Exception | None:
    """Return what a function raises."""
    try:
        made = function(*given, **named)
    except Exception as error:  # whatever it is, it is what we are after
        return error
    if isinstance(made, netloupe.Explorer):
        made.close()
    return None


def is_ours(error: Exception | None) -> bool:
    """Return whether nothing was raised, or an error of ours with a message."""
    return error is None or (isinstance(error, netloupe.NetloupeError) and bool(str(error)))


@pytest.mark.parametrize("place", CALLABLES, ids=lambda place: ".".join(filter(None, place)))
def test_a_wrong_type_is_an_error_of_ours_that_says_what_is_taken(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some of these are names of files to write
    name, method = place
    holder = make_object(name, tmp_path) if method else netloupe
    function = getattr(holder, method or name)
    given = needed(function, holder)
    for key, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        hint = resolve_hint(function, key)
        for wrong in WRONG:
            named, unnamed = {**given, key: wrong}, []
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
                unnamed.append(named.pop(key))
            error = catch(function, *unnamed, **named)
            if type(error) is ValueError:  # of the right type, but no number that it may be
                assert isinstance(wrong, int | float), (key, wrong, error)
                continue
            assert is_ours(error), (key, wrong, error)
            if error is not None and not fits(wrong, hint):
                assert SAYS_WHAT_IS_TAKEN.search(str(error)), (key, wrong, error)
    if isinstance(holder, netloupe.Explorer):
        holder.close()


@pytest.mark.parametrize("key", inspect.get_annotations(netloupe.ViewKeywords))
@pytest.mark.parametrize("draw", [netloupe.explore, netloupe.Model.to_svg])
def test_so_is_a_wrong_option_of_a_view(key: str, draw: Callable[..., Any]) -> None:
    for wrong in WRONG:
        assert is_ours(catch(draw, shared_model(MODEL), **{key: wrong})), wrong


def test_the_types_of_all_arguments_are_known() -> None:
    for name, method in CALLABLES:
        found = getattr(netloupe, name)
        function = getattr(found, method) if method else found
        for key, parameter in inspect.signature(function).parameters.items():
            is_any = parameter.annotation in ("Any", "ModelSource", "ModelSource | None")
            if key == "self" or is_any or parameter.kind is parameter.VAR_KEYWORD:
                continue
            assert resolve_hint(function, key) is not Any, (name, method, key)


def test_what_is_taken_is_said() -> None:
    model = shared_model(MODEL)
    with pytest.raises(netloupe.ArgumentError) as caught:
        model.to_svg(5)  # type: ignore[arg-type]
    assert str(caught.value) == (
        "Drawable.to_svg: path is 5, an int. Give str, PathLike[str] or None."
    )
    assert isinstance(caught.value, TypeError)
    watch: Any = "loud"
    refused = pytest.raises(netloupe.ArgumentError, match=r"^watched: watch is a str\. Give a func")
    with refused, netloupe.watched(watch):
        pass


@explain_arguments
def example(
    number: float, names: Sequence[str] = (), *more: int, sizes: Mapping[str, int] | None = None
) -> str:
    """Fail where anything is 3, or of a wrong type."""
    if number == 3:
        raise ValueError("not 3")
    return f"{number + 1}{','.join(names)}{sum(more)}{sum((sizes or {}).values())}"


@explain_methods(leaving=["left"])
class Example:
    """Of its methods one explains its arguments."""

    def add(self, number: int) -> int:
        """Return one more."""
        return number + 1

    def left(self, number: int) -> int:
        """Return one more."""
        return number + 1


def test_only_what_fails_for_its_types_is_told_anew() -> None:
    assert example(1, ["a"], 2, sizes={"b": 3}) == "2a23"
    assert inspect.signature(example).parameters["number"].annotation == "float"
    with pytest.raises(ValueError, match=r"^not 3$"):
        example(3)
    for wrong, words in (
        ({"number": "a"}, "example: number is 'a', a str. Give float."),
        ({"number": 1, "names": [1]}, "example: names is [1], a list. Give Sequence[str]."),
        ({"number": 1, "sizes": {"a": "b"}}, "example: sizes is {'a': 'b'}, a dict. "),
    ):
        with pytest.raises(netloupe.ArgumentError) as caught:
            example(**wrong)  # type: ignore[arg-type]
        assert str(caught.value).startswith(words)
        assert caught.value.__cause__ is not None
    with pytest.raises(netloupe.ArgumentError, match="more is 'a', a str"):
        example(1, (), 2, "a")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="missing 1 required"):
        example()  # type: ignore[call-arg]
    with pytest.raises(netloupe.ArgumentError, match=r"add: number is None\. Give int\."):
        Example().add(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unsupported operand"):
        Example().left(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("hint", "right", "wrong"),
    [
        (int, [1, True], ["a", 1.0, None]),
        (float, [1, 2.5], ["a", None]),
        (str | None, ["a", None], [b"a", 1]),
        (str | os.PathLike[str], ["a", Path("a")], [1, None, ["a"]]),
        (Sequence[str], [["a"], ("a",), "a", []], [1, [1], {"a"}]),
        (Mapping[str, int | Sequence[int]], [{"a": 1, "b": [1]}], [{1: 1}, {"a": "b"}, [("a", 1)]]),
        (tuple[float, float], [(1, 2.0)], [(1,), (1, "a"), [1, 2]]),
        (tuple[int, ...], [(), (1, 2)], [("a",), 1]),
        (Literal["a", 1], ["a", 1], ["b", True, None]),
        (Callable[[str], object], [len], [1]),
        (Any, [1, None], []),
        ("Unknown", [1, None], []),
    ],
)
def test_values_fit_a_type_or_do_not(hint: Any, right: list[Any], wrong: list[Any]) -> None:
    assert [value for value in right if not fits(value, hint)] == []
    assert [value for value in wrong if fits(value, hint)] == []


def test_a_type_is_told_as_it_is_written() -> None:
    assert describe_hint("str | Mapping[str, int | None] | None") == (
        "str, Mapping[str, int | None] or None"
    )
    assert describe_hint(int) == "int"


def test_a_name_of_two_meanings_is_not_judged() -> None:
    def draw(box: Unheard) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    assert resolve_hint(draw, "box") is Any
    assert find_mistake(draw, (1,), {}) is None
