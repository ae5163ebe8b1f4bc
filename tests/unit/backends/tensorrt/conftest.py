"""Device memory that is the host's, compiled from the few calls of libcudart that are made."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from generated_tensorrt import VERSIONS

from assay.backends.cuda import Cuda


@pytest.fixture(scope="session")
def cudart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("cudart") / "libcudart.so"
    source = Path(__file__).parent / "cudart.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    return library


@pytest.fixture
def device(cudart: Path) -> Iterator[Cuda]:
    """Nothing may be left allocated."""
    live = ctypes.CDLL(str(cudart)).live_allocations
    before = live()
    yield Cuda(str(cudart))
    assert live() == before


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)
