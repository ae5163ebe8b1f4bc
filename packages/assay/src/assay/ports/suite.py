"""What generates cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

from assay.core.case import Case
from assay.core.outcome import Outcome


class Suite(Protocol):
    """A named, seeded generator of cases. Instantiated without arguments. Conformance: `assay.testing.check_suite`."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str:
        """One line: what is in it."""
        ...

    def cases(self, *, seed: int) -> Iterator[Case]:
        """Every case, named `suite/case`, the same for the same seed on every machine. Cheap: called in the driver, so
        that it imports no framework; the files of a case may not exist yet, and its model's digest may be empty."""
        ...

    def make(self, cases: Sequence[Case], *, workers: int) -> Iterator[tuple[Case, str]]:
        """The same cases, each with its files on disk, or with the reason why it has none ("": it has). What is made
        is kept in the cache; whatever needs a framework happens in processes of its own (`workers`, 0: one per core).
        A case without files ends `unsupported`, or as `JudgesMissingFiles` says."""
        ...


@runtime_checkable
class HasVariants(Protocol):
    """A class of suites that is also instantiated with the name of a variant: `assay run SUITE:VARIANT`."""

    @property
    def variants(self) -> tuple[str, ...]:
        """Their names: an attribute of the class."""
        ...


@runtime_checkable
class CountedApart(Protocol):
    """A suite of which several lists are counted separately: of a variant, of a folder."""

    @property
    def counted_as(self) -> str:
        """The name of the list that its cases are counted with. Without it: its own name."""
        ...


def count_name(suite: Suite) -> str:
    """The name of the list that its cases are counted with."""
    return suite.counted_as if isinstance(suite, CountedApart) else suite.name


@runtime_checkable
class JudgesMissingFiles(Protocol):
    """A suite that says what a case without files is."""

    @property
    def unmade(self) -> Outcome:
        """The outcome of such a case. Without it: unsupported."""
        ...


def missing_outcome(suite: Suite) -> Outcome:
    """The outcome of its cases that have no files."""
    return suite.unmade if isinstance(suite, JudgesMissingFiles) else Outcome.UNSUPPORTED
