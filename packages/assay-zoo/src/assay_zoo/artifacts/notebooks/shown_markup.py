"""What a notebook gives the browser of whoever runs it: markup that runs something, or that is not written in the code."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from assay_zoo.artifacts.code.code_file import CodeFile, given_to, last_name
from assay_zoo.artifacts.code.reached import Unread
from assay_zoo.artifacts.pages.markup import active_html

_SHOWING = "IPython.display."
_MARKUP = ("HTML", "SVG", "display_html", "display_svg")
_RAW = ("publish_display_data", "update_display")
_FORMS = ("_repr_html_", "_repr_svg_", "_repr_javascript_", "_repr_mimebundle_")
_WRITTEN = (ast.Constant, ast.JoinedStr, ast.BinOp)


def shown_markup(node: ast.AST, file: CodeFile) -> Iterator[str]:
    sentence = "the browser of who runs it ({}: show text, a table or a picture)"
    if isinstance(node, ast.FunctionDef) and node.name in _FORMS:
        yield Unread(sentence.format(node.name))
    elif (
        isinstance(node, ast.expr)
        and "<" in (text := file.texts.of(node) or "")
        and _SHOWING.rstrip(".") in str(file.imported)
    ):
        yield from (Unread(sentence.format(what)) for _, what in active_html(text)[:1])
    for path in file.paths(node.func) if isinstance(node, ast.Call) else ():
        name = path.removeprefix(_SHOWING)
        if isinstance(node, ast.Call) and name != path:
            made = [
                arg
                for arg in given_to(node)
                if not isinstance(arg, _WRITTEN) and last_name(getattr(arg, "func", None)) != "to_html"
            ]
            words = {word.arg for word in node.keywords}
            if name in _RAW or "raw" in words or (name in _MARKUP and made):
                yield Unread(sentence.format(f"{name} of what is not written there"))
            if "url" in words:
                yield f"the network ({name} of an address)"
