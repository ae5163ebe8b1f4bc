"""trtexec as a backend: for machines that have the vendor's archive and no Python package."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

from assay.backends.artifact import read_record
from assay.backends.check_artifact import check_artifact
from assay.backends.flow_options import resolve_options
from assay.backends.onnx_loader import load_checked, refuse_types, signature_of
from assay.backends.tensorrt.availability import device_missing
from assay.backends.tensorrt.backend import OPTIONS, TYPES, flows, settings_of
from assay.backends.tensorrt.engine_build import format_sizes, require_sizes
from assay.backends.tensorrt.log_lines import parse_log, remarks
from assay.backends.tensorrt.precision import carried_by, require_quantized, require_types
from assay.backends.tensorrt.trtexec import build_command
from assay.backends.tensorrt.trtexec_engine import DECLARED, LAYERS, PLAN, Declared, TrtexecEngine
from assay.backends.tensorrt.trtexec_program import NAME, find, run
from assay.backends.tensorrt.warnings import PREFIX, read_warnings
from assay.core.flow import Flow, sizes_to_build
from assay.core.native_warning import NativeWarning
from assay.core.note import noted
from assay.core.refusals.availability_codes import AvailabilityCode
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import InvalidModel, Lowering, Unavailable
from assay.ports import Availability, NativeText


class Trtexec:
    """Conformance: `assay.testing.check_backend`, on a machine with a GPU. Precisions mean what they mean to `tensorrt`."""

    name = NAME
    library = "tensorrt"
    accepts = "onnx"
    dynamic = True
    needs_sizes = True
    options = OPTIONS
    flows = flows(NAME)

    def availability(self) -> Availability:
        """The program is asked for its version, the driver for a device, both in processes of their own."""
        try:
            program = find()
        except Unavailable as error:
            return Availability(available=False, reason=error.reason)
        missing = device_missing()
        reason = "" if missing is None else noted(AvailabilityCode.NO_CUDA_DEVICE, driver=missing)
        return Availability(missing is None, program.version_text, reason)

    def read_warnings(self, text: str) -> tuple[NativeWarning, ...]:
        """Those of trtexec."""
        return read_warnings(text)

    def prepare(self) -> None:
        """Raises Unavailable where it is not on PATH. Nothing is imported."""
        find()

    def lower(self, model: Path, flow: Flow) -> TrtexecEngine:
        """Built by trtexec on this machine's GPU. Raises what the words of its log make of a failure."""
        settings = settings_of(resolve_options(self.options, flow), flow)
        proto = load_checked(model)
        signature = signature_of(proto)
        dims = sizes_to_build(flow, signature.inputs)
        refuse_types(signature, TYPES, NAME)
        require_sizes(signature.inputs, dims)
        program = find()
        if settings.strongly_typed or program.version[0] >= 11:
            require_types(carried_by(proto), settings.precision, program.version_text)
        else:
            require_quantized(carried_by(proto), settings.precision)
        folder = Path(tempfile.mkdtemp(prefix="trtexec-"))
        plan = folder / PLAN
        command = build_command(
            program.path, model.absolute(), plan, signature.inputs, settings, dims, program.version[0]
        )
        for text in remarks(parse_log(run(command, folder, "building"))):
            warnings.warn(NativeText(f"{PREFIX}{text}"), stacklevel=1)
        for file in (PLAN, LAYERS):
            if not (folder / file).is_file():
                raise Lowering(noted(BackendCode.TOOL_WROTE_NO, tool="trtexec", file=str(file)))
        return TrtexecEngine(program, folder, Declared(signature, settings, program.version, sizes=format_sizes(dims)))

    def load(self, folder: Path, flow: Flow) -> TrtexecEngine:
        """Raises InvalidModel for a plan that was cut, or built by another version: trtexec would say it at the first call."""
        settings_of(resolve_options(self.options, flow), flow)
        declared = read_record(folder / DECLARED, Declared)
        check_artifact(folder / PLAN, declared.digest)
        program = find()
        if program.version != declared.version and not declared.settings.version_compatible:
            built = ".".join(map(str, declared.version))
            raise InvalidModel(
                noted(BackendCode.BUILT_BY_ANOTHER, tool="trtexec", built=built, version=program.version_text)
            )
        return TrtexecEngine(program, folder, declared)
