"""docs/results/DATE.md from saved runs: the pass tables of every flow, what fails and why, by backend.

assay run operators --flow onnxruntime --flow tvm-llvm --save operators.assay
python benchmarks/suite_results.py operators.assay edge.assay --output docs/results/2026-11-22.md
"""

from __future__ import annotations

import argparse
import ast
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from assay.core.outcome import Outcome
from assay.core.policy import Policy
from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import VerdictStatus
from assay.judge.verdicts import judge
from assay.pipeline.merge import saved_run
from assay.pipeline.suite_cases.expected_timeouts import with_expected_timeouts
from assay.pipeline.suite_cases.known_outcomes import expectations, normalize_message

LOCAL = ("--history", "--expectations", "--save", "--report", "--workers")
"""Options that say nothing about what was run."""
FINDINGS = Path(__file__).parents[1] / "docs" / "findings"
SHOWN = 3
"""Cases named for each reason."""
WORDS = 110
"""Characters of a reason."""

Judged = tuple[Result, VerdictStatus, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("saved", nargs="+", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--expectations", type=Path, default=FINDINGS.parents[1] / "expectations")
    arguments = parser.parse_args()
    runs = [_expected(*saved_run(path), arguments.expectations) for path in arguments.saved]
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text("\n".join(_page(runs)) + "\n")


def _page(runs: Sequence[tuple[Run, tuple[Result, ...]]]) -> Iterator[str]:
    # Of a job that was run twice, the later run counts.
    judged = list({entry[0].job_key: entry for run, results in runs for entry in _judged(run, results)}.values())
    yield f"# Suites over flows, {min(run.started_at for run, _ in runs)[:10]}"
    yield ""
    machine = runs[0][0].machine
    yield f"Made by `benchmarks/suite_results.py` from the saved runs, on {machine.cpu} ({machine.cores} cores):"
    yield ""
    yield "```"
    yield from (f"{_plain(run.command)}{_left(run, results)}" for run, results in runs)
    yield "```"
    yield ""
    versions = {name: version for run, _ in runs for name, version in run.versions.items()}
    versions |= {
        result.flow.partition("-")[0]: result.facts.backend_version
        for result, _, _ in judged
        if result.facts.backend_version
    }
    yield f"Versions: {', '.join(f'{name} {version}' for name, version in sorted(versions.items()) if version)}."
    yield ""
    yield "*xfail*: as `expectations/` says, with the reason there. *unsupported* is not *wrong*: the flow said no."
    yield ""
    yield from _table(judged)
    yield "## Reduced to a few lines"
    yield ""
    for path in sorted(FINDINGS.glob("*.py")):
        first = (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0]
        yield f"- [{path.name}](../findings/{path.name}): {first}"
    yield ""
    for backend in sorted({_backend(result) for result, _, _ in judged}):
        yield from _failures(backend, [entry for entry in judged if _backend(entry[0]) == backend])


def _expected(run: Run, results: tuple[Result, ...], folder: Path) -> tuple[Run, tuple[Result, ...]]:
    """The run under what is known today: expectations may have been written from it."""
    flows = sorted({result.flow for result in results})
    suites = sorted({result.case.partition("/")[0] for result in results})
    policy = Policy(expectations=expectations(folder, flows, suites))
    cases = [job.case for job in run.jobs]
    return replace(
        run, policy=with_expected_timeouts(policy, cases, list({job.flow.name: job.flow for job in run.jobs}.values()))
    ), results


def _judged(run: Run, results: Sequence[Result]) -> Iterator[Judged]:
    judgement = judge(
        results, run.policy, planned=[job.key for job in run.jobs], today=datetime.now(UTC).date(), narrowed=True
    )
    by_key = {result.job_key: result for result in results}
    for verdict in judgement.verdicts:
        if verdict.job_key in by_key:
            yield by_key[verdict.job_key], verdict.word, verdict.reason


def _plain(command: str) -> str:
    """Without what belongs to one machine."""
    kept: list[str] = []
    words = iter(shlex.split(command))
    for word in words:
        if word.partition("=")[0] not in LOCAL:
            kept.append(word)
        elif "=" not in word:
            next(words, None)
    return shlex.join(kept)


def _left(run: Run, results: Sequence[Result]) -> str:
    missing = len(run.jobs) - len(results)
    return f"   # interrupted: {len(results)} of {len(run.jobs)} jobs" if missing > 0 else ""


def _backend(result: Result) -> str:
    return result.flow.partition("-")[0]


def _table(judged: Sequence[Judged]) -> Iterator[str]:
    counted: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for result, word, _ in judged:
        key = word.value if word in (VerdictStatus.PASS, VerdictStatus.XFAIL) else result.outcome.value
        counted[result.case.partition("/")[0], result.flow][key] += 1
    columns = sorted({name for row in counted.values() for name in row} - {"pass", "xfail"})
    yield f"| suite | flow | cases | pass | | xfail |{''.join(f' {name} |' for name in columns)}"
    yield "|---|---|--:|--:|--:|--:|" + "--:|" * len(columns)
    for (suite, flow), row in sorted(counted.items()):
        total = sum(row.values())
        cells = "".join(f" {row[name] or ''} |" for name in columns)
        share = f"{100 * row['pass'] / total:.1f} %"
        yield f"| {suite} | {flow} | {total} | {row['pass']} | {share} | {row['xfail'] or ''} |{cells}"
    yield ""


def _failures(backend: str, judged: Sequence[Judged]) -> Iterator[str]:
    groups: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for result, word, reason in judged:
        if word is VerdictStatus.PASS:
            continue
        known = reason.partition("(")[2].partition(");")[0] if word is VerdictStatus.XFAIL else ""
        if result.outcome is Outcome.UNDELEGATED:
            known = result.detail.partition(" (")[0]
        groups[
            result.flow, result.outcome.value, result.stage.value, (known or normalize_message(result))[:WORDS]
        ].append(result.case)
    if not groups:
        return
    yield f"## {backend}"
    yield ""
    yield "| flow | outcome | stage | cases | why | for example |"
    yield "|---|---|---|--:|---|---|"
    for (flow, outcome, stage, why), cases in sorted(groups.items(), key=lambda item: (item[0][:3], -len(item[1]))):
        shown = ", ".join(f"`{case}`" for case in sorted(cases)[:SHOWN])
        yield f"| {flow} | {outcome} | {stage} | {len(cases)} | {why.replace('|', '·')} | {shown} |"
    yield ""


if __name__ == "__main__":
    main()
