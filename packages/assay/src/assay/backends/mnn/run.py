"""The two ways to run an MNN model: a session, and a module."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from assay.backends.mnn.errors import lost_outputs, unsized_tensor
from assay.backends.native_output import printed_by
from assay.backends.onnx_loader import Signature
from assay.backends.trace_events import Timed
from assay.core.flow import Option
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Unsupported
from assay.ports import Tensor


class Runner(Protocol):
    """`inputs` are those that the converted model kept."""

    inputs: frozenset[str]

    def run(self, tensors: Mapping[str, Tensor]) -> tuple[int, dict[str, Tensor]]:
        """An error code, 0 if all went well, and copies of the outputs."""
        ...

    def kernels(self) -> list[str]:
        """The kinds of the kernels that the last run executed, as often as they were; [] where MNN does not tell."""
        ...

    def timed(self) -> list[Timed]:
        """The kernels of one more run on the inputs of the last. Raises Unsupported where MNN does not tell."""
        ...

    def unsized(self) -> str:
        """The tensor at which it gave up computing shapes, after a run that failed of that; "" where MNN does not tell."""
        ...


_WINOGRAD_MEMORY_LEVEL = 3
"""MNN's number for it (Interpreter::HintMode); at 0 no convolution is done so."""


class SessionRunner:
    """The Interpreter and one session; buffers are planned again when a shape changes."""

    def __init__(self, artifact: bytes, signature: Signature, options: dict[str, Option]) -> None:
        import MNN

        with tempfile.NamedTemporaryFile(suffix=".mnn") as file:
            file.write(artifact)
            file.flush()
            self._net = MNN.Interpreter(file.name)
        if not options["winograd"]:
            self._net.setSessionHint(_WINOGRAD_MEMORY_LEVEL, 0)
        self._session = self._net.createSession({"numThread": options["threads"], "precision": options["arithmetic"]})
        self._outputs = [spec.name for spec in signature.outputs]
        self.inputs = frozenset(self._net.getSessionInputAll(self._session))
        self._shapes: dict[str, tuple[int, ...]] = {}
        outputs = self._net.getSessionOutputAll(self._session)
        if lost := [name for name in self._outputs if name not in outputs]:
            raise lost_outputs(lost)

    def run(self, tensors: Mapping[str, Tensor]) -> tuple[int, dict[str, Tensor]]:
        import MNN

        self._resize({name: array.shape for name, array in tensors.items()})
        kept = []
        for name, array in tensors.items():
            host = MNN.Tensor(array.shape, _halide()[array.dtype.name], array, MNN.Tensor_DimensionType_Caffe)
            self._net.getSessionInput(self._session, name).copyFrom(host)
            kept.append(host)
        code = self._net.runSession(self._session)
        return code, {} if code else {name: self._answer(name) for name in self._outputs}

    def kernels(self) -> list[str]:
        kinds: list[str] = []

        def after(_tensors: Any, info: Any) -> bool:
            kinds.append(info.getType())
            return True

        if not self._shapes:
            return kinds
        self._net.runSessionWithCallBackInfo(self._session, lambda _tensors, _info: True, after)
        return kinds

    def timed(self) -> list[Timed]:
        rows: list[Timed] = []
        begun: list[float] = []

        def before(_tensors: Any, _info: Any) -> bool:
            begun.append(time.perf_counter())
            return True

        def after(_tensors: Any, info: Any) -> bool:
            rows.append((info.getName(), time.perf_counter() - begun.pop(), {"operator": info.getType()}))
            return True

        self._net.runSessionWithCallBackInfo(self._session, before, after)
        return rows

    def unsized(self) -> str:
        return unsized_tensor(printed_by(lambda: self._net.resizeSession(self._session)))

    def _resize(self, shapes: dict[str, tuple[int, ...]]) -> None:
        if shapes == self._shapes:
            return
        for name, shape in shapes.items():
            self._net.resizeTensor(self._net.getSessionInput(self._session, name), shape)
        self._net.resizeSession(self._session)
        self._shapes = shapes

    def _answer(self, name: str) -> Tensor:
        """Through a host tensor in the order of ONNX: the session's own is blocked by four channels."""
        import MNN

        tensor = self._net.getSessionOutput(self._session, name)
        kind, shape = tensor.getDataType(), tensor.getShape()
        dtype = next((known_dtype for known_dtype, code in _halide().items() if code == kind), "float32")
        array = np.zeros(shape, dtype)
        host = MNN.Tensor(shape, kind, array, MNN.Tensor_DimensionType_Caffe)
        tensor.copyToHostTensor(host)
        return np.array(host.getNumpyData(), dtype=dtype, copy=True).reshape(shape)


class ModuleRunner:
    """The newer interface, which also has control flow."""

    def __init__(self, artifact: bytes, signature: Signature, options: dict[str, Option]) -> None:
        import MNN

        modes = MNN.expr.PrecisionMode
        mode = {"high": modes.High, "normal": modes.Normal, "low": modes.Low}[str(options["arithmetic"])]
        with tempfile.TemporaryDirectory(prefix="mnn-") as folder:
            path = Path(folder) / "model.mnn"
            path.write_bytes(artifact)
            kept = MNN.expr.load_as_dict(str(path))
            self._inputs = [spec.name for spec in signature.inputs if spec.name in kept]
            self._outputs = [spec.name for spec in signature.outputs]
            self._module = MNN.nn.load_module_from_file(
                str(path), self._inputs, self._outputs, precision_mode=mode, thread_num=options["threads"]
            )
        self.inputs = frozenset(self._inputs)

    def run(self, tensors: Mapping[str, Tensor]) -> tuple[int, dict[str, Tensor]]:
        import MNN

        kinds = {"float32": MNN.expr.float, "int32": MNN.expr.int, "uint8": MNN.expr.uint8}
        feeds = []
        for name in self._inputs:
            array = tensors[name]
            fed = MNN.expr.placeholder(list(array.shape), MNN.expr.NCHW, kinds[array.dtype.name])
            if array.size:
                fed.write(array)
            feeds.append(fed)
        answers = self._module.forward(feeds)
        return 0, {
            name: np.array(answer.read(), copy=True) for name, answer in zip(self._outputs, answers, strict=True)
        }

    def kernels(self) -> list[str]:
        return []

    def timed(self) -> list[Timed]:
        raise Unsupported(noted(BackendCode.TRACE_OF_SESSION))

    def unsized(self) -> str:
        return ""


def _halide() -> dict[str, Any]:
    import MNN

    return {"float32": MNN.Halide_Type_Float, "int32": MNN.Halide_Type_Int, "uint8": MNN.Halide_Type_Uint8}
