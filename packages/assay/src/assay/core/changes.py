"""What changed between two runs, cell by cell: of one run and the one before it, or of two engines that were compared."""

from __future__ import annotations

import msgspec

from assay.core.native_warning import NativeWarning


class MetricDelta(msgspec.Struct, frozen=True):
    """One metric before and after; None where it was not recorded. `past` are its values in earlier runs, oldest first, without these;
    empty where no line of a page or a report shows the metric."""

    metric: str
    old: float | None
    new: float | None
    past: tuple[float, ...] = ()


class LostFusion(msgspec.Struct, frozen=True):
    """Operators that ran inside of fused kernels before, and run by themselves now: `gone` counts the kernels, `alone` the operators."""

    gone: dict[str, int]
    alone: dict[str, int]

    @property
    def count(self) -> int:
        """Kernels that are gone, or, where the backend does not say which are fused, operators that ran nowhere by themselves."""
        return sum(self.gone.values()) or sum(self.alone.values())


class CellChange(msgspec.Struct, frozen=True):
    """One case on one flow. `only` is "old" or "new" where the other run lacks it, "" where both have it. `verdicts` are the words of
    both runs. `decision` is what a comparison of speed side by side said, "" where there was none. `engine` says in words what
    changed in precision, placement and fusion. `batches` are those that latency and throughput are of, before and after, 0 where none
    was: where they differ, none of them has an old value."""

    case: str
    flow: str
    only: str = ""
    deltas: tuple[MetricDelta, ...] = ()
    new_warnings: tuple[NativeWarning, ...] = ()
    gone_warnings: tuple[NativeWarning, ...] = ()
    lost_fusion: LostFusion | None = None
    engine: tuple[str, ...] = ()
    verdicts: tuple[str, str] = ("", "")
    decision: str = ""
    batches: tuple[int, int] = (0, 0)

    @property
    def other_batch(self) -> bool:
        """Whether both were timed, each with another batch."""
        return all(self.batches) and self.batches[0] != self.batches[1]


class RunChanges(msgspec.Struct, frozen=True):
    """`old` names what is compared with. Of two runs: when and from which commit each is, the commits between (newest first), and
    packages whose version changed, as (name, old, new)."""

    old: str
    cells: tuple[CellChange, ...] = ()
    old_started: str = ""
    new_started: str = ""
    old_commit: str = ""
    new_commit: str = ""
    commits: tuple[str, ...] = ()
    versions: tuple[tuple[str, str, str], ...] = ()
