"""What a notebook gives the browser of whoever runs it: markup that runs something, or that is not written in the code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from assay_zoo.artifacts.code_names import last_name
from assay_zoo.artifacts.markup import active_html
from assay_zoo.artifacts.reached import Unread
from assay_zoo.artifacts.replaced_methods import ReplacedMethods

_SHOWING = "IPython.display."
_MARKUP = ("HTML", "SVG", "display_html", "display_svg")
_RAW = ("publish_display_data", "display", "update_display")
_IDLE = ("text/plain", "text/latex", "image/png", "image/jpeg")
_OWN_FORMS = ("_repr_html_", "_repr_svg_")
_ANY_FORM = ("_repr_javascript_", "_repr_mimebundle_")
_WRITTEN = (ast.Constant, ast.JoinedStr, ast.BinOp)
_MADE_OF_TEXT = ("join", "format", "to_html")


class ShownMarkup(ReplacedMethods):
    """That of one file."""

    def _shown_by(self, node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.FunctionDef) and node.name in _ANY_FORM:
            yield Unread(f"the browser of who runs it ({node.name})")
        elif isinstance(node, ast.FunctionDef) and node.name in _OWN_FORMS:
            returned = [part.value for part in ast.walk(node) if isinstance(part, ast.Return)]
            yield from (what for value in returned if value is not None for what in self._markup(value, node.name))
        elif isinstance(node, ast.Call):
            for path in self._bound.of(node.func):
                yield from self._shown_by_call(node, path.removeprefix(_SHOWING)) if path.startswith(_SHOWING) else ()
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and self._shows and "<" in node.value:
            yield from (Unread(f"the browser of who runs it ({what})") for _, what in active_html(node.value)[:1])

    @cached_property
    def _shows(self) -> bool:
        return any(path.startswith(_SHOWING.rstrip(".")) for path in self._bound.all_paths())

    def _shown_by_call(self, call: ast.Call, name: str) -> Iterator[str]:
        words = {keyword.arg: keyword.value for keyword in call.keywords}
        given = [*call.args, *(value for key, value in words.items() if key == "data")]
        if name in _MARKUP:
            yield from (what for value in given for what in self._markup(value, name))
        raw = words.get("raw")
        is_raw = raw is not None and not (isinstance(raw, ast.Constant) and not raw.value)
        if name == _RAW[0] or (name in _RAW and is_raw):
            yield from (what for value in given for what in self._raw(value, name))

    def _raw(self, value: ast.expr, name: str) -> Iterator[str]:
        """A table of forms of one thing."""
        if not isinstance(value, ast.Dict):
            yield Unread(f"the browser of who runs it ({name} of what is not written there)")
            return
        for key, form in zip(value.keys, value.values, strict=True):
            kind = str(getattr(key, "value", ""))
            if kind in ("text/html", "image/svg+xml"):
                yield from self._markup(form, name)
            elif kind not in _IDLE:
                yield Unread(f"the browser of who runs it ({name} of {kind[:40]!r})")

    def _markup(self, value: ast.expr, name: str) -> Iterator[str]:
        known = [text for text in self._names_in(self._scopes.around(value)).of(value) if any(text)]
        texts = ["".join(part or "" for part in text) for text in known]
        parts = [part.value for part in ast.walk(value) if isinstance(part, ast.Constant)]
        texts.append("".join(part for part in parts if isinstance(part, str)))
        if problems := [problem for text in texts for _, problem in active_html(text)]:
            yield Unread(f"the browser of who runs it ({name} of {problems[0]})")
        is_made = isinstance(value, ast.Call) and last_name(value.func) in _MADE_OF_TEXT
        if not is_made and not isinstance(value, _WRITTEN) and not known:
            yield Unread(f"the browser of who runs it ({name} of what is not written there)")
