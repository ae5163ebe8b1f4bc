"""What tests of launchers share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ray_cluster import RayNodes, ray_cluster


@pytest.fixture
def nodes() -> Iterator[RayNodes]:
    """A real Ray cluster of two nodes."""
    with ray_cluster() as addresses:
        yield addresses
