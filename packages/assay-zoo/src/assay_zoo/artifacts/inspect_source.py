"""Every file of a submission that is read as text, in one limited process: README, scripts and notebooks are parsed here."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from assay_zoo.accuracy.notebook_report import CellLines
from assay_zoo.allowed_packages import PACKAGES
from assay_zoo.artifacts.code.code_scan import reaches
from assay_zoo.artifacts.code.handed_modules import asked_names, renamed_modules
from assay_zoo.artifacts.code.handed_texts import handed_of
from assay_zoo.artifacts.code.reached import DERIVED, Reached
from assay_zoo.artifacts.code.sources import Import, SourceText
from assay_zoo.artifacts.finding import Finding
from assay_zoo.artifacts.notebooks.fed_values import fed_values
from assay_zoo.artifacts.notebooks.magics import bound_at_top, without_magics
from assay_zoo.artifacts.notebooks.notebook_content import (
    defined_by,
    functions_of,
    keys_of,
    names_of,
    numbers_of,
    statements_of,
    texts_of,
)
from assay_zoo.artifacts.pages.claimed_accuracy import other_accuracy
from assay_zoo.artifacts.published import inspect_published
from assay_zoo.artifacts.rights.license import says_license
from assay_zoo.readme import differences, missing_sections
from assay_zoo.text_encoding import encoding_trouble

_Scan = Callable[[str], list[Reached]]
TARGET = "assay_zoo.artifacts.inspect_source:inspect_part"
_FORMAT = 4
"""Of notebooks: those before have their cells elsewhere."""
README = "readme-fields"
"""The kind of item that asks whether the readme says what the metadata say."""


def inspect_part(item: dict[str, Any]) -> Any:
    """The target of `run_limited`: `kind` is readme-fields or source, else one of `published`."""
    return (inspect_source if item["kind"] in (README, "source") else inspect_published)(item)


def inspect_source(item: dict[str, Any]) -> Any:
    """Findings for a readme, a `SourceText` for a source."""
    path, data = item["path"], Path(item["copy"]).read_bytes()
    text = data.decode("utf-8-sig", "replace")
    if item["kind"] == README:
        from assay_zoo.metadata import Metadata

        claims = item["metadata"]
        metadata = Metadata.model_validate(claims) if claims else None
        problems = differences(text, metadata) if metadata else missing_sections(text)
        doubts = list(other_accuracy(text, metadata)) if metadata else []
        doubts += (
            [replace(doubt, line=0) for doubt in other_accuracy(f"## Notes\n\n{metadata.description}", metadata)]
            if metadata
            else []
        )
        return msgspec.to_builtins(
            [
                Finding(
                    sentence=f"{path} {problem.sentence}", path=path, line=problem.line, certain=problem not in doubts
                )
                for problem in (*problems, *doubts)
            ]
        )
    packages = item.get("packages", PACKAGES)
    scan = partial(reaches, packages=packages, depth=len(PurePosixPath(path).parts))
    if path.lower().endswith(".ipynb"):
        return msgspec.to_builtins(_notebook(path, text, scan))
    source = _script(path, text, scan, packages)
    if other := encoding_trouble(data):
        finding = Finding(sentence=f"{path} {other}", path=path, line=1)
        source = msgspec.structs.replace(source, troubles=(finding, *source.troubles))
    return msgspec.to_builtins(source)


def _script(path: str, text: str, scan: _Scan, packages: Sequence[str]) -> SourceText:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return SourceText(whole=False)  # the checks of files say where
    return SourceText(
        imports=tuple(Import(module=name, line=line) for name, line in _imports(tree)),
        troubles=tuple(_alike(path, tree)),
        renamed=tuple(renamed_modules(tree, packages)),
        asks=asked_names(tree),
        reaches=tuple(_reaches(path, text, scan)),
        functions=functions_of(tree),
        defined=defined_by(tree),
        statements=statements_of(tree),
        texts=texts_of(tree),
        handed=handed_of(tree),
        keys=keys_of(tree),
        names=names_of(tree),
        numbers=numbers_of(tree),
        license=tuple(says_license(text)),
    )


def _reaches(path: str, text: str, scan: _Scan, where: Sequence[int] = ()) -> Iterator[Finding]:
    """`where` are the lines of a notebook's file, for each line of its code."""
    for line, what, certain in scan(text):
        if certain:
            sentence = f"{path} reaches for {what}: code of a submission reads its own files and computes, nothing else"
        elif what.startswith(DERIVED):
            sentence = f"{path} has {what}: a person has to look"
        else:
            sentence = (
                f"{path} may reach for {what}: what that is cannot be read from the code, so a person has to look"
            )
        at = where[line - 1] if 0 < line <= len(where) else line
        yield Finding(sentence=sentence, path=path, line=at, certain=certain)


def _alike(path: str, tree: ast.AST, where: Sequence[int] = ()) -> Iterator[Finding]:
    """The first name with letters that a reader takes for others (CVE-2021-42694)."""
    for node in ast.walk(tree):
        for name in (getattr(node, key, "") for key in ("id", "name", "attr", "arg")):
            if isinstance(name, str) and not name.isascii():
                line = getattr(node, "lineno", 0)
                sentence = f"{path} has the name {name[:60]!a}, with letters that are easily taken for others: write names in ASCII"
                yield Finding(sentence=sentence, path=path, line=where[line - 1] if 0 < line <= len(where) else line)
                return


def _imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Modules by name, those in strings of `import_module` and `__import__` too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            dots = "." * node.level
            names = [node.module] if node.module else [alias.name for alias in node.names]
            yield from ((f"{dots}{name}", node.lineno) for name in names)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("import_module", "__import__") and isinstance(node.args[0].value, str):
                yield node.args[0].value, node.lineno


class _Cells(msgspec.Struct, kw_only=True):
    """The code of a notebook's cells as one text, and where in the file each of its lines stands; `unread` are cells that are no Python."""

    code: str
    places: list[int]
    imports: list[Import]
    troubles: list[Finding]
    unread: int


def _cells(path: str, text: str) -> _Cells | None:
    """None for a file that is no notebook."""
    try:
        notebook = json.loads(text)
        cells = notebook.get("cells", [])
    except (ValueError, AttributeError):
        return None
    if not isinstance(cells, list):
        return None
    gathered = _Cells(code="", places=[], imports=[], troubles=[], unread=0)
    whole: list[str] = []
    known: set[str] = set()
    lines = CellLines(text)
    if notebook.get("nbformat") != _FORMAT or "worksheets" in notebook:  # its cells may be others than these
        sentence = f"{path} is a notebook of another format than {_FORMAT}, whose cells are not read: save it again with Jupyter"
        gathered.troubles.append(Finding(sentence=sentence, path=path, line=1))
        gathered.unread += 1
    for number, cell in enumerate(cells):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        raw = cell.get("source", "")
        code = (raw if isinstance(raw, str) else "".join(map(str, raw))).splitlines() or [""]  # as IPython has lines
        where = [lines.of(line) for line in code]
        plain, notes = without_magics(code, known)
        for at, words, certain in notes:
            what = f"asks a shell or IPython for {words[:60]!r} in cell {number}"
            sentence = f"{path} {what}: a submission runs as it was handed in, without that"
            gathered.troubles.append(Finding(sentence=sentence, path=path, line=where[at], certain=certain))
        try:
            tree = ast.parse("\n".join(plain))
        except (SyntaxError, ValueError) as error:
            line = where[min((getattr(error, "lineno", 1) or 1), len(where)) - 1]
            sentence = f"{path} has a cell ({number}) that is no Python: {getattr(error, 'msg', error)}"
            gathered.troubles.append(Finding(sentence=sentence, path=path, line=line))
            gathered.unread += 1
            continue
        known |= set(bound_at_top(tree))
        known -= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del)}
        gathered.imports += [Import(module=name, line=where[line - 1]) for name, line in _imports(tree)]
        gathered.troubles += _alike(path, tree, where)
        whole += plain[: len(where)]
        gathered.places += where[: len(plain)]
    gathered.code = "\n".join(whole)
    return gathered


def _notebook(path: str, text: str, scan: _Scan) -> SourceText:
    cells = _cells(path, text)
    if cells is None:
        return SourceText(whole=False)  # the checks of files say where
    tree = ast.parse(cells.code)
    return SourceText(
        imports=tuple(cells.imports), troubles=(*_other_language(path, text), *cells.troubles),
        reaches=tuple(_reaches(path, cells.code, scan, cells.places)), functions=functions_of(tree),
        statements=statements_of(tree), texts=texts_of(tree), handed=handed_of(tree), keys=keys_of(tree), names=names_of(tree),
        numbers=numbers_of(tree), fed=fed_values(tree), whole=not cells.unread, asks=asked_names(tree, cells.places),
    )  # fmt: skip


def _other_language(path: str, text: str) -> Iterator[Finding]:
    """Its cells would be read as Python here, and run as something else by a reader."""
    metadata = json.loads(text).get("metadata")
    for key in ("kernelspec", "language_info"):
        table = metadata.get(key) if isinstance(metadata, dict) else None
        language = table.get("language" if key == "kernelspec" else "name") if isinstance(table, dict) else None
        if isinstance(language, str) and not language.lower().startswith(("python", "ipython")):
            sentence = f"{path} says that it is written in {language[:40]!r}: notebooks are run as Python"
            yield Finding(sentence=sentence, path=path)
            return
        name = table.get("name") if isinstance(table, dict) else None
        if isinstance(name, str) and not name.lower().startswith(("python", "ipython")):
            sentence = (
                f"{path} says that it is run by {name[:40]!r}: choose the kernel python3, by which it is run here"
            )
            yield Finding(sentence=sentence, path=path, certain=False)
            return
