"""float16 weights and arithmetic, by the converter that comes with ONNX Runtime."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.note import noted
from assay.core.refusals.transform_codes import TransformCode
from assay.errors import Unsupported, UsageError
from assay.ports import Availability, Tensors
from assay.transforms.node_order import sort_nodes
from assay.transforms.onnx_files import WRITTEN, read, refused, write
from assay.transforms.requirements import requirements

if TYPE_CHECKING:
    from onnx import NodeProto


class Float16:
    """`fp16` leaves inputs and outputs as they are; `fp16:io` makes them float16 too.

    Operators of the converter's own block list (Resize, Range, TopK ...) stay in float32 between casts. Conformance:
    `assay.testing.check_transform`.
    """

    name = "fp16"
    accepts = "onnx"
    precision = "float16"
    calibrated = False

    def availability(self) -> Availability:
        """From the package metadata."""
        return requirements("onnxruntime", extra="onnxruntime")

    def prepare(self) -> None:
        """Import the converter."""
        from onnxruntime.transformers import float16  # noqa: F401

    def apply(self, model: Path, folder: Path, argument: str, calibration: Sequence[Tensors]) -> Path:
        """Raises Unsupported where there is no float32 to convert."""
        from onnx import TensorProto
        from onnxruntime.transformers.float16 import convert_float_to_float16

        del calibration
        if argument not in ("", "io"):
            raise UsageError(noted(TransformCode.FP16_ARGUMENT, argument=argument))
        proto = read(model)
        if not any(tensor.data_type == TensorProto.FLOAT for tensor in proto.graph.initializer) and not any(
            value.type.tensor_type.elem_type == TensorProto.FLOAT for value in proto.graph.input
        ):
            raise Unsupported(noted(TransformCode.NOTHING_TO_CONVERT))
        try:
            # Raises whatever it stumbles over: ValueError, KeyError, RuntimeError of its shape inference.
            converted = convert_float_to_float16(proto, keep_io_types=argument != "io")
        except Exception as error:
            raise refused("fp16", error) from error
        _convert_stored_outputs(converted.graph.node)
        # It appends its casts at the end (onnxruntime 1.31.1), and the standard wants nodes in order.
        sort_nodes(converted.graph)
        return write(converted, folder / WRITTEN)


def _convert_stored_outputs(nodes: Iterable[NodeProto]) -> None:
    """Of bodies that answer with a stored number: the converter (onnxruntime 1.31.1) declares the output in float16, and leaves the number
    that no node reads in float32."""
    from onnx import TensorProto
    from onnxruntime.transformers.float16 import convert_tensor_float_to_float16

    for body in (attribute.g for node in nodes for attribute in node.attribute if attribute.HasField("g")):
        halves = {value.name for value in body.output if value.type.tensor_type.elem_type == TensorProto.FLOAT16}
        for stored in body.initializer:
            if stored.name in halves:
                convert_tensor_float_to_float16(stored)  # as all others: a finite number stays finite
        _convert_stored_outputs(body.node)
