"""A folder of models with data beside them: the layout of onnx and of the model zoo, or our goldens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from assay.core.case import Case
from assay.core.digest import value_digest
from assay.core.result import Outcome
from assay.errors import UsageError
from assay.suites.apart import make_apart
from assay.suites.cache import INDEX, cache_folder, read_index
from assay.suites.code import code_digest

MAKER = "assay.suites.folder_make"


class Folder:
    """Every `*.onnx` and `*.pt2` below `path`: a case for each, named by its place; `path` is what a user names in `assay run`.

    Its data are `test_data_set_N/{input,output}_K.pb` beside it, or a golden folder (`golden.lock`) beside it or in
    `golden/`. A model without any data is run on seeded inputs against the float64 reference. The model of a folder
    with one model (`resnet/model.onnx`) is named by the folder.
    """

    unmade = Outcome.ERROR
    """A model or data set that cannot be read is broken, not unsupported."""

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise UsageError(f"{path} is no folder; name a suite (assay suite list) or a folder of models")
        self._path = path.absolute()
        self.name = path.resolve().name
        self.about = f"the models below {path}"
        # Another folder may have the same name.
        self.counted_as = str(path.resolve())

    def cases(self, *, seed: int) -> Iterator[Case]:
        """From the cache, which is filled anew when any file below the folder changed."""
        index = cache_folder("folder", self._state()) / INDEX
        found = read_index(index)
        if found is None:
            # Behind a wall: models and data are a stranger's.
            what = f"the models below {self._path} could not be read"
            make_apart(index, MAKER, what, str(self._path), self.name, str(index))
            found = read_index(index)
        for case in found or ():
            yield msgspec.structs.replace(case, inputs=msgspec.structs.replace(case.inputs, seed=seed))

    def make(self, cases: Sequence[Case], *, workers: int) -> Iterator[tuple[Case, str]]:  # noqa: ARG002
        """What could not be read is told: a broken data set must not vanish."""
        for case in cases:
            why = "" if case.model.digest else case.model.name
            yield case, why

    def _state(self) -> str:
        files = sorted(path for path in self._path.rglob("*") if path.is_file())
        told = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
        return value_digest((code_digest(MAKER), self.name, told))[:32]
