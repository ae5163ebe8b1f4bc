"""Another opset, by the version converter of ONNX itself: explicit and recorded, never silent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.note import noted
from assay.core.refusals.transform_codes import TransformCode
from assay.errors import UsageError
from assay.ports import Availability, Tensors
from assay.transforms.onnx_files import WRITTEN, opset_of, read, refused, write
from assay.transforms.requirements import requirements

if TYPE_CHECKING:
    from onnx import ModelProto

OLDEST = 7
"""The version converter's own limit."""
_LEAST_IR = 4
"""Before it, every initializer had to be an input too."""
_IR_OF_FUNCTIONS = 8


class Opset:
    """`opset:N` converts the standard operators to opset N, up or down, and lowers the IR version to what N came with.

    Conformance: `assay.testing.check_transform`.
    """

    name = "opset"
    accepts = "onnx"
    precision = ""
    calibrated = False

    def availability(self) -> Availability:
        """onnx comes with Assay itself."""
        return requirements("onnx", extra="onnxruntime")

    def prepare(self) -> None:
        """Import the converter."""
        import onnx.version_converter  # noqa: F401

    def apply(self, model: Path, folder: Path, argument: str, calibration: Sequence[Tensors]) -> Path:
        """Raises Unsupported for an operator that has no form in that opset."""
        import onnx
        from onnx import version_converter

        del calibration
        opset = _number(argument, onnx.defs.onnx_opset_version())
        proto = read(model)
        if opset != opset_of(proto):
            try:
                proto = version_converter.convert_version(proto, opset)
            except (RuntimeError, ValueError, TypeError) as error:  # ConvertError is a RuntimeError
                raise refused(f"opset:{opset}", error) from error
        _lower_ir(proto)
        return write(proto, folder / WRITTEN)


def _number(argument: str, newest: int) -> int:
    if not argument.isdecimal() or not OLDEST <= int(argument) <= newest:
        if not argument:
            raise UsageError(noted(TransformCode.OPSET_MISSING, oldest=OLDEST, newest=newest))
        raise UsageError(noted(TransformCode.OPSET_NUMBER, oldest=OLDEST, newest=newest, argument=argument))
    return int(argument)


def _lower_ir(proto: ModelProto) -> None:
    from onnx import helper

    least = helper.find_min_ir_version_for(proto.opset_import, ignore_unknown=True)
    floor = _IR_OF_FUNCTIONS if proto.functions else _LEAST_IR
    proto.ir_version = min(proto.ir_version, max(least, floor))
