"""The derived tolerance of one model on some inputs: what a correct flow would give, and how far it may be off."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from assay.core.defect import Defect
from assay.core.note import Note
from assay.core.result import UntakenBranch
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.ports import Tensor

VERSION = 39
DRAWS = 8
"""Noisy evaluations. Fewer make the statistics of small outputs unreliable."""


class OutputNoise(msgspec.Struct, frozen=True):
    """One output. `kind`: real (judged by statistics), exact (nothing rounds on the way: bit by bit), interval (whole
    numbers, or values that step: anything between `low` and `high`), ranking (an index: the `scores` decide), chosen
    (rows that are chosen by scores, in no simple order: as interval, and another choice is neither right nor wrong where one draw
    chose otherwise), none (no tolerance could be derived, `why` says for what reason; `shapes` are two that it has, where
    rounding decides its shape), random (there is no right answer). `margin` names
    what decides, or draws; `storage` is the unit roundoff of the output's type, 0 where its numbers are exact."""

    name: str
    dtype: str
    kind: str
    why: Note | None = None
    margin: str = ""
    storage: float = 0.0
    shapes: tuple[tuple[int, ...], ...] = ()


class Tried(msgspec.Struct, frozen=True):
    """One defect that was tried: the largest budget it used, whether the tolerance sees it, at which outputs, and
    which outputs it changed without being seen there."""

    defect: Defect
    budget: float
    killed: bool
    seen: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()


class Header(msgspec.Struct, frozen=True):
    """Everything but the tensors. `reason`: why no tolerance could be derived at all. `without_rule` are operators
    that got the wider fallback rule; `fallen` those that failed when several draws were evaluated at once, with the error (a fault
    of ours: they were evaluated one by one instead); `untaken` are branches that no sample takes; `jumps`: a value steps on its
    way to a real output (quantization); `selftest` what the tolerance was tried on; `learnt` the engine from whose
    perturbed runs (`draws`) the noise was learnt, `why` it could not be derived; `coarse`: of two noisy evaluations only, narrower
    than the derived tolerance (`assay.numerics.tolerance.coarse`)."""

    precision: str
    arithmetic: Arithmetic
    seed: int
    samples: int
    outputs: tuple[OutputNoise, ...] = ()
    draws: int = DRAWS
    without_rule: tuple[str, ...] = ()
    fallen: tuple[str, ...] = ()
    untaken: tuple[UntakenBranch, ...] = ()
    selftest: tuple[Tried, ...] = ()
    reason: Note | None = None
    seconds: dict[str, float] = {}
    jumps: bool = False
    learnt: str = ""
    why: Note | None = None
    coarse: bool = False
    version: int = VERSION

    @property
    def blind(self) -> frozenset[str]:
        """Outputs that built-in defects changed, none of which was seen there: nothing is known to be seen at them."""
        seen = {name for tried in self.selftest for name in tried.seen}
        return frozenset(name for tried in self.selftest for name in tried.missed) - seen


Samples = list[dict[str, Tensor]]


@dataclass(frozen=True)
class GuardedInputs:
    """Inputs at which the model's guards against zero count (`assay.numerics.tolerance.simulate.guarded_inputs`): by output what is
    right in float64, and by how much any element of it may be off."""

    inputs: dict[str, Tensor]
    oracle: dict[str, Tensor]
    allowed: dict[str, float]


@dataclass(frozen=True)
class DerivedTolerance:
    """For each sample: `oracle` in float64 by output; `deviation`, the standard deviation of a correct flow, by output
    (real ones); `margins` by output and what it is (`low`, `high`, `scores`, `scores_deviation`, `axis`, `largest`, and
    `tipped` and `shaken`, where values are rounded to a grid: see `assay.numerics.tolerance.rules.rounding_steps`). `others`
    are the answers of a flow that rounds ties by a rule of its own (`assay.numerics.tolerance.simulate.tie_choices`), each with
    its own noise: an engine that agrees with one of them is right. `guarded` are no samples: they are judged for themselves."""

    header: Header
    oracle: Samples = field(default_factory=list)
    deviation: Samples = field(default_factory=list)
    margins: Samples = field(default_factory=list)
    others: list[DerivedTolerance] = field(default_factory=list)
    guarded: tuple[GuardedInputs, ...] = ()

    def output(self, name: str) -> OutputNoise | None:
        """None for a name that the model has not."""
        return next((output_noise for output_noise in self.header.outputs if output_noise.name == name), None)

    def first(self, count: int) -> DerivedTolerance:
        """The same for the first `count` samples only."""
        if count >= self.header.samples:
            return self
        others = [other.first(count) for other in self.others]
        header = msgspec.structs.replace(self.header, samples=count)
        return DerivedTolerance(
            header, self.oracle[:count], self.deviation[:count], self.margins[:count], others, self.guarded
        )

    def only(self, names: Collection[str]) -> DerivedTolerance:
        """The same for some of the outputs."""
        outputs = tuple(output for output in self.header.outputs if output.name in names)
        return replace(self.with_header(outputs=outputs), others=[other.only(names) for other in self.others])

    def with_header(self, **changed: Any) -> DerivedTolerance:
        """The same but for these fields of its header."""
        return replace(self, header=msgspec.structs.replace(self.header, **changed))
