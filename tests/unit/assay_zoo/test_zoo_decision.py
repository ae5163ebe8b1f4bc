"""The decision as a pure function: what may never happen, whatever the checks say."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from assay_zoo.check import EXECUTING, GROUPS, Check, CheckOutcome
from assay_zoo.decision import Answer, decide
from assay_zoo.policy import Rules

CHECKS = st.lists(
    st.builds(
        Check,
        name=st.sampled_from(GROUPS).map(lambda group: f"{group}.x"),
        outcome=st.sampled_from(CheckOutcome),
        sentence=st.sampled_from(["one", "two"]),
        executed=st.integers(0, 2),
    ),
    max_size=12,
)
RULES = st.builds(
    Rules,
    required=st.lists(st.sampled_from(EXECUTING), unique=True).map(tuple),
    person=st.lists(st.sampled_from(GROUPS), unique=True).map(tuple),
    human=st.booleans(),
)
GOOD = (CheckOutcome.PASSED, CheckOutcome.WAIVED)


@given(CHECKS, RULES)
def test_only_a_failure_declines(checks: list[Check], rules: Rules) -> None:
    decision = decide(checks, rules)
    failed = [check for check in checks if check.outcome is CheckOutcome.FAILED and check.group not in rules.person]
    assert (decision.answer is Answer.DECLINE) == bool(failed)


@given(CHECKS, RULES)
def test_infrastructure_alone_never_declines_and_never_promotes(checks: list[Check], rules: Rules) -> None:
    without = [check for check in checks if check.outcome is not CheckOutcome.FAILED]
    broken = Check(name="accuracy.x", outcome=CheckOutcome.INFRASTRUCTURE, sentence="the machine failed")
    assert decide([*without, broken], rules).answer is Answer.RETRY


@given(CHECKS)
def test_nothing_executed_never_promotes(checks: list[Check]) -> None:
    for group in EXECUTING:
        idle = [msgspec.structs.replace(check, executed=0) if check.group == group else check for check in checks]
        assert decide(idle).answer is not Answer.PROMOTE


@given(CHECKS, RULES)
def test_a_promotion_has_nothing_against_it(checks: list[Check], rules: Rules) -> None:
    if decide(checks, rules).answer is Answer.PROMOTE:
        assert not rules.human
        assert not {check.outcome for check in checks} - {*GOOD, CheckOutcome.SKIPPED}
        skipped = sum(check.outcome is CheckOutcome.SKIPPED for check in checks)
        assert decide(checks, rules).reasons[0].startswith(f"{len(checks) - skipped} checks passed")
        for group in rules.required:
            assert any(check.group == group and check.executed and check.outcome in GOOD for check in checks)


@given(CHECKS, RULES)
def test_there_is_always_a_reason_and_the_order_of_the_checks_does_not_matter(
    checks: list[Check], rules: Rules
) -> None:
    decision, again = decide(checks, rules), decide(checks[::-1], rules)
    assert decision.reasons
    assert decision.answer is again.answer
    assert sorted(decision.reasons) == sorted(again.reasons)
