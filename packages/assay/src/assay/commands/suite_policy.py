"""What a run of suites is judged by: its policy, and the outcomes that are expected of its flows."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from assay.config.assay_toml import FREE_TO_DELEGATE, load_policy
from assay.core.job_base import FlowJob
from assay.core.policy import Policy
from assay.core.run import Run
from assay.core.verdict import VerdictStatus
from assay.errors import UsageError
from assay.judge.outcome_table import OUTCOMES, REFUSALS
from assay.options.arguments import given_arguments
from assay.options.run import RunOptions
from assay.pipeline.adapters import Services
from assay.pipeline.open_run import Checked, judge_run
from assay.pipeline.suite_cases.expected_timeouts import with_expected_timeouts
from assay.pipeline.suite_cases.known_outcomes import SHIPPED, expectations, expectations_folder


class JudgedBy(Protocol):
    """The options that say by what."""

    @property
    def policy(self) -> str: ...
    @property
    def expectations(self) -> str: ...
    @property
    def skip_unavailable(self) -> bool: ...


def suite_policy(options: JudgedBy, flows: Sequence[str], suites: Sequence[str]) -> Policy:
    """As its files are now. Raises BadPolicy, and UsageError for a folder that is named and not there."""
    folder = expectations_folder(options.expectations)
    if options.expectations != RunOptions().expectations and not folder.is_dir():
        raise UsageError(
            f"there is no folder {folder}: --expectations names that of the expected outcomes, or '{SHIPPED}' for those that come "
            "with Assay"
        )
    policy = load_policy(options.policy or FREE_TO_DELEGATE)
    known = expectations(folder, flows, suites)
    refused = []
    if folder.is_dir():  # What is known to be refused stands there: whatever else is, is new.
        refused = [outcome.value for outcome in OUTCOMES if outcome in REFUSALS and outcome.value not in policy.pass_on]
    missing = [] if options.skip_unavailable else ["unavailable"]
    failing = tuple(dict.fromkeys((*policy.fail_on, *missing, *refused)))
    return replace(policy, expectations=(*policy.expectations, *known), fail_on=failing)


def with_known_failures(checked: Checked, services: Services, options: RunOptions) -> Checked:
    """With that line as a note."""
    return dataclasses.replace(checked, notes=(*checked.notes, *known_failures(checked, services, options)))


def known_failures(checked: Checked, services: Services, options: RunOptions) -> tuple[str, ...]:
    """A line about the jobs that fail here although the outcomes that come with Assay name them, where nobody has named a folder."""
    failing = {
        verdict.job_key
        for verdict in checked.judgement.verdicts
        if verdict.word is VerdictStatus.FAIL and verdict.job_key
    }
    if not failing or options.expectations != RunOptions().expectations or Path(options.expectations).is_dir():
        return ()
    jobs = {job.key: job for job in checked.run.jobs if isinstance(job, FlowJob)}
    flows = list(dict.fromkeys(jobs[key].flow.name for key in failing if key in jobs))
    suites = list(dict.fromkeys(jobs[key].case.name.partition("/")[0] for key in failing if key in jobs))
    policy = replace(checked.run.policy, expectations=expectations(expectations_folder(SHIPPED), flows, suites))
    judged = judge_run(replace(checked.run, policy=policy), checked.results, services)
    known = failing & {verdict.job_key for verdict in judged.verdicts if verdict.word is VerdictStatus.XFAIL}
    if not known:
        return ()
    verb = "is" if len(known) == 1 else "are"
    return (
        f"note: {len(known)} of the {len(failing)} that failed {verb} known of these flows; --expectations {SHIPPED} "
        "takes the known outcomes that come with Assay, with their reasons",
    )


def policy_now(run: Run, policy: str | None, expected: str | None) -> Policy | None:
    """Of a saved run, by files as they are now: what is None is read from where its own command says. None where both are: it has its
    own policy."""
    if policy is None and expected is None:
        return None
    arguments = given_arguments(RunOptions, shlex.split(run.command))
    own = {name: arguments[name][-1] for name in ("policy", "expectations") if arguments.get(name)}
    options = RunOptions(
        policy=policy or own.get("policy", ""),
        expectations=expected or own.get("expectations", RunOptions().expectations),
        skip_unavailable="skip_unavailable" in arguments,
    )
    if run.policy.expectations and not expectations_folder(options.expectations).is_dir():
        raise UsageError(
            f"the expected outcomes of {options.expectations} that these shards were run with are not here: "
            "name their folder with --expectations"
        )
    jobs = [job for job in run.jobs if isinstance(job, FlowJob)]
    flows = list({job.flow.name: job.flow for job in jobs}.values())
    suites = dict.fromkeys(job.case.name.partition("/")[0] for job in run.jobs)
    policy_there = suite_policy(options, [flow.name for flow in flows], list(suites))
    return with_expected_timeouts(policy_there, list({job.case.name: job.case for job in jobs}.values()), flows)
