"""What goes out at least once, on SQLite and on a real PostgreSQL: the outbox's leases."""

from __future__ import annotations

from live_server import until_true
from queues import Clock, head

from assay_zoo.robot.database import Database
from assay_zoo.robot.outbox import LeaseRenewal, Outbox
from assay_zoo.robot.queue import Queue


def test_news_that_comes_while_it_is_told_is_told_next(queue: Queue, clock: Clock) -> None:
    outbox = Outbox(queue.database, now=clock)
    queue.enqueue("zoo", head("1"), "a")
    due = outbox.take()
    assert due is not None
    assert outbox.take() is None
    queue.lease("w")
    outbox.done(due)
    newer = outbox.take()
    assert newer is not None
    outbox.later(newer, 20, "the forge is down")
    assert outbox.take() is None
    clock.now += 21
    retried = outbox.take()
    assert retried is not None
    assert retried.attempts == 1
    clock.now += 400
    assert outbox.take() is not None, "whoever held it did not come back"


def test_a_delivery_that_goes_on_is_held_and_one_that_died_is_free_after_a_lease(queue: Queue, clock: Clock) -> None:
    outbox = Outbox(queue.database, lease_s=60, now=clock)
    queue.enqueue("zoo", head("1"), "a")
    due = outbox.take()
    assert due is not None
    for _ in range(5):
        clock.now += 50
        due = outbox.renew(due)
        assert due is not None
        assert outbox.take() is None, "nobody else delivers it meanwhile"
    clock.now += 61
    other = outbox.take()
    assert other is not None, "its robot was killed"
    assert outbox.renew(due) is None
    outbox.done(due)
    assert outbox.renew(other) is not None, "the dead robot's word changes nothing"


def test_a_lease_is_renewed_while_the_delivery_goes_on(queue: Queue, clock: Clock) -> None:
    outbox = Outbox(queue.database, lease_s=60, now=clock)
    queue.enqueue("zoo", head("1"), "a")
    due = outbox.take()
    assert due is not None
    with LeaseRenewal(outbox, due, 0.04) as held:
        for _ in range(5):
            clock.now += 50
            until_true(lambda: held.due.lease_until == clock.now + 60)
            assert outbox.take() is None
    outbox.done(held.due)
    clock.now += 61
    assert outbox.take() is None, "it is delivered"


def test_tables_of_the_first_version_are_brought_up_to_date(location: str) -> None:
    from sqlalchemy import text

    first = Database(location)
    with first.write() as connection:
        connection.execute(text("CREATE TABLE robot_deliveries (id INTEGER)"))
        connection.execute(text("ALTER TABLE robot_submissions DROP COLUMN approved"))
        connection.execute(text("UPDATE robot_meta SET value = '1' WHERE name = 'schema'"))
    first.close()
    again = Database(location)
    Queue(again).enqueue("zoo", head("1"), "a")
    assert [submission.approved for submission in Queue(again).submissions()] == [""]
    again.close()
    Database(location).close()
