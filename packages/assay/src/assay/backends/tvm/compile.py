"""From an ONNX model to a TVM executable."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.backends.onnx_loader import inlined, refuse_foreign
from assay.backends.tvm.errors import tvm_failure
from assay.backends.tvm.records import Records, by_records
from assay.core.flow import Flow, Option
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import UsageError

if TYPE_CHECKING:
    from onnx import ModelProto


class Compiled(NamedTuple):
    """`found` says how many kernels had a tuned record; "" where none was asked for."""

    executable: Any
    found: str


def target_of(options: dict[str, Option], flow: Flow) -> dict[str, str | int]:
    """A dictionary, never a string: tvm 0.27 refuses strings with options."""
    kind = str(options["target"])
    if kind == "cuda":
        return {"kind": kind, "arch": str(options["arch"])}
    if kind == "opencl":
        return {"kind": kind}
    level = 3 if options["optimization"] == "full" else 0
    return {"kind": kind, "mcpu": _processor(str(options["cpu"]), flow), "opt-level": level}


def _processor(name: str, flow: Flow) -> str:
    """LLVM ignores a processor that it does not know, and builds for a generic one."""
    from tvm.target import Target, codegen

    if name == "host":
        return str(codegen.llvm_get_system_cpu())
    known = [str(architecture) for architecture in codegen.llvm_get_cpu_archlist(Target({"kind": "llvm"}))]
    if name not in known:
        raise UsageError(
            noted(BackendCode.OPTION_CHOICE, flow=flow.name, option="cpu", value=repr(name), choices=tuple(known))
        )
    return name


def features_of(target: dict[str, str | int]) -> frozenset[str]:
    """What the code for this target needs of a processor, as LLVM names it; empty for a device."""
    from tvm.target import Target, codegen

    return (
        frozenset(map(str, codegen.llvm_get_cpu_features(Target(target)))) if target["kind"] == "llvm" else frozenset()
    )


def compiled(
    proto: ModelProto,
    target: dict[str, str | int],
    *,
    optimize: bool,
    dlight: bool = False,
    records: Records | None = None,
    disabled: Sequence[str] = (),
    instruments: Sequence[Any] = (),
) -> Compiled:
    """`disabled` are passes by name; TVM ignores one that it does not know. `dlight`: the rules for a CPU schedule what they are for, and
    the rest keeps the schedule that it has. `records` come first.

    Raises UsageError for records of which none fits, and what `tvm_failure` makes of the words of the importer or of the compiler."""
    import tvm
    from tvm import relax

    module = _imported(proto)
    host = {"kind": "llvm", "mcpu": "generic"}
    chosen = tvm.target.Target(target) if target["kind"] == "llvm" else tvm.target.Target(target, host=host)
    passes = [relax.transform.DecomposeOpsForInference(), relax.transform.CanonicalizeBindings()]
    if optimize:
        # tvm.compile alone legalizes, plans memory and lowers; folding constants and fusing is this pipeline.
        passes.append(relax.get_pipeline("zero"))
    after = [_dlight()] if dlight else []
    note = ""
    try:
        context = tvm.transform.PassContext(
            opt_level=3 if optimize else 0, disabled_pass=[*disabled], instruments=[*instruments]
        )
        with chosen, context:
            module = tvm.transform.Sequential(passes)(module)
            if records is not None:
                module, note = by_records(module, records)
            return Compiled(tvm.compile(tvm.transform.Sequential(after)(module), target=chosen), note)
    except UsageError:
        raise
    except Exception as error:  # every kind of Python error comes out of its passes
        raise tvm_failure(error, step="compiling") from error


def _dlight() -> Any:
    from tvm.s_tir import dlight

    return dlight.ApplyDefaultSchedule(dlight.cpu.GEMV(), dlight.cpu.Reduction())


def _imported(proto: ModelProto) -> Any:
    from tvm.relax.frontend.onnx import from_onnx

    proto = inlined(proto)
    refuse_foreign(proto, "TVM")
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return from_onnx(proto, keep_params_in_input=False)
    except Exception as error:  # its converters raise whatever Python raises
        raise tvm_failure(error, step="importing") from error
