"""From an exported program to the bytes of a .tflite."""

from __future__ import annotations

import re
import tempfile
import warnings
from pathlib import Path

from assay.core.flow import Flow, sizes_to_build
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Lowering, Unsupported
from assay.models.program import Program
from assay.models.reexport import reexport

_MISSING = re.compile(
    r"(?:Lowering not found|not supported|Unsupported|not implemented|failed to legalize)", re.IGNORECASE
)
_OPERATOR = re.compile(r"(?:aten|prims|quantized_decomposed)[.:]+([A-Za-z0-9_]+)")


def converted(program: Program, flow: Flow, weights: str) -> tuple[Program, dict[str, int], bytes]:
    """The program at fixed sizes, those sizes, and the file. Raises Unsupported, Lowering or MemoryError."""
    _refuse_double(program)
    import litert_torch

    dims = sizes_to_build(flow, program.inputs)
    sizes = {
        dim: dims[dim][1] if dim in dims else 1 for spec in program.inputs for dim in spec.shape if isinstance(dim, str)
    }
    with warnings.catch_warnings(), tempfile.TemporaryDirectory(prefix="assay-litert-") as name:
        warnings.simplefilter("ignore")
        path = Path(name) / "model.tflite"
        try:
            if sizes:
                program = reexport(program, {dim: (size, size) for dim, size in sizes.items()}, usual=sizes)
            args, kwargs = program.exported.example_inputs
            litert_torch.convert(program.exported.module(), args, kwargs or None).export(str(path))
            if weights == "int8":
                path = _quantized(path)
        except MemoryError:
            raise
        except Exception as error:  # the converter raises whatever torch, MLIR or itself raised
            raise failure(error) from error
        return program, sizes, path.read_bytes()


def _refuse_double(program: Program) -> None:
    """litert-torch 0.10 makes float32 of what is fed and answered in double, and computes in it."""
    for spec in (*program.inputs, *program.outputs):
        if spec.dtype in ("float64", "complex128"):
            raise Unsupported(
                noted(BackendCode.TYPE_NOT_PASSED, tensor=spec.name, dtype=spec.dtype, library="litert-torch")
            )


def _quantized(path: Path) -> Path:
    """Weights in int8 per channel; activations are quantized while running, so that nothing is calibrated."""
    from ai_edge_quantizer import quantizer, recipe

    made = path.with_name("quantized.tflite")
    # Given a name, it keeps that file open (0.10).
    converter = quantizer.Quantizer(path.read_bytes())
    converter.load_quantization_recipe(recipe.dynamic_wi8_afp32())
    converter.quantize().export_model(str(made))
    return made


def failure(error: BaseException) -> Lowering:
    """What litert-torch 0.10 says, with the operator where it names one."""
    if isinstance(error, Lowering):
        return error
    text = " ".join(str(error).split()) or type(error).__name__
    match = _OPERATOR.search(text)
    operator = match.group(1) if match else ""
    short = text if len(text) <= 400 else f"{text[:399]}…"
    if _MISSING.search(text):
        return Unsupported(noted(BackendCode.CONVERTER_SAYS, library="litert-torch", error=short), node=operator)
    name = type(error).__name__
    note = noted(BackendCode.STEP_FAILED, library="litert-torch", step="converting", exception=name, error=short)
    return Lowering(note, node=operator)


def first_number(name: str) -> tuple[int, str]:
    """The order of `args_10` after `args_9`."""
    match = re.search(r"\d+", name)
    return int(match[0]) if match else 0, name
