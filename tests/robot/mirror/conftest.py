"""A zoo's repository, and the mirror of it that the robot keeps."""

from __future__ import annotations

from pathlib import Path

import pytest
from repositories import make_zoo

from assay_zoo.robot.mirror import Mirror


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    return make_zoo(tmp_path / "zoo.git")


@pytest.fixture
def mirror(zoo: Path, tmp_path: Path) -> Mirror:
    return Mirror(tmp_path / "mirror.git", str(zoo))
