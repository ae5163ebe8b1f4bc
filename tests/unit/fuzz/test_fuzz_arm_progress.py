"""A case that ends its worker takes nothing with it: those before it are screened once more, without it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.fuzz.arm_progress import end_of, ended, screened
from assay.fuzz.corpus import Arm

ARM = Arm("sweep", 1, "flow", next=10, cases=10)


def test_cases_before_one_that_ended_its_worker_are_screened_again() -> None:
    after = ended(ARM, 14)
    assert (after.next, after.cases, end_of(after, 1000)) == (10, 10, 14)
    part = screened(after, 12)
    assert (part.next, part.cases, end_of(part, 1000)) == (12, 12, 14)
    whole = screened(part, 14)
    assert (whole.next, whole.cases, end_of(whole, 1000)) == (15, 15, 1000)


def test_the_first_one_is_left_behind_at_once() -> None:
    after = ended(Arm("sweep", 1, "flow"), 0)
    assert (after.next, after.cases, end_of(after, 1000)) == (1, 1, 1000)


def test_a_later_case_that_ended_a_worker_is_left_out_when_another_ends_one_before() -> None:
    after = ended(ended(ARM, 14), 10)
    assert (after.next, after.cases, end_of(after, 1000)) == (11, 11, 14)
    side_by_side = ended(ended(ARM, 11), 10)
    assert (side_by_side.next, side_by_side.cases, end_of(side_by_side, 1000)) == (12, 12, 1000)


@given(deadly=st.sets(st.integers(0, 40)), batch=st.integers(1, 30))
def test_every_other_case_is_screened_once(deadly: set[int], batch: int) -> None:
    arm, seen = Arm("sweep", 1, "flow"), list[int]()
    while arm.next <= 40:
        cases = range(arm.next, min(end_of(arm, 41), arm.next + batch))
        dead = next((case for case in cases if case in deadly), None)
        if dead is None:
            seen += cases
        arm = screened(arm, cases.stop) if dead is None else ended(arm, dead)
    assert seen == [number for number in range(41) if number not in deadly]
    assert arm.cases == arm.next == 41
