"""What is kept of a session: the optimized graph, or the model itself where ONNX Runtime cannot read what it writes.

ONNX Runtime 1.31.1 writes graphs that it refuses to load: with weights in a file of their own a constant in a branch inside a
branch comes out twice (docs/findings/onnxruntime-saved-constant-of-a-branch.py and -saved-loop-cannot-be-loaded.py). A session on
the model itself works, so the model is not at fault.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from assay.backends.onnxruntime.session import session
from assay.core.note import Note, NoteCode, NoteWarning, noted
from assay.errors import AssayError

ARTIFACT = "model.onnx"
_WEIGHTS = "model.onnx.data"
_AS_GIVEN = "optimized-when-loaded"
"""A file of this name says that the artifact is the model itself."""
_KEPT = "kept-optimized-"
_SILENT = 4


def keep_optimized(options: Any, folder: Path, *, weights_apart: bool = True) -> None:
    """A session with these options writes its optimized graph into the folder; a single file ends at protobuf's 2 GiB."""
    options.optimized_model_filepath = str(folder / ARTIFACT)
    if weights_apart:
        options.add_session_config_entry("session.optimized_model_external_initializers_file_name", _WEIGHTS)
        options.add_session_config_entry("session.optimized_model_external_initializers_min_size_in_bytes", "1024")


def loading_level(folder: Path, level: str) -> str:
    """A saved graph is run as saved: optimizing it again would make another engine."""
    return level if (folder / _AS_GIVEN).exists() else "disable"


def make_loadable(folder: Path, model: Path, options: Callable[[str | None], Any]) -> None:
    """The optimized graph in `folder` stays where ONNX Runtime can load it. Otherwise it is written again as a single file, and
    where that does not help either the model itself takes its place, with a warning. `options` gives session options of a
    level, or of the engine's own where that is None."""
    if _loads(folder, options) is None:
        return
    _clear(folder)
    single = options(None)
    keep_optimized(single, folder, weights_apart=False)
    single.log_severity_level = _SILENT
    try:
        session(model, single)
        why = _loads(folder, options)
    except AssayError as error:
        why = error.reason
    except MemoryError as error:
        why = str(error)
    if why is None:
        return
    _clear(folder)
    _copy(model, folder)
    import onnxruntime

    unloadable = noted(
        NoteCode.OPTIMIZED_NOT_LOADABLE,
        version=onnxruntime.__version__,
        error=why[:200] if isinstance(why, str) else why,
    )
    warnings.warn(NoteWarning(unloadable), stacklevel=2)


def _loads(folder: Path, options: Callable[[str | None], Any]) -> str | Note | None:
    """None, or why it does not load. Weights are not packed for that: it costs a part of loading."""
    trial = options("disable")
    trial.add_session_config_entry("session.disable_prepacking", "1")
    trial.log_severity_level = _SILENT
    try:
        session(folder / ARTIFACT, trial)
    except AssayError as error:
        return error.reason
    except MemoryError as error:
        return str(error)
    return None


def _clear(folder: Path) -> None:
    for name in (ARTIFACT, _WEIGHTS):
        (folder / name).unlink(missing_ok=True)


def _copy(model: Path, folder: Path) -> None:
    """The model and its external data, and the mark that says so."""
    import onnx

    from assay.models.external_data import external_files

    for location, file in external_files(onnx.load(model, load_external_data=False), model).items():
        (folder / location).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, folder / location)
    shutil.copyfile(model, folder / ARTIFACT)
    (folder / _AS_GIVEN).touch()


def free_folder() -> Path:
    """Empty: this process's own where what it held before was saved, a new one where not."""
    own = Path(tempfile.gettempdir(), f"{_KEPT}{os.getpid()}")
    if not own.exists():
        own.mkdir()
        atexit.register(
            shutil.rmtree, own, ignore_errors=True
        )  # no supervisor removes what a process leaves that has none
    return Path(tempfile.mkdtemp(prefix="assay-optimized-")) if any(own.iterdir()) else own


def give_back(folder: Path) -> None:
    """What a session left there and nobody saved. The engine may have outlived its job, whose temporary files are gone then."""
    with suppress(FileNotFoundError):
        for file in folder.iterdir():
            file.unlink()
        if not folder.name.startswith(_KEPT):
            folder.rmdir()
