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


def test_what_was_never_written_is_the_same_failure_whatever_it_is_taken_for() -> None:
    garbage = Symptom("values", "y", 0.01, unstable=True)
    assert garbage.is_like(Symptom("values", "y", 1e30))
    assert garbage.is_like(Symptom("nan", "y"))
    assert not garbage.is_like(Symptom("shape", "y"))
    assert not Symptom("values", "y", 0.01).is_like(Symptom("nan", "y"))


def test_a_crash_is_told_from_another_by_its_signal() -> None:
    assert Symptom("crash SIGSEGV").is_like(Symptom("crash SIGSEGV"))
    assert not Symptom("crash SIGSEGV").is_like(Symptom("crash SIGABRT"))
