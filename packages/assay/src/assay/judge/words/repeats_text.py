"""What asking an engine again has shown, in words: when its answers differ, by how much, and what could not be seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assay.core.comparison import Comparison
from assay.core.finding import Finding
from assay.core.repeats import BREACHES, ENOUGH_CALLS, Instability, Pattern, Repeats
from assay.core.result import Result, VerifyResult
from assay.judge.words.clause import as_clause
from assay.judge.words.finding_text import finding_text, names_its_output

_NO_DISTANCE = (
    "missing_output", "extra_output", "output_order", "dtype", "shape", "nan", "infinity", "lowest_for_infinity",
)  # fmt: skip
"""Kinds of findings of which how far numbers are apart says nothing."""

_WHEN: dict[Pattern, Callable[[Instability], str]] = {
    Pattern.FIRST_CALL: lambda instance: "a first answer of the engine differs from all later ones to the same inputs",
    Pattern.CALLS: lambda instance: f"answers to the same inputs differ from call {instance.call} on",
    Pattern.TIME: lambda instance: (
        f"answers to the same inputs differ once {instance.seconds:.2g} s have passed since the engine was loaded"
    ),
    Pattern.DRIFT: lambda instance: (
        "answers to the same inputs drift: they lie farther from the first one with each call"
    ),
    Pattern.PREVIOUS_SAMPLE: lambda instance: "the answer depends on the sample that was run before",
    Pattern.HISTORY: lambda instance: (
        "the answer depends on what ran before: the same calls in the same order differ in the same way"
    ),
    Pattern.RARE: lambda instance: "a few answers to the same inputs differ, at no regular moment",
    Pattern.EVERY_CALL: lambda instance: (
        "the answer differs from call to call, and another engine of the same file differs otherwise"
    ),
    Pattern.ALIGNMENT: lambda instance: "the answer depends on where in memory the inputs begin",
    Pattern.BATCH_MATES: lambda instance: (
        "the answer to a row depends on the other rows of its batch, and the reference's does not"
    ),
    Pattern.THREADS: lambda instance: (
        f"the answer depends on the number of threads: with {instance.threads} it differs"
    ),
    Pattern.SECOND_BUILD: lambda instance: "a second engine that was built of the same model answers otherwise",
    Pattern.UNNAMED: lambda instance: "answers to the same inputs differ",
    Pattern.REUSED_BUFFER: lambda instance: (
        f"the engine changed output '{instance.tensor}', which it had handed out, in a later call (call {instance.call}): it uses the "
        "buffer again. An answer belongs to the caller: the backend must copy it"
    ),
    Pattern.WRITTEN_INPUT: lambda instance: (
        f"the engine writes into its input '{instance.tensor}', which belongs to the caller: the backend must copy it"
    ),
}


def instability(result: VerifyResult) -> str:
    """How the answers are unstable, "" where they are not: all that differs is within tolerance."""
    unstable = [instance for instance in result.repeats.found if is_unstable(instance, result)]
    unstable.sort(key=lambda instance: instance.pattern not in BREACHES)
    if not unstable:
        return ""
    more = f" (and {len(unstable) - 1} more)" if len(unstable) > 1 else ""
    return _described(unstable[0]) + more


def is_unstable(instance: Instability, result: VerifyResult) -> bool:
    """By the tolerance that the comparisons were made by; a breach of what engines promise is one by any. Right answers are unstable
    where others to the same inputs are wrong by the reference, too."""
    if instance.pattern in BREACHES or _findings(instance.apart, instance.findings):
        return True
    return not _findings(result.comparisons) and bool(_findings(instance.against_reference))


def _findings(compared: Sequence[Comparison], more: Sequence[Finding] = ()) -> list[Finding]:
    return [*more, *(finding for comparison in compared for finding in comparison.findings)]


def within_tolerance(result: Result) -> tuple[str, ...]:
    """A sentence for each way in which answers differ in some bits, and no more than is allowed."""
    if not isinstance(result, VerifyResult):
        return ()
    return tuple(
        f"{_WHEN[instance.pattern](instance)} in their last digits{_counted(instance)}{_size(instance.apart)}: within tolerance"
        for instance in result.repeats.found
        if not is_unstable(instance, result)
    )


def asked_again(repeats: Repeats) -> str:
    """How many calls were compared, and which rate of bad ones they would not have shown; "" where none was."""
    if not repeats.calls:
        return ""
    calls = f"{repeats.calls} repeated calls" if repeats.calls > 1 else "1 repeated call"
    text = (
        f"{calls} over {repeats.seconds:.2g} s {'were' if repeats.calls > 1 else 'was'} compared with the first answers"
    )
    if repeats.calls >= ENOUGH_CALLS:
        return f"{text}: one bad call in 50 would have been seen (95 %)"
    return (
        f"{text}: up to one bad call in {1 / repeats.unseen_rate:.2g} may have been missed (95 %); more take more than "
        f"{repeats.share:.3g} of the job's time: --repeat-share"
    )


def _described(instance: Instability) -> str:
    if instance.pattern in BREACHES:
        return _WHEN[instance.pattern](instance)
    findings = _findings((*instance.apart, *instance.against_reference), instance.findings)
    name = findings[0].output if findings and findings[0].output else instance.tensor
    where = f"output '{name}', sample {instance.sample}" if name else f"sample {instance.sample}"
    what = f"{where}{_size((*instance.apart, *instance.against_reference))}"
    form = next((finding for finding in findings if finding.kind in _NO_DISTANCE), None)
    if form is not None:
        text = as_clause(finding_text(form))
        what = text if names_its_output(form) or not form.output else f"output '{form.output}': {text}"
    return f"{_WHEN[instance.pattern](instance)}{_counted(instance)}: {what}"


def _counted(instance: Instability) -> str:
    return f" ({instance.differing} of {instance.calls} repeated calls)" if instance.calls else ""


def _size(compared: tuple[Comparison, ...]) -> str:
    """Of the output that is farthest off."""
    known = [comparison for comparison in compared if "max_abs" in comparison.metrics]
    if not known:
        return ""
    worst = max(known, key=lambda comparison: comparison.metrics.get("budget_used", 0.0))
    used = worst.metrics.get("budget_used")
    share = f", {used:.3g} times the tolerance" if used is not None else ""
    return f", by up to {worst.metrics['max_abs']:.3g}{share}"
