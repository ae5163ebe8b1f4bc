"""What a verdict does not rest on, and what the library of an engine warned of: in words, and as counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from assay.core.comparison import Comparison
from assay.core.dtype import is_floating
from assay.core.evidence import blocking, carries
from assay.core.model_finding_text import sentence
from assay.core.native_warning import NativeWarning, WarningCode
from assay.core.result import (
    EngineResult,
    Result,
    UntakenBranch,
    VerifyResult,
)
from assay.core.result_parts import LossResult, native_warnings_of
from assay.judge.words.finding_text import finding_text
from assay.judge.words.note_text import note_text
from assay.judge.words.repeats_text import within_tolerance

NAMES_SHOWN = 5
CRITICAL = tuple(code for code in WarningCode if code is not WarningCode.OTHER)
"""Kinds of native warnings that say what is wrong, in the order shown."""

_WORDS = {
    WarningCode.INITIALIZER_DROPPED: "{count} {initializers} dropped",
    WarningCode.NODE_ON_CPU: "{count} {nodes} on the CPU",
    WarningCode.FUSION_SKIPPED: "fusion skipped for {count} {nodes}",
    WarningCode.PRECISION_LOST: "precision lost in {count} {places}",
    WarningCode.FALLBACK: "{count} {parts} in another way than asked for",
    WarningCode.DEPRECATED: "deprecated, {count} {times}",
    WarningCode.OTHER: "{count} other {warnings}",
}
_NOUNS = ("initializers", "nodes", "places", "parts", "times", "warnings")


def warnings_of(result: Result) -> tuple[str, ...]:
    """What the job notes, then what the library warns of."""
    return (*notes_of(result), *grouped_warnings(native_warnings_of(result)))


def notes_of(result: Result) -> tuple[str, ...]:
    """Branches that no sample takes first, then answers that differ within tolerance, then outputs that prove
    nothing or were not judged whole, then where the model contradicts itself, then what the job itself notes."""
    untaken = result.untaken_branches if isinstance(result, LossResult) else ()
    compared = result.comparisons if isinstance(result, VerifyResult) else ()
    notes = (
        *map(_untaken, untaken),
        *within_tolerance(result),
        *passed_over(compared),
        *_excused(compared),
        *_contradictions(result),
        *map(note_text, result.notes),
    )
    return tuple(dict.fromkeys(notes))


def _excused(comparisons: Sequence[Comparison]) -> Iterator[str]:
    for comparison in comparisons:
        for excused in comparison.excused:
            yield f"output '{comparison.output}': {finding_text(excused)}; these were not judged"


def _contradictions(result: Result) -> Iterator[str]:
    for finding in result.contradictions if isinstance(result, VerifyResult) else ():
        yield f"{sentence(finding)}: judged as the nodes give it"


def warning_counts(result: Result) -> dict[str, float]:
    """All of them as `warnings`; those of the library by kind, where its backend knows what they mean."""
    native = native_warnings_of(result)
    named = {"warnings": float(len(notes_of(result)) + sum(native_warning.count for native_warning in native))}
    if isinstance(result, EngineResult) and result.reads_warnings:
        named |= {f"warnings.{code.value}": 0.0 for code in WarningCode}
        for native_warning in native:
            named[f"warnings.{native_warning.code.value}"] += native_warning.count
    return named


def critical_warnings(native: Iterable[NativeWarning]) -> tuple[str, ...]:
    """A sentence for each kind but `other`: "fusion skipped for 3 nodes: a, b, c"."""
    return grouped_warnings(native_warning for native_warning in native if native_warning.code in CRITICAL)


def grouped_warnings(native: Iterable[NativeWarning]) -> tuple[str, ...]:
    """A sentence for each kind, with the first names, or the library's own words where it names nothing."""
    by_code: dict[WarningCode, list[NativeWarning]] = defaultdict(list)
    for native_warning in native:
        by_code[native_warning.code].append(native_warning)
    return tuple(_sentence(code, by_code[code]) for code in WarningCode if by_code[code])


def _sentence(code: WarningCode, warnings: list[NativeWarning]) -> str:
    count = sum(native_warning.count for native_warning in warnings)
    nouns = {noun: noun if count != 1 else noun[:-1] for noun in _NOUNS}
    names = list(dict.fromkeys(native_warning.node or native_warning.text for native_warning in warnings))
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return f"{_WORDS[code].format(count=count, **nouns)}: {', '.join(names[:NAMES_SHOWN])}{more}"


def _untaken(branch: UntakenBranch) -> str:
    """With the option by which a sample would take it."""
    text = f"no sample takes the {branch.branch} branch of If '{branch.node}': nothing is known of what an engine does there"
    if branch.by_sizes:
        return f"{text}; sizes of inputs decide it: check others with --dim NAME=SIZES"
    tried = f" ({branch.tried} other values were tried)" if branch.tried else ""
    return f"{text}{tried}; give inputs that take it with --inputs FILE.npz"


def passed_over(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """What the answer does not rest on, in a sentence for each. Whole numbers that are constant by the graph need none: they are made of
    sizes, there is no input on which they would say more, and they were compared. Floats that are may be the fault of an export."""
    kept = set(map(id, blocking(comparisons)))
    carriers = ", ".join(dict.fromkeys(f"'{comparison.output}'" for comparison in comparisons if carries(comparison)))
    for comparison in comparisons:
        at = f" at {comparison.at}" if comparison.at else ""
        if comparison.degenerate is not None and id(comparison) not in kept:
            if comparison.constant_by_graph:
                if is_floating(comparison.dtype):
                    yield f"output '{comparison.output}' depends on no input: it is the same whatever is fed"
                continue
            yield (
                f"output '{comparison.output}'{at}: {finding_text(comparison.degenerate)}: it was compared, and proves nothing; "
                f"the answer rests on {carriers}"
            )
        elif comparison.degenerate is None and (share := comparison.share_at_bounds):
            yield (
                f"output '{comparison.output}'{at}: {100 * share:.3g} % of the reference are at the bounds of {comparison.dtype}: there "
                "any larger value would have passed; the answer rests on the other elements"
            )
