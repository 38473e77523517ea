"""External data: only regular files inside the model's folder are opened."""

import os

import numpy as np
import pytest

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import ExternalLocation
from netloupe.explorer.tensors import read_external
from netloupe.explorer.tensors import stored as stored_module


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "model"
    (folder / "sub").mkdir(parents=True)
    (folder / "w.bin").write_bytes(bytes(range(100)))
    (folder / "sub" / "v.bin").write_bytes(b"inside")
    (tmp_path / "secret.bin").write_bytes(b"secret")
    return folder


def read(folder, location, offset=None, length=None, expected=None):
    return bytes(
        read_external(folder, ExternalLocation(location, offset, length, ()), expected, "main/%w")
    )


def test_reads_what_is_asked_for(folder):
    whole = bytes(range(100))
    assert read(folder, "w.bin") == whole
    assert read(folder, "w.bin", 10) == whole[10:]
    assert read(folder, "w.bin", 10, 5) == whole[10:15]
    assert read(folder, "w.bin", 10, 5, 5) == whole[10:15]
    assert read(folder, "w.bin", 10, None, 7) == whole[10:17]
    assert read(folder, "w.bin", 100, 0) == b""
    assert read(folder, "./sub/../w.bin", 0, 1) == b"\0"
    assert read(folder, "sub/v.bin") == b"inside"


def test_large_data_is_mapped(folder, monkeypatch):
    monkeypatch.setattr(stored_module, "_MAP_THRESHOLD", 1000)
    stored = np.random.default_rng(0).integers(0, 256, 20_000, np.uint8).tobytes()
    (folder / "large.bin").write_bytes(stored)
    location = ExternalLocation("large.bin", 5000, 12_000, ())
    data = read_external(folder, location, 12_000, "main/%w")
    assert isinstance(data, memoryview)
    assert data.readonly
    assert bytes(data) == stored[5000:17_000]


def test_a_link_inside_the_folder_is_followed(folder):
    (folder / "link.bin").symlink_to("sub/v.bin")
    assert read(folder, "link.bin") == b"inside"


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("../secret.bin", "leads out of the model's folder"),
        ("sub/../../secret.bin", "leads out of the model's folder"),
        ("missing/../../../etc/passwd", "leads out of the model's folder"),
        ("/proc/self/mem", "absolute"),
        ("/etc/passwd", "absolute"),
        ("C:\\secret.bin", "absolute"),
        ("\\\\server\\share", "absolute"),
        ("http://example.com/w.bin", "no network access"),
        ("file:///etc/passwd", "no network access"),
        ("missing.bin", "no such file"),
        ("w.bin/x", "cannot be followed"),
        ("nul\0byte", "cannot be followed"),
        ("x" * 5000, "cannot be followed"),
        ("", "no location"),
        (".", "a directory"),
        ("sub", "a directory"),
        ("out.bin", "leads out of the model's folder"),
        ("out/secret.bin", "leads out of the model's folder"),
        ("loop", "cannot be followed"),
        ("pipe", "a named pipe"),
        ("device", "leads out of the model's folder"),
    ],
)
def test_refuses(folder, location, reason):
    (folder / "out.bin").symlink_to("../secret.bin")
    (folder / "out").symlink_to("..")
    (folder / "loop").symlink_to("loop")
    (folder / "device").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe")
    with pytest.raises(TensorDataError, match=reason) as caught:
        read(folder, location, 0, 6)
    message = str(caught.value)
    assert "main/%w" in message
    assert repr(location[:100])[1:-1] in message
    assert "\n" not in message
    assert len(message) < 400


@pytest.mark.parametrize(
    ("offset", "length", "expected", "reason"),
    [
        (-1, 4, None, "offset is negative"),
        (0, -4, None, "length is negative"),
        (0, 101, None, "101 bytes at offset 0 .* the file has 100"),
        (99, 2, None, "2 bytes at offset 99"),
        (101, 0, None, "offset 101"),
        (2**70, None, 4, "the file has 100"),
        (0, 2**70, None, "the file has 100"),
        (0, None, 2**62, "the file has 100"),
        (0, 8, 12, "stated length is 8 bytes, but type and dimensions need 12"),
    ],
)
def test_refuses_what_lies_outside_the_file(folder, offset, length, expected, reason):
    with pytest.raises(TensorDataError, match=reason):
        read(folder, "w.bin", offset, length, expected)


def test_without_a_folder():
    with pytest.raises(TensorDataError, match="not loaded from a file"):
        read(None, "w.bin")


def test_a_file_without_permission(folder):
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    (folder / "w.bin").chmod(0)
    with pytest.raises(TensorDataError, match="cannot be opened"):
        read(folder, "w.bin")
