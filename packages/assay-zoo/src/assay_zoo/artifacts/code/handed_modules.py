"""Modules that one file of a submission imports under another name, and another file asks for by it: import them where they are used."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from assay_zoo.artifacts.code.code_file import USUAL, CodeFile, imports_of, last_name, written_getattr
from assay_zoo.artifacts.code.known_modules import has_more
from assay_zoo.artifacts.code.sources import SourceText
from assay_zoo.artifacts.finding import Finding


def renamed_modules(tree: ast.AST, packages: Sequence[str]) -> Iterator[str]:
    """Names of modules that a file imports which say nothing of the module, and of which a part does more than compute."""
    file = CodeFile(tree, packages)
    for name, path in (each for node in file.nodes for each in imports_of(node)):
        plain = name in (path, path.rpartition(".")[2]) or USUAL.get(name) == path
        if not plain and file.is_shared(path) and has_more(path):
            yield name


def asked_names(tree: ast.AST, where: Sequence[int] = ()) -> dict[str, int]:
    """What a file asks of others by its name, each with its first line. `where` are lines of a notebook."""
    names: dict[str, int] = {}
    starred = any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(tree))
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        line = where[line - 1] if 0 < line <= len(where) else line
        asked = [written_getattr(node)] if isinstance(node, ast.Call) else []
        if isinstance(node, ast.ImportFrom):
            asked = [alias.name for alias in node.names]
        elif isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and starred):
            asked = [last_name(node)]
        for name in asked:
            names.setdefault(name, line)
    return names


def handed_modules(read: Mapping[str, SourceText]) -> Iterator[Finding]:
    """Each such module that another file of the submission asks for."""
    renamed = {name for source in read.values() for name in source.renamed}
    for path, source in read.items():
        for name in sorted(renamed & source.asks.keys()):
            sentence = (
                f"{path} takes a module from another file ({name}): what that is cannot be read here, so a person has to look; "
                "import it where it is used"
            )
            yield Finding(sentence=sentence, path=path, line=source.asks[name], certain=False)
