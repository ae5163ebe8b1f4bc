"""Flows with transforms: named after them, judged in their precision, and told where they contradict one another."""

from __future__ import annotations

import pytest

from assay.core.flow import Flow
from assay.errors import UnknownName
from assay.plugins import check_flow, contradiction, find_flow, is_calibrated, with_transforms


def test_a_plus_adds_a_transform() -> None:
    flow = find_flow("onnxruntime+int8-qdq:per-channel")
    assert (flow.transforms, flow.precision, flow.backend) == (("int8-qdq:per-channel",), "int8", "onnxruntime")
    assert flow.name == "onnxruntime+int8-qdq:per-channel"


def test_one_that_changes_no_type_comes_before_those_of_the_flow_that_do() -> None:
    assert find_flow("onnxruntime-fp16+opset:17").transforms == ("opset:17", "fp16")
    assert with_transforms(find_flow("onnxruntime"), ["fp16", "opset:17"]).transforms == ("fp16", "opset:17")
    own = Flow("own", "onnxruntime", transforms=("opset:17", "int8-qdq"))
    assert with_transforms(own, ["opset:18"]).transforms == ("opset:17", "opset:18", "int8-qdq")


def test_an_environment_stands_behind() -> None:
    flow = find_flow("onnxruntime+fp16@ort130")
    assert (flow.name, flow.environment, flow.transforms) == ("onnxruntime+fp16@ort130", "ort130", ("fp16",))
    added = with_transforms(find_flow("onnxruntime@ort130"), ["fp16"])
    assert (added.name, added.environment) == ("onnxruntime+fp16@ort130", "ort130")


def test_what_a_flow_has_already_is_not_done_twice() -> None:
    own = find_flow("onnxruntime-fp16")
    assert with_transforms(own, ["fp16"]) == own


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("onnxruntime+int8-qdp", "there is no transform 'int8-qdp'; perhaps you mean 'int8-qdq'"),
        ("onnxrunntime+fp16", "perhaps you mean 'onnxruntime'"),
    ],
)
def test_an_unknown_name_has_a_nearest(name: str, nearest: str) -> None:
    with pytest.raises(UnknownName) as caught:
        find_flow(name)
    assert nearest in str(caught.value)


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        (
            Flow("x", "onnxruntime", transforms=("fp16", "int8-dynamic")),
            "flow 'x': transforms fp16 and int8-dynamic both decide the precision; keep one of them",
        ),
        (
            Flow("x", "openvino", options={"precision": "bfloat16"}, transforms=("int8-nncf",), precision="bfloat16"),
            "flow 'x': option precision=bfloat16 and transform int8-nncf contradict each other; keep one of them",
        ),
    ],
)
def test_contradictions_are_one_sentence(flow: Flow, message: str) -> None:
    assert contradiction(flow) == message
    assert check_flow(flow) == flow


def test_a_transform_of_another_form_than_the_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.backends.onnxruntime.backend import OnnxRuntime

    monkeypatch.setattr(OnnxRuntime, "accepts", "torch")
    assert contradiction(Flow("x", "onnxruntime", transforms=("int8-qdq",))) == (
        "flow 'x': transform int8-qdq rewrites onnx models and backend onnxruntime reads torch models; "
        "choose a transform of that form"
    )
    assert contradiction(Flow("x", "onnxruntime", transforms=("opset:17",))) == ""


def test_a_precision_that_the_user_declared_stays() -> None:
    assert check_flow(Flow("x", "onnxruntime", transforms=("int8-qdq",), precision="bfloat16")).precision == "bfloat16"


@pytest.mark.parametrize(
    ("argument", "needs"),
    [("int8-qdq", True), ("int8-dynamic", False), ("xnnpack-int8", True), ("xnnpack-int8:dynamic-per-channel", False)],
)
def test_the_argument_too_decides_whether_samples_are_needed(argument: str, needs: bool) -> None:
    assert is_calibrated(argument) is needs
