"""Texts of which all parts are written out, as Python puts them together."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

_LONGEST = 10_000
_WIDE = re.compile(r"\d{4,}|\*|\{[^{}]*\{")
"""In a format: it may make a text of any length."""
_METHODS = (
    "join", "lower", "upper", "swapcase", "title", "capitalize", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "replace",
    "format",
)  # fmt: skip
_NUMBERS = (ast.Slice, ast.Constant, ast.UnaryOp, ast.USub, ast.Load)


class FoldedTexts:
    """`nodes` are all of a file, those above first. Bytes count as the text that they look like."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        self._texts: dict[int, str] = {}
        for node in reversed(nodes):
            try:
                text = self._folded(node)
            except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
                continue
            if text is not None and len(text) <= _LONGEST:
                self._texts[id(node)] = text

    def of(self, node: ast.AST | None) -> str | None:
        """None where a part is not written out."""
        return self._texts.get(id(node))

    def _folded(self, node: ast.AST) -> str | None:
        if isinstance(node, ast.Constant):
            value = node.value
            return value.decode("latin-1") if isinstance(value, bytes) else value if isinstance(value, str) else None
        if isinstance(node, ast.BinOp):
            return self._of_operator(node)
        if isinstance(node, ast.JoinedStr):
            return self._joined(node.values)
        if isinstance(node, ast.FormattedValue) and node.format_spec is None and node.conversion == -1:
            return self.of(node.value)
        if isinstance(node, ast.Subscript):
            return self._of_part(node)
        return self._of_call(node) if isinstance(node, ast.Call) else None

    def _of_part(self, node: ast.Subscript) -> str | None:
        text, at = self.of(node.value), node.slice
        if text is None or not all(isinstance(part, _NUMBERS) for part in ast.walk(at)):
            return None
        if not isinstance(at, ast.Slice):
            return text[ast.literal_eval(at)]
        first, end, step = (None if each is None else ast.literal_eval(each) for each in (at.lower, at.upper, at.step))
        return text[first:end:step]

    def _of_operator(self, node: ast.BinOp) -> str | None:
        left, right = self.of(node.left), self.of(node.right)
        if isinstance(node.op, ast.Add):
            return None if left is None or right is None else left + right
        if isinstance(node.op, ast.Mult):
            text = left if right is None else right
            times = getattr(node.left if left is None else node.right, "value", None)
            if text is None or not isinstance(times, int) or times * len(text) > _LONGEST:
                return None
            return text * times
        if not isinstance(node.op, ast.Mod) or left is None or _WIDE.search(left):
            return None
        values = [self.of(part) for part in (node.right.elts if isinstance(node.right, ast.Tuple) else [node.right])]
        return None if None in values else left % tuple(values)

    def _of_call(self, node: ast.Call) -> str | None:
        if isinstance(node.func, ast.Name) and node.func.id == "chr" and len(node.args) == 1:
            code = getattr(node.args[0], "value", None)
            return chr(code) if isinstance(code, int) else None
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        of = self.of(getattr(node.func, "value", None))
        if of is None or name not in _METHODS or (name == "format" and _WIDE.search(of)):
            return None
        if name == "join":
            (parts,) = node.args
            return self._joined(parts.elts, of) if isinstance(parts, ast.List | ast.Tuple) else None
        given: list[Any] = [self.of(part) for part in node.args]
        words = {word.arg or "": self.of(word.value) for word in node.keywords}
        return None if None in (*given, *words.values()) else str(getattr(of, name)(*given, **words))

    def _joined(self, nodes: Sequence[ast.AST], between: str = "") -> str | None:
        parts = [self.of(node) for node in nodes]
        return None if None in parts else between.join(part for part in parts if part is not None)
