"""What the top of the page says: the verdict, the counts, and where all this comes from."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.policy import LIMITS, RELATIVE, Goal, Policy
from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict
from assay.reports import format as text
from assay.reports.critical import TITLE, critical
from assay.reports.html_changes import page_changes
from assay.reports.mutation_scores import ALL, GROUPS, HEADER, HIT, MutationScore, mutation_scores, texts
from assay.reports.recorded_jobs import recorded
from assay.reports.rows import EXIT_MEANING, Row, counts, headline, run_verdicts, skipped_note
from assay.reports.sanitize import one_line
from assay.reports.upgrades import HEADER as HEADER_OF_UPGRADES
from assay.reports.upgrades import upgrades

Pairs = list[tuple[str, str]]


def head(run: Run, results: Sequence[Result], judgement: RunVerdict, rows: Sequence[Row]) -> dict[str, object]:
    """The template's variables, all of them plain text."""
    word, reason = headline(judgement)
    cells = len(rows)
    return {
        "word": word,
        "skipped": skipped_note(judgement),
        "kind": judgement.run.word.value,
        "reason": one_line(reason),
        "exit_code": judgement.exit_code,
        "exit_meaning": EXIT_MEANING.get(judgement.exit_code, "unknown"),
        "problems": [
            (verdict.word.value, one_line(verdict.reason)) for verdict in run_verdicts(run, results, judgement)
        ],
        "counts": [(name or "not run", f"{count:,}") for name, count in counts(rows).items()],
        "cells": cells,
        "summary": f"{cells:,} {'row' if cells == 1 else 'rows'}; {recorded(run, results)}",
        "run_id": one_line(run.id),
        "status": run.status,
        "provenance": _provenance(run),
        "versions": ", ".join(
            f"{one_line(name)} {one_line(version)}" for name, version in sorted(run.versions.items())
        ),
        "command": one_line(run.command),
        "policy_line": _policy_line(run.policy),
        "goals": [_goal(goal) for goal in run.policy.goals],
        "expectations": _expectations(run.policy),
        "demands": _requirements(run.policy),
        "kill_rates": _mutation_scores(results),
        "changes": page_changes(judgement.changes),
        "critical_title": TITLE,
        "critical": [[entry.case, entry.flow, entry.text] for entry in critical(rows, judgement.changes)],
        "upgrade_header": HEADER_OF_UPGRADES,
        "upgrades": [
            {
                "title": f"{one_line(upgrade.case)} on {one_line(upgrade.flow)}: old beside new",
                "rows": [[one_line(cell) for cell in line] for line in upgrade.lines],
            }
            for upgrade in upgrades(rows)
        ],
    }


def _mutation_scores(results: Sequence[Result]) -> list[dict[str, object]]:
    """A table over all, and one for each group, every operator in it; none where no mutants were injected."""
    scores = mutation_scores(results)
    return [
        {
            "header": (group or "all mutants", *HEADER, "equivalent", "not built"),
            "rows": [_rate(mutation_score) for mutation_score in scores if mutation_score.group == group],
            "open": group != HIT,
        }
        for group in ((ALL, *GROUPS) if scores else ())
    ]


def _rate(score: MutationScore) -> list[str]:
    counts = (str(score.equivalent or ""), str(score.unbuilt or ""))
    return [one_line(score.name or score.case), *texts(score), one_line(score.flow), *counts]


def _provenance(run: Run) -> Pairs:
    machine = run.machine
    parts = [one_line(machine.cpu)] if machine.cpu else []
    parts += [text.cores(machine.cores)] if machine.cores else []
    parts += [text.size(machine.memory_bytes)] if machine.memory_bytes else []
    parts += [one_line(gpu) for gpu in machine.gpus]
    pairs = [
        ("Run", one_line(run.id) if run.status == "complete" else f"{one_line(run.id)} ({one_line(run.status)})"),
        ("Started", one_line(run.started_at)),
        ("Commit", one_line(run.commit)),
        ("Baseline", one_line(run.baseline)),
        ("Machine", ", ".join(parts)),
        ("System", one_line(", ".join(filter(None, (machine.system, machine.python and f"Python {machine.python}"))))),
        *(
            (("Models from", "; ".join(one_line(text.model_source(source)) for source in run.sources)),)
            if run.sources
            else ()
        ),
        ("Load", f"{machine.load_average:.2f} at the start" if machine.load_average else ""),
    ]
    return [(name, value) for name, value in pairs if value]


def _policy_line(policy: Policy) -> str:
    def plural(count: int, noun: str) -> str:
        return f"{count} {noun}{'' if count == 1 else 's'}"

    return ", ".join(
        (
            f"budget used at most {text.number(policy.budget_max)}",
            plural(len(policy.goals), "goal"),
            plural(len(policy.expectations), "expectation"),
            plural(len(policy.minimum_cases), "count guard"),
        )
    )


def _goal(goal: Goal) -> str:
    limits = " and ".join(f"{LIMITS[name]} {limit:g}" for name, limit in goal.limits.items())
    against = f", against {goal.against}" if goal.limits.keys() & RELATIVE.keys() else ""
    where = f" for case {goal.case}, flow {goal.flow}" if (goal.case, goal.flow) != ("*", "*") else ""
    return one_line(f"{goal.metric} {limits}{against}{where}")


def _expectations(policy: Policy) -> list[str]:
    return [
        one_line(
            f"{known.case} on {known.flow}: {known.outcome}, because {known.reason}"
            + (f" ({known.issue})" if known.issue else "")
            + (f", until {known.expires}" if known.expires else "")
        )
        for known in policy.expectations
    ]


def _requirements(policy: Policy) -> list[str]:
    lines = [f"failing outcomes: {', '.join(policy.fail_on)}"]
    lines += [f"outcomes that count as a pass: {', '.join(policy.pass_on)}"] if policy.pass_on else []
    return lines + [one_line(f"at least {count} cases on {glob}") for glob, count in policy.minimum_cases.items()]
