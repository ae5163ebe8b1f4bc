"""ncnn on the CPU: ONNX through pnnx, its half precision switched off unless it is asked for."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.backends.artifact import read_artifact, read_record
from assay.backends.availability import installed
from assay.backends.check_inputs import check_inputs
from assay.backends.flow_options import positive, resolve_options
from assay.backends.ncnn.convert import BIN, PARAM, Blob, Network, to_ncnn
from assay.backends.ncnn.errors import artifact_failure, missing_layers, run_failure
from assay.backends.onnx_loader import load_checked
from assay.backends.placements import count
from assay.backends.plain_code_converted import ncnn_code
from assay.backends.winograd_default import numeric_defaults
from assay.core.dtype import numpy_dtype
from assay.core.engine_info import EngineInfo
from assay.core.flow import Flow, Option, dimension_key
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Unsupported, WrongInput
from assay.ports import Availability, OptionSpec, Tensor, Tensors

_DECLARED = "declared.json"
_FLAGS = {b"\x47\x6b\x30\x01": "float16", b"\x38\x4b\x0d\x00": "int8"}
"""How a blob of weights begins that is not float32 (ncnn's modelbin.cpp)."""
_COPIES = ("Split", "Noop", "Reshape", "Permute", "Flatten", "Squeeze", "ExpandDims", "Packing")


class Ncnn:
    """Conformance: `assay.testing.check_backend`.

    ncnn has float32 tensors only, no Cast and, as built for its wheel (20261020), no ArgMax. Left alone it stores
    half precision: storage is always said.
    """

    name = "ncnn"
    accepts = "onnx"
    dynamic = False
    forkable = True
    needs_sizes = True
    integers = False
    options = (
        OptionSpec(
            "storage", "float32", ("float32", "float16"), "the type in which weights and activations are stored"
        ),
        OptionSpec(
            "winograd",
            True,
            help="whether 3x3 convolutions may be done by Winograd's algorithm",
            allowance="winograd",
        ),
        OptionSpec("sgemm", True, help="whether convolutions may be done as products of matrices"),
        OptionSpec("packing", True, help="whether channels may be packed for vector instructions"),
        OptionSpec("pnnx", 2, (0, 1, 2), "optimization level of the converter"),
        OptionSpec("threads", 1, help="threads of one inference"),
    )
    flows = (
        Flow(name="ncnn-f32", backend="ncnn", allowances=("winograd",)),
        Flow(name="ncnn-fp16-storage", backend="ncnn", options={"storage": "float16"}, precision="float16"),
    )

    def availability(self) -> Availability:
        """From the package metadata, of the converter and of the runtime."""
        converter = installed("pnnx", "pnnx", "ncnn")
        return installed("ncnn", "ncnn", "ncnn") if converter.available else converter

    plain_packages = ("ncnn", "pnnx=={2}")

    def plain_code(self, flow: Flow) -> str:
        """Converted by pnnx and run by an extractor."""
        options = resolve_options(self.options, flow)
        return ncnn_code(
            int(options["pnnx"]),
            positive(options, "threads", flow),
            half=options["storage"] == "float16",
            winograd=bool(options["winograd"]),
            sgemm=bool(options["sgemm"]),
            packing=bool(options["packing"]),
        )

    def prepare(self) -> None:
        """Import ncnn."""
        import ncnn  # noqa: F401

    def lower(self, model: Path, flow: Flow) -> NcnnEngine:
        """Converted in a child process, for a batch of any size and the size that samples have of every other symbol. A first
        dimension that pnnx takes for no batch has the size of the samples, too."""
        options = resolve_options(self.options, flow)
        positive(options, "threads", flow)
        network, param, weights = to_ncnn(
            load_checked(model), str(options["storage"]), flow, level=int(options["pnnx"])
        )
        if any(_misfit(blob, flow) for blob in network.inputs):
            network, param, weights = to_ncnn(
                load_checked(model), str(options["storage"]), flow, batched=False, level=int(options["pnnx"])
            )
        return NcnnEngine(network, param, weights, options)

    def load(self, folder: Path, flow: Flow) -> NcnnEngine:
        """The network; storage and threads are the flow's."""
        options = resolve_options(self.options, flow)
        positive(options, "threads", flow)
        network = read_record(folder / _DECLARED, Network)
        return NcnnEngine(network, read_artifact(folder / PARAM), read_artifact(folder / BIN), options)


class NcnnEngine:
    """One network. A new extractor for every run: it keeps what it computed."""

    def __init__(self, network: Network, param: bytes, weights: bytes, options: dict[str, Option]) -> None:
        self._network, self._param, self._weights, self._options = network, param, weights, options
        missing = _missing_layers(param)
        if missing:
            raise missing_layers(missing)
        self._net = _open(param, weights, options)
        self._cast = {
            blob.spec.name: f"{blob.spec.dtype} -> {blob.fed} on the way in"
            for blob in network.inputs
            if blob.spec.dtype != blob.fed
        }

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        """Raises ValueError for an input of another dtype or shape, or for an empty batch: ncnn reads past the end. Unsupported for a
        size that the model takes and the network was not made for, and for inputs whose first sizes differ."""
        check_inputs(tensors, [*(blob.spec for blob in self._network.inputs), *self._network.unread])
        for blob in self._network.inputs:
            _check_sizes(blob, tensors[blob.spec.name])
        import ncnn

        batches = {tensors[blob.spec.name].shape[blob.batch] for blob in self._network.inputs if blob.batch is not None}
        if 0 in batches:
            raise WrongInput(noted(BackendCode.BATCH_OF_NONE, library="ncnn"))
        if len(batches) > 1:
            raise Unsupported(noted(BackendCode.BATCHES_DIFFER, rows=tuple(sorted(batches))), cause="other")
        with self._net.create_extractor() as extractor:
            for blob in self._network.inputs:
                array = np.ascontiguousarray(tensors[blob.spec.name], dtype=blob.fed)
                extractor.input(blob.name, ncnn.Mat(array, **_axis(blob)).clone())
            return {blob.spec.name: self._answer(extractor, blob) for blob in self._network.outputs}

    def trace(self, tensors: Tensors, folder: Path) -> None:
        """Raises Unsupported."""
        del tensors, folder
        import ncnn

        raise Unsupported(
            noted(BackendCode.NO_PROFILER, library="ncnn", version=ncnn.__version__, lacking="NCNN_BENCHMARK")
        )

    def save(self, folder: Path) -> None:
        """The .param and the .bin, and the names, types and batch axes that they do not hold."""
        (folder / PARAM).write_bytes(self._param)
        (folder / BIN).write_bytes(self._weights)
        (folder / _DECLARED).write_bytes(msgspec.json.encode(self._network))

    def facts(self) -> EngineInfo:
        """Precision is the coarser of the storage that the network runs with and the type of its first weights, read from
        the file. `pnnx.ignored` lists parameters that pnnx says it left out."""
        import ncnn

        stored = _FLAGS.get(self._weights[:4], "float32")
        storage = "float16" if self._net.opt.use_fp16_storage else "float32"
        precision = stored if stored != "float32" else storage
        options = {name: str(value) for name, value in self._options.items()}
        options |= {f"cast.{name}": text for name, text in self._cast.items()}
        options |= {
            f"size.{dimension_key(blob.spec.name, axis, size)}": str(blob.sizes[axis])
            for blob in self._network.inputs
            for axis, size in enumerate(blob.spec.shape)
            if isinstance(size, str) and axis != blob.batch
        }
        if self._network.ignored:
            options["pnnx.ignored"] = "; ".join(self._network.ignored)
        kinds = [layer.type for layer in self._net.layers() if layer.type not in ("Input", "MemoryData")]
        placements = count((kind, "CPU", storage) for kind in kinds)
        return EngineInfo(
            backend_version=ncnn.__version__,
            precision=precision,
            placements=tuple(
                msgspec.structs.replace(placement, role="reformat" if placement.operator in _COPIES else "compute")
                for placement in placements
            ),
            options=options,
            numeric_defaults=numeric_defaults(self._options, kinds),
        )

    def _answer(self, extractor: Any, blob: Blob) -> Tensor:
        """A copy. Whole numbers come back as float32: they are given in the declared type where they are whole."""
        code, mat = extractor.extract(blob.name)
        if code:
            raise run_failure(blob.spec.name, code)
        array: Tensor = np.array(mat.numpy(**_axis(blob)), copy=True)
        rank = len(blob.spec.shape)
        if array.shape[-1:] == (1,) and array.ndim == rank + 1 and (rank == 0 or (rank == 1 and blob.batch == 0)):
            array = array.reshape(array.shape[:-1])  # it has no tensor without an axis: of each row of a batch, too
        declared = numpy_dtype(blob.spec.dtype)
        if array.dtype == declared or declared.kind not in "iub" or not np.array_equal(array, np.rint(array)):
            return array
        self._cast[blob.spec.name] = f"{array.dtype} -> {declared} on the way out"
        return array.astype(declared)


def _misfit(blob: Blob, flow: Flow) -> bool:
    """Whether the first dimension was fixed at 1, as a batch is, and is none."""
    fed = flow.sample_sizes.get(f"{blob.spec.name}[0]")
    return blob.batch is None and fed is not None and fed[1] != blob.sizes[0]


def _open(param: bytes, weights: bytes, options: dict[str, Option]) -> Any:
    import ncnn

    net = ncnn.Net()
    half = options["storage"] == "float16"
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = half
    net.opt.use_fp16_arithmetic = net.opt.use_bf16_storage = net.opt.use_bf16_packed = False
    net.opt.use_winograd_convolution = bool(options["winograd"])
    net.opt.use_sgemm_convolution = bool(options["sgemm"])
    net.opt.use_packing_layout = bool(options["packing"])
    net.opt.num_threads = options["threads"]
    with tempfile.TemporaryDirectory(prefix="ncnn-") as folder:
        for name, content in ((PARAM, param), (BIN, weights)):
            (Path(folder) / name).write_bytes(content)
        if net.load_param(f"{folder}/{PARAM}"):
            raise artifact_failure(PARAM)
        if net.load_model(f"{folder}/{BIN}"):
            raise artifact_failure(BIN)
    return net


def _missing_layers(param: bytes) -> dict[str, str]:
    """Kinds of layers that this ncnn cannot make, each with the name of the first."""
    import ncnn

    rows = [line.split() for line in param.decode(errors="replace").splitlines()[2:]]
    kinds: dict[str, str] = {}
    for row in rows:
        if len(row) > 1 and row[0] not in kinds and ncnn.create_layer(row[0]) is None:
            kinds[row[0]] = row[1]
    return kinds


def _check_sizes(blob: Blob, array: Tensor) -> None:
    wrong = [axis for axis, size in enumerate(blob.sizes) if axis != blob.batch and array.shape[axis] != size]
    if wrong:
        raise Unsupported(
            noted(
                BackendCode.OTHER_SHAPE if blob.batch is not None else BackendCode.OTHER_SHAPE_NO_BATCH,
                input=blob.spec.name,
                shape=array.shape,
                made=tuple(blob.sizes),
            )
        )


def _axis(blob: Blob) -> dict[str, int]:
    return {} if blob.batch is None else {"batch_index": blob.batch}
