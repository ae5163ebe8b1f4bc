"""A session of ONNX Runtime on the CPU: run, timed, saved, and what its profile says of it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from assay.backends.cpu_features import sums_saturate
from assay.backends.errors import onnxruntime_failure
from assay.backends.onnxruntime.profile import end_profile, ignoring_errors, placements_of, profile, times_of
from assay.backends.onnxruntime.saving import ARTIFACT, give_back, keep_optimized, make_loadable
from assay.backends.onnxruntime.session import PROVIDER, errors, session, session_options
from assay.backends.onnxruntime.tensors import EXTENSION, PLAIN, from_ort_value, nests, to_ort_value
from assay.backends.placements import coarsest
from assay.core.engine_info import EngineInfo, NumericDefault, Placement
from assay.core.flow import Option
from assay.core.measurement import OperatorTime
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Unsupported
from assay.models.flatten import flatten, gather
from assay.ports import Tensor, Tensors

PROFILED_CALLS, PROFILE_S = 20, 0.5
"""What a profile of operators takes at most; two calls at least."""


class OnnxRuntimeEngine:
    """One session. `run` raises what `onnxruntime_failure` makes of the library's words. `profiled`: the first run is, and
    no other, so that `facts` needs no session of its own. `kept` is a folder for the optimized graph until it is saved:
    creating a session twice costs more than all else that happens to a small model."""

    def __init__(
        self,
        path: Path,
        options: dict[str, Option],
        threads: int,
        level: str,
        *,
        profiled: bool = False,
        kept: Path | None = None,
    ) -> None:
        self._path, self._options, self._threads, self._level = path, options, threads, level
        chosen = session_options(level, threads, options)
        self._kept = kept
        if kept:
            keep_optimized(chosen, kept)
        self._profiling, self._events = profiled, b""
        if profiled:
            profile(chosen)
        self._session = session(path, chosen)
        self._types = {node_arg.name: node_arg.type for node_arg in self._session.get_inputs()}
        self._outputs = [output.name for output in self._session.get_outputs()]
        types = [*self._types.values(), *(output.type for output in self._session.get_outputs())]
        unknown = [kind for kind in types if not any(kind in known for known in (PLAIN, EXTENSION)) and not nests(kind)]
        if unknown:
            raise Unsupported(
                noted(BackendCode.TYPE_NOT_PASSED, tensor=path.name, dtype=unknown[0], library="onnxruntime")
            )
        self._plain = all(kind in PLAIN for kind in types)
        self._nested = any(nests(kind) for kind in types)
        self._last: Tensors = {}

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        """Text comes back as object arrays, as ONNX Runtime gives it. An output that it gives nothing for is not among them: 1.15 folds
        what has no elements to nothing."""
        self._last = tensors
        if self._nested:
            outputs = self._run_nested(self._session, tensors)
            if self._profiling:
                self._profiling, self._events = False, end_profile(self._session)
            return outputs
        values = _run(self._session, tensors, plain=self._plain)
        if self._profiling:
            self._profiling, self._events = False, end_profile(self._session)
        return {name: value for name, value in zip(self._outputs, values, strict=True) if value is not None}

    def bind(self, tensors: Tensors) -> Callable[[], object]:
        """By ONNX Runtime's I/O binding: inputs stay where they are, outputs in memory that it holds."""
        answers = self.run(tensors)  # says what is wrong with the inputs
        text = any(array.dtype == object for array in tensors.values())
        if text or not self._plain or any(not self._fits(name, array) for name, array in answers.items()):
            return lambda: self.run(tensors)
        binding = self._session.io_binding()
        for name, array in tensors.items():
            binding.bind_cpu_input(name, array)
        for name in self._outputs:
            binding.bind_output(name)
        run = self._session.run_with_iobinding
        return lambda: run(binding)

    def _fits(self, name: str, array: Tensor) -> bool:
        """Whether the answer has the shape that the model declares. Memory bound to an output has that shape: where the nodes
        give another, `run` warns and a bound run fails (1.31)."""
        declared = next(output.shape for output in self._session.get_outputs() if output.name == name)
        sizes = zip(declared, array.shape, strict=False)
        return len(declared) == array.ndim and all(due == size for due, size in sizes if isinstance(due, int))

    def _run_nested(self, session: Any, tensors: Tensors) -> dict[str, Tensor]:
        """Sequences, optionals and maps, by the names of `assay.models.flatten`."""
        try:
            feeds = {name: gather(name, tensors) for name in self._types}
            values = session.run(None, feeds)
        except errors() as error:
            raise onnxruntime_failure(str(error)) from error
        flat: dict[str, Tensor] = {}
        for name, value in zip(self._outputs, values, strict=True):
            flat |= flatten(name, value)
        return flat

    def __del__(self) -> None:
        if getattr(self, "_profiling", False) and hasattr(self, "_session"):
            end_profile(self._session)  # never run: its file must not stay
        if kept := getattr(self, "_kept", None):
            give_back(kept)

    def save(self, folder: Path) -> None:
        """The optimized graph as ONNX, its weights beside it; the model itself where ONNX Runtime could not load that."""
        if self._kept and (self._kept / ARTIFACT).exists():
            for file in self._kept.iterdir():
                shutil.move(file, folder / file.name)
        else:
            options = self._session_options(None)
            keep_optimized(options, folder)
            # Above "extended" it warns that the file is for this kind of processor: facts() says so instead.
            options.log_severity_level = 3
            session(self._path, options)
        make_loadable(folder, self._path, self._session_options)

    def _session_options(self, level: str | None) -> Any:
        return session_options(level or self._level, self._threads, self._options)

    def facts(self) -> EngineInfo:
        """Placements come from the profile of one run: the list of providers proves nothing."""
        import onnxruntime

        placements = self._profile() if self._last else ()
        options = {name: str(value) for name, value in self._options.items()}
        if self._options["optimization"] == "all":
            options["artifact"] = "optimized for this kind of processor"
        return EngineInfo(
            backend_version=onnxruntime.__version__,
            precision=coarsest(placements),
            placements=placements,
            undelegated=tuple(
                sorted(
                    placement.operator
                    for placement in placements
                    for _ in range(placement.count)
                    if placement.device != PROVIDER
                )
            ),
            options=options,
            numeric_defaults=self._numeric_defaults(placements),
        )

    def _numeric_defaults(self, placements: Sequence[Placement]) -> tuple[NumericDefault, ...]:
        """Its other settings that change numbers (approximate Gelu, denormals as zero, products in bfloat16 on ARM) are off unless
        a session asks for them, which none of ours does."""
        whole = any(placement.precision in ("int8", "uint8") and placement.role != "cast" for placement in placements)
        if self._options["int8_sums"] != "fast" or not whole or not sums_saturate():
            return ()
        return (NumericDefault("session.x64quantprecision", "0", "saturating-sums", "int8_sums", "exact"),)

    def operator_times(self, tensors: Tensors) -> tuple[OperatorTime, ...]:
        """From the profile of some calls, in a session of their own: profiling costs time."""
        return times_of(self._profiled(tensors))

    def trace(self, tensors: Tensors, folder: Path) -> None:
        """ONNX Runtime's own profile is in Chrome's trace format already."""
        (folder / "onnxruntime.json").write_bytes(self._profiled(tensors))

    def _profiled(self, tensors: Tensors) -> bytes:
        options = self._session_options(None)
        profile(options)
        timed = session(self._path, options)
        end = time.perf_counter() + PROFILE_S
        for call in range(PROFILED_CALLS):
            if self._nested:
                self._run_nested(timed, tensors)
            else:
                _run(timed, tensors, plain=self._plain)
            if call and time.perf_counter() > end:
                break
        return end_profile(timed)

    def _profile(self) -> tuple[Placement, ...]:
        if not self._events:
            options = self._session_options(None)
            profile(options)
            timed = session(self._path, options)
            if self._nested:
                self._run_nested(timed, self._last)
            else:
                _run(timed, self._last, plain=self._plain)
            self._events = end_profile(timed)
        return placements_of(self._events, ignoring_errors(self._path) if self._level == "disable" else ())


def _run(session: Any, tensors: Tensors, *, plain: bool) -> list[Tensor]:
    try:
        if plain:
            values: list[Tensor] = session.run(None, dict(tensors))
            return values
        feeds = {name: to_ort_value(array) for name, array in tensors.items()}
        return [from_ort_value(value) for value in session.run_with_ort_values(None, feeds)]
    except errors() as error:
        raise onnxruntime_failure(str(error)) from error
