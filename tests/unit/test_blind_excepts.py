"""What catches every error names its reason where it stands: an error that is lost without one is a bug."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGES = Path(__file__).parents[2] / "packages"
BLIND = re.compile(r"noqa: BLE001(?P<caught>.*)$|suppress\((?:Base)?Exception\):(?P<suppressed>.*)$", re.MULTILINE)
WORDS = 3
"""Of a reason, at least. Ruff asks for the mark itself wherever an error is neither raised again nor logged."""


def unreasoned(text: str) -> list[str]:
    """What follows each such place, where it is no reason."""
    texts = (match["caught"] or match["suppressed"] or "" for match in BLIND.finditer(text))
    return [reason for reason in texts if len(re.findall(r"[a-z]+", reason)) < WORDS]


def test_every_blind_except_has_its_reason_beside_it() -> None:
    by_file = {path: unreasoned(path.read_text("utf-8")) for path in PACKAGES.glob("*/src/**/*.py")}
    assert len(by_file) > 1000
    assert [f"{path.relative_to(PACKAGES)}: {reasons}" for path, reasons in by_file.items() if reasons] == []


@pytest.mark.parametrize(
    ("line", "lacks"),
    [
        ("except Exception:  # noqa: BLE001", True),
        ("except Exception:  # noqa: BLE001  as above", True),
        ("except Exception:  # noqa: BLE001  the mutant may do anything", False),
        ("with suppress(Exception):", True),
        ("with contextlib.suppress(BaseException):  # the stream may be gone", False),
        ("with suppress(OSError):", False),
    ],
)
def test_a_line_without_a_reason_is_named(line: str, lacks: bool) -> None:
    assert bool(unreasoned(line)) is lacks
