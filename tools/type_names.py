"""How generated tables write types."""

import re

#: names of element types that differ from ours
ELEMENT_TYPES = {
    "float": "float32",
    "double": "float64",
    "float8e4m3fn": "float8_e4m3fn",
    "float8e4m3fnuz": "float8_e4m3fnuz",
    "float8e5m2": "float8_e5m2",
    "float8e5m2fnuz": "float8_e5m2fnuz",
    "float8e8m0": "float8_e8m0fnu",
    "float6e2m3": "float6_e2m3fn",
    "float6e3m2": "float6_e3m2fn",
    "float4e2m1": "float4_e2m1fn",
}


def shorten_type(text: str) -> str:
    """Return a type as the table has it: ``tensor(float)`` is ``float32``."""
    plain = re.sub(r"(?<![a-z_])tensor\((\w+)\)", r"\1", text.replace(" ", ""))
    return re.sub(r"\w+", lambda found: ELEMENT_TYPES.get(found[0], found[0]), plain)
