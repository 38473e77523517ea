"""The pipeline from a source to its model: open → unwrap → identify → read.

:mod:`.source` opens and :mod:`.unwrap` takes out of containers; what a content is and how it is
read, the formats know. A further format is one more entry of ``FORMATS``.
"""

from __future__ import annotations

from pathlib import Path

from netloupe.explorer.errors import ModelFormatError
from netloupe.explorer.model import Model, ModelWarning
from netloupe.explorer.model.failing import fail
from netloupe.explorer.model.reading import get_model_reading

from .caffe2.entry import CAFFE2_FORMAT
from .format import Around, Certainty, Content, Format, Match
from .impostors import refuse_foreign
from .onnx.entry import ONNX_FORMAT
from .source import Source
from .unwrap import unwrap_source

#: in the order in which they are asked: the first that is sure counts, else the surest
FORMATS: tuple[Format, ...] = (ONNX_FORMAT, CAFFE2_FORMAT)


def read_model(
    source: Source, companion: Source | None = None, *, beside: Path | None = None
) -> Model:
    """Read a model of whatever known format the bytes are.

    Parameters
    ----------
    source
        The bytes.
    companion
        A second source that belongs to it: the init net of a Caffe2 net.
    beside
        The file that the bytes come from: where no companion is given, a format may look for
        one beside it.

    Raises
    ------
    ModelFormatError
        Where they are no model, with what they seem to be instead; or where a companion is
        given for a model of a format that has none.
    ReadingError
        Where an element cannot be read for a reason that no reader foresaw.
    """
    content = unwrap(source)
    format, match = identify(content)
    if companion is not None and not format.companion:
        others = ", ".join(format.companion for format in FORMATS if format.companion)
        raise ModelFormatError(
            f"{source.name}: is to be read without a second file, which would be {others}. "
            "Load it alone."
        )
    try:
        model = format.read(content, match, Around(companion, beside, unwrap))
    except Exception as error:
        fail(error, source.name, "the model")
    model.source = source.name
    model.container = content.container
    if content.unknown:
        names = ", ".join(content.unknown)
        get_model_reading(model).left_out += (f"what the schema does not know: {names}",)
        model.warnings.append(
            ModelWarning("model", f"what the schema does not know is left out: {names}")
        )
    return model


def unwrap(source: Source) -> Content:
    """Take a source out of its containers; raises ModelFormatError where it is no model."""
    text_forms = [form for format in FORMATS for form in format.text_forms]
    return unwrap_source(source, text_forms, [root for format in FORMATS for root in format.roots])


def identify(content: Content) -> tuple[Format, Match]:
    """Return the format of a content, and what that takes it for.

    Raises
    ------
    ModelFormatError
        Where it is of no known format, or damaged.
    """
    found: list[tuple[Format, Match]] = []
    for format in FORMATS:
        match = format.identify(content)
        if match is not None:
            found.append((format, match))
            if match.certainty is Certainty.SURE:
                return format, match
    best = max(found, key=lambda pair: pair[1].certainty, default=None)  # of equals the first
    if best is None or best[1].certainty is Certainty.POSSIBLE:
        refuse_foreign(content.source, content.top)
    if best is None:
        raise ModelFormatError(
            f"{content.source.name}: is no model of a format that netloupe knows. "
            "Check which file it is."
        )
    return best
