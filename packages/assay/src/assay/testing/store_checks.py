"""What a history must do, whoever wrote them. Each check raises AssertionError at the first promise broken."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from msgspec.structs import replace

from assay.core.outcome import Outcome
from assay.core.result import Result, VerifyResult
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.errors import OtherRun, RunNotFound
from assay.ports import RunSummary, Store
from assay.testing.builders import make_result, make_run
from assay.testing.standard_run import standard_run
from assay.testing.store_search_checks import check_past, check_search

_BATCH = 150
_PATIENCE_S = 60.0


def check_store(make: Callable[[], Store]) -> None:
    """`make` opens the same, at first empty, history every time. It must be picklable (a class, a partial of one): other
    processes call it too. Takes some seconds: real processes write at once and are killed while they write."""
    for check in (round_trip, idempotent, found, summarised, searched, read_while_written, two_writers, power_cut):
        check(make)


def round_trip(make: Callable[[], Store]) -> None:
    """A run and its results come back equal, in order, to another process's eyes (a store opened again)."""
    run, results, judgement = standard_run()
    odd = make_result(
        "odd", task_metrics={"infinite": float("inf")}, log="\x1b[31m\x00 é 漢\n", detail="a 'b' \"c\" %s ?"
    )
    with _open(make) as store:
        store.open_run(run)
        store.record(run.id, results[:4])
        store.record(run.id, [*results[4:], odd])
        store.close_run(run.id, "complete", judgement)
    with _open(make) as store:
        assert store.run(run.id) == run, "the run came back changed"
        assert store.results(run.id) == [*results, odd], "the results came back changed, or in another order"
        store.record(run.id, [make_result("nan", task_metrics={"none": float("nan")})])
        (*_, last) = store.results(run.id)
        assert isinstance(last, VerifyResult)
        none = last.task_metrics["none"]
        assert none != none, f"NaN came back as {none}"


def idempotent(make: Callable[[], Store]) -> None:
    """A second copy of a run or of a result changes nothing, even where it says something else."""
    run = make_run("20260201T000000-idem", command="first")
    with _open(make) as store:
        store.open_run(run)
        store.open_run(make_run(run.id, command="second"))
        assert store.run(run.id).command == "first", "opening a run twice changed it"
        try:
            store.open_run(make_run(run.id, command="first", commit="another"))
        except OtherRun:
            pass
        else:
            raise AssertionError("another run with the id of one that is there was taken for it")
        first, second = make_result("a"), make_result("b")
        store.record(run.id, [first, second, make_result("a", outcome=Outcome.CRASH)])
        store.record(run.id, [make_result("b", outcome=Outcome.ERROR), second])
        store.record(run.id, [])
        assert store.results(run.id) == [first, second], (
            "recording a job twice changed the first record or added another"
        )
        assert _summary(store, run.id).recorded == 2, "the summary counts a job twice"


def found(make: Callable[[], Store]) -> None:
    """By id, by unique beginning, by "last"; what is not found or not unique is told."""
    early, late = make_run("20260301T000000-aaaaaa"), make_run("20990301T000000-bbbbbb")
    with _open(make) as store:
        store.open_run(late)
        store.open_run(early)
        assert store.run(early.id) == early
        assert store.run("20260301T") == early, "a unique beginning of an id names the run"
        assert store.run("last") == late, "the last run is the newest by id, whenever it was recorded"
        assert store.runs()[0].id == late.id, "runs come newest first"
        assert len(store.runs(limit=1)) == 1
        for asked in ("20", "2026_", "nonsense", ""):
            try:
                store.run(asked)
            except RunNotFound:
                continue
            raise AssertionError(f"run({asked!r}) must raise RunNotFound")
        try:
            store.record("20260301T", [make_result()])
        except RunNotFound:
            return
        raise AssertionError("record must take whole ids only")


def summarised(make: Callable[[], Store]) -> None:
    """The line of `assay runs`: counts while recording, words once judged, each job once."""
    run, results, judgement = standard_run()
    run = make_run("20260401T000000-sum", jobs=run.jobs, command=run.command)
    with _open(make) as store:
        store.open_run(run)
        store.record(run.id, results[:3])
        empty = RunSummary(run.id, run.started_at, "running", run.command, jobs=10, recorded=3)
        empty = replace(empty, commit=run.commit, machine=run.machine.kind)
        assert _summary(store, run.id) == empty, f"a run under way: {_summary(store, run.id)}, not {empty}"
        goal = Verdict(VerdictStatus.PASS, "a second goal", judgement.verdicts[4].job_key)
        store.close_run(run.id, "complete", RunVerdict((*judgement.verdicts, goal), judgement.run, 1))
        line = _summary(store, run.id)
        assert (line.status, line.word) == ("complete", "fail"), f"a judged run: {line}"
        counts = (line.passed, line.failed, line.other)
        assert counts == (4, 4, 2), f"4 pass or xfail, 4 fail or xpass, 2 others; the summary says {counts}"
        assert store.run(run.id).status == "complete", "the status of a closed run is that of its record"


def searched(make: Callable[[], Store]) -> None:
    """Results of one cell, the run before, and runs by what is known of them."""
    with _open(make) as store:
        check_past(store)
        check_search(store)


def read_while_written(make: Callable[[], Store]) -> None:
    """A reader sees whole batches, and never an error, while another thread writes through a store of its own."""
    run = make_run("20260501T000000-read")
    with _open(make) as store:
        store.open_run(run)
    done = threading.Event()

    def write() -> None:
        with _open(make) as writer:
            for batch in range(5):
                writer.record(run.id, _batch("read", batch))
        done.set()

    thread = threading.Thread(target=write)
    with _open(make) as reader:
        thread.start()
        while not done.is_set() and thread.is_alive():
            seen = len(reader.results(run.id))
            assert seen % _BATCH == 0, f"a reader saw {seen} results, which is no whole number of batches"
        thread.join()
        assert len(reader.results(run.id)) == 5 * _BATCH, "the writer lost results while it was read"


def two_writers(make: Callable[[], Store]) -> None:
    """Two processes write at once: one waits for the other, nothing fails, nothing is lost."""
    run = make_run("20260601T000000-two")
    with _open(make) as store:
        store.open_run(run)
    writers = [_start(_write_batches, make, run.id, name, 6) for name in ("left", "right")]
    for process, pipe in writers:
        _acknowledged(pipe)
        process.join(_PATIENCE_S)
        assert process.exitcode == 0, f"a writer among two ended with {process.exitcode}"
    with _open(make) as store:
        keys = {result.job_key for result in store.results(run.id)}
        assert len(keys) == 2 * 6 * _BATCH, (
            f"{2 * 6 * _BATCH} results were written by two processes, {len(keys)} are there"
        )
        assert _summary(store, run.id).recorded == len(keys), "the summary lost count between two writers"


def power_cut(make: Callable[[], Store], rounds: int = 3) -> None:
    """A writer that is killed leaves whole batches, all that were acknowledged, and a store that others can use."""
    for round_ in range(rounds):
        run = make_run(f"20260701T00000{round_}-cut")
        with _open(make) as store:
            store.open_run(run)
        process, pipe = _start(_write_batches, make, run.id, "cut", 10_000)
        acknowledged = _kill_after(process, pipe, 1 + round_, 0.007 * round_)
        with _open(make) as store:
            there = store.results(run.id)
            assert len(there) % _BATCH == 0, f"after a kill {len(there)} results are there: a batch was cut in two"
            assert len(there) >= acknowledged * _BATCH, (
                f"{acknowledged * _BATCH} were recorded, {len(there)} survived a kill"
            )
            assert _summary(store, run.id).recorded == len(there), "after a kill the summary and the results disagree"
            store.record(run.id, [make_result("after")])


def _write_batches(make: Callable[[], Store], run_id: str, name: str, batches: int, pipe: Connection) -> None:
    with _open(make) as store:
        for batch in range(batches):
            store.record(run_id, _batch(name, batch))
            pipe.send(batch)


def _batch(name: str, batch: int) -> list[Result]:
    return [make_result(f"{name}-{batch}-{number}") for number in range(_BATCH)]


def _summary(store: Store, run_id: str) -> RunSummary:
    return next(line for line in store.runs(limit=1000) if line.id == run_id)


@contextmanager
def _open(make: Callable[[], Store]) -> Iterator[Store]:
    store = make()
    try:
        yield store
    finally:
        store.close()


def _start(target: Callable[..., None], *arguments: object) -> tuple[BaseProcess, Connection]:
    # Spawned, not forked: a connection to a database must not be in two processes.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=target, args=(*arguments, theirs))
    process.start()
    theirs.close()
    return process, ours


def _acknowledged(pipe: Connection) -> int:
    count = 0
    try:
        while pipe.poll(_PATIENCE_S):
            pipe.recv()
            count += 1
    except EOFError:
        return count
    raise AssertionError(f"a writer said nothing for {_PATIENCE_S:.0f} s")


def _kill_after(process: BaseProcess, pipe: Connection, batches: int, then_s: float) -> int:
    for _ in range(batches):
        assert pipe.poll(_PATIENCE_S), f"a writer said nothing for {_PATIENCE_S:.0f} s"
        pipe.recv()
    time.sleep(then_s)
    _kill(process)
    return batches + _acknowledged(pipe)


def _kill(process: BaseProcess) -> None:
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join(_PATIENCE_S)
