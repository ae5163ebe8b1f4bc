"""Each transform under the check that a third party's must pass, with the real library."""

from __future__ import annotations

import pytest

from assay import plugins
from assay.testing.transform_checks import check_transform
from assay.transforms.xnnpack_int8 import XnnpackInt8

ARGUMENTS = {
    "fp16": ("", "io"),
    "int8-qdq": ("", "per-tensor", "per-channel", "per-channel-symmetric"),
    "int8-dynamic": ("",),
    "int8-nncf": ("", "mixed"),
    "opset": ("21",),
    "xnnpack-int8": XnnpackInt8.arguments,
    "vulkan-int8": ("",),
    "coreml-int8": ("",),
}


@pytest.mark.filterwarnings("ignore")  # the libraries' own, about themselves
@pytest.mark.parametrize("name", ARGUMENTS)
def test_conformance(name: str) -> None:
    check_transform(plugins.load(plugins.TRANSFORMS, name)(), arguments=ARGUMENTS[name])


def test_none_is_forgotten() -> None:
    assert set(plugins.names(plugins.TRANSFORMS)) - {"mutant"} == set(ARGUMENTS)
