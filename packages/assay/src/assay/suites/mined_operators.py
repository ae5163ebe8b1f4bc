"""The unique operators of a user's own models, with their shapes, types and attributes, weighted by use."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from assay.core.case import Case
from assay.core.digest import value_digest
from assay.core.limits import Limits
from assay.errors import HarnessError, UsageError
from assay.models.code_digest import code_digest
from assay.models.sources import is_factory
from assay.suites.cache import INDEX, cache_folder, read_index
from assay.suites.subprocess_run import describe_exit, run_in_subprocess

LEFT_OUT = "left-out.txt"
MAKER = "assay.suites.build_mined"
SUFFIXES = (".onnx", ".pt2")
BAD_INPUT = 2
"""How the process that mines ends where a file is no usable model; its last words are for the user."""


class Mined:
    """What `assay run mined:model.onnx` names, or `mined:a.onnx,b.pt2`, `mined:package.module:factory`, or `mined:folder`.

    A case for each operator that differs in type, attributes, shapes, element types or whole-number constants (axes, sizes);
    it keeps the weights of its first use, and its name ends with how often it is used: `-x12`. There is no golden: seeded
    inputs against the float64 evaluation.
    """

    name = "mined"
    about = "mined:MODEL: the unique operators of your own models, as often as they are used"

    def __init__(self, models: str = "", limits: Limits | None = None) -> None:
        self._paths = _models(models)
        self._limits = limits or Limits()
        self._made = False
        # Other models have other operators: fewer of them are no loss.
        self.counted_as = f"{self.name}:{models}"

    def cases(self, *, seed: int) -> Iterator[Case]:
        """Named `mined/OPERATOR-shapes-digest-xUSES`, the most used first."""
        for case in read_index(self._index()) or ():
            yield msgspec.structs.replace(case, inputs=msgspec.structs.replace(case.inputs, seed=seed))

    def make(self, cases: Sequence[Case], *, workers: int) -> Iterator[tuple[Case, str]]:  # noqa: ARG002
        """Everything is there already."""
        for case in cases:
            yield case, ""

    def left_out(self) -> tuple[str, ...]:
        """What could not be mined, one line each: operators with a body, values whose type or shape is not known."""
        return tuple((self._index().parent / LEFT_OUT).read_text().splitlines())

    def _index(self) -> Path:
        state = [_state(path) for path in self._paths]
        index = cache_folder(self.name, value_digest((code_digest(MAKER), state))[:32]) / INDEX
        # What a factory builds follows from code that nobody looks at: it is called once in each run.
        remake = not self._made and any(map(is_factory, self._paths))
        if remake or not index.exists():
            self._made = True
            # Behind a wall: models are untrusted.
            seconds = str(math.ceil(self._limits.timeout_s))
            done = run_in_subprocess(
                MAKER, str(index), seconds, *map(str, self._paths), memory_bytes=self._limits.memory_bytes
            )  # fmt: skip
            if done.returncode == BAD_INPUT:
                raise UsageError(describe_exit(done, self._limits))
            if done.returncode:
                at = done.stdout.decode(errors="replace").splitlines() or ["what was named"]
                raise HarnessError(f"{at[-1]} cannot be mined: {describe_exit(done, self._limits)}")
        return index


def _models(paths_text: str) -> tuple[Path, ...]:
    paths: list[Path] = []
    for word in paths_text.split(","):
        path = Path(word)
        if word and path.is_dir():
            paths += sorted(file for suffix in SUFFIXES for file in path.rglob(f"*{suffix}"))
        elif word and (path.is_file() or is_factory(word)):
            paths.append(path)
        elif word:
            raise UsageError(
                f"mined:{paths_text}: there is no model {word}; name ONNX files, .pt2 programs, folders of them, or package.module:factory"
            )
    if not paths:
        raise UsageError("nothing to mine: name models, for example assay run mined:model.onnx")
    return tuple(path if is_factory(path) else path.absolute() for path in dict.fromkeys(paths))


def _state(path: Path) -> tuple[str, int, int]:
    stat = None if is_factory(path) else path.stat()
    return str(path), stat.st_size if stat else 0, stat.st_mtime_ns if stat else 0
