"""Classification on lines from public reports; the issue of each beside it."""

from __future__ import annotations

import pytest

from assay.backends.tensorrt.log_lines import Kind, Line, classify, failure, node_of, parse_log, remarks
from assay.errors import InvalidModel, Lowering, NotRunnable, Unsupported

_LINES = [
    # NVIDIA/TensorRT#2035
    (Kind.OPERATOR, "Error[10]: [optimizer.cpp::computeCosts::2011] Error Code 10: Internal Error (Could not find any "
                    "implementation for node {ForeignNode[onnx::Gather_72...ScatterND_170]}.)"),
    (Kind.TACTICS, "Skipping tactic 0 due to insuficient memory on requested size of 29147520 detected for tactic 0."),
    (Kind.INTERNAL, "Error[2]: [builder.cpp::buildSerializedNetwork::609] Error Code 2: Internal Error "
                    "(Assertion enginePtr != nullptr failed. )"),
    # ultralytics/ultralytics#14751
    (Kind.TACTICS, "Tactic Device request: 538MB Available: 166MB. Device memory is insufficient to use tactic."),
    # open-mmlab/mmdeploy#869
    (Kind.TACTICS, "Some tactics do not have sufficient workspace memory to run. Increasing workspace size may increase "
                   "performance, please check verbose output."),
    (Kind.LIBRARY, "TensorRT was linked against cuBLAS/cuBLAS LT 11.6.5 but loaded cuBLAS/cuBLAS LT 11.2.1"),
    # open-mmlab/mmdeploy#48
    (Kind.NARROWED, "onnx2trt_utils.cpp:366: Your ONNX model has been generated with INT64 weights, while TensorRT does not "
                    "natively support INT64. Attempting to cast down to INT32."),
    (Kind.NARROWED, "onnx2trt_utils.cpp:392: One or more weights outside the range of INT32 was clamped"),
    # NVIDIA/TensorRT#2176
    (Kind.STALE_PLAN, "The engine plan file is generated on an incompatible device, expecting compute 8.6 got compute 7.5, "
                      "please rebuild.4: [runtime.cpp::deserializeCudaEngine::50] Error Code 4: Internal Error (Engine "
                      "deserialization failed.)"),
    # wang-xinyu/tensorrtx#664
    (Kind.STALE_PLAN, "6: The engine plan file is not compatible with this version of TensorRT, expecting library version "
                      "8.0.0 got 8.0.1, please rebuild."),
    # NVIDIA/TensorRT#2756
    (Kind.OPERATOR, "No importer registered for op: GridSample. Attempting to import as plugin."),
    # NVIDIA/TensorRT#1775
    (Kind.OPERATOR, '[8] Assertion failed: creator && "Plugin not found, are the plugin name, version, and namespace correct?"'),
    # open-mmlab/mmdeploy#869
    (Kind.PLAIN, "[MemUsageChange] Init cuBLAS/cuBLASLt: CPU +383, GPU +160, now: CPU 1420, GPU 506 (MiB)"),
    (Kind.PLAIN, "Local timing cache in use. Profiling results in this builder pass will not be stored."),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), _LINES)
def test_lines(kind: Kind, text: str) -> None:
    assert classify(Line("ERROR", text)) is kind


_TRTEXEC = """[06/07/2022-19:05:53] [I] [TRT] Local timing cache in use.
[06/07/2022-19:05:53] [W] [TRT] Skipping tactic 0 due to insuficient memory on requested size of 29147520 detected for tactic 0.
[02/19/2022-21:14:43] [TRT] [E] 10: Could not find any implementation for node {ForeignNode[a...b]}.

&&&& FAILED TensorRT.trtexec [TensorRT v8205] # ./trtexec --onnx=debug.onnx"""


def test_stamps_of_trtexec_and_of_python() -> None:
    lines = parse_log(_TRTEXEC)
    assert [line.severity for line in lines] == ["INFO", "WARNING", "ERROR", "INFO"]
    assert lines[1].text.startswith("Skipping tactic 0")
    assert lines[2].text.startswith("10: Could not find")


def test_want_of_memory_is_told_from_want_of_an_operator() -> None:
    lines = parse_log(_TRTEXEC)
    error = failure(lines, "building")
    assert isinstance(error, MemoryError)
    assert "workspace_mib" in str(error)
    alone = failure([line for line in lines if "Skipping" not in line.text], "building")
    assert isinstance(alone, Unsupported)
    assert alone.node == "a"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("CUDA initialization failure with error: 35", NotRunnable),
        ("Requested amount of GPU memory (1073741824 bytes) could not be allocated.", MemoryError),
        (_LINES[9][1], InvalidModel),
        ("Network has dynamic or shape inputs, but no optimization profile has been defined.", Unsupported),
        ("Error Code 2: Internal Error (Assertion x failed. )", Lowering),
        ("words nobody has seen", Lowering),
    ],
)
def test_failures(text: str, kind: type[Exception]) -> None:
    assert type(failure([Line("ERROR", text)], "building")) is kind


def test_the_cause_weighs_more_than_what_follows_from_it() -> None:
    lines = [Line("ERROR", _LINES[2][1]), Line("ERROR", _LINES[8][1]), Line("INFO", "out of memory")]
    assert isinstance(failure(lines, "reading the plan"), InvalidModel)


def test_silence() -> None:
    assert "said nothing" in str(failure([Line("WARNING", "INT64 weights")], "building"))


@pytest.mark.parametrize(
    ("text", "node"),
    [
        (_LINES[0][1], "onnx::Gather_72"),
        (_LINES[10][1], "GridSample"),
        ('While parsing node number 70 [DCN -> "250"]:', "250"),
        ("nothing", ""),
    ],
)
def test_nodes(text: str, node: str) -> None:
    assert node_of(text) == node


def test_remarks_are_what_a_good_build_gave_up() -> None:
    lines = [Line("WARNING", text) for _, text in _LINES]
    assert remarks([*lines, *lines]) == tuple(text for kind, text in _LINES if kind in (Kind.LIBRARY, Kind.NARROWED))
