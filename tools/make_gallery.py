"""Draw the gallery: first views of well-known architectures, which the README shows too.

Run ``python tools/make_gallery.py`` in the test environment (``tools/test`` makes it). The models
are skeletons of ``tests/zoo``: real exports of small configurations, without their weights. Each
picture is what ``netloupe render MODEL -o PICTURE`` draws without options, and the sentence beside
it is the architecture's ``summary``; what stands between the marks ``first views`` in both
documents is written anew. ``--models FOLDER`` also keeps the models.
"""

from __future__ import annotations

import argparse
import html
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "gallery"

sys.path.insert(0, str(ROOT))

import netloupe  # noqa: E402 - after the path is set
from tests.zoo import unpack  # noqa: E402

#: what it is called, the model of the zoo, and options of the picture
FIRST_VIEWS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    # text
    ("GPT-2", "exported/gpt2.legacy.onnx", {}),
    ("BERT", "exported/bert.legacy.onnx", {}),
    ("Mixtral", "exported/mixtral.legacy.onnx", {}),
    ("T5", "exported/t5.legacy.onnx", {}),
    ("Mamba", "exported/mamba.legacy.onnx", {}),
    ("RWKV", "exported/rwkv.legacy.onnx", {}),
    # images
    ("ViT", "exported/vit.dynamo.onnx", {}),
    ("Swin", "exported/swin.dynamo.onnx", {}),
    ("ConvNeXt", "exported/convnext.legacy.onnx", {}),
    ("ResNet-50", "exported/resnet50.legacy.onnx", {}),
    ("MobileNetV2", "exported/mobilenetv2.legacy.onnx", {}),
    # images and text, and text in images
    ("CLIP", "exported/clip.legacy.onnx", {}),
    ("CRNN (reading)", "exported/crnn.legacy.onnx", {}),
    # detection, dense maps, video
    ("YOLOv8", "exported/yolov8.legacy.onnx", {"theme": "dark"}),
    ("DeepLabv3 (segmentation)", "exported/deeplabv3.dynamo.onnx", {}),
    ("R(2+1)D (video)", "exported/r2plus1d.dynamo.onnx", {}),
    # generation
    ("UNet of a diffusion model", "exported/unet.dynamo.onnx", {}),
    ("VQ-VAE", "exported/vqvae.legacy.onnx", {}),
    # speech
    ("wav2vec 2.0 (speech)", "exported/wav2vec2.legacy.onnx", {}),
    # comparison, control, tables, dynamics, biology
    ("Siamese network (comparison)", "exported/siamese.dynamo.onnx", {}),
    ("AlphaZero (board games)", "exported/alphazero.legacy.onnx", {}),
    ("DLRM (recommendation)", "exported/dlrm.legacy.onnx", {}),
    ("Neural ODE (dynamics)", "exported/neural_ode.dynamo.onnx", {}),
    ("Evoformer (protein structure)", "exported/evoformer.dynamo.onnx", {}),
)
#: file name of a picture, the model of the zoo, and options of the picture
DETAILS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("gpt2_closed", "exported/gpt2.legacy.onnx", {"expand": "none"}),
    (
        "gpt2_attention",
        "exported/gpt2.legacy.onnx",
        {"focus": "main/model/transformer/h.0/attn/", "hops": 0, "expand": 3},
    ),
    ("vit_left_to_right", "exported/vit.dynamo.onnx", {"direction": "LR"}),
    ("bert_dark", "exported/bert.legacy.onnx", {"theme": "dark"}),
)
COLUMNS = 3
#: of a picture in a table, in pixels
WIDTH = 270
_MARKS = re.compile(r"(?<=<!-- first views -->\n).*?(?=<!-- end of first views -->)", re.DOTALL)


def draw(folder: Path) -> list[tuple[str, str, str]]:
    """Write all pictures; return the title, file name and sentence of each first view."""
    drawn = []
    for title, name, options in FIRST_VIEWS:
        model = _unpack_model(name, folder)
        picture = f"{_first_word(name)}.svg"
        model.to_svg(FOLDER / picture, **options)
        drawn.append((title, picture, model.architecture.summary))
    for picture, name, options in DETAILS:
        _unpack_model(name, folder).to_svg(FOLDER / f"{picture}.svg", **options)
    return drawn


def _unpack_model(name: str, folder: Path) -> netloupe.Model:
    path = folder / Path(name).name
    path.write_bytes(unpack(name))
    return netloupe.load(path)


def _first_word(name: str) -> str:
    return Path(name).name.partition(".")[0]


def write_table(document: Path, drawn: list[tuple[str, str, str]]) -> None:
    """Write the pictures and their sentences between the marks of a document."""
    folder = FOLDER.relative_to(document.parent).as_posix()
    lines = ["<table>"]
    for begin in range(0, len(drawn), COLUMNS):
        lines.append("<tr>")
        for title, picture, summary in drawn[begin : begin + COLUMNS]:
            path, alternative = f"{folder}/{picture}", html.escape(f"The first view of {title}")
            lines += [
                (
                    f'<td valign="top"><a href="{path}"><img src="{path}" width="{WIDTH}" '
                    f'alt="{alternative}"></a><br>'
                ),
                f"<b>{html.escape(title)}</b>: {html.escape(summary, quote=False)}</td>",
            ]
        lines.append("</tr>")
    text = document.read_text()
    table = "\n".join([*lines, "</table>\n"])
    if len(_MARKS.findall(text)) != 1:
        raise SystemExit(f"{document.name}: the marks of the first views are not there once")
    document.write_text(_MARKS.sub(lambda _: table, text))


def main() -> None:
    """Draw all and write the first views into both documents."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", type=Path, metavar="FOLDER", help="where the models stay")
    kept = parser.parse_args().models
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        drawn = draw(kept or Path(folder))
    for document in (ROOT / "README.md", ROOT / "docs" / "gallery.md"):
        write_table(document, drawn)


if __name__ == "__main__":
    main()
