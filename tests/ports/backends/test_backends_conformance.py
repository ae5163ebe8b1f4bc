"""Every backend of ours under the conformance check of its port."""

from __future__ import annotations

import pytest

from assay.backends.onnx_reference import Reference
from assay.backends.onnxruntime.backend import OnnxRuntime
from assay.backends.openvino.backend import OpenVINO
from assay.ports import Backend
from assay.testing.backend_checks import check_backend
from assay.testing.faulty_backend import Faulty


@pytest.mark.parametrize("kind", [OnnxRuntime, OpenVINO, Reference, Faulty])
def test_conforms(kind: type[Backend]) -> None:
    check_backend(kind())
