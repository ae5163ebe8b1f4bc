"""A robot that serves from a configuration."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from fake_gitlab import TOKEN
from live_server import serving

from assay_zoo.robot.app import app_of
from assay_zoo.robot.config import load_robot
from assay_zoo.robot.service import Service

OPERATOR = "operator-token-0123456789"


PATIENT = "retry_s = 0\nattempts = 2\n"


def robot_toml(folder: Path, source: str = "[git]\npoll_s = 0.2\n", more: str = "") -> Path:
    (folder / "token").write_text(TOKEN)
    (folder / "operator").write_text(OPERATOR)
    path = folder / "robot.toml"
    path.write_text(
        f'public_url = "https://zoo.example"\nsandbox = "optional"\n{more}[zoo]\nrepository = "zoo.git"\n{source}'
        f'[operator]\ntoken = {{ file = "operator" }}\n[limits]\n{PATIENT}'
    )
    return path


@contextmanager
def robot(config: Path) -> Iterator[tuple[Service, httpx.Client]]:
    service = Service(load_robot(config))
    with serving(app_of(service)) as address, httpx.Client(base_url=address, timeout=300) as client:
        yield service, client
