"""What every source can do. Each method is repeated after a failure: it must be right however often it is called."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar

from assay.errors import HarnessError
from assay_zoo.robot.queue_records import Head, Submission, Whole

Told = ParamSpec("Told")
Answer = TypeVar("Answer")


class SourceFailed(HarnessError):
    """The forge or the repository did not answer as it should. `after_s`: not worth trying again before, where it told."""

    def __init__(self, text: str, *, after_s: float = 0.0) -> None:
        super().__init__(text)
        self.after_s = after_s


def understood(method: Callable[Told, Answer]) -> Callable[Told, Answer]:
    """What a forge answers in another form than it documents (null, a page of HTML) is a failure of the forge, tried again later."""

    @functools.wraps(method)
    def asked(*arguments: Told.args, **named: Told.kwargs) -> Answer:
        try:
            return method(*arguments, **named)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            what = f"{type(error).__name__}: {error}"[:200]
            raise SourceFailed(
                f"the forge answers in a form that it does not document ({what}): look at what it sends"
            ) from error

    return asked


class Source(Protocol):
    """One repository. Raises HarnessError where it cannot be reached now."""

    repository: str
    """Its identity in the queue."""
    poll_s: float
    """How often to look without being told."""

    def heads(self) -> list[Head]:
        """Everything that is submitted now."""
        ...

    def head(self, branch: str, number: int) -> Head | None:
        """One of them, looked at again; None where it is gone."""
        ...

    def names(self, head: Head, candidates: list[str]) -> list[str]:
        """The submissions of a head, of the folders that it changes; empty for what is no submission at all."""
        ...

    def approved(self, head: Head) -> str:
        """Who, of those that may change the repository, approved this very commit; "" for nobody."""
        ...

    def report(self, whole: Whole, page: str) -> None:
        """Tell the submitter where his submission stands. `page` is the address of the robot's page, "" for none."""
        ...

    def close(self, submission: Submission) -> None:
        """The submission is in the zoo: its request is done."""
        ...

    def end(self) -> None:
        """The robot stops: give connections back."""
        ...
