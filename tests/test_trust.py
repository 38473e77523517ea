"""What opening a model does to the machine: it reads the model's folder, and nothing else.

Python's audit events tell what a process opens, connects to and starts (PEP 578).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from onnx import TensorProto, helper

from tests.corpus import CORPUS, MADE, corpus_file, list_beside, write_made

_ROOT = Path(__file__).resolve().parent.parent

_PROGRAM = """
import json, os, sys

from netloupe.explorer.errors import NetloupeError
from netloupe.commands.info import summarize_model
from netloupe.explorer.readers.load import load

files = json.loads(sys.argv[1])
for name in files[:1]:
    summarize_model(load(name))  # everything is imported now
found = []

def watch(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
            found.append(["write", str(path)])
        elif not isinstance(path, int):
            found.append(["read", os.path.realpath(path)])
    elif event.startswith(("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.remove",
                           "os.rename", "os.mkdir", "shutil.", "ctypes.dlopen", "pickle.")):
        found.append([event, str(arguments)])

sys.addaudithook(watch)
for name in files:
    try:
        model = load(name)
        summarize_model(model)
        for graph in model.graphs:
            for tensor in graph.initializers[:20]:
                tensor.numpy() if tensor.size < 1e6 else None
    except NetloupeError:
        pass
print(json.dumps(found))
"""


def test_only_the_models_folder_is_read_and_nothing_written_or_asked(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(16))
    (folder / "w.bin").write_bytes(bytes(16))
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    files = []
    for number, location in enumerate(
        ("w.bin", "link.bin", "../secret.bin", "/etc/hostname", "http://127.0.0.1:1/w.bin")
    ):
        tensor = TensorProto(name="w", data_type=1, dims=[4])
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=location)
        proto = helper.make_model(helper.make_graph([], "g", [], [], [tensor]))
        path = folder / f"{number}.onnx"
        path.write_bytes(proto.SerializeToString())
        files.append(str(path))
    hostile = tmp_path / "hostile"
    for name in MADE:
        if name.startswith("hostile/"):
            write_made(name, tmp_path)
            files.append(str(tmp_path / name))
    files += [str(corpus_file(name)) for name in list_beside("hostile/**/*")]
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, json.dumps(files)],
        env={"PYTHONPATH": str(_ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    events = json.loads(done.stdout)
    assert ["read", str(folder / "w.bin")] in events
    allowed = (
        str(folder),
        str(hostile),
        str(CORPUS.resolve() / "hostile"),
        sys.prefix,
        sys.base_prefix,
        str(_ROOT),
    )
    outside = [
        event
        for event in events
        if event[0] != "read" or not event[1].startswith(tuple(part + os.sep for part in allowed))
    ]
    assert not outside
