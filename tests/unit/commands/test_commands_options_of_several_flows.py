"""One `--option` for several flows: whoever does not take it is told so in its own outcome, and the others go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.commands.run import find_flows
from assay.core.flow import Flow, Option
from assay.errors import UsageError
from assay.pipeline.threads import with_threads_each
from assay.plugins import find_flow
from assay.ports import Backend
from assay.testing.builders import make_flow


def _lowered(flow: Flow) -> str:
    from assay import plugins

    backend: Backend = plugins.load(plugins.BACKENDS, flow.backend)()
    with pytest.raises(UsageError) as caught:
        backend.lower(Path("never-opened.onnx"), flow)
    return str(caught.value)


def test_a_name_that_one_backend_does_not_have() -> None:
    takes, lacks = find_flows(["onnxruntime", "reference"], {"optimization": "basic"})
    assert takes.options["optimization"] == "basic"
    assert 'backend "reference" has no option "optimization"' in _lowered(lacks)


def test_a_value_that_one_backend_does_not_take() -> None:
    takes, lacks = find_flows(["reference", "openvino-f32"], {"precision": "float64"})
    assert takes.options["precision"] == "float64"
    assert 'option "precision" cannot be' in _lowered(lacks)


def test_a_flow_stays_on_its_device_where_its_backend_has_no_such_option() -> None:
    takes, lacks = find_flows(["torch-eager", "onnxruntime"], {"device": "cuda"})
    assert (takes.device, lacks.device) == ("cuda", "cpu")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"optimisation": "all"}, "perhaps you mean 'optimization'"),
        ({"optimization": "fast"}, "is one of"),
        ({"threads": 2.5}, "is int, not 2.5"),
    ],
)
def test_what_no_flow_takes_refuses_the_command(options: dict[str, Option], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find_flows(["onnxruntime", "reference"], options)


def test_threads_that_one_backend_does_not_have() -> None:
    flows = with_threads_each([find_flow("onnxruntime"), find_flow("reference")], 2)
    assert flows["onnxruntime"].options["threads"] == 2
    assert 'backend "reference" has no option "threads"' in _lowered(flows["reference"])


def test_threads_that_no_backend_has() -> None:
    with pytest.raises(UsageError, match="has no option 'threads'"):
        with_threads_each([make_flow("reference", backend="reference")], 2)
