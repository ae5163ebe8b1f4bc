"""int8 of exported programs by torchao: annotated by a vendor's quantizer, calibrated, converted, exported again."""

from __future__ import annotations

import importlib
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, final

from assay.core.note import noted
from assay.core.refusals.transform_codes import TransformCode
from assay.errors import InvalidModel, Lowering, Unsupported, UsageError
from assay.models.out_of_memory import out_of_memory
from assay.models.program import Program, open_program, save_program
from assay.models.reexport import reexport, symbols
from assay.ports import Availability, Tensors
from assay.transforms.requirements import requirements

WRITTEN = "quantized.pt2"
_MOST = 4096
_USUAL = 16


class Pt2eInt8(ABC):
    """What the quantizers that come with ExecuTorch share. One of them says its name, the module of its quantizer, the
    arguments that it takes, the first by default, and makes the quantizer."""

    name: ClassVar[str]
    module: ClassVar[str]
    arguments: ClassVar[tuple[str, ...]] = ()
    uncalibrated: ClassVar[tuple[str, ...]] = ()
    libraries: ClassVar[tuple[str, ...]] = ("torchao", "executorch", "torch")
    accepts = "torch"
    precision = "int8"
    calibrated = True

    @abstractmethod
    def quantizer(self, kind: str) -> Any:
        """For one of `arguments`, "" where there are none."""

    @final
    def availability(self) -> Availability:
        """From the package metadata."""
        return requirements(*self.libraries, extra="executorch")

    @final
    def prepare(self) -> None:
        """Import the quantizer."""
        import torchao.quantization.pt2e.quantize_pt2e  # noqa: F401

        importlib.import_module(self.module)

    @final
    def apply(self, model: Path, folder: Path, argument: str, calibration: Sequence[Tensors]) -> Path:
        """The quantized program, its names and dynamic sizes kept. Raises Unsupported where nothing can be quantized,
        UsageError for another argument or without samples."""
        kind = self._kind(argument)
        running = kind in self.uncalibrated
        if not calibration and not running:
            raise UsageError(noted(TransformCode.NO_SAMPLES, transform=self.name))
        program = open_program(model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                quantized = _quantized(program, self.quantizer(kind), None if running else calibration)
            except Lowering:
                raise
            except Exception as error:
                raise _refused(self.name, error) from error
        if not any("quantize_per" in name for name in _called(quantized)):
            if not _called(program):
                raise Unsupported(noted(TransformCode.NO_OPERATOR_LEFT), cause="nothing_to_do")
            kinds = ", ".join(sorted(set(_called(program)))[:8])
            raise Unsupported(noted(TransformCode.NOTHING_TO_QUANTIZE, transform=self.name, kinds=kinds))
        outputs = [spec.name for spec in program.outputs]
        return save_program(quantized.exported, folder / WRITTEN, program.inputs, outputs)

    def _kind(self, argument: str) -> str:
        if argument and argument not in self.arguments:
            if not self.arguments:
                raise UsageError(noted(TransformCode.TAKES_NO_ARGUMENT, transform=self.name, argument=argument))
            raise UsageError(
                noted(TransformCode.TAKES_ONE_OF, transform=self.name, known=tuple(self.arguments), argument=argument)
            )
        return argument or next(iter(self.arguments), "")


def _quantized(program: Program, quantizer: Any, calibration: Sequence[Tensors] | None) -> Program:
    """None: ranges are found while running, and only weights have some now."""
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    prepared = prepare_pt2e(program.exported.module(), quantizer)
    if calibration is None:
        _observe_weights(prepared)
    for sample in calibration or ():
        args, kwargs = program.arguments(sample)
        prepared(*args, **kwargs)
    where = symbols(program.inputs)
    usual = {symbol: 2 if axis == 0 else _USUAL for symbol, axis in where.items()}
    return reexport(program, dict.fromkeys(where, (1, _MOST)), usual=usual, module=convert_pt2e(prepared))


def _observe_weights(prepared: Any) -> None:
    """Run what depends on no input. Raises Unsupported for a range that only samples could tell."""
    import torch

    interpreter = torch.fx.Interpreter(prepared)
    with torch.no_grad():
        for node in prepared.graph.nodes:
            if node.op in ("placeholder", "output"):
                continue
            if all(operand in interpreter.env for operand in node.all_input_nodes):
                interpreter.env[node] = interpreter.run_node(node)
            elif node.op == "call_module" and _is_fixed(prepared.get_submodule(node.target)):
                raise Unsupported(noted(TransformCode.WEIGHT_COMPUTED, weight=node.all_input_nodes[0].name))


def _is_fixed(module: Any) -> bool:
    """Whether it is an observer whose range stays as it was calibrated."""
    return hasattr(module, "calculate_qparams") and not getattr(module, "is_dynamic", False)


def _called(program: Program) -> list[str]:
    return [str(node.target) for node in program.exported.graph.nodes if node.op == "call_function"]


def _refused(name: str, error: Exception) -> Lowering | MemoryError:
    text = " ".join(str(error).split())[:400] or type(error).__name__
    if out_of_memory(error):
        return MemoryError(text)
    if isinstance(error, NotImplementedError) or "not support" in text:
        return Unsupported(noted(TransformCode.LIBRARY_REFUSES, transform=name, error=text))
    if isinstance(error, KeyError):
        return InvalidModel(noted(TransformCode.SAMPLE_LACKS_INPUT, transform=name, input=text))
    return Lowering(noted(TransformCode.LIBRARY_FAILED, transform=name, exception=type(error).__name__, error=text))
