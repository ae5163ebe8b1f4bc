"""Sessions of ONNX Runtime with QNN: compiling, opening a context, running, and the proof of where each node ran."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

import msgspec

from assay.backends.check_inputs import check_inputs, other_sizes
from assay.backends.errors import onnxruntime_failure
from assay.backends.onnx_loader import Signature
from assay.backends.onnxruntime.profile import placements_of
from assay.backends.onnxruntime.tensors import from_ort_value, to_ort_value
from assay.backends.placements import coarsest
from assay.core.engine_info import EngineInfo, Placement
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import InvalidModel, Lowering, Unavailable, Undelegated, WrongInput
from assay.ports import Tensor, Tensors

CPU = "CPUExecutionProvider"
_NAME = "QNN"
_CONTEXT = "model.onnx"
_BUILT = "built.json"
_FORBIDDEN = "fallback to CPU EP has been explicitly disabled"
_LIBRARY = "Unable to load backend"
_LIBRARIES = {"htp": "libQnnHtp.so", "cpu": "libQnnCpu.so", "gpu": "libQnnGpu.so"}


class Settings(msgspec.Struct, frozen=True):
    """See `OnnxRuntimeQnn.options`."""

    backend_type: str
    cpu_fallback: bool
    threads: int


class Assigned(msgspec.Struct, frozen=True):
    """Where one operator of the graph went when it was compiled."""

    operator: str
    node: str
    provider: str


class Built(msgspec.Struct, frozen=True):
    """What a context does not hold."""

    signature: Signature
    sizes: dict[str, int]
    assigned: tuple[Assigned, ...]


def register() -> None:
    """Once for a process: onnxruntime refuses a second time."""
    import onnxruntime
    import onnxruntime_qnn

    if not _devices(onnxruntime):
        onnxruntime.register_execution_provider_library(_NAME, onnxruntime_qnn.get_library_path())


def compiled(model: Path, signature: Signature, settings: Settings, sizes: dict[str, int]) -> QnnEngine:
    """See `OnnxRuntimeQnn.lower`."""
    folder = Path(tempfile.mkdtemp(prefix="assay-qnn-"))
    context = folder / _CONTEXT
    entries = {"ep.context_enable": "1", "ep.context_file_path": str(context), "ep.context_embed_mode": "1"}
    try:
        session = _session(model, settings, {**entries, "session.record_ep_graph_assignment_info": "1"}, sizes)
    except Undelegated as error:
        raise _why_not(model, settings, sizes) or error from error
    if not context.is_file():
        # QNN took nothing, which is only possible where the CPU may do it all: the file itself is what would be deployed.
        shutil.copyfile(model, context)
    return QnnEngine(session, folder, Built(signature, sizes, _assigned(session)), settings)


def opened(folder: Path, settings: Settings) -> QnnEngine:
    """See `OnnxRuntimeQnn.load`."""
    try:
        built = msgspec.json.decode((folder / _BUILT).read_bytes(), type=Built)
    except (OSError, msgspec.MsgspecError) as error:
        raise InvalidModel(noted(BackendCode.ENGINE_NOT_READ, file=_BUILT, error=str(error))) from error
    own = Path(tempfile.mkdtemp(prefix="assay-qnn-"))
    shutil.copyfile(folder / _CONTEXT, own / _CONTEXT)
    session = _session(folder / _CONTEXT, settings, {}, built.sizes)
    return QnnEngine(session, own, built, settings)


class QnnEngine:
    """One session, for fixed shapes."""

    def __init__(self, session: Any, folder: Path, built: Built, settings: Settings) -> None:
        self._session, self._folder, self._built, self._settings = session, folder, built, settings
        self._outputs = [output.name for output in session.get_outputs()]
        self._last: Tensors = {}
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        """Raises Unsupported for a size that the model takes and the context was not compiled for."""
        self._check(tensors)
        self._last = tensors
        return dict(zip(self._outputs, _run(self._session, tensors), strict=True))

    def save(self, folder: Path) -> None:
        """The context as ONNX Runtime reads it, and what it does not hold."""
        shutil.copyfile(self._folder / _CONTEXT, folder / _CONTEXT)
        (folder / _BUILT).write_bytes(msgspec.json.encode(self._built))

    def facts(self) -> EngineInfo:
        """Before a run, where the compiler put each operator; after it, what the profile of a run proves."""
        import onnxruntime
        import onnxruntime_qnn

        placements = self._profile() if self._last else ()
        proven = {placement.device for placement in placements}
        left = tuple(
            placement.operator for placement in placements for _ in range(placement.count) if placement.device == CPU
        )
        taken = sum(assigned.provider == _NAME for assigned in self._built.assigned)
        planned = tuple(sorted(assigned.operator for assigned in self._built.assigned if assigned.provider != _NAME))
        return EngineInfo(
            backend_version=str(onnxruntime_qnn.build_and_package_info.__version__),
            precision=coarsest(placements),
            placements=placements,
            undelegated=left if placements else planned,
            delegated=taken if not placements or _NAME in proven else 0,
            options={
                **{name: str(value) for name, value in msgspec.structs.asdict(self._settings).items()},
                **{f"size.{name}": str(size) for name, size in self._built.sizes.items()},
                "onnxruntime": onnxruntime.__version__,
                "taken by QNN": ", ".join(
                    sorted(assigned.operator for assigned in self._built.assigned if assigned.provider == _NAME)
                ),
            },
        )

    def _check(self, tensors: Tensors) -> None:
        try:
            check_inputs(tensors, self._built.signature.inputs)
        except WrongInput as error:
            symbolic = any(
                tensors[spec.name].ndim == len(spec.shape)
                for spec in self._built.signature.inputs
                if spec.name in tensors
            )
            if self._built.sizes and symbolic:
                raise other_sizes(error, self._built.sizes) from error
            raise

    def _profile(self) -> tuple[Placement, ...]:
        """Of one run in a session of its own: what `get_providers` lists proves nothing."""
        with tempfile.TemporaryDirectory(prefix="assay-profile-") as folder:
            context = self._folder / _CONTEXT
            session = _session(context, self._settings, {}, self._built.sizes, profile=Path(folder) / "profile")
            _run(session, self._last)
            return placements_of(Path(session.end_profiling()).read_bytes())


def _session(
    model: Path, settings: Settings, entries: dict[str, str], sizes: dict[str, int], *, profile: Path | None = None
) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = settings.threads
    options.inter_op_num_threads = 1
    if profile is not None:
        options.enable_profiling = True
        options.profile_file_prefix = str(profile)
    forbidden = {} if settings.cpu_fallback else {"session.disable_cpu_ep_fallback": "1"}
    for key, value in {**entries, **forbidden}.items():
        options.add_session_config_entry(key, value)
    for name, size in sizes.items():
        options.add_free_dimension_override_by_name(name, size)
    options.add_provider_for_devices(_devices(onnxruntime)[:1], {"backend_type": settings.backend_type})
    try:
        return onnxruntime.InferenceSession(str(model), options)
    except _errors() as error:
        if _FORBIDDEN in str(error):
            raise Undelegated(noted(BackendCode.LEFT_TO_THE_CPU, library="QNN")) from error
        if _LIBRARY in str(error):
            raise _no_library(settings) from error
        raise onnxruntime_failure(str(error)) from error


def _why_not(model: Path, settings: Settings, sizes: dict[str, int]) -> Lowering | None:
    """The same once more with the CPU allowed, to learn which operators it would get; nothing is run."""
    import onnxruntime_qnn

    if settings.backend_type != "htp" and not _library(onnxruntime_qnn, settings).is_file():
        return _no_library(settings)
    allowed = msgspec.structs.replace(settings, cpu_fallback=True)
    session = _session(model, allowed, {"session.record_ep_graph_assignment_info": "1"}, sizes)
    everything = _assigned(session)
    left = [assigned for assigned in everything if assigned.provider != _NAME]
    if not left:
        return None
    first = left[0]
    note = noted(
        BackendCode.OPERATORS_LEFT_TO_THE_CPU,
        library="QNN",
        left=len(left),
        operators=len(everything),
        names=tuple(dict.fromkeys(assigned.operator for assigned in left)),
        first=first.node or first.operator,
    )
    return Undelegated(note, node=first.node)


def _assigned(session: Any) -> tuple[Assigned, ...]:
    groups = session.get_provider_graph_assignment_info()
    return tuple(Assigned(node.op_type, node.name, group.ep_name) for group in groups for node in group.get_nodes())


def _no_library(settings: Settings) -> Unavailable:
    kind = settings.backend_type
    return Unavailable(noted(BackendCode.NO_QNN_LIBRARY, file=_LIBRARIES[kind], kind=kind))


def _library(package: Any, settings: Settings) -> Path:
    return Path(package.LIB_DIR_FULL_PATH) / _LIBRARIES[settings.backend_type]


def _devices(onnxruntime: Any) -> list[Any]:
    return [device for device in onnxruntime.get_ep_devices() if device.ep_name == _NAME]


def _run(session: Any, tensors: Tensors) -> list[Tensor]:
    feeds = {name: to_ort_value(array) for name, array in tensors.items()}
    try:
        return [from_ort_value(value) for value in session.run_with_ort_values(None, feeds)]
    except _errors() as error:
        raise onnxruntime_failure(str(error)) from error


def _errors() -> tuple[type[Exception], ...]:
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    members = (getattr(state, name) for name in dir(state))
    # A provider that cannot be created is a plain RuntimeError (1.31.1).
    return RuntimeError, *(member for member in members if isinstance(member, type) and issubclass(member, Exception))
