"""onnx.reference: the standard's own definition, in the model's types or, as the oracle, in float64."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.backends.availability import installed
from assay.backends.check_inputs import check_inputs
from assay.backends.flow_options import resolve_options
from assay.backends.onnx_loader import load_checked
from assay.backends.placements import coarsest, count
from assay.core.dtype import dtype_name
from assay.core.engine_info import EngineInfo
from assay.core.flow import Flow
from assay.core.model import TensorSpec
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.core.tensor_parts import whole_name
from assay.errors import InvalidModel, Unsupported, WrongInput
from assay.models.flatten import flatten, gather
from assay.ports import Availability, OptionSpec, Tensor, Tensors

if TYPE_CHECKING:
    from onnx import ModelProto

_ARTIFACT = "model.onnx"
_CONTAINERS = ("sequence_type", "optional_type", "map_type")
_NARROW = ("float32", "float16", "bfloat16")


class Reference:
    """Conformance: `assay.testing.check_backend`."""

    name = "reference"
    accepts = "onnx"
    dynamic = True
    options = (
        OptionSpec("precision", "model", ("model", "float64"), "the model's own types, or float64 throughout"),
        OptionSpec("reading", "first", ("first", "other"), "where the standard can be read in two ways: by which"),
    )
    flows = (
        Flow(name="reference", backend="reference"),
        Flow(name="reference-f64", backend="reference", options={"precision": "float64"}, precision="float64"),
    )

    def availability(self) -> Availability:
        """onnx comes with Assay itself."""
        return installed("onnx", "onnx", "onnx")

    def prepare(self) -> None:
        """Import onnx and its evaluator."""
        import onnx.reference  # noqa: F401

    def lower(self, model: Path, flow: Flow) -> ReferenceEngine:
        """The file checked by onnx.checker, then an implementation found for every node."""
        options = resolve_options(self.options, flow)
        wide, other = options["precision"] == "float64", options["reading"] == "other"
        return ReferenceEngine(model, load_checked(model), wide=wide, other=other)

    def load(self, folder: Path, flow: Flow) -> ReferenceEngine:
        """The model file copied by `save`."""
        return self.lower(folder / _ARTIFACT, flow)


class ReferenceEngine:
    """A model with an implementation for each of its nodes."""

    def __init__(self, path: Path, proto: ModelProto, *, wide: bool, other: bool = False) -> None:
        from assay.numerics.oracle.evaluator import Evaluator, WideEvaluator
        from assay.numerics.oracle.other_readings import other_classes, readings_of

        readings = readings_of(proto) if other else {}
        if other and not readings:
            raise Unsupported(noted(BackendCode.ONE_READING))
        self._readings = sorted({reading.value for of_operator in readings.values() for reading in of_operator})
        self._path, self._wide = path, wide
        constants = {tensor.name for tensor in proto.graph.initializer}
        fed = [info for info in proto.graph.input if info.name not in constants]
        self._inputs = [_spec(info) for info in fed if info.type.WhichOneof("value") == "tensor_type"]
        self._nested = [info.name for info in fed if info.type.WhichOneof("value") in _CONTAINERS]
        self._operators = [node.op_type for node in proto.graph.node]
        self._precisions: dict[str, str] = {}
        try:
            self._evaluator = (WideEvaluator if wide else Evaluator)(proto, new_ops=other_classes(readings))
        except NotImplementedError as error:
            reason = str(error).partition(", known functions")[0]
            raise Unsupported(noted(BackendCode.NO_IMPLEMENTATION, error=reason[:300])) from error
        except (AttributeError, RuntimeError, TypeError, ValueError) as error:
            raise InvalidModel(noted(BackendCode.NOT_SET_UP, error=str(error)[:300])) from error

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        """In the oracle every floating output is float64, whatever the model declares; inputs are widened after the
        backend's own rounding of them. Raises ValueError for inputs that are not what the model declares."""
        tensors = dict(tensors)
        nested = {name: _taken(name, tensors) for name in self._nested}
        check_inputs(tensors, self._inputs)
        feeds = {**tensors, **nested}
        if self._wide:
            feeds = {name: _widened(value) for name, value in feeds.items()}
        results = self._evaluator.evaluate(feeds)
        outputs: dict[str, Tensor] = {}
        for name, value in zip(self._evaluator.output_names, results, strict=True):
            outputs |= _flattened(name, value)
        self._precisions = {name: dtype_name(array.dtype) for name, array in outputs.items()}
        return outputs

    def save(self, folder: Path) -> None:
        """The model file and its external data, copied: there is nothing compiled."""
        import onnx
        from onnx.external_data_helper import ExternalDataInfo, _get_all_tensors, uses_external_data

        proto = onnx.load(self._path, load_external_data=False)
        shutil.copyfile(self._path, folder / _ARTIFACT)
        external = filter(uses_external_data, _get_all_tensors(proto))
        for location in sorted({ExternalDataInfo(tensor).location for tensor in external}):
            (folder / location).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self._path.parent / location, folder / location)

    def facts(self) -> EngineInfo:
        """Every operator runs in Python on the CPU; float64 in the oracle, else in the model's own types."""
        import onnx

        precision = "float64" if self._wide else ""
        placements = count((operator, "python", precision) for operator in self._operators)
        outputs = count(("", "", output_precision) for output_precision in self._precisions.values())
        return EngineInfo(
            backend_version=onnx.__version__,
            precision=precision or coarsest(outputs),
            placements=placements,
            options={"precision": "float64" if self._wide else "model"}
            | ({"reading": " ".join(self._readings)} if self._readings else {}),
        )


def _spec(info: Any) -> TensorSpec:
    import onnx

    kind = info.type.tensor_type.elem_type
    if kind == onnx.TensorProto.UNDEFINED:
        raise Unsupported(noted(BackendCode.NO_TENSOR, role="Input", name=info.name))
    dtype = "string" if kind == onnx.TensorProto.STRING else dtype_name(onnx.helper.tensor_dtype_to_np_dtype(kind))
    dims = info.type.tensor_type.shape.dim
    return TensorSpec(info.name, dtype, tuple(d.dim_value if d.HasField("dim_value") else "?" for d in dims))


def _widened(value: Any) -> Any:
    """Arrays, and those inside sequences and optionals. The numbers of a map are Python's, double already."""
    if isinstance(value, list):
        return [_widened(element) for element in value]
    is_narrow = isinstance(value, np.ndarray) and dtype_name(value.dtype) in _NARROW
    return value.astype(np.float64) if is_narrow else value


def _taken(name: str, tensors: dict[str, Tensor]) -> Any:
    """The value whose parts are in `tensors`, which lose them. Raises ValueError where it is not there."""
    try:
        value = gather(name, tensors)
    except KeyError:
        raise WrongInput(noted(BackendCode.INPUT_MISSING, input=name, inputs=(name,))) from None
    for part in [tensor_name for tensor_name in tensors if whole_name(tensor_name) == name]:
        del tensors[part]
    return value


def _flattened(name: str, value: Any) -> dict[str, Tensor]:
    try:
        return flatten(name, value)
    except TypeError as error:
        raise Unsupported(noted(BackendCode.NO_TENSOR, role="Output", name=name)) from error
