"""Commands of these tests have warm workers, which have imported what nearly all need."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", autouse=True)
def _warm_workers(warm_workers: None) -> None:
    """Those of `conftest.py` above: how a worker starts is tested in `tests/ports/launch`, and by the commands that are processes."""
