"""Generate ``proto/*_pb2.py`` and ``proto/*_pb2.pyi`` from ``proto/*.proto``.

Needs ``grpcio-tools==1.62.3`` (and ``setuptools<81``, for its ``pkg_resources``) in an environment
of its own: its protoc 25 writes code that runs on every protobuf runtime from 4.25 to 7, and newer
generators do not. ``--check`` writes nothing and exits with 1 if a committed file differs.
"""

import argparse
import shutil
import sys
import tempfile
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GENERATOR = "1.62.3"
SCHEMAS = ("onnx", "onnx_data", "caffe2")


def generate_modules(destination: Path) -> list[Path]:
    """Run protoc on every schema and return the files written below ``destination``.

    The schemas are compiled as ``netloupe/proto/<name>.proto``, because that is the name under
    which the descriptor pool registers them; ``onnx.proto`` alone would clash with other packages.
    """
    from grpc_tools import protoc

    source = destination / "source"
    package = source / "netloupe" / "proto"
    package.mkdir(parents=True)
    for name in SCHEMAS:
        shutil.copy(ROOT / "proto" / f"{name}.proto", package)
    status = protoc.main(
        [
            "protoc",
            f"--proto_path={source}",
            f"--proto_path={files('grpc_tools') / '_proto'}",
            f"--python_out={destination}",
            f"--pyi_out={destination}",
            *(f"netloupe/proto/{name}.proto" for name in SCHEMAS),
        ]
    )
    if status != 0:
        raise SystemExit(status)
    written = destination / "netloupe" / "proto"
    return [written / f"{name}_pb2{suffix}" for name in SCHEMAS for suffix in (".py", ".pyi")]


def main() -> int:
    """Write the generated modules, or compare them with the committed ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args().check

    installed = version("grpcio-tools")
    if installed != GENERATOR:
        print(f"generate_proto: grpcio-tools is {installed}, wanted {GENERATOR}", file=sys.stderr)
        return 2

    differing = []
    with tempfile.TemporaryDirectory() as directory:
        for generated in generate_modules(Path(directory)):
            committed = ROOT / "proto" / generated.name
            text = generated.read_bytes()
            if committed.exists() and committed.read_bytes() == text:
                continue
            differing.append(committed.name)
            if not check:
                committed.write_bytes(text)
    for name in differing:
        print(f"{name} {'differs' if check else 'written'}")
    return 1 if check and differing else 0


if __name__ == "__main__":
    sys.exit(main())
