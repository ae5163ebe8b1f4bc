"""The tolerance that a user chose, applied to a comparison: derived from arithmetic, or one of the known tables."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec
import numpy as np

from assay.core.case import Contract, Tolerance
from assay.core.comparison import Comparison
from assay.core.dtype import UNIT_ROUNDOFF
from assay.core.finding import Finding
from assay.core.note import Note, NoteCode, noted
from assay.numerics.compare import compare_outputs
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.drawn_comparison import Drawn, without_numbers
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs, suspects
from assay.numerics.tolerance.judge.output_judgement import OutputJudgement
from assay.numerics.tolerance.judge.statistics import NORM_LIMIT
from assay.numerics.tolerance.judged_comparison import (
    ROWS,
    beyond_a_guess,
    beyond_the_others,
    by_coarse,
    by_default,
    open_golden,
    other_rows,
    other_whole_numbers,
    with_judgement,
    with_rest,
    with_tables,
)
from assay.numerics.tolerance.tolerance_tables import DERIVED, coarse
from assay.ports import Tensor

WIDE = ("float64", "float32", "tf32")
_SINGLE = 2.0**-20
"""Of its norm an output may move where constants are rounded to single precision: sixteen roundings."""
_MOST_OTHERWISE = 0.5
"""Of the whole numbers of an output: where more are others, no grid decided that."""
_LESS_THAN_A_BIT = 0.5
"""Relative L2 distance, 6 dB: no quantization to eight bits loses so much."""
Samples = Sequence[Mapping[str, Tensor]]
Compared = tuple[tuple[Comparison, ...], tuple[Finding, ...]]


@dataclass(frozen=True)
class ToleranceComparator:
    """What verify compares by. `profile` None: the contract's own limits; `notes` say why, where that was not asked for."""

    contract: Contract
    profile: DerivedTolerance | None = None
    notes: tuple[Note, ...] = ()
    remarks: list[Note] = field(default_factory=list)
    translated: bool = False
    """What is expected are the program's own answers in double, and the profile is of a graph that was made of the program."""
    golden: bool | None = False
    """Whether a golden of this model is expected, or the answers of its reference. None: the answers of another model."""
    guessed: bool = False
    """A derived tolerance was asked for, and there is none: what lies outside of the default is neither right nor wrong."""
    by_default: bool = False
    """A table that is chosen does not count here: another size, or a quantized model."""
    drawn: Drawn = field(default_factory=dict)
    """Outputs whose numbers are drawn at random: no two calls answer alike, and no two engines."""

    def first(self, count: int) -> ToleranceComparator:
        """The same for the first `count` samples: those that an engine has answered."""
        return self if self.profile is None else replace(self, profile=self.profile.first(count))

    def compare(self, actual: Samples, expected: Samples, declared: Mapping[str, str]) -> Compared:
        """The comparator's account, with the profile's judgement in it, and what other tables would have said."""
        known = self.profile.header.samples if self.profile is not None else len(actual)
        judged = self._judged(actual[:known], expected[:known])
        ours = {name for name in self._derived() if name in judged}
        compared, differences = compare_outputs(actual, expected, self.contract, expected_dtypes=declared)
        comparisons = tuple(
            with_judgement(
                with_tables(comparison, actual, expected),
                judged.get(comparison.output),
                decides=comparison.output in ours,
            )
            for comparison in compared
        )
        findings = [finding for finding in differences if not (finding.kind == "values" and finding.output in ours)]
        for name in sorted(ours):
            findings += judged[name].findings
        if ours and known < len(actual) == len(expected):
            rest = self._rest(actual[known:], expected[known:], declared, {name: judged[name] for name in ours})
            comparisons, more = self._with_rest(comparisons, rest, len(actual))
            findings += more
            self.remarks.append(noted(NoteCode.DERIVED_ON_FIRST, known=known, samples=len(actual)))
        if self.profile is not None and self.profile.header.coarse:
            comparisons = tuple(
                by_coarse(comparison) if comparison.output in ours else comparison for comparison in comparisons
            )
        comparisons, findings = self._undecided(comparisons, findings, actual, expected)
        comparisons, findings = self._unmeasured(comparisons, findings)
        comparisons, findings = self._outside_a_guess(comparisons, findings)
        comparisons = tuple(
            msgspec.structs.replace(comparison, tolerance=self._whose(comparison, ours)) for comparison in comparisons
        )
        comparisons = tuple(map(by_default, comparisons)) if self.by_default else comparisons
        comparisons, findings = without_numbers(comparisons, findings, self.drawn, actual, expected)
        for output_judgement in judged.values():
            self.remarks.extend(output_judgement.notes)
        self.remarks.extend(self._unseen(judged) if not findings else ())
        self.remarks.extend(filter(None, (coarse(comparison, self.contract) for comparison in comparisons)))
        return comparisons, tuple(findings)

    def _undecided(
        self, comparisons: tuple[Comparison, ...], findings: list[Finding], actual: Samples, expected: Samples
    ) -> tuple[tuple[Comparison, ...], list[Finding]]:
        """Where rounding decides how many rows there are, other rows are neither right nor wrong: such an answer proves
        nothing. Its type and its rank are asked for all the same."""
        outputs = self.profile.header.outputs if self.profile is not None else ()
        shapes = {
            output.name: output.shapes
            for output in outputs
            if output.kind == "none" and output.shapes and output.name not in self.contract.tolerances
            if all(
                output.name in mine and mine[output.name].ndim == theirs[output.name].ndim
                for mine, theirs in zip(actual, expected, strict=False)
            )
        }
        shape_outputs = {finding.output for finding in findings if finding.output in shapes and finding.kind in ROWS}
        left = tuple(
            other_rows(comparison, *shapes[comparison.output])
            if comparison.output in shape_outputs and not comparison.at
            else comparison
            for comparison in comparisons
        )
        return left, [finding for finding in findings if not (finding.output in shape_outputs and finding.kind in ROWS)]

    def _unmeasured(
        self, comparisons: tuple[Comparison, ...], findings: list[Finding]
    ) -> tuple[tuple[Comparison, ...], list[Finding]]:
        """Whole numbers of a flow on a grid (an index, say) without a derived tolerance: others are neither right nor wrong."""
        if self.profile is not None or self.contract.tolerance != DERIVED or self.contract.precision in UNIT_ROUNDOFF:
            return comparisons, findings
        blamed = {
            finding.output
            for finding in findings
            if finding.kind == "values" and finding.output not in self.contract.tolerances
        }
        blamed = {
            comparison.output
            for comparison in comparisons
            if comparison.output in blamed and comparison.dtype.startswith(("int", "uint"))
            if comparison.metrics.get("share_out_of_tolerance", 1.0) <= _MOST_OTHERWISE
        }
        precision = self.contract.precision
        left = tuple(
            other_whole_numbers(comparison, precision) if comparison.output in blamed else comparison
            for comparison in comparisons
        )
        return left, [finding for finding in findings if not (finding.output in blamed and finding.kind == "values")]

    def _outside_a_guess(
        self, comparisons: tuple[Comparison, ...], findings: list[Finding]
    ) -> tuple[tuple[Comparison, ...], list[Finding]]:
        """Numbers that a multiple of the unit roundoff does not explain, where nothing is known of the graph: no proof of a fault.
        Texts are no numbers: another one is wrong. An engine that quantizes by itself has no quantized model to be compared with, so that
        its loss and its errors are one number: it is wrong where less than a bit of the answer is left."""
        if self.contract.tolerance != DERIVED or "*" in self.contract.tolerances:
            return comparisons, findings
        on_grid = self.contract.precision not in UNIT_ROUNDOFF
        outputs = self.profile.header.outputs if self.profile is not None else ()
        unknown = {output.name for output in outputs if output.kind == "none"}
        certain = {comparison.output for comparison in comparisons if comparison.dtype == "string"}
        if on_grid:
            certain |= {
                comparison.output
                for comparison in comparisons
                if comparison.metrics.get("rel_l2", math.inf) > _LESS_THAN_A_BIT
            }
        guessed = {
            finding.output
            for finding in findings
            if finding.kind == "values" and finding.output not in {*self.contract.tolerances, *certain}
            if self.guessed or finding.output in unknown
        }
        left = tuple(
            beyond_a_guess(comparison) if comparison.output in guessed else comparison for comparison in comparisons
        )
        return left, [finding for finding in findings if not (finding.output in guessed and finding.kind == "values")]

    def _whose(self, comparison: Comparison, ours: Collection[str]) -> str:
        """Whose limits these are."""
        if comparison.output in ours and not comparison.at:
            return "learnt" if self.profile is not None and self.profile.header.learnt else "derived"
        chosen = comparison.output in self.contract.tolerances or "*" in self.contract.tolerances
        return "chosen" if chosen else "default"

    def _unseen(self, judged: Mapping[str, OutputJudgement]) -> tuple[Note, ...]:
        """What a pass in a coarse type leaves open: an error that its noise hides, at the output where most may hide."""
        if self.profile is None or self.contract.precision in WIDE:
            return ()
        shares = {}
        for name, output_judgement in judged.items():
            if output_judgement.statistics is not None:
                values = [sample[name][np.isfinite(sample[name])] for sample in self.profile.oracle]
                energy = sum(float(np.square(value).sum()) for value in values)
                allowed = (
                    NORM_LIMIT * output_judgement.statistics.noise * math.sqrt(sum(value.size for value in values))
                )
                shares[name] = allowed / math.sqrt(energy) if energy else 0.0
        if not shares:
            return ()
        worst = max(shares, key=lambda name: shares[name])
        precision = self.contract.precision
        return (noted(NoteCode.HIDDEN_BY_NOISE, precision=precision, share=shares[worst], output=worst),)

    def _rest(
        self, actual: Samples, expected: Samples, declared: Mapping[str, str], judged: Mapping[str, OutputJudgement]
    ) -> dict[str, Comparison]:
        """Samples beyond those of the profile, by output."""
        tolerances = {
            name: Tolerance(0.0, output_judgement.statistics.most if output_judgement.statistics is not None else 0.0)
            for name, output_judgement in judged.items()
        }
        contract = msgspec.structs.replace(self.contract, tolerances=tolerances)
        compared, _ = compare_outputs(actual, expected, contract, expected_dtypes=declared)
        return {comparison.output: comparison for comparison in compared if comparison.output in judged}

    def _with_rest(
        self, comparisons: tuple[Comparison, ...], rest: Mapping[str, Comparison], samples: int
    ) -> tuple[tuple[Comparison, ...], list[Finding]]:
        """Where values are put on a grid, the jumps of one sample do not say how far those of another go."""
        assert self.profile is not None
        known, on_grid = self.profile.header.samples, any(self.profile.margins)
        left, compared_rest = [], []
        for comparison in comparisons:
            other = rest.get(comparison.output)
            values = [finding for finding in other.findings if finding.kind == "values"] if other is not None else []
            if other is not None and values and on_grid and comparison.metrics.get("budget_used", 0.0) <= 1.0:
                left.append(beyond_the_others(comparison, other.metrics.get("budget_used", math.inf), known, samples))
            else:
                left.append(with_rest(comparison, other))
                compared_rest += values
        return tuple(left), compared_rest

    def _derived(self) -> tuple[str, ...]:
        """Outputs with a derived tolerance and no explicit one."""
        if self.profile is None or "*" in self.contract.tolerances:
            return ()
        return tuple(
            output.name
            for output in self.profile.header.outputs
            if output.kind != "none" and output.name not in self.contract.tolerances
        )

    def _judged(self, actual: Samples, expected: Samples) -> dict[str, OutputJudgement]:
        if self.profile is None:
            return {}
        oracle = all(
            np.array_equal(sample[name], other[name], equal_nan=sample[name].dtype.kind == "f")
            for sample, other in zip(expected, self.profile.oracle, strict=False)
            for name in other
            if name in sample and sample[name].dtype == other[name].dtype and other[name].dtype.kind in "fbiu"
        ) and all(
            sample[name].dtype == np.float64 for sample in expected for name in sample if sample[name].dtype.kind == "f"
        )
        suspected = {} if oracle else suspects(expected, self.profile)
        judged = judge_outputs(actual, None if oracle else expected, self.profile)
        if self.profile.header.coarse and suspected:
            return {
                name: open_golden(output_judgement) if name in suspected else output_judgement
                for name, output_judgement in judged.items()
            }
        if not self.translated:
            self._remark_on(suspected)
            return judged
        untrue = [name for name in suspected if self._is_another(name, expected)]
        self.remarks.extend(noted(NoteCode.CONVERSION_UNTRUE, output=name) for name in untrue)
        return {name: output_judgement for name, output_judgement in judged.items() if name not in untrue}

    def _remark_on(self, suspected: Mapping[str, float]) -> None:
        """Not where the answers are another model's: that they differ is what the comparison itself says."""
        if self.golden is None:
            return
        for name, used in suspected.items():
            self.remarks.append(
                noted(
                    NoteCode.GOLDEN_DISAGREES if self.golden else NoteCode.REFERENCE_DISAGREES, output=name, used=used
                )
            )

    def _is_another(self, name: str, expected: Samples) -> bool:
        """Not where the conversion only rounds constants of double to single: that noise is the program's own."""
        profile = self.profile
        if profile is None or any(output.name == name and output.kind == "exact" for output in profile.header.outputs):
            return True
        ours = np.concatenate([np.ravel(sample[name]) for sample in profile.oracle]).astype(np.float64)
        theirs = np.concatenate([np.ravel(sample[name]) for sample in expected]).astype(np.float64)
        known = np.isfinite(ours) & np.isfinite(theirs)
        apart, size = np.linalg.norm((ours - theirs)[known]), np.linalg.norm(ours[known])
        return bool((np.isfinite(ours) != np.isfinite(theirs)).any() or apart > _SINGLE * size)
