"""What each library's own words become: a code, the node, how many. The lines are what the libraries wrote."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.backends.iree import warnings as iree_warnings
from assay.backends.litert import warnings as litert_warnings
from assay.backends.onnxruntime import warnings as onnxruntime_warnings
from assay.backends.openvino import warnings as openvino_warnings
from assay.backends.tensorrt import warnings as tensorrt_warnings
from assay.backends.torch import warnings as torch_warnings
from assay.backends.tvm import warnings as tvm_warnings
from assay.core.native_warning import NativeWarning, WarningCode

Read = Callable[[str], tuple[NativeWarning, ...]]
ORT = "\x1b[0;93m2026-11-26 04:43:37.52 [W:onnxruntime:, {place} f] {words}\x1b[m\n"


def _ort(place: str, words: str) -> str:
    return ORT.format(place=place, words=words)


@pytest.mark.parametrize(
    ("read", "text", "code", "node"),
    [
        (
            onnxruntime_warnings.read_warnings,
            _ort("graph.cc:5777", "Removing initializer 'spare'. It is not used by any node and should be removed."),
            WarningCode.INITIALIZER_DROPPED,
            "spare",
        ),
        (
            onnxruntime_warnings.read_warnings,
            _ort(
                "constant_folding.cc:588",
                "Could not find a CPU kernel and hence can't constant fold Erf node 'erf_const'",
            ),
            WarningCode.FUSION_SKIPPED,
            "erf_const",
        ),
        (
            onnxruntime_warnings.read_warnings,
            _ort(
                "session_state.cc:1263",
                "Some nodes were not assigned to the preferred execution providers which may ...",
            ),
            WarningCode.NODE_ON_CPU,
            "",
        ),
        (
            onnxruntime_warnings.read_warnings,
            "/lib/x.py:123: UserWarning: Specified provider 'CUDAExecutionProvider' is not in available provider names.",
            WarningCode.FALLBACK,
            "CUDAExecutionProvider",
        ),
        (
            torch_warnings.read_warnings,
            "/lib/lowering.py:2210: UserWarning: Torchinductor does not support code generation for complex operators. Performance ...",
            WarningCode.FALLBACK,
            "complex operators",
        ),
        (
            torch_warnings.read_warnings,
            "W1126 04:47:16.557000 14666 torch/_inductor/utils.py:1436] [0/0] Not enough SMs to use max_autotune_gemm mode",
            WarningCode.FUSION_SKIPPED,
            "max_autotune_gemm",
        ),
        (
            tvm_warnings.read_warnings,
            "[04:47:16] /src/runtime/x.cc:12: Warning: One or more operators have not been tuned.",
            WarningCode.FALLBACK,
            "",
        ),
        (
            tvm_warnings.read_warnings,
            "/lib/a folder/onnx_frontend.py:1016: UserWarning: Softmax opset<=12 fallback: falling back to axis-based softmax semantics.",
            WarningCode.FALLBACK,
            "",
        ),
        (
            torch_warnings.read_warnings,
            "WARNING:root:constant_prop_pass does not constant propagate in control flow modules",
            WarningCode.FUSION_SKIPPED,
            "",
        ),
        (
            torch_warnings.read_warnings,
            "WARNING:root:Node sin_1 with op aten.sin was not decomposed or delegated. It was asked for.",
            WarningCode.FALLBACK,
            "sin_1",
        ),
        (
            torch_warnings.read_warnings,
            "/lib/executorch/exir/emit/_emitter.py:1906: UserWarning: Mutation on a buffer in the model is detected. ExecuTorch assumes "
            "buffers that are mutated in the graph have a meaningless initial state, only the shape and dtype will be serialized, unless",
            WarningCode.INITIALIZER_DROPPED,
            "",
        ),
        (
            torch_warnings.read_warnings,
            "/lib/torchao/quantization/pt2e/utils.py:990: UserWarning: Not fusing linear+bn for node 'linear_1': the linear input is 3-D",
            WarningCode.FUSION_SKIPPED,
            "linear_1",
        ),
        (
            openvino_warnings.read_warnings,
            "WARNING:nncf:Rollback to RangeEstimatorParametersSet.MINMAX for the target point: 'a' as HistogramAggregator does not",
            WarningCode.FALLBACK,
            "",
        ),
        (iree_warnings.read_warnings, "m.mlir:4:2: warning: truncating f64 to f32", WarningCode.PRECISION_LOST, ""),
        (openvino_warnings.read_warnings, "[ WARNING ] This property is deprecated", WarningCode.DEPRECATED, ""),
        (
            litert_warnings.read_warnings,
            "W0000 00:00:17.12 34 cc.cc:12] failed to apply XNNPACK delegate",
            WarningCode.FALLBACK,
            "",
        ),
        (
            tensorrt_warnings.read_warnings,
            "[11/26/2026-04:47:16] [W] [TRT] Missing scale and zero-point for tensor conv1, expect fall back to non-int8 implementation",
            WarningCode.PRECISION_LOST,
            "",
        ),
        (
            tensorrt_warnings.read_warnings,
            "TensorRT: Your ONNX model has been generated with INT64 weights",
            WarningCode.PRECISION_LOST,
            "",
        ),
    ],
)
def test_words_become_a_code_and_a_node(read: Read, text: str, code: WarningCode, node: str) -> None:
    (warning,) = read(text)
    assert (warning.code, warning.node) == (code, node)
    assert warning.text
    assert "\x1b" not in warning.text


def test_what_assay_does_itself_or_the_machine_lacks_is_no_warning_of_the_model() -> None:
    text = _ort(
        "inference_session.cc:3240", "Serializing optimized model with Graph Optimization level greater than ..."
    )
    text += _ort("device_discovery.cc:164", "GPU device discovery failed: no such file")
    assert [warning.count for warning in onnxruntime_warnings.read_warnings(text)] == [0, 0]


@pytest.mark.parametrize("words", ["I tokenizers:regex.cpp:40] ", "I1126 04:47:16.557000 14666 torch/x.py:630] "])
def test_what_is_marked_as_information_is_no_warning_whatever_its_words(words: str) -> None:
    assert torch_warnings.read_warnings(words + "Registering override fallback regex") == ()


def test_copies_between_devices_are_counted() -> None:
    text = _ort(
        "transformer_memcpy.cc:74", "12 Memcpy nodes are added to the graph main_graph for CUDAExecutionProvider."
    )
    (warning,) = onnxruntime_warnings.read_warnings(text)
    assert (warning.code, warning.count) == (WarningCode.NODE_ON_CPU, 12)


def test_unknown_words_are_other_and_plain_output_is_nothing() -> None:
    (warning,) = onnxruntime_warnings.read_warnings(_ort("x.cc:1", "something new") + "a line that is printed\n")
    assert warning == NativeWarning(WarningCode.OTHER, "", "something new")
    assert onnxruntime_warnings.read_warnings("a line that is printed") == ()
