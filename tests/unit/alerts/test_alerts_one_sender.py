"""Alerts of the gate, of fuzzing, of the dashboard and of the robot leave by one module."""

from __future__ import annotations

import re
from pathlib import Path

PACKAGES = Path(__file__).parents[3] / "packages"
SENDERS = re.compile(r"^\s*(?:import|from) (?:apprise|smtplib|email\.message)\b", re.MULTILINE)


def test_one_module_sends_alerts() -> None:
    sources = [*PACKAGES.glob("*/src/**/*.py")]
    assert len(sources) > 1000
    senders = [path for path in sources if SENDERS.search(path.read_text(encoding="utf-8"))]
    assert [str(path.relative_to(PACKAGES)) for path in senders] == ["assay/src/assay/alerts/send.py"]
