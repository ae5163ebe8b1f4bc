"""Code in a readme: a reader runs it, without a sandbox."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from assay_zoo.artifacts.code_scan import reaches

_PROMPT = re.compile(r"^(?:>>>|\.\.\.) ?", re.MULTILINE)


def reached_in_markdown(text: str, packages: Sequence[str]) -> Iterator[tuple[int, str]]:
    """(line, what it reaches for) of each block that is Python: as in a script, though a readme may well show more."""
    from markdown_it import MarkdownIt

    for token in MarkdownIt("commonmark", {"maxNesting": 20}).parse(text):
        if token.type not in ("fence", "code_block") or not token.map:
            continue
        code = _PROMPT.sub("", token.content)
        try:
            tree = ast.parse(code)
        except (SyntaxError, ValueError, RecursionError):
            continue
        if any(isinstance(node, ast.Import | ast.ImportFrom | ast.Call) for node in ast.walk(tree)):
            first = token.map[0] + (token.type == "fence")
            yield from ((first + line, what) for line, what, certain in reaches(code, packages) if certain)
