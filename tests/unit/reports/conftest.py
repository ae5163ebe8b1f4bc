"""Texts a user meets, kept as files under tests/messages/reports; ASSAY_UPDATE_TEXTS=1 writes them again."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

MESSAGES = Path(__file__).parents[2] / "messages" / "reports"


@pytest.fixture
def same_text() -> Callable[[str, str], None]:
    def check(name: str, text: str) -> None:
        path = MESSAGES / name
        if os.environ.get("ASSAY_UPDATE_TEXTS") == "1":
            path.write_text(text, encoding="utf-8", newline="")
        assert path.exists(), f"{name} is missing: run again with ASSAY_UPDATE_TEXTS=1 and read what it wrote"
        assert text == path.read_bytes().decode("utf-8")

    return check
