"""Machine code of instructions that this processor lacks is told by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.backends.cpu_features import check_processor
from assay.errors import NotRunnable

_FLAGS = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")]
pytestmark = pytest.mark.skipif(not _FLAGS, reason="the system does not tell what an x86 processor has")


def test_instructions_that_are_not_here() -> None:
    with pytest.raises(NotRunnable) as caught:
        check_processor("iree", ["sse4.2", "avx9-dreams", "avx8", "tuning-of-dreams", "shstk"])
    assert str(caught.value) == (
        "the saved iree engine is built for another processor: this one has no avx8, avx9-dreams; "
        "lower the model again with cpu=host, or run it where these are"
    )


def test_what_linux_tells_is_found_under_the_names_of_llvm() -> None:
    flags = _FLAGS[0].split(":")[1].split()
    names = [name.replace("sse4_", "sse4.").replace("avx512_", "avx512").replace("amx_", "amx-") for name in flags]
    check_processor("tvm", names)


def test_what_linux_has_no_name_for_is_not_missed() -> None:
    """LLVM's features of graniterapids and sierraforest: engines that were just built there were taken for a third party's."""
    hidden = ["amx-complex", "amx-fp16", "avx10.1-512", "avxifma", "avxneconvert", "avxvnniint8", "avxvnniint16"]
    check_processor("tvm", hidden)
