"""`pytestmark = pytest.mark.usefixtures("warm_workers")`: the commands of a file have warm workers (see `warm_workers.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import pytest

from assay.launch import pool
from assay.launch.idle import IdleWorkers
from warm_workers import supervisor


@pytest.fixture(scope="module")
def warm_workers() -> Iterator[None]:
    """For tests of what workers answer, not of how they start or which of them answers."""
    with (
        patch.object(pool, "Supervisor", supervisor),
        # The first worker would import while the command does: all that has been imported here.
        patch.object(IdleWorkers, "start_numpy", lambda self: None),
    ):
        yield
