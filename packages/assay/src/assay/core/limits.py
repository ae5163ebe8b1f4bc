"""What a job may use, and how long it samples."""

from __future__ import annotations

import math

import msgspec

from assay.core.case import LARGEST
from assay.core.note import noted
from assay.core.refusals.usage_codes import UsageCode
from assay.errors import UsageError

IMPORT_S = 120.0
DERIVATIONS = 4.0


class Limits(msgspec.Struct, frozen=True):
    """What one job may use. `memory_bytes` 0 means no limit; importing a backend has a clock of its own, `import_s`
    (0: IMPORT_S, or `timeout_s` where that is longer), and so has the derivation of a tolerance, `derive_s` (0: DERIVATIONS
    times `timeout_s`), which no engine answers for. `repeat_share` of the time that a verify job took so far may go to calls that
    are repeated (0: one call)."""

    timeout_s: float = 300.0
    memory_bytes: int = 0
    import_s: float = 0.0
    derive_s: float = 0.0
    repeat_share: float = 0.25

    def __post_init__(self) -> None:
        if not 0.0 < self.timeout_s < math.inf:
            raise UsageError(noted(UsageCode.NOT_POSITIVE, name="timeout_s", value=self.timeout_s))
        for name, value in (("derive_s", self.derive_s), ("repeat_share", self.repeat_share)):
            if not 0.0 <= value < math.inf:
                raise UsageError(noted(UsageCode.NEGATIVE, name=name, value=value))
        _check_fits("memory_bytes", self.memory_bytes)

    @property
    def importing_s(self) -> float:
        """How long importing may take: who raises the limit of a job on a slow machine raises this one, too."""
        return self.import_s or max(IMPORT_S, self.timeout_s)

    @property
    def deriving_s(self) -> float:
        """How long the derivation of a tolerance may take."""
        return self.derive_s or DERIVATIONS * self.timeout_s


class Measuring(msgspec.Struct, frozen=True):
    """How a measure job samples: seconds of sampling, batch sizes (empty: the model's own), threads. `thorough` asks for
    what a benchmark of operators reports besides: cold caches, layouts, the work done."""

    seconds: float = 0.5
    batches: tuple[int, ...] = ()
    threads: int = 1
    warmup_s: float = 2.0
    thorough: bool = False

    def __post_init__(self) -> None:
        if not 0.0 < self.seconds < math.inf:
            raise UsageError(noted(UsageCode.NOT_POSITIVE, name="seconds", value=self.seconds))
        _check_fits("threads", self.threads)
        for batch in self.batches:
            _check_fits("batch", batch)


def _check_fits(name: str, number: int) -> None:
    if not 0 <= number <= LARGEST:
        raise UsageError(noted(UsageCode.NOT_64_BITS, name=name, value=str(number)))
