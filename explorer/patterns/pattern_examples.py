"""An example of each pattern of netloupe itself: the text of a model, and what that is told to be.

The text is in ONNX's own form. Where other nodes have to be around a block, that of the example is
all the nodes that have names.
"""

from __future__ import annotations

from .examples_of_estimates import EXAMPLES_OF_ESTIMATES
from .examples_of_exchanges import EXAMPLES_OF_EXCHANGES
from .examples_of_fields import EXAMPLES_OF_FIELDS
from .examples_of_heads import EXAMPLES_OF_HEADS
from .examples_of_ideas import EXAMPLES_OF_IDEAS
from .examples_of_idioms import EXAMPLES_OF_IDIOMS
from .examples_of_maps import EXAMPLES_OF_MAPS
from .examples_of_mixing import EXAMPLES_OF_MIXING
from .examples_of_parts import EXAMPLES_OF_PARTS
from .examples_of_signals import EXAMPLES_OF_SIGNALS
from .examples_of_states import EXAMPLES_OF_STATES
from .examples_of_streams import EXAMPLES_OF_STREAMS
from .examples_of_units import EXAMPLES_OF_UNITS
from .examples_of_updates import EXAMPLES_OF_UPDATES
from .examples_of_wholes import EXAMPLES_OF_WHOLES

_HEADER = '<ir_version: 12, opset_import: ["": 24]>'


def _complete(text: str) -> str:
    """Return the text of a model, with a header where it begins with the name of its graph."""
    text = text.strip()
    return text if text.startswith("<") else f"{_HEADER}\n{text}"


#: by the id of a pattern
EXAMPLES: dict[str, tuple[str, str]] = {
    name: (_complete(text), told)
    for name, (text, told) in (
        EXAMPLES_OF_PARTS
        | EXAMPLES_OF_WHOLES
        | EXAMPLES_OF_IDEAS
        | EXAMPLES_OF_STATES
        | EXAMPLES_OF_ESTIMATES
        | EXAMPLES_OF_UNITS
        | EXAMPLES_OF_UPDATES
        | EXAMPLES_OF_EXCHANGES
        | EXAMPLES_OF_IDIOMS
        | EXAMPLES_OF_FIELDS
        | EXAMPLES_OF_HEADS
        | EXAMPLES_OF_MAPS
        | EXAMPLES_OF_STREAMS
        | EXAMPLES_OF_SIGNALS
        | EXAMPLES_OF_MIXING
    ).items()
}
