"""What is written with a run and its results, in one transaction: what they are searched by, the summary, the present state of each job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    bindparam,
    case,
    collate,
    column,
    exists,
    func,
    insert,
    literal_column,
    select,
    update,
)

from assay.core.outcome import Outcome
from assay.core.run import Run
from assay.core.verdict import RunVerdict, VerdictStatus
from assay.errors import OtherRun
from assay.stores.encoded_result import EncodedResult, pack
from assay.stores.history_tables import (
    case_state,
    metric_values,
    result_codes,
    result_payloads,
    results,
    run_models,
    run_payloads,
    run_summary,
    runs,
)
from assay.stores.run_names import keep_run_names
from assay.stores.state_counts import add_up
from assay.stores.statements import add_many, as_arrays, chunks, insert_for, next_numbers

_WORST_FIRST = (
    VerdictStatus.FAIL,
    VerdictStatus.XPASS,
    VerdictStatus.ERROR,
    VerdictStatus.INCONCLUSIVE,
    VerdictStatus.SKIP,
    VerdictStatus.XFAIL,
    VerdictStatus.PASS,
)
_ADD_UP_EVERY = 5000
"""Results of a run: what they changed in the counts is added up before it is closed, too."""
_RUN_AGAIN = "run the command again, which gives a new id"
_READ_BOTH = "keep the history that is copied: the run can be read there"
_PASSED = (VerdictStatus.PASS, VerdictStatus.XFAIL)
_FAILED = (VerdictStatus.FAIL, VerdictStatus.XPASS)


def add_run(connection: Connection, run: Run) -> None:
    """The run with what it is searched by and an empty summary; where it is there already, it stays as it is. Raises OtherRun where
    that is another one."""
    row = {
        "id": run.id,
        "started_at": run.started_at,
        "status": run.status,
        "command": run.command,
        "commit": run.commit,
        "branch": run.branch,
        "machine": run.machine.kind,
    }
    if_new = insert_for(connection, runs).on_conflict_do_nothing(index_elements=["id"])
    number = connection.scalar(if_new.returning(runs.c.number), row)
    if number is None:
        demand_same_run(connection, row)
        return
    whole = {"run": number, "payload": pack(replace(run, jobs=())), "jobs": pack(run.jobs)}
    connection.execute(insert(run_payloads), whole)
    empty = {"recorded": 0, "word": "", "passed": 0, "failed": 0, "other": 0}
    connection.execute(insert(run_summary), {"run": number, "jobs": len(run.jobs), **empty})
    originals = [job.case.original.model for job in run.jobs if job.case.original]
    models = {(model.digest, model.name) for model in (*(job.case.model for job in run.jobs), *originals)}
    if models:
        rows = [{"digest": digest, "run": number, "name": name} for digest, name in sorted(models)]
        connection.execute(insert(run_models), rows)


def demand_same_run(connection: Connection, row: Mapping[str, Any], *, copied: bool = False) -> None:
    """Two machines may give the same id in the same second: their results are not those of one run. Raises OtherRun. `copied`: it comes
    from another history, and one of another command is another run, too; who records a run again, or merges it again, may call it by
    another one."""
    known = connection.execute(
        select(runs.c.started_at, runs.c.commit, runs.c.machine, runs.c.command).where(runs.c.id == row["id"])
    ).one()
    names = ("started_at", "commit", "machine", *(("command",) if copied else ()))
    mine, theirs = ([columns[name] for name in names] for columns in (row, known._mapping))
    if mine != theirs:
        command = f"`{known.command}`" if copied and known.command else ""
        what_to_do = _READ_BOTH if copied else _RUN_AGAIN
        facts = (known.started_at, known.commit[:12] and f"commit {known.commit[:12]}", known.machine, command)
        raise OtherRun(
            f"another run has the id {row['id']} there ({', '.join(filter(None, facts))}): nothing of it was changed; {what_to_do}"
        )


def add_results(
    connection: Connection, run: int, arrived: Sequence[EncodedResult], constants: Mapping[bytes, int]
) -> None:
    """Record those results that run number `run` has not yet; `constants` are numbers by digest. Two writers of one run wait for each
    other; those of two runs only while both change the state of the same job."""
    connection.execute(select(run_summary.c.run).where(run_summary.c.run == run).with_for_update())
    known = job_numbers(connection, [encoded_result.job_key for encoded_result in arrived])
    there = jobs_recorded(connection, run, list(known.values()))
    new = [encoded_result for encoded_result in arrived if known.get(encoded_result.job_key) not in there]
    if not new:
        return
    advance(connection, [first_state(run, encoded_result.row) for encoded_result in new])
    known |= job_numbers(
        connection, [encoded_result.job_key for encoded_result in new if encoded_result.job_key not in known]
    )
    jobs = [known[encoded_result.job_key] for encoded_result in new]
    add_rows(
        connection,
        [{**encoded_result.row, "run": run, "job": job} for job, encoded_result in zip(jobs, new, strict=True)],
    )
    add_many(
        connection,
        metric_values,
        [_metrics_row(run, job, encoded_result, constants) for job, encoded_result in zip(jobs, new, strict=True)],
    )
    codes = [
        {"code": code, "run": run, "job": job, "about": about}
        for job, encoded_result in zip(jobs, new, strict=True)
        for code, about in encoded_result.codes
    ]
    if codes:
        connection.execute(insert(result_codes), codes)
    summary = run_summary.c
    recorded = connection.scalar(
        update(run_summary)
        .where(summary.run == run)
        .values(recorded=summary.recorded + len(new), names=None)
        .returning(summary.recorded)
    )
    if (recorded or 0) % _ADD_UP_EVERY < len(new):
        add_up(connection)


def _metrics_row(run: int, job: int, encoded_result: EncodedResult, constants: Mapping[bytes, int]) -> dict[str, Any]:
    numbers = {"names": constants[encoded_result.metrics.names], "versions": constants[encoded_result.metrics.versions]}
    return {
        "job": job,
        "run": run,
        **numbers,
        "numbers": encoded_result.metrics.numbers,
        "more_numbers": encoded_result.metrics.more_numbers,
    }


def job_numbers(connection: Connection, keys: Iterable[str]) -> dict[str, int]:
    """Of the jobs that the history knows, by their keys."""
    state = case_state.c
    return {
        row.job_key: row.number
        for some in chunks(list(keys))
        for row in connection.execute(select(state.job_key, state.number).where(state.job_key.in_(some)))
    }


def jobs_recorded(connection: Connection, run: int, jobs: Sequence[int]) -> set[int]:
    """Those of these jobs that the run has a result of."""
    return {
        job
        for some in chunks(jobs)
        for job in connection.scalars(select(results.c.job).where(results.c.run == run, results.c.job.in_(some)))
    }


def add_rows(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Results that are new, in this order, with their payloads."""
    names = ("run", "job", "outcome", "word", "stage", "seconds")
    numbers = next_numbers(connection, results, len(rows))
    both = list(zip(numbers, rows, strict=True))
    add_many(connection, results, [{"number": number, **{name: row[name] for name in names}} for number, row in both])
    add_many(connection, result_payloads, [{"result": number, "payload": row["payload"]} for number, row in both])


def judge_run(connection: Connection, run: int, judgement: RunVerdict) -> None:
    """Put the words of the judgement into the summary, and into the state of those jobs that no later run has done."""
    words = statuses_by_job(judgement)
    passed = sum(word in _PASSED for word in words.values())
    failed = sum(word in _FAILED for word in words.values())
    connection.execute(
        update(run_summary)
        .where(run_summary.c.run == run)
        .values(word=judgement.run.word.value, passed=passed, failed=failed, other=len(words) - passed - failed)
    )
    known = job_numbers(connection, words)
    words_by_job = [{"its": known[key], "said": word.value} for key, word in sorted(words.items()) if key in known]
    if words_by_job:
        set_words(connection, run, words_by_job)
    keep_run_names(connection, run)
    add_up(connection)


def set_words(connection: Connection, run: int, words: Sequence[Mapping[str, Any]]) -> None:
    """`words` are those of jobs of that run (`said`), by their numbers (`its`)."""
    if connection.dialect.name == "postgresql":
        columns = column("its", case_state.c.number.type), column("said", case_state.c.word.type)
        each = as_arrays(columns, words).subquery()
        state_of = case_state.c
        ours = select(state_of.number).where(state_of.number.in_(select(each.c.its)), state_of.run == run)
        # In the order in which those who record lock them, or two could wait for one another.
        connection.execute(ours.order_by(collate(state_of.job_key, "C")).with_for_update())
        connection.execute(
            update(results).where(results.c.run == run, results.c.job == each.c.its).values(word=each.c.said)
        )
        state = update(case_state).where(case_state.c.number == each.c.its, case_state.c.run == run)
        connection.execute(state.values(word=each.c.said))
        return
    its: BindParameter[int] = bindparam("its")
    word: BindParameter[str] = bindparam("said")
    of_run = update(results).where(results.c.run == run, results.c.job == its)
    connection.execute(of_run.values(word=word), list(words))
    state = update(case_state).where(case_state.c.number == its, case_state.c.run == run)
    connection.execute(state.values(word=word), list(words))


def statuses_by_job(judgement: RunVerdict) -> dict[str, VerdictStatus]:
    """The worst word of each job: a job with five goals counts once."""
    words: dict[str, VerdictStatus] = {}
    for verdict in judgement.verdicts:
        if verdict.job_key:
            known = words.get(verdict.job_key, verdict.word)
            words[verdict.job_key] = min(known, verdict.word, key=_WORST_FIRST.index)
    return words


def advance(connection: Connection, first: Sequence[dict[str, Any]]) -> None:
    """The state of each job after a run, the same in every row; one that a later run has done already stays as it is. Later is what its id
    says, which sorts by time: an old run may be written after new ones."""
    run = runs.alias("this_run")
    this = select(run.c.id).where(run.c.number == first[0]["run"]).scalar_subquery()
    # By its name: as a column, the whole table would be read beside the runs.
    known: ColumnElement[int] = literal_column(f"{case_state.name}.run")
    is_later = exists().where(runs.c.number == known, runs.c.id > this)
    statement = insert_for(connection, case_state)
    # In one order for all: two writers that want the same two jobs must not wait for each other for ever.
    ordered = sorted(first, key=lambda state: str(state["job_key"]))
    at_once = connection.dialect.name == "postgresql"
    if at_once:
        statement = statement.from_select(
            list(ordered[0]), as_arrays([case_state.c[name] for name in ordered[0]], ordered)
        )
    old, now = case_state.c, statement.excluded
    same = old.outcome == now.outcome
    change = {
        "case": now.case,
        "flow": now.flow,
        "kind": now.kind,
        "outcome": now.outcome,
        "word": now.word,
        "run": now.run,
        "since": case((same, old.since), else_=now.since),
        "streak": case((same, old.streak + 1), else_=1),
        "last_ok": func.coalesce(now.last_ok, old.last_ok),
    }
    update_later = statement.on_conflict_do_update(index_elements=["job_key"], set_=change, where=~is_later)
    connection.execute(update_later, *(() if at_once else (ordered,)))
    # Of an old run, too, that leaves the present as it is.
    not_ok = [state["job_key"] for state in ordered if state["was_not_ok"]]
    for some in chunks(not_ok):
        were = update(case_state).where(old.job_key.in_(some), old.was_not_ok == 0)
        connection.execute(were.values(was_not_ok=1))


def first_state(run: int, row: Mapping[str, Any]) -> dict[str, Any]:
    """Of a job that was never done before; `row` is that of its result."""
    return {
        **{name: row[name] for name in ("job_key", "case", "flow", "kind", "outcome")},
        "word": "",
        "run": run,
        "since": run,
        "streak": 1,
        "last_ok": run if row["outcome"] == Outcome.OK.value else None,
        "was_not_ok": int(row["outcome"] != Outcome.OK.value),
    }
