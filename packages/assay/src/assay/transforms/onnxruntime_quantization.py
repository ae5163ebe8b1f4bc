"""What the quantizing transforms share: the model made ready, samples handed over, and whether anything was quantized."""

from __future__ import annotations

import importlib.util
import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from assay.core.model_finding import ModelFinding, Severity
from assay.core.model_finding_note import model_finding_note
from assay.core.note import noted
from assay.core.refusals.transform_codes import TransformCode
from assay.errors import Unsupported, UsageError
from assay.models.external_data import external_files
from assay.numerics.dense_weights import all_sparse
from assay.ports import Tensor, Tensors
from assay.transforms.onnx_files import SINGLE_FILE_BYTES, read, refused

if TYPE_CHECKING:
    from onnx import GraphProto

BIASED = (
    "Conv", "ConvTranspose", "Gemm", "InstanceNormalization", "LayerNormalization", "BatchNormalization",
)  # fmt: skip
"""Operators whose third input the quantizer takes for a bias."""
_WHOLE = "whole.onnx"
_WARNINGS, _ERRORS_ALONE = 2, 3
"""Of ONNX Runtime's log; the first is its default."""
QUANTIZED = ("QuantizeLinear", "DynamicQuantizeLinear", "DynamicQuantizeLSTM", "MatMulNBits")


def prepared(model: Path, folder: Path, transform: str) -> Path:
    """Shapes inferred, batch normalizations folded into convolutions, constants folded: what calibration sees must be what
    is quantized. By quant_pre_process of ONNX Runtime, without its symbolic shapes where those fail: then it leaves the model and
    its weights in the current directory (1.31.1), which is `folder` meanwhile."""
    ready = folder.absolute() / "prepared.onnx"
    source = str(_in_one_file(model, folder).absolute())
    symbolic = importlib.util.find_spec("sympy") is not None
    with chdir(folder):
        try:
            _pre_process(source, ready, symbolic=symbolic)
        except Exception as first:
            if not symbolic:
                raise refused(transform, first) from first
            try:
                _pre_process(source, ready, symbolic=False)
            except Exception as error:
                raise refused(transform, error) from error
    _give_each_its_bias(ready)
    _leave_out_shapes_of_weights(ready)
    return ready


def _pre_process(source: str, ready: Path, *, symbolic: bool) -> None:
    from onnxruntime.quantization.shape_inference import quant_pre_process

    if symbolic:
        _import_symbolic_shapes()
    with quiet():
        quant_pre_process(source, str(ready), skip_symbolic_shape=not symbolic)


def _import_symbolic_shapes() -> None:
    """Without torch, which the tools of ONNX Runtime (1.31.1) import where it is installed, for a helper of exporting: that took two
    of the three seconds of a worker that quantizes."""
    helpers = "onnxruntime.tools.pytorch_export_helpers"
    if "onnxruntime.tools" in sys.modules:
        return
    unneeded = ModuleType(helpers)
    vars(unneeded)["infer_input_info"] = None
    sys.modules[helpers] = unneeded
    try:
        import onnxruntime.tools.symbolic_shape_infer  # noqa: F401
    finally:
        del sys.modules[helpers]


def _in_one_file(model: Path, folder: Path) -> Path:
    """With the weights that lie beside it, where they fit, and with dense ones for sparse ones, which the quantizers do not know. Without
    symbolic shapes quant_pre_process copies the graph alone to another folder, and looks for them there (ONNX Runtime 1.31.1)."""
    import onnx

    plain = onnx.load(model, load_external_data=False)
    if not external_files(plain, model) and not any(all_sparse(plain)):
        return model
    proto = read(model)
    if proto.ByteSize() > SINGLE_FILE_BYTES:
        return model
    onnx.save(proto, folder / _WHOLE)
    return folder / _WHOLE


def _give_each_its_bias(path: Path) -> None:
    """A bias that several operators read is copied for each. The quantizer does the same, and calls the copies by the next number,
    whether or not another value has that name (ONNX Runtime 1.31.1): then two have it."""
    import onnx

    model = onnx.load(path, load_external_data=False)
    graph = model.graph
    stored = {tensor.name: tensor for tensor in graph.initializer}
    names = {*stored, *(value.name for value in graph.input), *(name for node in graph.node for name in node.output)}
    met: set[str] = set()
    for node in graph.node:
        if node.op_type not in BIASED or len(node.input) < 3 or (bias := node.input[2]) not in stored:
            continue
        if bias in met:
            copy = graph.initializer.add()
            copy.CopyFrom(stored[bias])
            copy.name = node.input[2] = next(name for at in count() if (name := f"{bias}.copy{at}") not in names)
            names.add(copy.name)
        met.add(bias)
    if len(stored) < len(graph.initializer):
        onnx.save(model, path)


def _leave_out_shapes_of_weights(path: Path) -> None:
    """What stands beside a weight says its shape once more. The dynamic quantizer turns the weight of a Gemm and leaves that as it is, so
    that both differ (ONNX Runtime 1.31.1); its optimizer leaves such words out too, but not of a model with sequences."""
    import onnx

    model = onnx.load(path, load_external_data=False)
    graph = model.graph
    stored = {tensor.name for tensor in graph.initializer}
    kept = [value for value in graph.value_info if value.name not in stored]
    if len(kept) < len(graph.value_info):
        del graph.value_info[:]
        graph.value_info.extend(kept)
        onnx.save(model, path)


def require_samples(calibration: Sequence[Tensors], transform: str) -> None:
    """Raises UsageError where there is nothing to calibrate with."""
    if not calibration:
        raise UsageError(noted(TransformCode.NO_SAMPLES, transform=transform))


def require_quantized(path: Path, transform: str) -> None:
    """Raises Unsupported where the model came out as it went in, or with a grid that has no end: its values are no numbers
    then, and a backend would be blamed for them."""
    import onnx

    graph = onnx.load(path, load_external_data=False).graph
    if not graph.node:
        raise Unsupported(noted(TransformCode.NO_OPERATOR_LEFT), cause="nothing_to_do")
    if not any(node.op_type in QUANTIZED for node in graph.node):
        kinds = ", ".join(sorted({node.op_type for node in graph.node})[:8])
        raise Unsupported(noted(TransformCode.NOTHING_TO_QUANTIZE, transform=transform, kinds=kinds))
    if endless := _endless_scales(graph):
        raise Unsupported(noted(TransformCode.INFINITE_VALUES, transform=transform, values=tuple(endless[:3])))


def require_sound(written: Path, ready: Path, transform: str) -> None:
    """Raises Unsupported where what was `ready` for the quantizer is a sound model, and what it wrote is none: a backend would be
    blamed for that."""
    if (wrong := _contradiction(written)) and not _contradiction(ready):
        raise Unsupported(
            noted(TransformCode.MADE_CONTRADICTION, transform=transform, finding=model_finding_note(wrong[0]))
        )


def _contradiction(path: Path) -> list[ModelFinding]:
    """What the examination finds wrong with a file, or declared otherwise than its nodes give it."""
    from assay.models.examination.steps import examine

    look = examine(path)
    return [*look.of(Severity.INVALID), *look.of(Severity.CONTRADICTION)]


def _endless_scales(graph: GraphProto) -> list[str]:
    """Names of stored scales of QuantizeLinear and DequantizeLinear that are infinite or NaN."""
    import numpy as np
    from onnx import numpy_helper

    scales = {node.input[1] for node in graph.node if node.op_type in ("QuantizeLinear", "DequantizeLinear")}
    stored = [tensor for tensor in graph.initializer if tensor.name in scales and not tensor.external_data]
    return [tensor.name for tensor in stored if not np.isfinite(numpy_helper.to_array(tensor)).all()]


class Reader:
    """Samples one by one, as ONNX Runtime's calibration reads them."""

    def __init__(self, samples: Sequence[Tensors]) -> None:
        self._samples: Iterator[Tensors] = iter(samples)

    def get_next(self) -> dict[str, Tensor] | None:
        """The next sample, None after the last."""
        sample = next(self._samples, None)
        return None if sample is None else dict(sample)


@contextmanager
def silent_calibration() -> Iterator[None]:
    """Without what the engine says of the model that the quantizer makes to calibrate with: it drops initializers there whose names are
    drawn (ONNX Runtime 1.31.1), which are none of the user's model."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(_ERRORS_ALONE)
    try:
        yield
    finally:
        onnxruntime.set_default_logger_severity(_WARNINGS)


@contextmanager
def quiet() -> Iterator[None]:
    """Without the library's advice to do what has just been done."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
