"""External data: only regular files inside the model's folder are opened."""

import os

import numpy as np
import pytest
from onnx import TensorProto, helper

from netloupe.explorer.errors import SourceChangedError, TensorDataError
from netloupe.explorer.model import ExternalLocation
from netloupe.explorer.readers.load import load
from netloupe.explorer.tensors import ModelFiles


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "model"
    (folder / "sub").mkdir(parents=True)
    (folder / "w.bin").write_bytes(bytes(range(100)))
    (folder / "sub" / "v.bin").write_bytes(b"inside")
    (tmp_path / "secret.bin").write_bytes(b"secret")
    return folder


def read(folder, location, offset=None, length=None, expected=None):
    found = ExternalLocation(location, offset, length, ())
    row = ModelFiles(folder).open_external(found, expected, "main/%w")
    return row.read(0, len(row)).tobytes()


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


def test_large_data_are_read_in_pieces(folder):
    stored = np.random.default_rng(0).integers(0, 256, 20_000, np.uint8)
    (folder / "large.bin").write_bytes(stored.tobytes())
    location = ExternalLocation("large.bin", 5000, 12_000, ())
    row = ModelFiles(folder).open_external(location, 12_000, "main/%w")
    piece = row.read(3000, 4000)
    assert (piece == stored[8000:9000]).all()
    piece[:] = 0  # a copy that belongs to the caller
    assert (row.read(0, 12_000) == stored[5000:17_000]).all()


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


LFS = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a1' * 32}\nsize 100\n".encode()
ANNEX = f"/annex/objects/SHA256E-s100--{'b2' * 32}.bin\n".encode()


@pytest.mark.parametrize(
    ("content", "what", "command"),
    [(LFS, "a Git LFS pointer", "git lfs pull"), (ANNEX, "a git-annex pointer", "git annex get")],
    ids=["lfs", "annex"],
)
@pytest.mark.parametrize("place", [(0, 32, 32), (None, None, 32), (4, 8, 8), (0, 4000, 4000)])
def test_a_pointer_is_not_taken_for_the_data(folder, content, what, command, place):
    (folder / "w.bin").write_bytes(content)
    with pytest.raises(TensorDataError, match=f"it is {what}, not the data.*{command}"):
        read(folder, "w.bin", *place)
    told = ModelFiles(folder).judge_external(ExternalLocation("w.bin", *place[:2], ()), place[2])
    assert what in told


@pytest.mark.parametrize("content", [LFS + bytes(1024), b"\0" + LFS, LFS[:20] + bytes(100)])
def test_data_that_are_no_pointer_are_read(folder, content):
    (folder / "w.bin").write_bytes(content)
    assert read(folder, "w.bin") == content


def test_without_a_folder():
    with pytest.raises(TensorDataError, match="not loaded from a file"):
        read(None, "w.bin")


def test_a_file_without_permission(folder):
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    (folder / "w.bin").chmod(0)
    with pytest.raises(TensorDataError, match="cannot be opened"):
        read(folder, "w.bin")


@pytest.mark.parametrize(
    "change", ["shorter", "longer", "written", "replaced", "gone", "directory"]
)
def test_a_file_that_changes_after_it_was_first_read_is_refused(folder, change):
    files, file = ModelFiles(folder), folder / "w.bin"
    first = files.open_external(ExternalLocation("w.bin", 0, 10, ()), None, "main/%w")
    assert files.find_changed() == {}
    status = file.stat()
    if change in ("shorter", "longer"):
        os.truncate(file, 50 if change == "shorter" else 200)
    elif change == "written":
        file.write_bytes(bytes(100))
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    elif change == "replaced":
        other = folder / "other"
        other.write_bytes(bytes(range(100)))
        os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
        other.replace(file)
    else:
        file.unlink()
        if change == "directory":
            file.mkdir()
    with pytest.raises(SourceChangedError, match=r"main/%w: .*w\.bin has changed since"):
        first.read(0, 10)
    for offset in (0, 80):  # another tensor of the same file
        with pytest.raises(SourceChangedError, match=r"main/%v: .*w\.bin has changed since"):
            files.open_external(ExternalLocation("w.bin", offset, 10, ()), None, "main/%v")
    ((path, what),) = files.find_changed().items()
    assert path == file.resolve()
    assert what


def write_model(folder, **numbers):
    tensor = TensorProto(name="w", data_type=TensorProto.UINT8, dims=[4])
    tensor.data_location = TensorProto.EXTERNAL
    for key, text in {"location": "w.bin", **numbers}.items():
        tensor.external_data.add(key=key, value=text)
    path = folder / "model.onnx"
    graph = helper.make_graph([], "g", [], [], [tensor])
    path.write_bytes(helper.make_model(graph).SerializeToString())
    return path


@pytest.mark.parametrize("key", ["offset", "length"])
@pytest.mark.parametrize(
    "text", ["0x4", "4e0", "4.0", "", "abc", "1_0", " 4", "4 ", "+4", "\u0664", "4" * 5000, "4\n"]
)
def test_a_place_that_is_no_plain_decimal_number_is_not_guessed(folder, key, text):
    model = load(write_model(folder, **{key: text}))
    tensor = model.graph.initializers[0]
    assert (tensor.external.offset, tensor.external.length) == (None, None)
    with pytest.raises(TensorDataError, match=f"its {key} is .*no plain decimal number|5,000 dig"):
        tensor.numpy()
    (warning,) = [w for w in model.all_warnings() if w.path == "main/%w"]
    assert f"its {key} is" in warning.message
    assert len(warning.message) < 200


@pytest.mark.parametrize("text", ["4", "0004"])
def test_a_place_that_is_a_plain_decimal_number_is_read(folder, text):
    model = load(write_model(folder, offset=text, length="4"))
    assert model.graph.initializers[0].numpy().tolist() == [4, 5, 6, 7]
    assert not list(model.all_warnings())


def test_a_place_that_is_no_number_is_said_without_a_file(folder):
    model = load(write_model(folder, offset="0x4").read_bytes())
    assert [w.message for w in model.all_warnings()] == [
        "its external data will not be read: its offset is '0x4', which is no plain decimal number"
    ]
