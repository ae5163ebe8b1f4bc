"""Code in a readme: a reader runs it, without a sandbox."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from assay_zoo.artifacts.code.code_scan import reaches
from assay_zoo.artifacts.installs.install_commands import shell_commands

_PROMPT = re.compile(r"^(?:>>>|\.\.\.) ?", re.MULTILINE)


def reached_in_markdown(text: str, packages: Sequence[str]) -> Iterator[tuple[int, str]]:
    """(line, what it reaches for) of each block that is Python: as in a script, though a readme may well show more."""
    from markdown_it import MarkdownIt

    for token in MarkdownIt("commonmark", {"maxNesting": 20}).parse(text):
        if token.type not in ("fence", "code_block") or not token.map:
            continue
        code = _PROMPT.sub("", token.content)
        first = token.map[0] + (token.type == "fence")
        for written in _given_to_python(token.content):
            yield from ((first + 1, what) for _, what, certain in reaches(written, packages) if certain)
        if _is_python(code) and any(
            isinstance(node, ast.Import | ast.ImportFrom | ast.Call) for node in ast.walk(ast.parse(code))
        ):
            yield from ((first + line, what) for line, what, certain in reaches(code, packages) if certain)


def _given_to_python(code: str) -> Iterator[str]:
    """What a command of a shell runs as `python -c`."""
    for words in shell_commands(code) if " -c" in code else ():
        programs = [at for at, word in enumerate(words) if re.fullmatch(r"(?:.*/)?python[\d.]*(?:\.exe)?", word)]
        for at in programs[:1]:
            written = next(
                (words[option + 1 : option + 2] for option in range(at, len(words)) if words[option] == "-c"), []
            )
            yield from (text for text in written if _is_python(text))


def _is_python(code: str) -> bool:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True
