"""The torch backend under the conformance check of its port, compilers included."""

from __future__ import annotations

from assay.backends.torch import Torch
from assay.testing.backend_checks import check_backend


def test_conforms() -> None:
    check_backend(Torch())
