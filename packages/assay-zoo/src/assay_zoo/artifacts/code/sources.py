"""What scripts and notebooks import: Python's own modules, packages that the zoo allows, or files of the submission."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from assay_zoo.artifacts.finding import Finding
from assay_zoo.artifacts.notebooks.fed_values import FedValues

if TYPE_CHECKING:
    from assay_zoo.submission import SubmissionContext


class Import(msgspec.Struct, frozen=True, kw_only=True):
    """`module` is dotted, with as many dots in front as the import is relative; `line` is that of the file."""

    module: str
    line: int = 0


class SourceText(msgspec.Struct, frozen=True, kw_only=True):
    """What one script or notebook says of others; `troubles` are whole findings about itself, `reaches` about what it reaches for.
    `renamed` are the modules that it imports under another name, `asks` all names that it asks for with their lines. `functions` are name
    and meaning, `defined` its other names at the top, `texts` the short texts, `handed` those that calls are given, `keys` those of tables
    that it reads, `names` what it calls or hands on, `numbers` the fractions in its code, `license` is (line, expression) as it says
    itself, `fed` what it gives to the model; `whole`: no part was left out because it is no Python."""

    imports: tuple[Import, ...] = ()
    troubles: tuple[Finding, ...] = ()
    reaches: tuple[Finding, ...] = ()
    functions: tuple[tuple[str, str], ...] = ()
    defined: tuple[str, ...] = ()
    statements: int = 0
    texts: tuple[str, ...] = ()
    handed: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()
    license: tuple[tuple[int, str], ...] = ()
    fed: FedValues = FedValues()
    renamed: tuple[str, ...] = ()
    asks: dict[str, int] = {}
    whole: bool = True


SHOWING = "IPython.display"
"""Of what runs a notebook: it is there wherever one is."""
_STARTED = ("sitecustomize", "usercustomize", "conftest")
"""Modules that Python or pytest runs though nobody imports them."""
_PLAIN = ("test", "this", "antigravity")
"""Modules of Python that nobody misses."""


def source_findings(read: Mapping[str, SourceText], place: SubmissionContext) -> Iterator[Finding]:
    """Each import that nothing answers to, once per file, and each script that takes the place of what others import."""
    yield from _hiding(place)
    for path, source in read.items():
        yield from source.troubles
        reported: set[str] = set()
        for imported in source.imports:
            name = imported.module if imported.module.startswith(".") else imported.module.partition(".")[0]
            if name in reported or _answered(imported.module, path, place):
                continue
            reported.add(name)
            yield Finding(sentence=_sentence(path, imported.module, name, place), path=path, line=imported.line)


def _hiding(place: SubmissionContext) -> Iterator[Finding]:
    for path in sorted(place.folder.iterdir()):
        script = path.suffix == ".py" or (path / "__init__.py").is_file()
        if not script or path.stem in _PLAIN:
            continue
        if path.stem in _STARTED:
            yield Finding(sentence=f"{path.name} is run though nobody imports it: give it another name", path=path.name)
        elif path.stem in sys.stdlib_module_names or path.stem in place.policy.packages:
            sentence = (
                f"{path.name} takes the place of the module {path.stem} for all that import it: give it another name"
            )
            yield Finding(sentence=sentence, path=path.name)


def _answered(module: str, path: str, place: SubmissionContext) -> bool:
    if module.startswith("."):
        return _there(place, _relative(module, path))
    top = module.partition(".")[0]
    if (
        top in sys.stdlib_module_names
        or top in place.policy.packages
        or (module == SHOWING and path.endswith(".ipynb"))
    ):
        return True
    beside = PurePosixPath(path).parent
    return _there(place, beside / top) or _there(place, PurePosixPath(top))


def _relative(module: str, path: str) -> PurePosixPath:
    dots = len(module) - len(module.lstrip("."))
    folder = PurePosixPath(path).parent
    for _ in range(dots - 1):
        folder = folder.parent
    return folder.joinpath(*[part for part in module.lstrip(".").split(".") if part])


def _there(place: SubmissionContext, module: PurePosixPath) -> bool:
    """A file that was handed in and not taken counts: that it was not taken is a finding of the checks of files."""
    script = place.folder / f"{module}.py"
    handed_in = {entry.path for entry in place.intake.entries} if place.intake else set()
    return script.is_file() or (place.folder / module).is_dir() or bool({f"{module}.py", str(module)} & handed_in)


def _sentence(path: str, module: str, name: str, place: SubmissionContext) -> str:
    if module.startswith("."):
        return f"{path} imports {module!r}, and no such file is in the submission"
    allowed = ", ".join(place.policy.packages)
    return (
        f"{path} imports {name!r}, which is neither a file of the submission, nor Python's own, nor one of the packages of "
        f"this zoo ({allowed}): add {name}.py, or do without"
    )
