"""The tolerance that a user chose, applied to a comparison: derived from arithmetic, or one of the known tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
import numpy as np

from assay.core.case import Contract, Tolerance
from assay.core.comparison import Comparison, Evidence, OutsideCount
from assay.core.dtype import UNIT_ROUNDOFF
from assay.core.finding import Finding, FindingCode, facts
from assay.errors import Lowering
from assay.numerics.compare import compare_outputs
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs, suspects
from assay.numerics.tolerance.judge.output_judgement import OutputJudgement
from assay.numerics.tolerance.judge.statistics import NORM_LIMIT
from assay.numerics.tolerance.tolerance_tables import DERIVED, ONNX, TORCH, coarse, share_out, with_table
from assay.ports import Tensor

WIDE = ("float64", "float32", "tf32")
_SINGLE = 2.0**-20
"""Of its norm an output may move where constants are rounded to single precision: sixteen roundings."""
_MOST_OTHERWISE = 0.5
"""Of the whole numbers of an output: where more are others, no grid decided that."""
_LESS_THAN_A_BIT = 0.5
"""Relative L2 distance, 6 dB: no quantization to eight bits loses so much."""
_ROWS = ("shape", "values", "degenerate")
"""What is found where there are other rows, or as many in another order."""
Samples = Sequence[Mapping[str, Tensor]]
Compared = tuple[tuple[Comparison, ...], tuple[Finding, ...]]


@dataclass(frozen=True)
class ToleranceComparator:
    """What verify compares by. `profile` None: the contract's own limits; `notes` say why, where that was not asked for."""

    contract: Contract
    profile: DerivedTolerance | None = None
    notes: tuple[str, ...] = ()
    remarks: list[str] = field(default_factory=list)
    translated: bool = False
    """What is expected are the program's own answers in double, and the profile is of a graph that was made of the program."""
    guessed: bool = False
    """A derived tolerance was asked for, and there is none: what lies outside of the default is neither right nor wrong."""
    by_default: bool = False
    """A table that is chosen does not count here: another size, or a quantized model."""

    def first(self, count: int) -> ToleranceComparator:
        """The same for the first `count` samples: those that an engine has answered."""
        return self if self.profile is None else replace(self, profile=self.profile.first(count))

    def compare(self, actual: Samples, expected: Samples, declared: Mapping[str, str]) -> Compared:
        """The comparator's account, with the profile's judgement in it, and what other tables would have said."""
        known = self.profile.header.samples if self.profile is not None else len(actual)
        judged = self._judged(actual[:known], expected[:known])
        ours = {name for name in self._derived() if name in judged}
        compared, found = compare_outputs(actual, expected, self.contract, expected_dtypes=declared)
        comparisons = tuple(
            _with(_with_tables(one, actual, expected), judged.get(one.output), decides=one.output in ours)
            for one in compared
        )
        findings = [one for one in found if not (one.kind == "values" and one.output in ours)]
        for name in sorted(ours):
            findings += judged[name].findings
        if ours and known < len(actual) == len(expected):
            rest = self._rest(actual[known:], expected[known:], declared, {name: judged[name] for name in ours})
            comparisons = tuple(_with_rest(one, rest.get(one.output)) for one in comparisons)
            findings += [finding for one in rest.values() for finding in one.findings if finding.kind == "values"]
            self.remarks.append(
                f"the tolerance was derived on the first {known} of {len(actual)} samples; the others may be off by as much as "
                "the noisiest element of these"
            )
        if self.profile is not None and self.profile.header.coarse:
            comparisons = tuple(_by_coarse(one) if one.output in ours else one for one in comparisons)
        comparisons, findings = self._undecided(comparisons, findings, actual, expected)
        comparisons, findings = self._unmeasured(comparisons, findings)
        comparisons, findings = self._outside_a_guess(comparisons, findings)
        comparisons = tuple(msgspec.structs.replace(one, tolerance=self._whose(one, ours)) for one in comparisons)
        comparisons = tuple(map(_by_default, comparisons)) if self.by_default else comparisons
        for one in judged.values():
            self.remarks.extend(one.notes)
        self.remarks.extend(self._unseen(judged) if not findings else ())
        self.remarks.extend(told for one in comparisons if (told := coarse(one, self.contract)))
        return comparisons, tuple(findings)

    def _undecided(
        self, comparisons: tuple[Comparison, ...], findings: list[Finding], actual: Samples, expected: Samples
    ) -> tuple[tuple[Comparison, ...], list[Finding]]:
        """Where rounding decides how many rows there are, other rows are neither right nor wrong: such an answer proves
        nothing. Its type and its rank are asked for all the same."""
        outputs = self.profile.header.outputs if self.profile is not None else ()
        shapes = {
            one.name: one.shapes
            for one in outputs
            if one.kind == "none" and one.shapes and one.name not in self.contract.tolerances
            if all(
                one.name in mine and mine[one.name].ndim == theirs[one.name].ndim
                for mine, theirs in zip(actual, expected, strict=False)
            )
        }
        found = {one.output for one in findings if one.output in shapes and one.kind in _ROWS}
        left = tuple(
            _other_rows(one, *shapes[one.output]) if one.output in found and not one.at else one for one in comparisons
        )
        return left, [one for one in findings if not (one.output in found and one.kind in _ROWS)]

    def _unmeasured(
        self, comparisons: tuple[Comparison, ...], findings: list[Finding]
    ) -> tuple[tuple[Comparison, ...], list[Finding]]:
        """Whole numbers of a flow on a grid (an index, say) without a derived tolerance: others are neither right nor wrong."""
        if self.profile is not None or self.contract.tolerance != DERIVED or self.contract.precision in UNIT_ROUNDOFF:
            return comparisons, findings
        found = {one.output for one in findings if one.kind == "values" and one.output not in self.contract.tolerances}
        found = {
            one.output
            for one in comparisons
            if one.output in found and one.dtype.startswith(("int", "uint"))
            if one.metrics.get("share_out_of_tolerance", 1.0) <= _MOST_OTHERWISE
        }
        precision = self.contract.precision
        left = tuple(_other_whole_numbers(one, precision) if one.output in found else one for one in comparisons)
        return left, [one for one in findings if not (one.output in found and one.kind == "values")]

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
        unknown = {one.name for one in outputs if one.kind == "none"}
        certain = {one.output for one in comparisons if one.dtype == "string"}
        if on_grid:
            certain |= {one.output for one in comparisons if one.metrics.get("rel_l2", math.inf) > _LESS_THAN_A_BIT}
        found = {
            one.output
            for one in findings
            if one.kind == "values" and one.output not in {*self.contract.tolerances, *certain}
            if self.guessed or one.output in unknown
        }
        left = tuple(_outside(one) if one.output in found else one for one in comparisons)
        return left, [one for one in findings if not (one.output in found and one.kind == "values")]

    def _whose(self, one: Comparison, ours: Collection[str]) -> str:
        """Whose limits these are."""
        if one.output in ours and not one.at:
            return "learnt" if self.profile is not None and self.profile.header.learnt else "derived"
        chosen = one.output in self.contract.tolerances or "*" in self.contract.tolerances
        return "chosen" if chosen else "default"

    def _unseen(self, judged: Mapping[str, OutputJudgement]) -> tuple[str, ...]:
        """What a pass in a coarse type leaves open: an error that its noise hides, at the output where most may hide."""
        if self.profile is None or self.contract.precision in WIDE:
            return ()
        shares = {}
        for name, one in judged.items():
            if one.statistics is not None:
                values = [sample[name][np.isfinite(sample[name])] for sample in self.profile.oracle]
                energy = sum(float(np.square(value).sum()) for value in values)
                allowed = NORM_LIMIT * one.statistics.noise * math.sqrt(sum(value.size for value in values))
                shares[name] = allowed / math.sqrt(energy) if energy else 0.0
        if not shares:
            return ()
        worst = max(shares, key=lambda name: shares[name])
        told = (
            f"judged end to end: in {self.contract.precision} an error of up to {shares[worst]:.2g} of the norm of output '{worst}' "
            "passes for the noise of a correct flow; --per-node judges every node by itself and sees more"
        )
        return (told,)

    @property
    def random(self) -> frozenset[str]:
        """Outputs that are drawn at random: no two calls answer alike."""
        outputs = self.profile.header.outputs if self.profile is not None else ()
        return frozenset(one.name for one in outputs if one.kind == "random")

    def _rest(
        self, actual: Samples, expected: Samples, declared: Mapping[str, str], judged: Mapping[str, OutputJudgement]
    ) -> dict[str, Comparison]:
        """Samples beyond those of the profile, by output."""
        tolerances = {
            name: Tolerance(0.0, one.statistics.most if one.statistics is not None else 0.0)
            for name, one in judged.items()
        }
        contract = msgspec.structs.replace(self.contract, tolerances=tolerances)
        compared, _ = compare_outputs(actual, expected, contract, expected_dtypes=declared)
        return {one.output: one for one in compared if one.output in judged}

    def _derived(self) -> tuple[str, ...]:
        """Outputs with a derived tolerance and no explicit one."""
        if self.profile is None or "*" in self.contract.tolerances:
            return ()
        return tuple(
            one.name
            for one in self.profile.header.outputs
            if one.kind != "none" and one.name not in self.contract.tolerances
        )

    def _judged(self, actual: Samples, expected: Samples) -> dict[str, OutputJudgement]:
        if self.profile is None:
            return {}
        oracle = all(
            np.array_equal(one[name], other[name], equal_nan=one[name].dtype.kind == "f")
            for one, other in zip(expected, self.profile.oracle, strict=False)
            for name in other
            if name in one and one[name].dtype == other[name].dtype and other[name].dtype.kind in "fbiu"
        ) and all(one[name].dtype == np.float64 for one in expected for name in one if one[name].dtype.kind == "f")
        suspected = {} if oracle else suspects(expected, self.profile)
        judged = judge_outputs(actual, None if oracle else expected, self.profile)
        if self.profile.header.coarse and suspected:
            return {name: _open(one) if name in suspected else one for name, one in judged.items()}
        if not self.translated:
            self.remarks.extend(suspected.values())
            return judged
        untrue = [name for name in suspected if self._is_another(name, expected)]
        self.remarks.extend(
            f"the graph that the tolerance was derived from answers otherwise than the program at output '{name}', both in double: "
            "the conversion is not true to it; judged by a fixed multiple of the unit roundoff instead, which is wider"
            for name in untrue
        )
        return {name: one for name, one in judged.items() if name not in untrue}

    def _is_another(self, name: str, expected: Samples) -> bool:
        """Not where the conversion only rounds constants of double to single: that noise is the program's own."""
        profile = self.profile
        if profile is None or any(one.name == name and one.kind == "exact" for one in profile.header.outputs):
            return True
        ours = np.concatenate([np.ravel(sample[name]) for sample in profile.oracle]).astype(np.float64)
        theirs = np.concatenate([np.ravel(sample[name]) for sample in expected]).astype(np.float64)
        known = np.isfinite(ours) & np.isfinite(theirs)
        apart, size = np.linalg.norm((ours - theirs)[known]), np.linalg.norm(ours[known])
        return bool((np.isfinite(ours) != np.isfinite(theirs)).any() or apart > _SINGLE * size)


def comparator_by(
    contract: Contract, profile: Callable[[], DerivedTolerance | None], *, derived: bool
) -> ToleranceComparator:
    """By the user's choice. `profile` is asked only where it is needed; `derived`: one was to be made. Raises UsageError for a
    choice that is none."""
    if contract.tolerance != DERIVED:
        return ToleranceComparator(with_table(contract))
    if "*" in contract.tolerances:
        return ToleranceComparator(contract)
    found = profile()
    if found is not None and not found.header.reason:
        return ToleranceComparator(contract, found, _about(found, contract.precision))
    why = found.header.reason if found is not None else "the derivation did not end well" if derived else ""
    told = (
        f"no tolerance could be derived for this model ({why}): judged by a fixed multiple of the unit roundoff instead (512 for "
        "float32, 64 for float16, 16 for bfloat16 and int8), which knows nothing of the graph: what lies outside of it is not called wrong"
    )
    return ToleranceComparator(contract, None, (told,) if why else (), guessed=bool(why))


def comparator_of_quantized(
    model: Path, inputs: Samples, contract: Contract, seed: int, allowances: tuple[str, ...] = ()
) -> ToleranceComparator:
    """For a model that transforms have quantized: its grid is in its graph, so everything around it is held to float32.

    Derived here and now: no other flow has the same model.
    """
    if contract.tolerance != DERIVED or "*" in contract.tolerances:
        return ToleranceComparator(contract, by_default=True)
    if model.suffix != ".onnx":
        told = "tolerances are derived from ONNX graphs, and the quantized model cannot be made one: judged by a multiple of its step"
        return ToleranceComparator(contract, None, (told,), by_default=True)
    from assay.numerics.tolerance.derive import derive

    try:
        profile = derive(model, inputs, "float32", seed=seed, allowances=allowances)
    except Lowering as error:
        told = (
            f"no tolerance could be derived for the quantized model ({error}): judged by a multiple of its step instead"
        )
        return ToleranceComparator(contract, None, (told,), by_default=True)
    return ToleranceComparator(contract, profile, _about(profile, "float32"), by_default=True)


def _about(profile: DerivedTolerance, asked: str) -> tuple[str, ...]:
    """What a reader should know of the tolerance itself."""
    header = profile.header
    notes = []
    if header.learnt:
        notes.append(
            f"the tolerance is learnt from {header.draws} perturbed runs of {header.learnt}, because the model has no evaluation in double "
            f"({header.why})"
        )
    if header.precision != asked and not header.reason:
        notes.append(
            f"the model computes in double, and so must this flow: judged at {header.precision} (a flow that computes in "
            f"{asked} on purpose declares the allowance double-in-float32)"
        )
    if header.without_rule:
        notes.append(
            f"the derived tolerance has no noise rule for {', '.join(header.without_rule)}: 8 units of each result were allowed"
        )
    for one in header.outputs:
        if one.kind == "none":
            notes.append(f"no tolerance could be derived for output '{one.name}': {one.reason}")
    blind = [one.mutant for one in header.selftest if not one.killed]
    if blind:
        notes.append(f"the derived tolerance did not see this defect of the same model: {'; '.join(blind)}")
    return tuple(notes)


def _outside(one: Comparison) -> Comparison:
    """What a guess does not explain, and no more than that."""
    used = facts(used=one.metrics.get("budget_used", 0.0))
    return _mistrusted(one, Finding("degenerate", one.output, FindingCode.BEYOND_A_GUESS, used), ("values",))


def _by_default(one: Comparison) -> Comparison:
    evidence = one.evidence and msgspec.structs.replace(one.evidence, by_default=True)
    return msgspec.structs.replace(one, evidence=evidence)


def _by_coarse(one: Comparison) -> Comparison:
    """With a metric that says what its budget is of."""
    return msgspec.structs.replace(one, metrics={**one.metrics, "coarse_tolerance": 1.0}) if one.metrics else one


def _open(one: OutputJudgement) -> OutputJudgement:
    """A golden of single precision may lie beyond a coarse tolerance, and be sound."""
    return replace(one, degenerate=Finding("degenerate", one.output, FindingCode.COARSE_GOLDEN))


def _other_rows(one: Comparison, first: tuple[int, ...], second: tuple[int, ...]) -> Comparison:
    shapes = facts(first_shape=first, second_shape=second)
    return _mistrusted(one, Finding("degenerate", one.output, FindingCode.OTHER_ROWS, shapes), _ROWS)


def _other_whole_numbers(one: Comparison, precision: str) -> Comparison:
    decided = Finding("degenerate", one.output, FindingCode.OTHER_WHOLE_NUMBERS, facts(precision=precision))
    return _mistrusted(one, decided, ("values",))


def _mistrusted(one: Comparison, why: Finding, kinds: tuple[str, ...]) -> Comparison:
    """At its limit, and without findings of these kinds."""
    return msgspec.structs.replace(
        one,
        findings=tuple(finding for finding in one.findings if finding.kind not in kinds),
        metrics={**one.metrics, "budget_used": 1.0},
        degenerate=why,
    )


def _with(one: Comparison, judged: OutputJudgement | None, *, decides: bool) -> Comparison:
    """Metrics always; findings and limits only where the profile `decides`."""
    if judged is None or not judged.metrics or one.at:
        return one
    if not decides:
        kept = {name: value for name, value in judged.metrics.items() if name != "budget_used"}
        return msgspec.structs.replace(one, metrics={**one.metrics, **kept})
    poor = one.evidence.degenerate if one.evidence is not None else one.degenerate
    other = [finding for finding in one.findings if finding.kind != "values"]
    used = judged.metrics["budget_used"]
    clashes = any(finding.kind in ("nan", "infinity", "lowest_for_infinity") for finding in other)
    share = judged.statistics.out / max(1, judged.statistics.elements) if judged.statistics else float(used > 1)
    metrics = {**one.metrics, **judged.metrics, "share_out_of_tolerance": share}
    if clashes:
        metrics["budget_used"] = one.metrics.get("budget_used", used)
    return msgspec.structs.replace(
        one,
        findings=(*other, *judged.findings),
        metrics=metrics,
        rtol=0.0,
        atol=judged.allowed,
        degenerate=poor or judged.degenerate,
        worst=judged.worst or one.worst,
    )


def _with_rest(one: Comparison, rest: Comparison | None) -> Comparison:
    """The worse of the two budgets, and what the other samples were found to be."""
    if rest is None or "budget_used" not in rest.metrics or "budget_used" not in one.metrics:
        return one
    used = max(one.metrics["budget_used"], rest.metrics["budget_used"])
    found = tuple(finding for finding in rest.findings if finding.kind == "values")
    return msgspec.structs.replace(one, metrics={**one.metrics, "budget_used": used}, findings=(*one.findings, *found))


def _with_tables(one: Comparison, actual: Samples, expected: Samples) -> Comparison:
    """The share of elements that torch's and ONNX's tolerances would have failed."""
    if one.at or not one.metrics:
        return one
    pairs = [
        (mine[one.output], theirs[one.output])
        for mine, theirs in zip(actual, expected, strict=False)
        if one.output in mine and one.output in theirs
    ]
    shares = share_out(pairs, one.dtype)
    if not shares:
        return one
    evidence = one.evidence and _with_counts(one.evidence, shares, one)
    return msgspec.structs.replace(one, metrics={**one.metrics, **shares}, evidence=evidence)


def _with_counts(evidence: Evidence, shares: Mapping[str, float], one: Comparison) -> Evidence:
    """What the tables leave outside, beside NaN and infinities."""
    limits = {"share_out_of_torch": TORCH.get(one.dtype, TORCH["float32"]), "share_out_of_onnx": ONNX}
    counts = tuple(
        OutsideCount(*limits[name], round(share * one.elements) - evidence.clashing) for name, share in shares.items()
    )
    return msgspec.structs.replace(evidence, counts=(*evidence.counts, *counts))
