"""The documentation site. `make docs` builds it strictly: a broken link, or a page that no list names, is an error."""

from __future__ import annotations

import enum
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "Assay"
author = "the authors of Assay"
extensions = ["myst_parser", "sphinx.ext.autodoc", "generated_pages", "source_pages", "no_backends"]

# Pages are the Markdown that a code host shows, too: links go from file to file, with GitHub's anchors.
myst_heading_anchors = 4
myst_links_external_new_tab = False
highlight_language = "text"

# Docstrings are plain text with `names` in backticks.
default_role = "code"
smartquotes = False  # it would make one dash of the two of an option
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "undoc-members": True}
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "Assay"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["assay.css"]
html_theme_options = {"navigation_with_keys": True}


def without_fields(_app: Sphinx, what: str, _name: str, value: Any, *_rest: Any) -> tuple[str, None] | None:
    """No signature for classes that are their fields, and for protocols and enumerations: the members stand right below."""
    is_listed = what == "class" and (hasattr(value, "__struct_fields__") or getattr(value, "_is_protocol", False))
    return ("", None) if is_listed or (what == "class" and issubclass(value, enum.Enum)) else None


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-signature", without_fields)
