"""Cases that never end by themselves: how long they are waited for, and that being stopped is what is expected of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

import msgspec

from assay.core.case import Case
from assay.core.flow import Flow
from assay.core.limits import Limits
from assay.core.outcome import Outcome
from assay.core.policy import Expectation, Policy


def limits_of(case: Case, limits: Limits) -> Limits:
    """A case that never ends is not waited for longer than it says."""
    own = case.misuse.limit_s if case.misuse is not None else 0.0
    return msgspec.structs.replace(limits, timeout_s=min(own or math.inf, limits.timeout_s))


def endless(cases: Iterable[Case]) -> list[str]:
    """The names of those that never end."""
    return [case.name for case in cases if case.misuse is not None and case.misuse.expects == Outcome.TIMEOUT.value]


def of_files(policy: Policy, names: Collection[str]) -> Policy:
    """The policy without what is expected of these endless cases, which the cases of a run bring themselves."""
    return msgspec.structs.replace(
        policy, expectations=tuple(expectation for expectation in policy.expectations if expectation.case not in names)
    )


def with_expected_timeouts(policy: Policy, cases: Sequence[Case], flows: Sequence[Flow]) -> Policy:
    """The policy, and what the cases themselves say of how they end: a model that never ends is stopped in time, or the
    flow refuses it."""
    known = {(expectation.case, expectation.flow) for expectation in policy.expectations}
    why = "the model never ends: it must be stopped in time"
    expectations = [
        Expectation(name, flow.name, "timeout", why, strict=False)
        for name in endless(cases)
        for flow in flows
        if (name, flow.name) not in known
    ]
    return msgspec.structs.replace(policy, expectations=(*policy.expectations, *expectations))
