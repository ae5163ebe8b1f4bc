"""Judge recorded results again, under another policy: nothing runs."""

from __future__ import annotations

from msgspec.structs import replace

from assay.core.policy import Policy
from assay.pipeline.open_run import Checked, judge_run
from assay.pipeline.services import Services


def rejudge(run_id: str, policy: Policy | None, house: Services) -> Checked:
    """`policy` None: the one the run was made with. The history keeps the original words."""
    run = house.store.run(run_id)
    run = replace(run, status=house.standing(run.id, run.status), policy=policy or run.policy)
    results = house.store.results(run.id)
    return Checked(run, tuple(results), judge_run(run, results, house))
