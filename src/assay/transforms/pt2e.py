"""Quantizing an exported program by torchao: annotated by a quantizer, calibrated, converted, exported again."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.errors import InvalidModel, Lowering, Unsupported, UsageError
from assay.models.program import open_program, save_program
from assay.models.reexport import reexport, symbols
from assay.ports import Tensors

WRITTEN = "quantized.pt2"
_MOST = 4096
_USUAL = 16


def quantize(
    model: Path, folder: Path, quantizer: Any, calibration: Sequence[Tensors], *, name: str, dynamic: bool = False
) -> Path:
    """The quantized program, its names and dynamic sizes kept. `dynamic`: ranges are found while running, and the samples
    only walk through. Raises Unsupported where nothing is quantized, UsageError without samples."""
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    if not calibration and not dynamic:
        raise UsageError(f"transform {name} has no samples to calibrate with: give it a golden set or inputs")
    program = open_program(model)
    where = symbols(program.inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            prepared = prepare_pt2e(program.exported.module(), quantizer)
            for sample in calibration:
                args, kwargs = program.arguments(sample)
                prepared(*args, **kwargs)
            converted = convert_pt2e(prepared)
            bounds, usual = dict.fromkeys(where, (1, _MOST)), {one: _usual(one, axis) for one, axis in where.items()}
            quantized = reexport(program, bounds, usual=usual, module=converted)
        except Lowering:
            raise
        except Exception as error:
            raise _refused(name, error) from error
    if not any("quantize_per" in str(node.target) for node in quantized.exported.graph.nodes):
        kinds = ", ".join(
            sorted({str(node.target) for node in program.exported.graph.nodes if node.op == "call_function"})[:8]
        )
        raise Unsupported(f"{name} finds nothing to quantize in this model (it has {kinds})")
    return save_program(quantized.exported, folder / WRITTEN, program.inputs, [spec.name for spec in program.outputs])


def _usual(_symbol: str, axis: int) -> int:
    return 2 if axis == 0 else _USUAL


def _refused(name: str, error: Exception) -> Lowering:
    text = " ".join(str(error).split())[:400] or type(error).__name__
    if isinstance(error, NotImplementedError) or "not support" in text:
        return Unsupported(f"{name}: {text}")
    if isinstance(error, KeyError):
        return InvalidModel(f"{name}: a sample has no input {text}")
    return Lowering(f"{name} failed ({type(error).__name__}): {text}")
