"""Our own plug-ins have the types that the ports declare. mypy reads these tables; the tests see that nothing is missing in them."""

from __future__ import annotations

from typing import Any

import pytest

from assay import plugins, ports
from assay.backends.endpoint import PromptEndpoint, TensorEndpoint
from assay.backends.executorch.backend import ExecuTorch, ExecuTorchEngine
from assay.backends.exported_decoder import ExportedDecoder
from assay.backends.iree.backend import IREE, IREEEngine
from assay.backends.litert.backend import LiteRt, LiteRtEngine
from assay.backends.llama_cpp.backend import LlamaCpp
from assay.backends.local_prompts import DecodingEngine
from assay.backends.mnn.backend import MNN, MNNEngine
from assay.backends.ncnn.backend import Ncnn, NcnnEngine
from assay.backends.onnx_reference import Reference, ReferenceEngine
from assay.backends.onnxruntime.backend import OnnxRuntime
from assay.backends.onnxruntime.engine import OnnxRuntimeEngine
from assay.backends.onnxruntime.genai import OnnxRuntimeGenai
from assay.backends.onnxruntime.qnn import OnnxRuntimeQnn
from assay.backends.openvino.backend import OpenVINO, OpenVINOEngine
from assay.backends.openvino.genai import OpenVinoGenai
from assay.backends.tensorrt.backend import TensorRT
from assay.backends.tensorrt.loaded_engine import TensorRTEngine
from assay.backends.tensorrt.trtexec_backend import Trtexec
from assay.backends.tensorrt.trtexec_engine import TrtexecEngine
from assay.backends.torch.backend import Torch
from assay.backends.torch.engine import TorchEngine
from assay.backends.transformers import Transformers
from assay.backends.tvm.backend import TVM
from assay.backends.tvm.engine import TVMEngine
from assay.mutation.transform import Mutant
from assay.suites.edge import EdgeCases
from assay.suites.folder import Folder
from assay.suites.gradients import Gradients
from assay.suites.mined_operators import Mined
from assay.suites.models import Models
from assay.suites.onnx_functions import OnnxFunctions
from assay.suites.onnx_node import OnnxNode
from assay.suites.operators import Operators
from assay.suites.regressions import Regressions
from assay.testing.faulty_backend import Faulty, FaultyEngine
from assay.testing.miscompiler import Miscompiler
from assay.transforms.coreml_int8 import CoremlInt8
from assay.transforms.fp16 import Float16
from assay.transforms.int8_dynamic import Int8Dynamic
from assay.transforms.int8_nncf import Int8Nncf
from assay.transforms.int8_qdq import Int8Qdq
from assay.transforms.opset import Opset
from assay.transforms.vulkan_int8 import VulkanInt8
from assay.transforms.xnnpack_int8 import XnnpackInt8

BACKENDS: list[type[ports.Backend]] = [
    ExecuTorch, ExportedDecoder, Faulty, IREE, LiteRt, LlamaCpp, MNN, Miscompiler, Ncnn, OnnxRuntime, OnnxRuntimeGenai, OnnxRuntimeQnn,
    OpenVINO, OpenVinoGenai,
    PromptEndpoint, Reference, TVM, TensorEndpoint, TensorRT, Torch, Transformers, Trtexec,
]  # fmt: skip
DYNAMIC: list[type[ports.Dynamic]] = [
    ExecuTorch, ExportedDecoder, Faulty, IREE, LiteRt, LlamaCpp, MNN, Miscompiler, Ncnn, OnnxRuntime, OnnxRuntimeGenai, OnnxRuntimeQnn,
    OpenVINO, OpenVinoGenai,
    PromptEndpoint, Reference, TVM, TensorEndpoint, TensorRT, Torch, Transformers, Trtexec,
]  # fmt: skip
SIZED: list[type[ports.BuiltForSizes]] = [ExecuTorch, LiteRt, Ncnn, OnnxRuntimeQnn, TensorRT, Trtexec]
NAMED: list[type[ports.NamesLibrary]] = [
    ExportedDecoder,
    OnnxRuntimeGenai,
    OnnxRuntimeQnn,
    OpenVinoGenai,
    Transformers,
    Trtexec,
]
PLATFORMS: list[type[ports.NamesPlatforms]] = [ExecuTorch, IREE]
INTEGERS: list[type[ports.DeclaresIntegers]] = [Ncnn]
SHIPPING: list[type[ports.ShipsEnvironment]] = [ExecuTorch, LiteRt, LlamaCpp, OnnxRuntimeQnn]
FORKABLE: list[type[ports.Forkable]] = [ExecuTorch, MNN, Ncnn, TVM]
LESS: list[type[ports.LoadsWithLess]] = [ExecuTorch]
SWITCHING: list[type[ports.SwitchesPasses]] = [ExecuTorch, Miscompiler, OnnxRuntime, TVM]
EACH_PASS: list[type[ports.ShowsEachPass]] = [IREE, OpenVINO, Torch]
SAVED: list[type[ports.ShowsSavedUse]] = [OnnxRuntime, OpenVINO]
PLAIN: list[type[ports.ShowsPlainUse]] = [ExecuTorch, IREE, MNN, Ncnn, OnnxRuntime, OpenVINO, TVM, Torch]

ENGINES: list[type[ports.Engine]] = [
    DecodingEngine, ExecuTorchEngine, FaultyEngine, IREEEngine, LiteRtEngine, MNNEngine, NcnnEngine, OnnxRuntimeEngine, OpenVINOEngine,
    ReferenceEngine, TVMEngine, TensorRTEngine, TorchEngine, TrtexecEngine,
]  # fmt: skip
BINDING: list[type[ports.SupportsBind]] = [OnnxRuntimeEngine, OpenVINOEngine]
DEVICE_TIMED: list[type[ports.DeviceTimed]] = [FaultyEngine, TVMEngine, TensorRTEngine, TorchEngine]
SELF_TIMED: list[type[ports.SelfTimed]] = [TrtexecEngine]
PROFILING: list[type[ports.ProfilesOperators]] = [OnnxRuntimeEngine, OpenVINOEngine, TrtexecEngine]
TRACED: list[type[ports.Traced]] = [
    ExecuTorchEngine, IREEEngine, LiteRtEngine, MNNEngine, NcnnEngine, OnnxRuntimeEngine, OpenVINOEngine, TVMEngine, TorchEngine,
    TrtexecEngine,
]  # fmt: skip

TRANSFORMS: list[type[ports.Transform]] = [
    CoremlInt8, Float16, Int8Dynamic, Int8Nncf, Int8Qdq, Mutant, Opset, VulkanInt8, XnnpackInt8,
]  # fmt: skip
ARGUED: list[type[ports.HasArguments]] = [CoremlInt8, Int8Nncf, Int8Qdq, VulkanInt8, XnnpackInt8]
PARTLY: list[type[ports.PartlyCalibrated]] = [CoremlInt8, VulkanInt8, XnnpackInt8]

SUITES: list[type[ports.Suite]] = [
    EdgeCases, Folder, Gradients, Mined, Models, OnnxFunctions, OnnxNode, Operators, Regressions,
]  # fmt: skip
JUDGING: list[type[ports.JudgesMissingFiles]] = [Folder]
VARIANTS: ports.HasVariants = Models
COUNTED: list[type[ports.CountedApart]] = [Folder, Mined, Models]


def _kinds(group: str) -> set[Any]:
    kinds = {plugins.load(group, name) for name in plugins.names(group)}
    return {kind for kind in kinds if kind.__module__.startswith("assay.")}


@pytest.mark.parametrize(
    ("group", "table"), [("assay.backends", BACKENDS), ("assay.transforms", TRANSFORMS), ("assay.suites", SUITES)]
)
def test_every_plugin_of_ours_is_read(group: str, table: list[type]) -> None:
    assert _kinds(group) <= set(table)


@pytest.mark.parametrize(
    ("ability", "table", "of"),
    [
        (ports.Dynamic, DYNAMIC, BACKENDS),
        (ports.BuiltForSizes, SIZED, BACKENDS),
        (ports.NamesLibrary, NAMED, BACKENDS),
        (ports.NamesPlatforms, PLATFORMS, BACKENDS),
        (ports.DeclaresIntegers, INTEGERS, BACKENDS),
        (ports.ShipsEnvironment, SHIPPING, BACKENDS),
        (ports.Forkable, FORKABLE, BACKENDS),
        (ports.LoadsWithLess, LESS, BACKENDS),
        (ports.SwitchesPasses, SWITCHING, BACKENDS),
        (ports.ShowsEachPass, EACH_PASS, BACKENDS),
        (ports.ShowsPlainUse, PLAIN, BACKENDS),
        (ports.ShowsSavedUse, SAVED, BACKENDS),
        (ports.SupportsBind, BINDING, ENGINES),
        (ports.DeviceTimed, DEVICE_TIMED, ENGINES),
        (ports.SelfTimed, SELF_TIMED, ENGINES),
        (ports.ProfilesOperators, PROFILING, ENGINES),
        (ports.Traced, TRACED, ENGINES),
        (ports.PartlyCalibrated, PARTLY, TRANSFORMS),
        (ports.HasArguments, ARGUED, TRANSFORMS),
        (ports.JudgesMissingFiles, JUDGING, SUITES),
    ],
)
def test_every_ability_of_ours_is_read(ability: type, table: list[type], of: list[type]) -> None:
    # A class has the members of its instances here: none of them is set by a constructor.
    assert {kind for kind in of if isinstance(kind, ability)} == set(table)
