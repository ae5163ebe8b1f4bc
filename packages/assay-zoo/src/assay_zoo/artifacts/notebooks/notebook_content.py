"""Whether a notebook shows what it is there for: that it opens the model, by the scripts that are handed in with it."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from assay_zoo.artifacts.code.sources import SourceText
from assay_zoo.artifacts.finding import Finding
from assay_zoo.artifacts.notebooks.bound_names import original_names
from assay_zoo.zoo_files import METADATA

if TYPE_CHECKING:
    from assay_zoo.metadata import Claim, Metadata

_DIGITS = 3
_MADE = frozenset(
    ("CopyFrom", "float_data", "from_array", "initializer", "make_graph", "make_model", "make_node", "raw_data")
)
"""By these a model is made, or changed."""


def notebook_findings(read: Mapping[str, SourceText], metadata: Metadata) -> Iterator[Finding]:
    """About the two notebooks that the metadata name, as far as they could be read."""
    for path in dict.fromkeys((metadata.inference, metadata.validation)):
        if path not in read:
            continue
        used = _used_by(path, read)
        if not all(read[used_path].whole for used_path in used):
            continue  # that a part cannot be read is told, and the model may be opened in it
        if not read[path].statements:
            yield Finding(sentence=f"{path} holds nothing: no cell of it computes anything", path=path)
        elif not any(_opens(read[used_path], metadata.model) for used_path in used):
            sentence = f"{path} never opens {metadata.model}: what it shows does not come from the model"
            yield Finding(sentence=sentence, path=path)
        elif how := _runs_another([read[used_path] for used_path in used], metadata.model):
            yield Finding(sentence=f"{path} {how}: a person has to see which model answers", path=path, certain=False)
        elif path == metadata.validation and (
            how := _written_down([read[used_path] for used_path in used], metadata.accuracy)
        ):
            sentence = (
                f"{path} {how}: the metric is computed from what the model answers, and stands nowhere in the code"
            )
            yield Finding(sentence=sentence, path=path)


def _runs_another(sources: Sequence[SourceText], model: str) -> str:
    """How the code may run another model than the one that is handed in; "" where it does not."""
    names = {name for source in sources for name in source.names}
    if "SerializeToString" in names and not names.isdisjoint(_MADE):
        return "makes or changes a model, and may run that"
    texts = (PurePosixPath(text) for source in sources for text in source.texts)
    others = sorted(text.name for text in texts if text.suffix == ".onnx" and text.name != PurePosixPath(model).name)
    return f"names the model {others[0][:60]!r}, and may run that" if others else ""


def _written_down(sources: Sequence[SourceText], claim: Claim) -> str:
    """How the code knows the metric before it ran; "" where it does not."""
    name = re.split("[:#.]", claim.read)[-1]
    printed = re.compile(rf"^\s*{re.escape(name)}\s*[=:]\s*[-+]?\.?\d[\d.]*", re.MULTILINE)
    texts = [text for source in sources for text in source.texts]
    if printed_text := next((match[0] for match in map(printed.search, texts) if match), ""):
        return f"prints {printed_text!r} as it stands in the code"
    if any(claim.value == number for source in sources for number in source.numbers) and _telling(claim.value):
        return f"has the claimed value {claim.value:g} in its code"
    if METADATA in texts and any("accuracy" in source.keys for source in sources):
        return f"reads the claim from {METADATA}"
    return ""


def _telling(value: float) -> bool:
    """Enough digits that nobody writes it for another reason."""
    return len(f"{value:.12g}".replace(".", "").strip("-0")) >= _DIGITS


def processing_findings(read: Mapping[str, SourceText], metadata: Metadata) -> Iterator[Finding]:
    """A notebook that prepares its inputs in another way than the script that readers are given."""
    scripts = [path for path in (metadata.preprocessing, metadata.postprocessing) if path in read]
    for path in dict.fromkeys((metadata.inference, metadata.validation)):
        if path not in read or not read[path].statements:
            continue
        used = _used_by(path, read)
        if not all(read[used_path].whole for used_path in used):
            continue
        for script in scripts:
            ours = dict(read[script].functions)
            others = {
                name: (used_path, body)
                for used_path in used
                if used_path != script
                for name, body in read[used_path].functions
            }
            for name in sorted(ours.keys() & others.keys()):
                where, body = others[name]
                if body != ours[name]:
                    sentence = f"{where} has a {name} of its own, and it is not that of {script}: import the one that readers are given"
                    yield Finding(sentence=sentence, path=where)
            shows = any(_opens(read[used_path], metadata.model) for used_path in used)  # else that is what is told
            idle = shows and not any(
                _uses(read[used_path].names, script, read[script]) for used_path in used if used_path != script
            )
            if (
                script == metadata.preprocessing
                and ours
                and (idle or script not in used)
                and not ours.keys() & others.keys()
            ):
                sentence = (
                    f"{path} does not use {script}: what it shows was not made by the script that readers are given"
                )
                yield Finding(sentence=sentence, path=path)
            elif why := _fed_otherwise(path, read, script, used, prepares=script == metadata.preprocessing):
                yield Finding(sentence=f"{path} {why}: a person has to see why", path=path, certain=False)


def _uses(names: Sequence[str], script: str, source: SourceText) -> bool:
    """Something that the script has at its top, or imports itself."""
    own = {*source.defined, *(name for name, _ in source.functions)}
    return any(name in own or name.startswith(f"{PurePosixPath(script).stem}.") for name in names)


def _fed_otherwise(
    path: str, read: Mapping[str, SourceText], script: str, used: Sequence[str], *, prepares: bool
) -> str:
    """How the model is given something else than the script makes, "" where nobody can know."""
    fed, ours = read[path].fed, {name for name, _ in read[script].functions}
    module = PurePosixPath(script).stem
    makers = {name for used_path in used if used_path != path for name, _ in read[used_path].functions}
    makers |= {name for used_path in used if used_path != path for name in read[used_path].defined}
    if name := next((name for name in sorted(ours) if f"{module}.{name}" in fed.rebound), ""):
        return f"imports {name} of {script}, and then calls something else so"
    if name := next((name for name in read[script].defined if f"{module}.{name}" in fed.rebound), ""):
        return f"gives {name} of {script} another value than readers are given"
    if prepares and (name := next(iter(sorted(ours & set(fed.computed))), "")):
        return f"feeds the model with what it computed from the answer of {name}, and not with that itself"
    if prepares and (name := next(iter(sorted(ours & set(fed.given))), "")):
        return f"gives {name} numbers on which it computed, and readers are given a script that does not"
    if (
        prepares
        and fed.feeds
        and script in used
        and not (makers & set(fed.made_by) or _uses(fed.made_by, script, read[script]))
    ):
        return f"feeds the model with what no function of {script} made"
    return ""


def functions_of(tree: ast.AST) -> tuple[tuple[str, str], ...]:
    """Name and meaning of each function at the top, comments and docstrings left out."""
    functions = []
    for node in getattr(tree, "body", []):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = [stmt for at, stmt in enumerate(node.body) if at or not _is_text(stmt)]
            functions.append((node.name, "\n".join([ast.dump(node.args, annotate_fields=False), *map(ast.dump, body)])))
    return tuple(functions)


def defined_by(tree: ast.AST, most: int = 2000) -> tuple[str, ...]:
    """Names of classes and values at the top, by which others may use what it makes."""
    names: list[str] = []
    for node in getattr(tree, "body", []):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names += [node.name] if isinstance(node, ast.ClassDef) else []
        names += [part.id for target in targets if target for part in ast.walk(target) if isinstance(part, ast.Name)]
    return tuple(dict.fromkeys(names))[:most]


def statements_of(tree: ast.AST) -> int:
    """Statements at the top that do something: an import, a text, `pass` and a constant alone do not."""
    idle = (ast.Import, ast.ImportFrom, ast.Pass, ast.FunctionDef, ast.ClassDef)
    return sum(not isinstance(statement, idle) and not _is_text(statement) for statement in getattr(tree, "body", []))


def texts_of(tree: ast.AST, most: int = 500) -> tuple[str, ...]:
    """Short texts in the code: names of files among them."""
    idle = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # a docstring
    texts = (
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in idle
    )
    return tuple(dict.fromkeys(text for text in texts if 0 < len(text) <= 200))[:most]


def keys_of(tree: ast.AST, most: int = 500) -> tuple[str, ...]:
    """By which the code reads values from tables."""
    keys: list[str] = []
    for node in ast.walk(tree):
        key: ast.expr | None = None
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            key = node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop"):
            key = node.args[0] if node.args else None
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            keys.append(key.value)
    return tuple(dict.fromkeys(keys))[:most]


def names_of(tree: ast.AST, most: int = 2000) -> tuple[str, ...]:
    """What the code asks for by name, imports left out: what it imports by another name is asked for by its own, too."""
    originals = original_names(tree)
    loaded = (
        node for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
    )
    names = dict.fromkeys(node.id if isinstance(node, ast.Name) else node.attr for node in loaded)
    return tuple(dict.fromkeys((*names, *(each for name in names for each in originals.get(name, ())))))[:most]


def numbers_of(tree: ast.AST, most: int = 500) -> tuple[float, ...]:
    """Numbers in the code that are no whole ones."""
    numbers = (
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, float)
    )
    return tuple(dict.fromkeys(number for number in numbers if math.isfinite(number)))[:most]


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _opens(source: SourceText, model: str) -> bool:
    name = PurePosixPath(model)
    return any(text.endswith((name.name, name.suffix, "metadata.toml")) or text == name.stem for text in source.texts)


def _used_by(path: str, read: Mapping[str, SourceText]) -> list[str]:
    """The file itself, and the files of the submission that it imports, and those that they import."""
    paths = [path]
    for used_path in paths:
        folder = PurePosixPath(used_path).parent
        for each in read[used_path].imports:
            parts = each.module.lstrip(".").split(".")
            for base in (folder, PurePosixPath()):
                names = (base.joinpath(*parts[:count]).as_posix() + ".py" for count in range(len(parts), 0, -1))
                paths += [name for name in names if name in read and name not in paths]
    return paths
