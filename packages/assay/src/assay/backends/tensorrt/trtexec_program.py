"""The program itself: where it is, which version, and what it says when it is run."""

from __future__ import annotations

import functools
import re
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec

from assay.backends.tensorrt.log_lines import failure, parse_log
from assay.backends.tensorrt.trtexec import version_of
from assay.core.dtype import numpy_dtype
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Lowering, NotRunnable, Unavailable, Unsupported
from assay.ports import Tensor

NAME = "trtexec"
_HELP_S = 30
_WRITTEN = re.compile(
    r"Writing file for output binding (?P<name>.+?) \(with datatype (?P<type>\w+) and dimensions (?P<sizes>[-\d.]*)\) to (?P<file>\S+)"
)
_TYPES = {
    "fp32": "float32", "fp16": "float16", "bf16": "bfloat16", "fp8": "float8_e4m3fn", "bool": "bool", "uint8": "uint8",
    "int8": "int8", "int32": "int32", "int64": "int64",
}  # fmt: skip


class Program(msgspec.Struct, frozen=True):
    """`version` is (0, 0, 0) where it does not say."""

    path: str
    version: tuple[int, int, int]

    @property
    def version_text(self) -> str:
        """Its version, as people write it."""
        return ".".join(map(str, self.version))


@functools.cache
def find() -> Program:
    """What is first on PATH. Raises Unavailable: it is in no package of the index, only in the vendor's archives."""
    path = shutil.which(NAME)
    if path is None:
        raise Unavailable(noted(BackendCode.NO_TRTEXEC))
    try:
        done = subprocess.run([path, "--help"], capture_output=True, text=True, timeout=_HELP_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(noted(BackendCode.TOOL_NOT_RUN, tool=path, error=str(error))) from error
    version = version_of(done.stdout + done.stderr)
    if version == (0, 0, 0):
        tail = " ".join((done.stderr or done.stdout).split())[-200:]
        raise Unavailable(noted(BackendCode.TOOL_NO_VERSION, tool=path, code=done.returncode, error=tail))
    return Program(path, version)


def run(command: Sequence[str], folder: Path, doing: str) -> str:
    """What it wrote, run in that folder; the job's clock ends it. Raises what its words make of a failure, Unavailable
    where there is no device."""
    done = subprocess.run(
        list(command), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", check=False,
    )  # fmt: skip
    if done.returncode == 0:
        return done.stdout
    lines = parse_log(done.stdout)
    why = failure(lines, doing)
    if isinstance(why, NotRunnable):
        raise Unavailable(why.reason)
    if done.returncode < 0 and not any(line.severity.endswith("ERROR") for line in lines):
        why = Lowering(
            noted(BackendCode.TOOL_ENDED, tool="trtexec", step=doing, signal=signal.Signals(-done.returncode).name)
        )
    raise why


def outputs_of(printed: str, folder: Path) -> dict[str, Tensor]:
    """By name, from the files that it says it wrote. Raises Unsupported for a size or a type that the file does not tell,
    Lowering where a file is not what was said."""
    outputs: dict[str, Tensor] = {}
    for match in _WRITTEN.finditer(printed):
        name, kind = match["name"], _TYPES.get(match["type"])
        shape = tuple(int(size) for size in match["sizes"].split(".") if size)
        if kind is None or any(size < 0 for size in shape):
            raise Unsupported(noted(BackendCode.TYPE_NOT_PASSED, tensor=name, dtype=match["type"], library="trtexec"))
        outputs[name] = _read(folder / match["file"], kind, shape)
    return outputs


def _read(file: Path, kind: str, shape: tuple[int, ...]) -> Tensor:
    import numpy as np

    try:
        array: Tensor = np.frombuffer(file.read_bytes(), numpy_dtype(kind)).reshape(shape)
    except (OSError, ValueError) as error:
        raise Lowering(noted(BackendCode.ENGINE_NOT_READ, file=file.name, error=str(error))) from error
    return array
