"""A case that the screen does not outlive ends no session; a backend that cannot be begun with does."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.outcome import Outcome
from assay.errors import UsageError
from assay.fuzz.corpus import Arm, Corpus, Session
from assay.fuzz.next_cases import screen_job
from assay.fuzz.session import Fuzzing

FLOW = Flow(name="flow", backend="engine")


@pytest.mark.parametrize("is_begun", [True, False])
def test_an_error_in_the_screen_leaves_its_case_out(tmp_path: Path, *, is_begun: bool) -> None:
    corpus, session, told = Corpus(tmp_path), Session(seed=7), list[str]()
    arm = Arm("sweep", 1, FLOW.name, next=4, cases=4)
    fuzzing = Fuzzing(corpus, session, [FLOW], cast(Any, None), told.append, (arm.name,), lambda: 0.0)
    job = screen_job(arm, FLOW, corpus, session, 4.0)
    if is_begun:
        Path(job.progress).write_text(f"{4:20d}")
    result = replace(empty_result(job), outcome=Outcome.ERROR, detail="InferenceError: out of bounds", seconds=1.0)
    if not is_begun:
        with pytest.raises(UsageError, match="flow cannot be fuzzed: error, InferenceError: out of bounds"):
            fuzzing._count(arm, job, result)
        return
    fuzzing._count(arm, job, result)
    assert told == ["sweep-1-7-4 on flow cannot be judged: InferenceError: out of bounds"]
    assert (session.arms[arm.name].next, session.counts) == (5, {arm.name: {"error": 1}})
