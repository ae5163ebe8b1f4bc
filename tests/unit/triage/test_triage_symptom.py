"""The same failure, or another one."""

from __future__ import annotations

import pytest

from assay.triage.symptom import Symptom


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (Symptom("values", "y", 0.02), True),
        (Symptom("values", "y", 0.9), False),
        (Symptom("values", "y", 1e-4), False),
        (Symptom("range", "y", 0.01), False),
        (None, False),
    ],
)
def test_a_failure_keeps_its_kind_and_the_class_of_its_size(other: Symptom | None, same: bool) -> None:
    assert Symptom("values", "y", 0.01).is_like(other) is same


def test_a_crash_is_told_from_another_by_its_signal() -> None:
    assert Symptom("crash SIGSEGV").is_like(Symptom("crash SIGSEGV"))
    assert not Symptom("crash SIGSEGV").is_like(Symptom("crash SIGABRT"))
