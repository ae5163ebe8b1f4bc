"""Texts of which parts are not known."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from itertools import groupby, product

Name = tuple[str | None, ...]
"""Parts one after the other; None is any text."""
UNKNOWN: list[Name] = [(None,)]
MOST = 200
_LONGEST = 1000


def pattern_of(name: Name) -> re.Pattern[str]:
    """What a name may be, where a part of it is not known."""
    return re.compile("".join(r"(?s:.*)" if part is None else re.escape(part) for part in name))


def joined(parts: Sequence[Sequence[Name]]) -> list[Name]:
    many = 1
    for choices in parts:
        many *= len(choices)
    if many > MOST:
        return UNKNOWN
    return [_merged([part for name in names for part in name]) for names in product(*parts)]


def _merged(parts: Sequence[str | None]) -> Name:
    if sum(len(part) for part in parts if part is not None) > _LONGEST:
        return (None,)
    merged: list[str | None] = []
    for known, some in groupby(parts, key=lambda part: part is not None):
        merged.append("".join(part for part in some if part is not None) if known else None)
    return tuple(merged) or ("",)


def before(signs: str, names: Sequence[Name]) -> list[Name]:
    """The part of each format string before its first placeholder."""
    beginnings: list[Name] = []
    for name in names:
        first = name[0] or ""
        plain = re.split(f"[{re.escape(signs)}]", first, maxsplit=1)[0]
        beginnings.append((plain, None) if plain else (None,))
    return beginnings


_FIELDS = {
    "%": re.compile(r"(%(?:\([^)]*\))?[-+ #0]*[\d*]*(?:\.[\d*]+)?[a-zA-Z%])"),
    "{}": re.compile(r"(\{[^{}]*\})"),
}


def filled(signs: str, names: Sequence[Name], given: Sequence[Sequence[Name]]) -> list[Name]:
    """Format strings of `%` or `format` with their placeholders filled in, in order; unknown if one of them is not plain."""
    texts: list[Name] = []
    for name in names:
        text = name[0] if len(name) == 1 else None
        pieces = _FIELDS[signs].split(text or "")
        if text is None or "%%" in text or any(set("{}") & set(piece) for piece in pieces[::2] if signs == "{}"):
            texts += before(signs, [name])
            continue
        fields = [piece in ("%s", "{}") for piece in pieces[1::2]]
        values = [given[at] if at < len(given) and all(fields) else UNKNOWN for at in range(len(fields))]
        values.append([("",)])
        texts += joined(
            [choice for each in zip(pieces[::2], values, strict=True) for choice in ([(each[0],)], each[1])]
        )
    return texts


def times(texts: Sequence[Name], many: ast.expr) -> list[Name]:
    """As in `text * 2`."""
    count = many.value if isinstance(many, ast.Constant) and isinstance(many.value, int) else -1
    plain = [text[0] for text in texts if len(text) == 1 and text[0] is not None]
    if not 0 <= count <= _LONGEST or len(plain) < len(texts):
        return UNKNOWN
    return [(text * count,) if len(text) * count <= _LONGEST else (None,) for text in plain]


_METHODS = (
    "lower", "upper", "casefold", "swapcase", "strip", "lstrip", "rstrip", "replace", "removeprefix", "removesuffix",
)  # fmt: skip


def by_method(method: str, texts: Sequence[Name], arguments: Sequence[Sequence[Name]]) -> list[Name]:
    """What a method of texts gives, where all of it is written."""
    if method not in _METHODS or len(arguments) > 2:
        return UNKNOWN
    results: list[Name] = []
    for whole in product(texts, *arguments):
        plain = [text[0] for text in whole if len(text) == 1 and text[0] is not None]
        if len(plain) < len(whole) or len(results) == MOST:
            return UNKNOWN
        results.append((_called(method, plain),))
    return results


def _called(method: str, texts: Sequence[str]) -> str | None:
    try:
        answer = getattr(texts[0], method)(*texts[1:])
    except TypeError:
        return None
    return answer if len(answer) <= _LONGEST else None


def sliced(texts: Sequence[Name], part: ast.Slice) -> list[Name]:
    """As in `text[::-1]`."""
    try:
        cut = slice(*(None if expr is None else ast.literal_eval(expr) for expr in (part.lower, part.upper, part.step)))
        return [(text[0][cut],) if len(text) == 1 and text[0] is not None else (None,) for text in texts]
    except (ValueError, TypeError):
        return UNKNOWN


def sums(node: ast.expr) -> list[ast.BinOp]:
    """A sum, and each sum that it begins with: `a + b + c`, then `a + b`."""
    nested: list[ast.BinOp] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        nested.append(node)
        node = node.left
    return nested


def added(node: ast.expr) -> list[ast.expr]:
    """The summands of a sum, in order; any other expression alone."""
    every = sums(node)
    return [every[-1].left, *(bin_op.right for bin_op in reversed(every))] if every else [node]
