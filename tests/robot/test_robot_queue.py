"""The queue on SQLite and on a real PostgreSQL: leases, fences, cancelled commits, and eight processes that compete."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from pathlib import Path

import pytest
from msgspec import structs
from queues import Clock, head

from assay_zoo.robot.database import Database
from assay_zoo.robot.outbox import Outbox, OutboxEntry
from assay_zoo.robot.queue import Queue
from assay_zoo.robot.queue_records import Decided, State

PROMOTE = Decided(answer="promote", reasons=("all checks passed",), checks=())


def test_the_same_commit_twice_is_one_submission(queue: Queue) -> None:
    first, new = queue.enqueue("zoo", head("1"), "a")
    again, renewed = queue.enqueue("zoo", head("1"), "a")
    other, _ = queue.enqueue("zoo", head("1"), "b")
    assert (new, renewed) == (True, False)
    assert first == again != other
    assert queue.counts().queued == 2


def test_a_decision_is_recorded_once_and_asks_for_its_report(queue: Queue) -> None:
    identity, _ = queue.enqueue("zoo", head("1"), "a")
    lease = queue.lease("w1")
    assert lease is not None
    assert lease.submission.state is State.RUNNING
    assert queue.lease("w2") is None
    assert queue.decide(lease, PROMOTE, [OutboxEntry.PROMOTE])
    assert not queue.decide(lease, PROMOTE, [])
    whole = queue.whole(identity)
    assert whole is not None
    assert whole.decision is not None
    assert (whole.decision.answer, whole.decision.reasons) == ("promote", ("all checks passed",))
    assert (whole.submission.state, whole.submission.answer) == (State.DECIDED, "promote")
    assert [line.text for line in whole.log][-1] == "decision: promote"
    outbox = Outbox(queue.database)
    kinds = []
    while due := outbox.take():
        kinds.append(due.kind)
        outbox.done(due)
    assert kinds == [OutboxEntry.PROMOTE, OutboxEntry.REPORT]


def test_an_expired_lease_is_taken_up_again_and_its_zombie_is_refused(queue: Queue, clock: Clock) -> None:
    queue.enqueue("zoo", head("1"), "a")
    zombie = queue.lease("w1")
    assert zombie is not None
    clock.now += 50
    assert queue.heartbeat(zombie)
    clock.now += 50
    assert queue.lease("w2") is None, "the heartbeat renewed it"
    clock.now += 20
    second = queue.lease("w2")
    assert second is not None
    assert (second.job, second.fence, second.taken) == (zombie.job, zombie.fence + 1, 2)
    assert not queue.heartbeat(zombie)
    assert not queue.give_back(zombie, "late")
    assert not queue.decide(zombie, PROMOTE, [OutboxEntry.PROMOTE])
    assert queue.decide(second, Decided(answer="decline", reasons=(), checks=()), [])
    whole = queue.whole(second.submission.id)
    assert whole is not None
    assert [decision.answer for decision in whole.decisions] == ["decline"]


def test_what_failed_is_given_back_and_waits(queue: Queue, clock: Clock) -> None:
    queue.enqueue("zoo", head("1"), "a")
    lease = queue.lease("w1")
    assert lease is not None
    assert queue.give_back(lease, "the child was killed", after_s=30)
    assert queue.lease("w1") is None
    clock.now += 31
    again = queue.lease("w1")
    assert again is not None
    assert (again.attempts, again.taken) == (1, 2)
    assert queue.give_back(again, "the robot stops", counted=False)
    third = queue.lease("w1")
    assert third is not None
    assert (third.attempts, third.taken) == (1, 2)


def test_a_newer_commit_cancels_the_older_even_while_it_is_worked_on(queue: Queue) -> None:
    first, _ = queue.enqueue("zoo", head("1"), "a")
    lease = queue.lease("w1")
    assert lease is not None
    second, _ = queue.enqueue("zoo", head("2"), "a")
    assert not queue.heartbeat(lease)
    assert not queue.decide(lease, PROMOTE, [])
    states = {submission.id: submission.state for submission in queue.submissions()}
    assert states == {first: State.SUPERSEDED, second: State.QUEUED}
    back, renewed = queue.enqueue("zoo", head("1"), "a")
    assert (back, renewed) == (first, True), "the branch was put back: that commit is wanted again"
    taken = queue.lease("w1")
    assert taken is not None
    assert taken.submission.id == first
    assert queue.lease("w1") is None


def test_other_branches_and_decided_commits_stay(queue: Queue) -> None:
    done, _ = queue.enqueue("zoo", head("1"), "a")
    lease = queue.lease("w")
    assert lease is not None
    queue.decide(lease, PROMOTE, [])
    elsewhere, _ = queue.enqueue("zoo", head("3", "submission/b"), "a")
    queue.enqueue("zoo", head("2"), "a")
    states = {submission.id: submission.state for submission in queue.submissions()}
    assert states[done] is State.DECIDED
    assert states[elsewhere] is State.QUEUED


def test_a_branch_that_is_gone_and_a_rerun(queue: Queue) -> None:
    identity, _ = queue.enqueue("zoo", head("1"), "a")
    assert not queue.rerun(identity, "asked"), "it is not decided yet"
    assert queue.withdraw("zoo", "submission/a", 0, "the branch is gone") == 1
    assert queue.lease("w") is None
    queue.enqueue("zoo", head("1"), "a")
    lease = queue.lease("w")
    assert lease is not None
    queue.decide(lease, Decided(answer="retry", reasons=("x",), checks=()), [])
    assert queue.rerun(identity, "asked")
    whole = queue.whole(identity)
    assert whole is not None
    assert whole.decision is None, "the earlier decision does not stand while a new round is open"
    assert len(whole.decisions) == 1
    lease = queue.lease("w")
    assert lease is not None
    queue.decide(lease, PROMOTE, [])
    whole = queue.whole(identity)
    assert whole is not None
    assert [decision.answer for decision in whole.decisions] == ["promote", "retry"]


def test_a_commit_that_another_request_hands_in_is_that_ones(queue: Queue) -> None:
    first, other = (
        structs.replace(head("1", f"fork-{number}", number), author=f"author-{number}") for number in (1, 2)
    )
    identity, _ = queue.enqueue("zoo", first, "a")
    queue.withdraw("zoo", "fork-1", 1, "closed")
    assert queue.enqueue("zoo", other, "a") == (identity, True)
    lease = queue.lease("w1")
    assert lease is not None
    assert (lease.submission.number, lease.submission.author) == (2, "author-2"), "who was there first is gone"
    assert not queue.take_over(identity, first), "it is worked on"
    assert queue.decide(lease, PROMOTE, [])
    assert queue.approve(identity, "zoo.toml (author-2)")
    lease = queue.lease("w1")
    assert lease is not None
    assert queue.decide(lease, PROMOTE, [])
    assert queue.take_over(identity, structs.replace(other, number=3))
    lease = queue.lease("w1")
    assert lease is not None
    assert lease.submission.approved == "zoo.toml (author-2)", "the same author"
    assert queue.decide(lease, PROMOTE, [])
    assert queue.take_over(identity, first)
    lease = queue.lease("w1")
    assert lease is not None
    assert (lease.submission.number, lease.submission.author) == (1, "author-1")
    assert lease.submission.approved == "", "nobody agreed that code of this author is run"
    assert queue.decide(lease, PROMOTE, [])
    queue.promoted(identity, "c" * 40)
    assert not queue.take_over(identity, other), "it is in the zoo"


@pytest.mark.parametrize("is_decided", [False, True], ids=["checked", "decided"])
def test_a_commit_that_another_took_over_meanwhile_is_not_left(queue: Queue, is_decided: bool) -> None:
    identity, _ = queue.enqueue("zoo", head("1", "alice:a", 7), "a")

    def decide() -> None:
        lease = queue.lease("w1")
        assert lease is not None
        assert queue.decide(lease, PROMOTE, [])

    decide()
    alices = queue.submission(identity)
    assert alices is not None
    assert queue.take_over(identity, head("1", "bob:a", 8))
    if is_decided:
        decide()
    before = queue.whole(identity)
    queue.leave(alices, State.WITHDRAWN, "alice:a was withdrawn before the promotion")
    assert queue.whole(identity) == before


def test_dead_workers_of_this_robot_are_forgotten_at_once(queue: Queue) -> None:
    for sha, branch in (("1", "x"), ("2", "y")):
        queue.enqueue("zoo", head(sha, branch), branch)
    ours, theirs = queue.lease("robot_1:0"), queue.lease("robotX1:0")
    assert ours is not None
    assert theirs is not None
    assert queue.forget_workers("robot_1:") == 1, "an underscore is no wildcard"
    assert not queue.heartbeat(ours)
    assert queue.heartbeat(theirs)


def test_a_database_of_a_newer_version_is_refused(location: str, database: Database) -> None:
    from sqlalchemy import update

    from assay.errors import NewerHistory
    from assay_zoo.robot.tables import meta

    with database.write() as connection:
        connection.execute(update(meta).values(value="99"))
    with pytest.raises(NewerHistory, match="newer version of assay"):
        Database(location)


WORKERS, JOBS = 8, 24


def _compete(location: str, number: int) -> None:
    queue = Queue(Database(location), lease_s=60)
    while lease := queue.lease(f"w{number}"):
        assert queue.heartbeat(lease)
        assert queue.decide(lease, PROMOTE, [])


def test_eight_processes_decide_each_job_once(location: str, database: Database) -> None:
    queue = Queue(database)
    for number in range(JOBS):
        queue.enqueue("zoo", head("1", f"submission/{number}"), f"model-{number}")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["assay_zoo.robot.queue"])
    workers = [context.Process(target=_compete, args=(location, number)) for number in range(WORKERS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(600)
        assert worker.exitcode == 0
    decided = Counter(submission.id for submission in queue.submissions() if submission.answer == "promote")
    assert len(decided) == JOBS
    assert queue.counts().answers == {"promote": JOBS}
    assert all(submission.round == 1 for submission in queue.submissions())
    logs = [queue.whole(identity) for identity in decided]
    assert all(sum(line.text == "decision: promote" for line in log.log) == 1 for log in logs if log)


def test_a_path_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    from assay.errors import StoreError

    (tmp_path / "robot.db").write_text("no database at all, but long enough to be read as one" * 10)
    with pytest.raises(StoreError, match=r"the robot's database .*robot\.db cannot be used"):
        Database(str(tmp_path / "robot.db"))


def test_the_journal_of_sqlite_is_used_again(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "robot.db"))
    queue, journal = Queue(database), tmp_path / "robot.db-wal"

    def write(round_: int) -> int:
        for number in range(150):
            queue.enqueue("zoo", head(f"{round_ * 150 + number:x}"), "a")
        return journal.stat().st_size

    first = write(0)
    assert write(1) > 1.5 * first, "nobody who writes waits for the disk"
    database.tidy()
    grown = journal.stat().st_size
    write(2)
    database.tidy()
    assert journal.stat().st_size == grown
    database.close()
