"""How the documentation is built: ``tools/build_docs``."""

from __future__ import annotations

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_ROOT), str(_ROOT / "tools" / "site")]  # this tree, and not one installed

import netloupe  # noqa: E402 - after the path is set

project = "netloupe"
author = "The netloupe developers"
version = release = netloupe.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "site_pages"]
exclude_patterns = ["**/README.md"]
smartquotes = False  # --option stays what is typed
nitpicky = True  # every name that a docstring refers to is there
highlight_language = "text"

myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3

_NOT_OURS = "object, dict, tuple, Exception, HBox"  # whose members are none of netloupe
autodoc_member_order = "groupwise"
autodoc_default_options = {"members": True, "inherited-members": _NOT_OURS}
autodoc_typehints_format = "short"
autodoc_class_signature = "mixed"
add_module_names = False
toc_object_entries_show_parents = "hide"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = False
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = "netloupe"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_show_search_summary = False  # it would be fetched, which files may not be
