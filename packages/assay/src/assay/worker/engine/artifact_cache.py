"""Which artifact, or refusal to lower, of an earlier job may stand for lowering again: the key names whatever decides it."""

from __future__ import annotations

import os
import platform
import re
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NoReturn

import msgspec

from assay import plugins
from assay.core.digest import sha256_bytes, value_digest
from assay.core.engine_info import EngineInfo
from assay.core.job_base import EngineJob, RefusalCache
from assay.core.note import Note, NoteCode, NoteWarning, noted
from assay.core.outcome import Stage
from assay.errors import Lowering, Undelegated, Unsupported
from assay.models.artifacts import Artifacts, CachedArtifact, CachedFailure, artifacts_folder
from assay.models.code_digest import rooms_digest
from assay.models.companion_goldens import lock_of_companion
from assay.models.conversion import format_of
from assay.models.files import file_digest
from assay.models.golden_checks import LOCK
from assay.models.out_of_memory import out_of_memory
from assay.ports import Backend
from assay.worker.engine.capture_warnings import Said
from assay.worker.engine.model_format import model_path
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.stages import Stages

OWN_CODE = (
    "backends",
    "transforms",
    "models",
    "worker/engine",
)
"""What of this package takes part in lowering."""
VARIABLES = (
    "ASSAY_", "ATEN_", "CC", "CFLAGS", "CPATH", "CXX", "CXXFLAGS", "DNNL_", "GOMP_", "IREE_", "KMP_", "LDFLAGS", "LD_", "LLVM_", "MKL_",
    "OMP_", "ONEDNN_", "OPENBLAS_", "OPENVINO_", "ORT_", "OV_", "PYTHONPATH", "PYTORCH_", "TORCH", "TVM_",
    "XNNPACK_",
)  # fmt: skip
"""How the names of variables begin that compilers and their libraries read."""
SLOW_S = 2.0
"""A refusal that took less is had again as fast: only runs over suites keep it."""
_KEPT = {kind.__name__: kind for kind in (Unsupported, Undelegated, Lowering)}
"""Errors of building that the next job would meet again. What is no valid model, or lacks a library, may be fixed outside."""
_BUILDING = (Stage.TRANSFORM, Stage.LOWER)
_PASSING = re.compile(
    r"\bSIG[A-Z]{3,}|\bsignal \d+|segmentation fault|core dumped|timed? ?out|time limit|no space left|temporarily unavailable",
    re.IGNORECASE,
)
"""Words of a compiler that crashed, was killed, or lacked time, room or threads: the next time it may do better."""
_FOLDERS = ("ASSAY_CACHE", "TORCHINDUCTOR_CACHE_DIR", "TVM_CACHE_DIR")
"""Say where, not how."""


def look_up(job: EngineJob, backend: Backend) -> tuple[str, CachedArtifact | None]:
    """The key of what this job lowers, and the entry if there is one that it may use. "" where nothing may be reused: a job that was
    not asked to, a device whose artifacts are made for one piece of hardware, a model that is code."""
    environment_key()
    source = model_path(job, backend.accepts)
    may_reuse = job.reuse or job.refusals is not RefusalCache.UNUSED
    if not may_reuse or job.flow.device != "cpu" or format_of(source) == "factory":
        return "", None
    key = _key(job, backend, source)
    kept = _cache().find(key)
    if not job.reuse and kept is not None:
        if kept.refusal is None:
            return key, None
        if job.refusals is RefusalCache.RENEWED:
            evict(key)
            return key, None
    if kept is not None:
        for note in kept.notes:
            warnings.warn(NoteWarning(note), stacklevel=2)
    return key, kept


def reusable(kept: CachedArtifact) -> tuple[Path, TransformedModel, EngineInfo]:
    """The folder to load from, what the transforms had done, and the facts, which name the entry."""
    known = _cache()
    rewritten = TransformedModel(
        Path(), kept.facts.transforms, known.standard(kept), kept.changed, dict(kept.takes), dict(kept.gives)
    )
    return known.files(kept), rewritten, msgspec.structs.replace(kept.facts, reused=kept.key)


def store(key: str, job: EngineJob, folder: Path, rewritten: TransformedModel, facts: EngineInfo, warned: Said) -> None:
    """For the next job that asks the same; of a job that loads no artifacts none are kept."""
    if not job.reuse:
        return
    kept = CachedArtifact(
        key,
        job.case.name,
        job.flow.name,
        facts,
        rewritten.changed,
        rewritten.takes,
        rewritten.gives,
        notes=tuple(warned.notes),
        native_warnings=warned.native,
    )
    _cache().keep(kept, folder, rewritten.standard)


@contextmanager
def keep_failures(key: str, job: EngineJob, stages: Stages) -> Iterator[None]:
    """What the backend does not take is so for the next job that asks the same: it is told at once. A compiler that crashed, was
    killed, or lacked time or memory may do better."""
    begin = time.monotonic()
    try:
        yield
    except Lowering as error:
        kind = type(error).__name__
        seconds = time.monotonic() - begin
        if (
            kind not in _KEPT
            or stages.reached not in _BUILDING
            or _PASSING.search(str(error.reason))
            or out_of_memory(error)
        ):
            raise
        if not job.reuse and seconds < SLOW_S:
            raise
        cause = error.cause if isinstance(error, Unsupported) else ""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        refusal = CachedFailure(error.reason, error.node, cause, stages.reached, kind, now, seconds)
        _cache().keep(CachedArtifact(key, job.case.name, job.flow.name, stages.built, refusal=refusal), None, None)
        raise


def raise_cached_failure(key: str, kept: CachedArtifact, refusal: CachedFailure, stages: Stages) -> NoReturn:
    """Raises it again, in the stage where an earlier job met it."""
    stages.built = msgspec.structs.replace(kept.facts, reused=key)
    warnings.warn(NoteWarning(refusal_note(refusal)), stacklevel=2)
    with stages.enter(refusal.stage):
        if refusal.kind == Unsupported.__name__:
            raise Unsupported(refusal.said, node=refusal.node, cause=refusal.cause)
        raise _KEPT[refusal.kind](refusal.said, node=refusal.node)


def refusal_note(refusal: CachedFailure) -> Note:
    """That nothing was lowered, and why."""
    return noted(NoteCode.KEPT_REFUSAL, at=refusal.at, seconds=refusal.seconds)


def evict(key: str) -> None:
    """What was kept under that key does not load."""
    _cache().discard(key)


def _cache() -> Artifacts:
    return _cache_of(os.environ.get("ASSAY_CACHE"), os.environ.get("XDG_CACHE_HOME"))


@cache
def _cache_of(*_: str | None) -> Artifacts:
    # Kept as long as these variables stay: finding the folder costs as much as finding an entry.
    return Artifacts(artifacts_folder())


def _key(job: EngineJob, backend: Backend, source: Path) -> str:
    flow = msgspec.structs.replace(job.flow, name="", allowances=())
    recipe = job.case.inputs
    inputs = msgspec.structs.replace(recipe, golden=_lock(recipe.golden), given=_lock(recipe.given))
    plugs = [backend, *(plugins.load(plugins.TRANSFORMS, spec.partition(":")[0])() for spec in job.flow.transforms)]
    foreign = [_code_of(type(plug).__module__.partition(".")[0]) for plug in plugs]
    return value_digest((_content(job, source), flow, inputs, environment_key(), foreign, _files(backend, job)))


def _files(backend: Backend, job: EngineJob) -> list[str]:
    """What lies now at the paths that options name."""
    named = [str(job.flow.options.get(spec.name, spec.default)) for spec in backend.options if spec.path]
    files = [
        file
        for path in map(Path, filter(None, named))
        for file in ([path] if path.is_file() else sorted(path.glob("*")))
        if file.is_file()
    ]
    return [digest for file in files for digest in (file.name, file_digest(file))]


def _content(job: EngineJob, source: Path) -> tuple[str, ...]:
    """The file as it is now. Its name counts: conversions take names over."""
    digest = file_digest(source)
    if format_of(source) == "onnx" and digest != job.case.model.digest:
        from assay.models.onnx_file import model_digest

        digest = model_digest(source)
    return digest, source.name


def _lock(golden: str) -> str:
    """Which samples: transforms are calibrated with them, and conversions see their shapes."""
    if not golden:
        return ""
    folder = Path(golden)
    try:
        with open(f"{golden}/{LOCK}", "rb") as file:
            return sha256_bytes(file.read() + lock_of_companion(folder))
    except OSError:
        return file_digest(folder) if folder.is_file() else ""


@cache
def environment_key() -> str:
    """The digest of the interpreter, of every distribution that it finds, of the processor, of our own code, and of the
    variables that compilers read."""
    installed = sorted(
        (name, *_state(f"{folder}/{name}/RECORD", f"{folder}/{name}"))
        for folder in dict.fromkeys(path or "." for path in sys.path)
        if os.path.isdir(folder)
        for name in os.listdir(folder)
        if name.endswith((".dist-info", ".egg-info"))
    )
    variables = {
        name: value for name, value in os.environ.items() if name.startswith(VARIABLES) and name not in _FOLDERS
    }
    return value_digest((sys.version, platform.machine(), _processor(), installed, variables, rooms_digest(*OWN_CODE)))


def _processor() -> str:
    """Its name and what it can do: compilers make code for it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    keys = ("model name", "flags", "Features", "CPU part")
    return sha256_bytes("\n".join(sorted({line for line in lines if line.startswith(keys)})).encode())


def _state(*paths: str) -> tuple[int, int]:
    """Size and time of the first that is there: a build of the same version that was installed over another has others."""
    for path in paths:
        with suppress(OSError):
            status = os.stat(path)
            return status.st_size, status.st_mtime_ns
    return 0, 0


@cache
def _code_of(package: str) -> list[tuple[str, int, int]]:
    """Of a backend or transform that is not ours: every file of its package, whose author may be at work on it."""
    module = sys.modules.get(package)
    if module is None or package == "assay":
        return []
    folders = [str(path) for path in getattr(module, "__path__", ())]
    files = [str(path) for folder in folders for path in Path(folder).rglob("*") if "__pycache__" not in path.parts]
    return [(path, *_state(path)) for path in sorted(files) or [str(getattr(module, "__file__", ""))]]
