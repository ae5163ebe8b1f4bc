"""What goes out at least once, on SQLite and on a real PostgreSQL: the outbox's leases."""

from __future__ import annotations

from queues import Clock, head

from assay_zoo.robot.database import Database
from assay_zoo.robot.outbox import Outbox
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
    clock.now += 601
    assert outbox.take() is not None, "whoever held it did not come back"


def test_what_a_killed_robot_had_in_hand_is_free_after_a_lease(queue: Queue, clock: Clock) -> None:
    outbox = Outbox(queue.database, lease_s=60, now=clock)
    queue.enqueue("zoo", head("1"), "a")
    due = outbox.take()
    assert due is not None
    clock.now += 59
    assert outbox.take() is None, "nobody else delivers it meanwhile"
    clock.now += 2
    other = outbox.take()
    assert other is not None, "its robot was killed"
    outbox.later(due, 0, "the dead robot's word changes nothing")
    assert outbox.take() is None
    outbox.done(other)
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
