"""What a history must find: the results of one cell, the run before, runs by what is known of them."""

from __future__ import annotations

from msgspec.structs import replace

from assay.core.outcome import Cause, Outcome
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.ports import RunSearch, Store
from assay.testing.builders import MACHINE, make_job, make_model, make_result, make_run


def check_past(store: Store) -> None:
    """One cell through all runs, newest first, whatever the order they were recorded in; the run before with a cell in common."""
    names = [f"2026010{number}T000000-past" for number in range(4)]
    for name in (names[2], names[0], names[1], names[3]):
        store.open_run(make_run(name, commit=f"c{name[7]}", machine=replace(MACHINE, cores=int(name[7]))))
        other = "two" if name == names[3] else "one"
        kinds = [make_result(other, "past", kind, seconds=float(name[7])) for kind in ("verify", "measure")]
        store.record(name, [*kinds, make_result("one", "beside"), make_result("one|past")])
        if name != names[1]:
            done = Verdict(VerdictStatus.PASS, "")
            store.close_run(name, "complete", RunVerdict((), done, 0))
    past = store.history("one", "past")
    outcomes = [
        (past_result.run_id, past_result.result.kind.value, past_result.result.seconds, past_result.commit)
        for past_result in past
    ]
    assert outcomes == [
        (names[number], kind, float(number), f"c{number}") for number in (2, 1, 0) for kind in ("verify", "measure")
    ], f"the results of one cell: {outcomes}"
    assert past[0].machine == replace(MACHINE, cores=2).kind, f"the machine of a run is {past[0].machine!r}"
    assert store.history("one", "nothing") == []
    keys = {make_result("one", "beside").job_key, make_result("one", "past", "measure").job_key, "no|such|job"}
    some = [(result.flow, result.kind.value) for result in store.results(names[0], keys)]
    assert some == [("past", "measure"), ("beside", "verify")], f"results of some jobs: {some}"
    assert store.results(names[0], []) == []
    many = {*(("none", str(number)) for number in range(900)), ("one", "past")}
    assert store.run_before(names[3], many) == names[2], "the run before has one of these cells"
    assert store.run_before(names[2], many) == names[0], "an incomplete run is none before"
    assert store.run_before(names[0], many) == ""
    assert store.run_before(names[3], {("two", "past")}) == ""


def check_search(store: Store) -> None:
    """Runs by commit, machine, model and code, each alone and together."""
    digest = "feed" * 16
    job = make_job("searched")
    job = replace(job, case=replace(job.case, model=make_model("net", digest=digest)))
    run = make_run("20250101T000000-seek", (job,), commit="abcdef12-dirty", machine=replace(MACHINE, cpu="Odd_CPU 7"))
    store.open_run(run)
    bad = make_result("searched", outcome=Outcome.CRASH, cause=Cause.SIGNAL, signal="SIGBUS", node="conv_1")
    store.record(run.id, [bad])
    whole = RunSearch("abcdef", "odd_cpu", "feedfeed", "SIGBUS")
    searches = [whole, RunSearch(commit="abcdef12"), RunSearch(machine="odd_cpu"), RunSearch(model="net")]
    for search in [*searches, RunSearch(model=digest), RunSearch(code="SIGBUS")]:
        there = [run_summary.id for run_summary in store.runs(search=search)]
        assert there == [run.id], f"{search} finds {there}, not {run.id}"
    for changed in ({"commit": "abcdee"}, {"machine": "oddXcpu"}, {"model": "eed"}, {"code": "SIGSEGV"}):
        assert store.runs(search=replace(whole, **changed)) == [], f"{changed} finds what is not like that"
    (line,) = store.runs(search=whole)
    assert (line.commit, line.machine) == (run.commit, run.machine.kind), f"a line of `assay runs`: {line}"
