"""The torch backend under the conformance check of its port, compilers included."""

from __future__ import annotations

import pytest

from assay.backends.torch.backend import Torch
from assay.testing.backend_checks import check_backend


def test_conforms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without what compiles ahead of time, a minute of it: that is under `test_every_flow_conforms`."""
    quick = tuple(flow for flow in Torch.flows if flow.options.get("compiler") != "aot-inductor")
    assert len(quick) < len(Torch.flows)
    monkeypatch.setattr(Torch, "flows", quick)
    check_backend(Torch())


@pytest.mark.slow
def test_every_flow_conforms() -> None:
    check_backend(Torch())
