"""A folder of models with data beside them: the layout of onnx and of the model zoo, or our goldens."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from assay.core.case import Case
from assay.core.digest import value_digest
from assay.core.limits import Limits
from assay.core.model import Model
from assay.core.outcome import Outcome
from assay.errors import HarnessError, UsageError
from assay.models.code_digest import code_digest
from assay.models.sources import is_program
from assay.suites.cache import INDEX, cache_folder, read_index, write_index
from assay.suites.subprocess_run import IMPORT_LIMIT_S, alone, describe_exit, run_in_subprocess

MAKER = "assay.suites.build_folder"
SUFFIXES = (".onnx", ".pt2")
UP = b"up"
"""The first line of the process that reads models: it has imported what it needs."""


class Folder:
    """Every `*.onnx` and `*.pt2` below `path`: a case for each, named by its place; `path` is what a user names in `assay run`.

    Its data are `test_data_set_N/{input,output}_K.pb` beside it, or a golden folder (`golden.lock`) beside it or in
    `golden/`. A model without any data is run on seeded inputs against the float64 reference. The model of a folder
    with one model (`resnet/model.onnx`) is named by the folder.
    """

    unmade = Outcome.ERROR
    """A model or data set that cannot be read is broken, not unsupported."""

    def __init__(self, path: Path, limits: Limits | None = None) -> None:
        if not path.is_dir():
            raise UsageError(f"{path} is no folder; name a suite (assay suite list) or a folder of models")
        self._path = path.absolute()
        self._limits = limits or Limits()
        self.name = path.resolve().name
        self.about = f"the models below {path}"
        # Another folder may have the same name.
        self.counted_as = str(path.resolve())

    def cases(self, *, seed: int) -> Iterator[Case]:
        """From the cache, which is filled again when any file below the folder changed. Reading a model and its data is held
        to the limits of a job; what broke them is tried again by the next run."""
        places = self._places()
        index = cache_folder("folder", self._state()) / INDEX
        indexed, broken = _named(index), dict[str, str]()
        if places.keys() - indexed:
            with alone(index.parent):
                indexed = _named(index)
                read = dict(self._read({name: places[name] for name in places if name not in indexed}, index.parent))
                write_index(index, [*indexed.values(), *(case for case in read.values() if isinstance(case, Case))])
                indexed = _named(index)
                broken = {place: why for place, why in read.items() if isinstance(why, str)}
        indexed |= {place: unreadable_case(self._name(place), places[place], why) for place, why in broken.items()}
        for place in places:
            case = indexed[place]
            yield msgspec.structs.replace(case, inputs=msgspec.structs.replace(case.inputs, seed=seed))

    def make(self, cases: Sequence[Case], *, workers: int) -> Iterator[tuple[Case, str]]:  # noqa: ARG002
        """What could not be read is told: a broken data set must not vanish."""
        for case in cases:
            why = "" if case.model.digest else case.model.name
            yield case, why

    def _places(self) -> dict[str, Path]:
        """The models by what their cases are called, after the name of the suite."""
        paths = sorted(path for suffix in SUFFIXES for path in self._path.rglob(f"*{suffix}"))
        beside = Counter(path.parent for path in paths)
        folders: dict[str, Path] = {}
        for path in paths:
            named_by_folder = beside[path.parent] == 1 and path.parent != self._path
            # A program beside its ONNX file keeps its suffix: they are two models.
            kept = path.parent if named_by_folder else path if companion_file(path) else path.with_suffix("")
            place = kept.relative_to(self._path).as_posix().replace("|", "_")
            if place in folders:
                raise UsageError(f"{folders[place]} and {path} would be one case, '{place}'; rename one of them")
            folders[place] = path
        return folders

    def _name(self, place: str) -> str:
        return f"{self.name}/{place}"

    def _read(self, places: Mapping[str, Path], folder: Path) -> Iterator[tuple[str, Case | str]]:
        """The case of each, or how the process ended that read it: models and data are untrusted, behind a wall. Those
        after it are read by another process. Raises HarnessError where none comes up."""
        waiting = list(places)
        while waiting:
            requests = [msgspec.json.encode((self._name(name), name, str(places[name]))) for name in waiting]
            done = run_in_subprocess(
                MAKER, str(folder), str(math.ceil(self._limits.timeout_s)),
                input_bytes=b"\n".join(requests), memory_bytes=self._limits.memory_bytes,
            )  # fmt: skip
            up, *answers = done.stdout.splitlines() or [b""]
            if up != UP:
                ended = describe_exit(done, Limits(timeout_s=IMPORT_LIMIT_S))
                raise HarnessError(f"the models below {self._path} could not be read: {ended}")
            for answer in answers:
                yield waiting.pop(0), msgspec.msgpack.decode(bytes.fromhex(answer.decode()), type=Case)
            if waiting:
                why = f"{places[waiting[0]]} and its data cannot be read: {describe_exit(done, self._limits)}"
                yield waiting.pop(0), why

    def _state(self) -> str:
        files = sorted(path for path in self._path.rglob("*") if path.is_file())
        states = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
        return value_digest((code_digest(MAKER), self.name, states))[:32]


def companion_file(path: Path) -> bool:
    """Whether it is a program beside the ONNX file of that name, whose golden may lie there."""
    return is_program(path) and path.with_suffix(SUFFIXES[0]).exists()


def unreadable_case(name: str, path: Path, why: str) -> Case:
    """A case that only says why it is none: its model has no digest."""
    return Case(name, Model(" ".join(why.split())[:500], str(path), ""))


def _named(index: Path) -> dict[str, Case]:
    return {case.name.partition("/")[2]: case for case in read_index(index) or ()}
