"""A session of ONNX Runtime on the CPU: its options, its failures in the harness's words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from assay.backends.errors import onnxruntime_failure
from assay.core.flow import Option

PROVIDER = "CPUExecutionProvider"
LEVELS = {
    "disable": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}


def session_options(level: str, threads: int, options: Mapping[str, Option]) -> Any:
    """`level` is a key of LEVELS."""
    import onnxruntime

    made = onnxruntime.SessionOptions()
    made.intra_op_num_threads = threads
    made.inter_op_num_threads = 1
    made.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, LEVELS[level])
    if options["int8_sums"] == "exact":
        made.add_session_config_entry("session.x64quantprecision", "1")
    if options["prepacking"] is False:
        made.add_session_config_entry("session.disable_prepacking", "1")
    if disabled := str(options["disabled_optimizers"]):
        made.add_session_config_entry("optimization.disable_specified_optimizers", disabled)
    return made


def session(path: Path, options: Any) -> Any:
    """Raises what `onnxruntime_failure` makes of the library's words."""
    import onnxruntime

    try:
        return onnxruntime.InferenceSession(str(path), options, providers=[PROVIDER])
    except errors() as error:
        _remove_profile(options)
        raise onnxruntime_failure(str(error)) from error


def _remove_profile(options: Any) -> None:
    """That of a session which was refused: its file is opened before the model is read, and has no name that the library tells."""
    if options.enable_profiling:
        prefix = Path(options.profile_file_prefix)
        for file in prefix.parent.glob(f"{prefix.name}_*"):
            file.unlink(missing_ok=True)


@cache
def errors() -> tuple[type[Exception], ...]:
    """The library's exceptions share no ancestor but Exception (1.31.1)."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    members = (getattr(state, name) for name in dir(state))
    return tuple(member for member in members if isinstance(member, type) and issubclass(member, Exception))
