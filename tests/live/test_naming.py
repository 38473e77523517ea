"""Models of one name are told apart by the least of their folders."""

from __future__ import annotations

from pathlib import Path

import pytest

import netloupe
from netloupe.live.intake import Intake
from netloupe.live.naming import tell_apart
from netloupe.live.served import ReadyModel, ServedModel
from netloupe.live.server import LiveServer

from .test_server import TOKEN, fetch, run


def make(place: str, name: str = "", *, is_sent: bool = False) -> ServedModel:
    def read() -> ReadyModel:
        return ReadyModel(netloupe.load(place))

    return ServedModel(name or Path(place).name, read, files=[place], is_sent=is_sent)


@pytest.mark.parametrize(
    ("places", "told"),
    [
        (["/a/x.onnx", "/a/y.onnx"], ["x.onnx", "y.onnx"]),
        (["/a/v1/m.onnx", "/a/v2/m.onnx"], ["v1/m.onnx", "v2/m.onnx"]),
        # the folder of one is not enough, that around it is
        (
            ["/run1/best/m.onnx", "/run2/best/m.onnx", "/run2/last/m.onnx"],
            ["run1/best/m.onnx", "run2/best/m.onnx", "last/m.onnx"],
        ),
        (["/m.onnx", "/a/m.onnx"], ["/m.onnx", "a/m.onnx"]),
        # one folder ends as the other does
        (["/best/m.onnx", "/run/best/m.onnx"], ["/best/m.onnx", "run/best/m.onnx"]),
        (["/a/m.onnx", "/a/m.onnx"], ["/a/m.onnx", "/a/m.onnx (2)"]),
    ],
)
def test_the_least_folder_that_tells_them_apart(places: list[str], told: list[str]) -> None:
    assert tell_apart([make(place) for place in places]) == told


def test_what_is_no_path_stays_what_it_is() -> None:
    against = [make(f"/{folder}/m.onnx", "m.onnx against o.onnx") for folder in ("a", "b")]
    assert tell_apart(against) == ["m.onnx against o.onnx (in a)", "m.onnx against o.onnx (in b)"]
    # where files that were sent are kept tells nobody anything
    sent = [make(f"/tmp/{folder}/m.onnx", is_sent=True) for folder in ("x1", "x2")]
    assert tell_apart([*sent, make("/a/m.onnx")]) == ["m.onnx", "m.onnx (2)", "a/m.onnx"]


@pytest.mark.parametrize("count", [1, 2])
def test_pages_lead_to_the_page_on_which_a_model_is_chosen(count: int) -> None:
    models = [make(f"/v{number}/<m>.onnx") for number in range(count)]

    async def work() -> None:
        server = LiveServer(models, None, TOKEN)
        server.start()
        try:
            assert (await fetch(server, "/start"))[0] == 403
            status, page, _ = await fetch(server, f"/start?token={TOKEN}")
            assert status == 200
            assert "Open models" in page
            shown = server.write_page(models[0])
            has_others = count > 1
            assert ('"start":"start"' in shown.replace(": ", ":")) == has_others
            assert ("<title>v0/&lt;m&gt;.onnx</title>" in shown) == has_others
            server.intake = Intake(lambda path, name, is_sent: make(str(path)), takes_paths=False)
            assert '"start":"start"' in server.write_page(models[0]).replace(": ", ":")
        finally:
            server.stop()

    run(work)


def test_the_page_on_which_one_chooses_tells_them_apart() -> None:
    async def work() -> None:
        server = LiveServer([make(f"/v{number}/m.onnx") for number in range(2)], None, TOKEN)
        server.start()
        try:
            _, page, _ = await fetch(server, f"/?token={TOKEN}")
            assert [page.count(f"v{number}/m.onnx") > 0 for number in range(2)] == [True, True]
        finally:
            server.stop()

    run(work)
