"""A cell of a notebook as IPython runs it: the Python of it, and what it asks of IPython or of a shell."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Collection, Iterator, Sequence

from assay_zoo.artifacts.code.code_file import imports_of

_TIMED = ("time", "timeit")
"""Magics whose words are code."""
_FLAGS = re.compile(r"^(?:-[a-z]+\s*\d*(?:\s+|$))*")
_PLAIN = re.compile(
    r"matplotlib(?: (?:inline|agg|notebook|widget))?|load_ext autoreload|autoreload(?: [0-3])?|precision(?: [\w.%]+)?|pprint|"
    r"capture(?: [\w -]*)?|config InlineBackend\.(?:figure_formats?|print_figure_kwargs) ?= ?[\w\s'\",:.{}()\[\]-]*"
)
"""Magics that neither install, start nor import anything, with the words that they may have."""
_CONFIG = re.compile(r"config \S+ ?= ?(.*)")
_ASKS = ("matplotlib", "load_ext", "autoreload", "precision", "pprint", "capture", "config", "pinfo")
"""Magics of which other words may be harmless."""
_FIRST = re.compile(r"\s*(\w+)(?![\w.*]|\s*[=,])")


def without_magics(code: Sequence[str], known: Collection[str]) -> tuple[list[str], list[tuple[int, str, bool]]]:
    """The cell as plain Python, line for line; and what it asks otherwise: at which line, counted from 0, and whether that is certain.
    `known` are names that cells before it bind."""
    top = next((at for at, line in enumerate(code) if line.strip()), len(code))
    plain, notes = [*code], []
    if top < len(code) and code[top].startswith("%%"):
        plain[top], how = _read(code[top][2:])
        notes += [(top, code[top].strip(), how)] if how is not None else []
        if how is not None:  # another language, or who knows what
            return [*code[:top], *(["pass"] * (len(code) - top))], notes
        top += 1
    ran = _as_ipython_runs(code[top:])
    if len(ran) != len(code) - top:
        return ["pass" for _ in code], [(top, " ".join(code[top:]).strip(), True)]
    for at, line in enumerate(ran, top):
        if line.rstrip() == code[at].rstrip():
            continue
        words = code[at].strip()
        text, how = _read(words[1:]) if re.match(r"%[^%]", words) else ("pass", not words.endswith("?"))
        plain[at] = line[: len(line) - len(line.lstrip())] + text
        notes += [(at, words, how)] if how is not None else []
        if words.startswith("%%"):
            return [*plain[:at], *(["pass"] * (len(code) - at))], notes
    lines = [at for at in range(top, len(code)) if code[at].strip()]
    if len(lines) == 1 and plain[lines[0]] == code[lines[0]] and _is_command(code[lines[0]], known):
        notes.append((lines[0], code[lines[0]].strip(), False))
    return plain, notes


def bound_at_top(tree: ast.Module) -> Iterator[str]:
    """Names that are certainly bound where the cell has run."""
    for node in tree.body:
        yield from (name for name, _ in imports_of(node))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            named = (part for target in node.targets for part in ast.walk(target))
            yield from (part.id for part in named if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))


def _as_ipython_runs(code: Sequence[str]) -> list[str]:
    """Lines within a text stay as they are."""
    from IPython.core.inputtransformer2 import TransformerManager

    top = next((at for at, line in enumerate(code) if line.strip()), len(code))  # blank lines there are left out by it
    try:
        return (
            [*code[:top], *TransformerManager().transform_cell("\n".join(code[top:])).split("\n")[:-1]] if code else []
        )
    except SyntaxError:
        return []


def _read(magic: str) -> tuple[str, bool | None]:
    """The code of a magic, and whether it is certain that it does harm: None where it is plain."""
    magic = " ".join(magic.split())
    name, _, words = magic.partition(" ")
    if name in _TIMED:
        return _FLAGS.sub("", words) or "pass", None
    if _PLAIN.fullmatch(magic) and (name != "config" or _is_written(magic)):
        return ("from contextlib import redirect_stdout" if name == "capture" else "pass"), None
    return "pass", name not in _ASKS or "{" in magic.partition("=")[0] or "$" in magic


def _is_written(magic: str) -> bool:
    """IPython runs what `%config` is given, and what stands in braces in it."""
    setting = _CONFIG.fullmatch(magic)
    try:
        tree = ast.parse(setting[1] if setting else "", mode="eval")
        ast.literal_eval(tree)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return False
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return not any(set(text) & set("{}$") for text in texts)


def _is_command(line: str, known: Collection[str]) -> bool:
    """Whether IPython may take a cell of one line for a magic without its sign, as `ls -l` or `pip`: its first word means nothing else."""
    first = _FIRST.match(line)
    own = {*known, *dir(builtins), *keyword.kwlist, "display"}
    return first is not None and first[1] not in own
