"""The extension of the Jupyter server: who is answered, for what files, and by what processes."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psutil
import pytest
import websocket

from tests.browser.servers import TOKEN, Server, run_server
from tests.corpus import corpus_file

BASE = "/user/someone/"
SECONDS = 60.0
#: a user who may only read is one that says so
SETTINGS = """
from jupyter_server.auth import AllowAllAuthorizer

class Authorizer(AllowAllAuthorizer):
    def is_authorized(self, handler, user, action, resource):
        return handler.request.headers.get("X-Refused") != f"{action} {resource}"

c.ServerApp.authorizer_class = Authorizer
c.NetloupeLab.max_models = 2
c.NetloupeLab.idle_seconds = 0.5
c.NetloupeLab.linked_folders = ["LINKED"]
"""


def fill(folder: Path) -> Path:
    """Make the root folder of a server, and beside it what it must not give; return the root."""
    root = folder / "root"
    for name in ("root/models/deep", "root/.hidden", "outside", "linked"):
        (folder / name).mkdir(parents=True)
    model = corpus_file("exported/condloop.dynamo.onnx")
    for name in (
        "root/models/small.onnx",
        "root/models/other.onnx",
        "root/models/third.onnx",
        "root/.hidden/small.onnx",
        "root/models/Größe #1 50%.onnx",
        "outside/secret.onnx",
        "linked/shared.onnx",
    ):
        shutil.copy(model, folder / name)
    (root / "models" / "broken.onnx").write_bytes(b"\x08\x07garbage")
    (root / "models" / "saved_model.pb").write_bytes(b"\x08\x01\x12\x04\x22\x02\x08\x01")
    links = {
        "models/inner.onnx": root / "models" / "small.onnx",
        "models/outer.onnx": folder / "outside" / "secret.onnx",
        "models/shared.onnx": folder / "linked" / "shared.onnx",
        "out": folder / "outside",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    # a way out and back in: its notes would be written outside
    (folder / "outside" / "back.onnx").symlink_to(root / "models" / "small.onnx")
    return root


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """Run a Jupyter server with the extension below a base URL."""
    root = fill(folder)
    (folder / ".config").mkdir()
    settings = SETTINGS.replace("LINKED", str(folder / "linked"))
    (folder / ".config" / "jupyter_server_config.py").write_text(settings)
    with run_server("server", folder, root, BASE) as running:
        yield running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("jupyter")) as running:
        yield running


@pytest.fixture(scope="module")
def root(server: Server) -> Path:
    return Path(psutil.Process(server.process).cwd())


def get(server: Server, path: str, token: str = TOKEN, **headers: str) -> tuple[int, str, Any]:
    """Return status, text and headers of what the server answers; redirects are not followed."""
    place = urlsplit(server.address)
    connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=SECONDS)
    try:
        given = {"Authorization": f"token {token}"} if token else {}
        connection.request("GET", path, headers={**given, **headers})
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers
    finally:
        connection.close()


def get_page(server: Server, path: str, **headers: str) -> tuple[int, str]:
    """Return status and text of the page of a model."""
    address = f"{BASE}netloupe/page?path={quote(path, safe='')}"
    status, text, _ = get(server, address, **{"X-Netloupe": "netloupe"}, **headers)
    return status, text


def find_socket(server: Server, path: str) -> str:
    """Return the address of the socket of a model's page; without a ticket where it has none."""
    told = get_page(server, path)[1].partition('id="nl-data">')[2]
    found = json.loads(told.partition("</script>")[0] or "{}").get("live")
    return str(found or f"{BASE}netloupe/socket?path={quote(path, safe='')}")


class Socket:
    """The end of a page's socket."""

    def __init__(self, stream: websocket.WebSocket) -> None:
        self._socket = stream

    def send(self, frame: str | bytes | None = None, **content: Any) -> None:
        """Send a frame."""
        self._socket.send(json.dumps(content) if frame is None else frame)

    def wait(self, wanted: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        """Wait for a frame; return its content."""
        while True:
            frame = self._socket.recv()
            assert frame, "the server has closed the socket"
            if isinstance(frame, bytes):
                (length,) = struct.unpack_from("<I", frame)
                frame = frame[4 : 4 + length].decode()
            content: dict[str, Any] = json.loads(frame)
            if wanted(content):
                return content
            assert not {"failed", "ended"} & {*content}, content

    def scene(self) -> dict[str, Any]:
        """Ask for a scene, and wait for it."""
        self.send(request={"type": "scene", "id": "a"})
        return self.wait(lambda each: each.get("message", {}).get("type") == "scene")

    def ended(self) -> str:
        """Wait for the first reason why there will be no more frames, and for the end."""
        told = self.wait(lambda each: "failed" in each or "ended" in each)
        reason = str(told.get("failed") or told["ended"])
        while self._socket.recv():
            pass
        return reason

    def is_cut_off(self, text: str) -> bool:
        """Send what is too much; return whether the server ends the connection for it."""
        try:
            self._socket.send(text)
            while True:
                code, data = self._socket.recv_data()
                if code == websocket.ABNF.OPCODE_CLOSE:
                    return data[:2] == struct.pack("!H", 1009)
        except ConnectionError:  # it does not read to the end
            return True

    def close(self) -> None:
        self._socket.close()


@contextmanager
def connected(
    server: Server,
    path: str,
    token: str = TOKEN,
    origin: str | None = None,
    address: str = "",
    **headers: str,
) -> Iterator[Socket]:
    """Open a socket as the page of a model does; at the address that its page names."""
    address = address or find_socket(server, path)
    place = urlsplit(server.address)
    given = {"Authorization": f"token {token}"} if token else {}
    # which closes it where the server refuses
    with socket.create_connection((str(place.hostname), place.port), SECONDS) as stream:
        made = websocket.create_connection(
            f"ws://{place.netloc}{address}",
            timeout=SECONDS,
            origin=origin or f"http://{place.netloc}",
            header={**given, **headers},
            socket=stream,
        )
        try:
            yield Socket(made)
        finally:
            made.close()


def list_processes(server: Server) -> list[psutil.Process]:
    """Return the processes of models."""
    found = []
    for process in psutil.Process(server.process).children():
        try:
            if "model_server.py" in " ".join(process.cmdline()):
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


def wait_for_processes(server: Server, count: int) -> list[psutil.Process]:
    """Wait until there are so many."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        found = list_processes(server)
        if len(found) == count:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{len(list_processes(server))} processes instead of {count}")


@pytest.fixture(autouse=True)
def no_process_stays(server: Server) -> Iterator[None]:
    """Wait until no model is open any more, so that each test begins with none."""
    yield
    wait_for_processes(server, 0)


# who


def test_who_is_logged_in_gets_the_page_and_nothing_is_read_for_it(server: Server) -> None:
    address = f"{BASE}netloupe/page?path=models/small.onnx"
    status, text, headers = get(server, address, **{"X-Netloupe": "netloupe"})
    assert status == 200
    assert headers["X-Netloupe"] == "netloupe"
    assert f'"live":"{BASE}netloupe/socket?path=models%2Fsmall.onnx&ticket=' in text
    assert "Graph of small.onnx" in text
    assert "frame-ancestors 'self'" in headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert f"connect-src 'self' ws://{urlsplit(server.address).netloc} " in text
    assert list_processes(server) == []


def test_no_link_and_no_frame_leads_to_the_page(server: Server) -> None:
    address = f"{BASE}netloupe/page?path=models/small.onnx"
    for headers in ({}, {"X-Netloupe": "other"}):
        status, text, _ = get(server, address, **headers)
        assert status == 403
        assert "ticket" not in text


def test_a_socket_needs_the_ticket_of_a_page_of_its_model_once(server: Server) -> None:
    small, other = (find_socket(server, f"models/{name}.onnx") for name in ("small", "other"))
    ticket = small.rpartition("ticket=")[2]
    addresses = [
        small.replace(ticket, ""),
        small.replace(ticket, "wrong"),
        small.partition("&")[0],
        other.partition("ticket=")[0] + f"ticket={ticket}",
        small,  # which it was used for just now
    ]
    for address in addresses:
        with (
            pytest.raises(websocket.WebSocketBadStatusException, match="403"),
            connected(server, "", address=address),
        ):
            pass
    with connected(server, "", address=other) as talk:
        talk.scene()
    with (
        pytest.raises(websocket.WebSocketBadStatusException, match="403"),
        connected(server, "", address=other),
    ):
        pass


@pytest.mark.parametrize("token", ["", "wrong"])
def test_others_are_sent_to_the_login(server: Server, token: str) -> None:
    status, text, headers = get(server, f"{BASE}netloupe/page?path=models/small.onnx", token)
    assert status in (302, 403)
    assert status == 403 or headers["Location"].startswith(f"{BASE}login")
    assert "small" not in text
    with (
        pytest.raises(websocket.WebSocketBadStatusException, match="403"),
        connected(server, "models/small.onnx", token),
    ):
        pass
    assert list_processes(server) == []


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:1", "null"])
def test_pages_of_others_get_no_socket(server: Server, origin: str) -> None:
    # a browser logs in by a cookie, which it sends with what foreign pages ask too
    _, _, headers = get(server, f"{BASE}netloupe/page?path=models/small.onnx&token={TOKEN}", "")
    cookies = "; ".join(each.partition(";")[0] for each in headers.get_all("Set-Cookie"))
    with (
        pytest.raises(websocket.WebSocketBadStatusException, match="403"),
        connected(server, "models/small.onnx", "", origin, Cookie=cookies),
    ):
        pass
    assert list_processes(server) == []
    with connected(server, "models/small.onnx", "", Cookie=cookies) as talk:
        talk.scene()


@pytest.mark.parametrize("refused", ["read contents", "write contents"])
def test_who_may_not_read_and_write_gets_no_socket(server: Server, refused: str) -> None:
    headers = {"X-Refused": refused}
    status, _ = get_page(server, "models/small.onnx", **headers)
    assert status == (403 if refused.startswith("read") else 200)
    with (
        pytest.raises(websocket.WebSocketBadStatusException, match="403"),
        connected(server, "models/small.onnx", **headers),
    ):
        pass


def test_nothing_is_there_without_the_base_url(server: Server) -> None:
    assert get(server, "/netloupe/page?path=models/small.onnx")[0] == 404
    address = find_socket(server, "models/small.onnx").removeprefix(BASE)
    with (
        pytest.raises(websocket.WebSocketBadStatusException, match="404"),
        connected(server, "", address=f"/{address}"),
    ):
        pass
    assert get(server, f"{BASE}netloupe/other")[0] == 404


# which files


@pytest.mark.parametrize(
    ("path", "status", "why"),
    [
        ("../outside/secret.onnx", 403, "leads out of a folder"),
        ("models/../../outside/secret.onnx", 403, "leads out of a folder"),
        ("models/../models/small.onnx", 403, "leads out of a folder"),
        ("/etc/passwd", 403, "absolute path"),
        ("//etc/passwd", 403, "absolute path"),
        ("models/outer.onnx", 403, "a link that leads out"),
        ("out/secret.onnx", 403, "a link that leads out"),
        ("out/back.onnx", 403, "a link that leads out"),
        ("out/../models/small.onnx", 403, "leads out of a folder"),
        (".hidden/small.onnx", 404, "is hidden"),
        ("models", 404, "no regular file"),
        ("", 404, "No file was asked for"),
        ("./", 404, "No file was asked for"),
        ("models/none.onnx", 404, "there is no such file"),
        ("models/%2e%2e/small.onnx", 404, "there is no such file"),
        ("..\\outside\\secret.onnx", 404, "is hidden"),
        ("models\\small.onnx", 404, "there is no such file"),
        # the Jupyter server takes a control character for a blank
        ("models/small.onnx\0.png", 404, "there is no such file"),
        ("models/small\u202e.onnx", 404, "no path that a file can have"),
        ("x" * 5000, 404, "no path that a file can have"),
        ("<script>alert(1)</script>.onnx", 404, "there is no such file"),
    ],
)
def test_files_of_others_are_refused(server: Server, path: str, status: int, why: str) -> None:
    found, text = get_page(server, path)
    assert found == status
    assert why in text
    assert "live" not in text.rpartition('id="nl-data">')[2][:20]
    assert "<script>alert" not in text
    with (
        pytest.raises(websocket.WebSocketBadStatusException, match="403"),
        connected(server, path),
    ):
        pass
    assert list_processes(server) == []


@pytest.mark.parametrize(
    "path", ["models/inner.onnx", "models/shared.onnx", "models/Größe #1 50%.onnx"]
)
def test_links_inside_and_to_allowed_folders_are_followed(server: Server, path: str) -> None:
    assert get_page(server, path)[0] == 200
    with connected(server, path) as talk:
        assert talk.scene()["message"]["id"] == "a"
        talk.send(describe="", id=1)
        html = talk.wait(lambda each: "answer" in each)["answer"]["html"]
    # as the user of the server knows it
    assert path in html
    assert str(Path.cwd()) not in html


def test_notes_are_written_beside_the_model(server: Server, root: Path) -> None:
    notes = root / "models" / "small.onnx.notes.jsonl"
    with connected(server, "models/small.onnx") as talk:
        talk.scene()
        talk.send(review={"note": "looked at", "paths": ["main"]})
        told = talk.wait(lambda each: each.get("review", {}).get("type") == "noted")
        assert told["review"]["error"] == ""
    assert "looked at" in notes.read_text()
    notes.unlink()


def test_notes_do_not_leave_the_root_folder_by_a_link(server: Server, root: Path) -> None:
    outside = root.parent / "outside" / "notes.jsonl"
    link = root / "models" / "small.onnx.notes.jsonl"
    link.symlink_to(outside)
    try:
        with connected(server, "models/small.onnx") as talk:
            talk.scene()
            talk.send(review={"note": "looked at", "paths": ["main"]})
            told = talk.wait(lambda each: each.get("review", {}).get("type") == "noted")
            assert told["review"]["error"]
    finally:
        link.unlink()
    assert not outside.exists()


# processes


def test_pages_of_a_model_share_a_process_that_ends_after_the_last(server: Server) -> None:
    with connected(server, "models/small.onnx") as first:
        first.scene()
        (process,) = wait_for_processes(server, 1)
        assert os.getsid(process.pid) != os.getsid(server.process)
        with connected(server, "models/small.onnx") as second:
            second.scene()
            assert list_processes(server) == [process]
        first.scene()
    process.wait(SECONDS)
    with connected(server, "models/small.onnx") as again:
        again.scene()


def test_a_page_that_comes_in_time_finds_the_process_still_there(server: Server) -> None:
    with connected(server, "models/small.onnx") as first:
        first.scene()
        (process,) = wait_for_processes(server, 1)
    with connected(server, "models/small.onnx") as second:
        second.scene()
        time.sleep(1.0)  # the time of the first one is over
        assert list_processes(server) == [process]
        second.scene()


def test_a_file_that_was_written_anew_is_read_anew(server: Server, root: Path) -> None:
    with connected(server, "models/small.onnx") as first:
        first.scene()
        (old,) = wait_for_processes(server, 1)
        os.utime(root / "models" / "small.onnx", ns=(1, 1))
        with connected(server, "models/small.onnx") as second:
            second.scene()
            assert len(wait_for_processes(server, 2)) == 2
            first.scene()  # which still shows what it has read
            assert old.is_running()


def test_no_more_models_are_open_than_allowed(server: Server) -> None:
    with (
        connected(server, "models/small.onnx") as first,
        connected(server, "models/other.onnx") as second,
    ):
        first.scene()
        second.scene()
        with connected(server, "models/third.onnx") as third:
            assert "2 models are open" in third.ended()
        second.close()
        end = time.monotonic() + SECONDS
        while True:  # the one that nobody looks at gives way
            with connected(server, "models/third.onnx") as third:
                told = third.wait(lambda each: "ended" in each or "traits" in each)
                if "traits" in told:
                    break
            assert time.monotonic() < end, told
        first.scene()


@pytest.mark.skipif(os.name != "posix", reason="ends processes by signals")
def test_a_crash_is_told_and_the_model_can_be_opened_again(server: Server) -> None:
    with connected(server, "models/small.onnx") as talk:
        talk.scene()
        (process,) = wait_for_processes(server, 1)
        process.send_signal(signal.SIGKILL)
        reason = talk.ended()
        assert "small.onnx was killed, perhaps because memory ran out" in reason
    with connected(server, "models/small.onnx") as talk:
        talk.scene()
        (process,) = wait_for_processes(server, 1)
        process.send_signal(signal.SIGSEGV)
        assert "ended by signal 11" in talk.ended()


@pytest.mark.skipif(os.name != "posix", reason="ends processes by signals")
def test_a_crash_while_the_model_is_read_is_told(server: Server) -> None:
    with connected(server, "models/small.onnx") as talk:
        (process,) = wait_for_processes(server, 1)
        process.send_signal(signal.SIGKILL)
        assert "was killed" in talk.ended()


@pytest.mark.parametrize(("name", "why"), [("broken.onnx", "broken.onnx"), ("saved_model.pb", "")])
def test_what_is_no_model_is_said_as_everywhere(server: Server, name: str, why: str) -> None:
    with connected(server, f"models/{name}") as talk:
        reason = talk.ended()
        assert reason.startswith(f"models/{name}: ")
        assert why in reason
        assert "internal error" not in reason


def test_a_file_that_vanishes_before_it_is_read_is_said(server: Server, root: Path) -> None:
    gone = root / "models" / "gone.onnx"
    gone.write_bytes(b"")
    address = find_socket(server, "models/gone.onnx")
    gone.unlink()
    with connected(server, "", address=address) as talk:
        assert "there is no such file" in talk.ended()


# what a page sends


def test_what_is_no_question_is_answered_by_an_error(server: Server) -> None:
    with connected(server, "models/small.onnx"):  # so that the model stays open
        for frame in ("", "nonsense", "[" * 100_000, b"\0\xff", '{"request": []}'):
            with connected(server, "models/small.onnx") as talk:
                if isinstance(frame, bytes):
                    talk._socket.send_binary(frame)
                else:
                    talk.send(frame)
                talk.wait(lambda each: each.get("message", {}).get("type") == "error")
                talk.scene()


def test_too_large_a_question_ends_its_page_alone(server: Server) -> None:
    with (
        connected(server, "models/small.onnx") as other,
        connected(server, "models/small.onnx") as talk,
    ):
        other.scene()
        talk.scene()
        assert talk.is_cut_off("x" * (9 << 20))
        other.scene()


def test_too_much_before_the_model_is_read_ends_the_page(server: Server) -> None:
    with connected(server, "models/small.onnx") as talk:
        assert talk.is_cut_off("x" * (2 << 20))


def test_processes_end_with_the_server_however_that_ends(server: Server, tmp_path: Path) -> None:
    with serving(tmp_path) as other:
        with connected(other, "models/small.onnx") as talk:
            talk.scene()
            (process,) = wait_for_processes(other, 1)
            psutil.Process(other.process).kill()
        process.wait(SECONDS)
