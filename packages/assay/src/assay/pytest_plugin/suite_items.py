"""Cases of suites as items of pytest: made and run in batches behind the wall, judged one by one."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay import plugins
from assay.commands.composition import open_services
from assay.commands.recycling import SUITE_RECYCLE
from assay.commands.run import find_flows, find_suites
from assay.core.case import Case
from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.job_base import Job
from assay.core.limits import Limits
from assay.core.outcome import Outcome
from assay.core.policy import Policy
from assay.core.result import Result
from assay.core.verdict import Verdict, VerdictStatus
from assay.errors import UsageError
from assay.judge.verdicts import judge
from assay.judge.words.missing_text import missing_text
from assay.options.arguments import arguments_of
from assay.options.run import RunOptions
from assay.pipeline.adapters import Services
from assay.pipeline.check import by_case
from assay.pipeline.job_graph import Stage
from assay.pipeline.plan import reference_dir
from assay.pipeline.references.ensure_references import ensure_references
from assay.pipeline.run_suites import missing_case_result
from assay.pipeline.suite_cases.expected_timeouts import limits_of, with_expected_timeouts
from assay.pipeline.suite_cases.known_outcomes import expectations, expectations_folder
from assay.pipeline.suite_cases.suite_contract import collect_cases, make_files
from assay.pipeline.suite_cases.suite_select import Selection, parse_shard, select
from assay.pipeline.witnesses.ask_witnesses import Witnessed
from assay.ports import Suite

BATCH = 64
"""Cases made and sent to the workers at a time: -x must not wait for a whole suite."""
_ENDED = object()
LEAST = 4
"""Under `pytest -n`: workers are started for each batch."""


def batch_size(left: int, processes: int) -> int:
    """How many of the items that are left. Under `pytest -n` about what pytest-xdist hands a process next, a quarter of its
    share (`LoadScheduling`): what lies behind belongs to another process, and would be run by both."""
    return BATCH if processes == 1 else max(LEAST, min(BATCH, left // (4 * processes)))


class CaseFailed(Exception):
    """What the judge says of a case, and the command that repeats it."""


def suite_items(session: pytest.Session) -> Iterator[pytest.Item]:
    """One item for each case and flow. Raises AssayError for a name or a filter that nothing answers to."""
    option = session.config.getoption
    if not option("--assay-flow"):
        raise UsageError("no flow to run on: give --assay-flow (assay flows lists them)")
    words = tuple(dict.fromkeys(option("--assay-suite")))
    suites = find_suites(words)
    flows = find_flows(option("--assay-flow"))
    seed = option("--assay-seed")
    selection = Selection(
        filters=tuple(option("--assay-filter")),
        dtypes=tuple(option("--assay-dtype")),
        shard=parse_shard(option("--assay-shard"), "--assay-shard"),
    )
    cases = select([case for suite in suites for case in collect_cases(suite, seed)], selection)
    known = expectations(
        expectations_folder(option("--assay-expectations")),
        [asked_flow.name for asked_flow in flows],
        [suite.name for suite in suites],
    )
    policy = with_expected_timeouts(Policy(expectations=known), cases, flows)
    named = {suite.name: word for suite, word in zip(suites, words, strict=True)}
    runner = _Runner(session, {suite.name: suite for suite in suites}, named, policy, seed)
    session.config.add_cleanup(runner.close)
    for flow in flows:
        for case in cases:
            name = f"{case.name}[{flow.name}]"
            yield SuiteItem.from_parent(
                session, name=name, nodeid=f"assay::{name}", case=case, flow=flow, runner=runner
            )


class SuiteItem(pytest.Item):
    """One case on one flow."""

    def __init__(self, *, case: Case, flow: Flow, runner: _Runner, **rest: Any) -> None:
        super().__init__(**rest)
        self.case, self.flow, self.runner = case, flow, runner
        for word in ("flow_" + flow.name, "backend_" + flow.backend):
            self.add_marker("".join(letter if letter.isalnum() else "_" for letter in word))

    def runtest(self) -> None:
        """Raises CaseFailed; skips and expected failures as pytest has them."""
        result = self.runner.result(self)
        verdict = self.runner.verdict(result)
        self.add_report_section("call", "assay", _observed(result, verdict))
        if result.log:
            self.add_report_section("call", "native log", result.log)
        if verdict.word is VerdictStatus.XFAIL:
            pytest.xfail(verdict.reason)
        if verdict.word in (VerdictStatus.SKIP, VerdictStatus.INCONCLUSIVE):
            pytest.skip(f"{verdict.word.value}: {verdict.reason}")
        if verdict.word is not VerdictStatus.PASS:
            raise CaseFailed(f"{verdict.word.value}: {verdict.reason}\nto repeat it: {self.repro()}")

    def repro(self) -> str:
        """The command that runs exactly this case."""
        suite = self.runner.words[self.case.name.partition("/")[0]]
        key = _job(self.case, self.flow, "").key
        values = {"suites": (suite,), "flows": (self.flow.name,), "seed": self.runner.seed, "only": key}
        return shlex.join(["assay", "run", *arguments_of(RunOptions, values)])

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """A case's failure is its sentence; anything else is ours and keeps its traceback."""
        return str(excinfo.value) if isinstance(excinfo.value, CaseFailed) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.name


class _Runner:
    """Runs the selected items in their order, a batch at a time, and hands each its result. `words` are those by which a user
    named the suites."""

    def __init__(
        self, session: pytest.Session, suites: dict[str, Suite], words: dict[str, str], policy: Policy, seed: int
    ) -> None:
        self.seed, self.words = seed, words
        self._session, self._suites, self._policy = session, suites, policy
        self._processes = getattr(session.config, "workerinput", {"workercount": 1})["workercount"]
        self._workers = 0 if self._processes == 1 else max(1, (os.cpu_count() or 1) // self._processes)
        self._results: dict[str, Result] = {}
        self._running: Iterator[None] = iter(())
        self._folder = tempfile.TemporaryDirectory(prefix="assay-pytest-", ignore_cleanup_errors=True)
        self._unavailable: dict[str, str] = {}
        self._stack = ExitStack()
        self._opened: Services | None = None

    def result(self, item: SuiteItem) -> Result:
        key = _job(item.case, item.flow, "").key
        if reason := self._missing(item.flow):
            return msgspec.structs.replace(
                empty_result(_job(item.case, item.flow, ""), Outcome.UNAVAILABLE), detail=reason
            )
        while key not in self._results:
            if next(self._running, _ENDED) is _ENDED:
                self._start(item)
        return self._results.pop(key)

    def verdict(self, result: Result) -> Verdict:
        judgement = judge(
            [result], self._policy, planned=[result.job_key], today=datetime.now(UTC).date(), narrowed=True
        )
        return judgement.verdicts[0]

    def close(self) -> None:
        """Leaves no process and no folder behind."""
        stop = getattr(self._running, "close", None)
        if stop:
            stop()
        self._stack.close()
        self._folder.cleanup()

    def _missing(self, flow: Flow) -> str:
        if flow.backend not in self._unavailable:
            here = plugins.load(plugins.BACKENDS, flow.backend)().availability()
            self._unavailable[flow.backend] = missing_text(here)
        return self._unavailable[flow.backend]

    def _start(self, first: SuiteItem) -> None:
        """Make and launch `first` and the items after it, of the same flow."""
        selected = [item for item in self._session.items if isinstance(item, SuiteItem)]
        left = selected[selected.index(first) :]
        batch = [
            suite_item for suite_item in left[: batch_size(len(left), self._processes)] if suite_item.flow == first.flow
        ]
        jobs = []
        for case, reason in self._made([suite_item.case for suite_item in batch]):
            job = _job(case, first.flow, self._folder.name)
            if reason:
                self._results[job.key] = missing_case_result(job, reason, tuple(self._suites.values()))
            elif case.inputs.golden:
                jobs.append(job)
            else:
                reference = str(reference_dir(case, Path(self._folder.name)))
                jobs.append(msgspec.structs.replace(job, reference_dir=reference))
        if not jobs:
            self._running = iter(())
            return
        services = self._services()
        stage = Witnessed(services, services.jobs)
        every = services.jobs.all_of(self._run(own, stage, services) for own in by_case(jobs))
        self._running = services.jobs.steps(every, [])

    async def _run(self, jobs: Sequence[Job], stage: Stage, services: Services) -> None:
        lacking = await ensure_references(jobs, services)
        self._results |= {result.job_key: result for result in lacking}
        async for result in stage.results([job for job in jobs if job.key not in self._results]):
            self._results[result.job_key] = result

    def _services(self) -> Services:
        """A history of its own, gone with the session."""
        if self._opened is None:
            self._opened = self._stack.enter_context(
                open_services(self._folder.name, workers=self._workers, recycle=SUITE_RECYCLE)
            )
        return self._opened

    def _made(self, cases: Sequence[Case]) -> Iterator[tuple[Case, str]]:
        for name, suite in self._suites.items():
            own = [case for case in cases if case.name.partition("/")[0] == name]
            yield from make_files(suite, own, self._workers)


def _observed(result: Result, verdict: Verdict) -> str:
    """Where it ended and why, once: the reason of a job that did not get to its answers begins with it."""
    if result.outcome not in (Outcome.OK, Outcome.MISMATCH):
        return verdict.reason
    return f"{result.outcome.value} in {result.stage.value}: {verdict.reason}"


def _job(case: Case, flow: Flow, scratch: str) -> Job:
    return VerifyJob(case, flow, limits=limits_of(case, Limits(timeout_s=60.0)), scratch=scratch)
