"""Widgets whose code is brought once in a page, however many of them there are.

The browser's side is ``frontend/src/host/shared_code.ts``.
"""

from __future__ import annotations

import hashlib
import threading
from typing import Any, ClassVar

import anywidget
import ipywidgets
import traitlets

from netloupe.explorer.page import PAGE


class Code(ipywidgets.Widget):  # type: ignore[misc] # ipywidgets has no types
    """Holds the code of a kind of widget in the browser, and is never shown.

    Parameters
    ----------
    file
        The name of the built module in ``explorer/page``.

    Attributes
    ----------
    name
        Tells it from all other code, that of other versions too.
    """

    #: an ES module
    code = traitlets.Unicode("").tag(sync=True)
    #: the style sheet of the page around the widget
    style = traitlets.Unicode("").tag(sync=True)

    def __init__(self, file: str) -> None:
        code = (PAGE / file).read_text(encoding="utf-8")
        style = (PAGE / "explorer.css").read_text(encoding="utf-8")
        digest = hashlib.sha256(f"{code}\0{style}".encode()).hexdigest()
        self.name = f"{file} {digest[:24]}"
        super().__init__(code=code, style=style)


#: by file; all widgets of a kernel refer to the same one
_CODES: dict[str, Code] = {}
_LOCK = threading.Lock()


def find_code(file: str) -> Code:
    """Return what holds the code of a file; it is opened anew where somebody has closed it."""
    with _LOCK:
        code = _CODES.get(file)
        if code is None or code.comm is None:
            code = _CODES[file] = Code(file)
        return code


class SharedCodeWidget(anywidget.AnyWidget):
    """A widget that refers to its code, in place of bringing it.

    Attributes
    ----------
    code_file
        The name of its built module in ``explorer/page``; "" where a class has its code in
        ``_esm`` all the same.
    """

    _esm = PAGE / "shared_code.js"
    code_file: ClassVar[str] = ""

    #: the code, as a reference to the widget that holds it, and what tells it from other code
    _code = traitlets.Instance(Code, allow_none=True).tag(
        sync=True, **ipywidgets.widget_serialization
    )
    _code_name = traitlets.Unicode("").tag(sync=True)

    def __init__(self, *args: Any, **traits: Any) -> None:
        if self.code_file:
            code = find_code(self.code_file)
            traits |= {"_code": code, "_code_name": code.name}
        super().__init__(*args, **traits)
        self.on_msg(self._give_code)

    def _give_code(self, _widget: object, content: object, _buffers: object) -> None:
        """Send the code to a page that does not find the widget that holds it."""
        if content == {"code": True} and self.code_file:
            code = find_code(self.code_file)
            self.send({"code": {"code": code.code, "style": code.style}})
