"""The sentence of each finding: the one place where what a comparison saw becomes words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay.core.finding import Fact, Finding, FindingCode, WorstElement
from assay.core.node_error import NodeSummary
from assay.core.recorded_facts import OTHER_FACTS, as_words, listed, number, of_another_version
from assay.core.schedules import SCHEDULES
from assay.core.service_rules import WAYS
from assay.judge.words.clause import as_clause
from assay.judge.words.defect_text import decider_text, defects_text
from assay.judge.words.element_text import element_text, in_full
from assay.judge.words.service_rule_text import rule_words

Facts = Mapping[str, Fact]
_BEYOND = "differ by more than {rtol:.3g} * |expected| + {atol:.3g}, the worst {first}."
_CONSTANT = "is {constant} in all {elements} elements"
_SATURATED = "is saturated: {at_bounds} of {elements} elements are at the bounds of {dtype}"
_FIGURES = "; budget used {used:.3g}, worst {first}."
_WITH_FIGURES = frozenset({FindingCode.ERROR_NORM, FindingCode.ERROR_ELEMENT, FindingCode.ERROR_SLICE})
_LEANS = ", {used:.3g} times what roundings to either side leave together: a scale, a zero point or a bias that is off does that."
_DIFFER = "first {exact}."
_TEXTS = {
    FindingCode.BARE: "{kind}",
    FindingCode.SAMPLE_COUNT: "{seen} samples where the reference has {due}: run every stored sample.",
    FindingCode.NO_SAMPLE: "The reference has no sample: nothing was compared.",
    FindingCode.NO_OUTPUT: "The reference has no output: nothing was compared.",
    FindingCode.MISSING_OUTPUT: "Sample {sample}: output {output!r} is missing.",
    FindingCode.MISSING_REFERENCE: "Sample {sample}: the reference has no output {output!r}: record the goldens again.",
    FindingCode.EXTRA_OUTPUT: "Sample {sample}: output {output!r} is not one of the model's.",
    FindingCode.EXTRA_REFERENCE: "Sample {sample}: the reference has an output {output!r} that the model has not.",
    FindingCode.OUTPUT_ORDER: "Sample {sample}: outputs come as {seen}; the model has {due}.",
    FindingCode.DTYPE: "Sample {sample}: output {output!r} is {seen} where {due} is expected.",
    FindingCode.COMPLEX_AS_PAIRS: (
        "Sample {sample}: output {output!r} is {seen} where {due} is expected. Complex numbers came as pairs of real ones: a converter "
        "rewrote the model."
    ),
    FindingCode.DECLARED_SHAPE: (
        "Sample {sample}: output {output!r} has shape [{seen}] where [{due}] is expected, and the model declares [{declared}]."
    ),
    FindingCode.SHAPE: "Sample {sample}: output {output!r} has shape [{seen}] where [{due}] is expected.",
    FindingCode.INCOMPARABLE: (
        "output {output!r} has elements that cannot be compared ({types}): leave it out of the model or cast it."
    ),
    FindingCode.TEXTS: (
        "{count} of {elements} texts differ, first at [{index}]: expected {expected!r}, got {actual!r}."
    ),
    FindingCode.COLLAPSED: "{About}; the reference is not.",
    FindingCode.OUTPUT_CONSTANT: f"the output {_CONSTANT}",
    FindingCode.OUTPUT_SATURATED: f"the output {_SATURATED}",
    FindingCode.OUTPUT_VANISHES: "{about}, where the reference has no normal number of {dtype} (at most {peak:.3g})",
    FindingCode.REFERENCE_EMPTY: "the reference is empty",
    FindingCode.REFERENCE_NOT_FINITE: "the reference has no finite element among {elements}",
    FindingCode.REFERENCE_CONSTANT: f"the reference {_CONSTANT}",
    FindingCode.REFERENCE_CONSTANT_OR_NAN: "the reference is {constant} in {finite} of {elements} elements, and NaN in the others",
    FindingCode.REFERENCE_SATURATED: f"the reference {_SATURATED}",
    FindingCode.REFERENCE_REPEATED: "the reference gives all {samples} samples the same answer, of two different numbers",
    FindingCode.ZEROS_WOULD_PASS: (
        "the allowed error (rtol={rtol:.3g}, atol={atol:.3g}) is as large as the reference (at most {peak:.3g}): zeros would pass"
    ),
    FindingCode.ILL_CONDITIONED: (
        "a correct flow of this precision is off by {percent:.3g} % of the signal: the computation is too ill-conditioned to prove "
        "anything at its outputs"
    ),
    FindingCode.RARE_JUMPS: (
        "its noise comes as jumps of up to {most:.3g} in few elements (some {count} of {elements}), and which of them jump is chance; "
        "together they are off by no more than a correct flow may be"
    ),
    FindingCode.OPEN_CHOICES: (
        "{margin} chooses by less than the noise of a correct flow, and {count} of its numbers are others than any noisy evaluation chose "
        "there: neither right nor wrong; give scores that differ"
    ),
    FindingCode.SELFTEST_BLIND: "the derived tolerance sees none of the defects that it was tried on ({listed})",
    FindingCode.RANDOM: (
        "it is drawn at random ({margin}): type and shape were compared, and no values are the right ones"
    ),
    FindingCode.NEWLY_RANDOM: "it is drawn at random ({margin}), and the same output of the original is not",
    FindingCode.RANDOM_SIZES: (
        "its sizes and its values are drawn at random ({margin}): type and rank were compared, and none of them are the right ones"
    ),
    FindingCode.BEYOND_A_GUESS: (
        "it is off by {used:.3g} times a tolerance that is a guess, since none could be derived or learnt for it"
    ),
    FindingCode.BEYOND_THE_OTHERS: (
        "the tolerance was derived for the first {known} of {samples} samples, and another is off by {used:.3g} times what they may be: "
        "values that are put on a grid may jump further there; check fewer samples at a time (--samples 1 and another --seed, or less data)"
    ),
    FindingCode.COARSE_GOLDEN: "the coarse tolerance does not show whether the golden itself is sound",
    FindingCode.OTHER_ROWS: (
        "its shape depends on rounding ([{first_shape}] or [{second_shape}]), and its numbers are others than those of the reference"
    ),
    FindingCode.OTHER_WHOLE_NUMBERS: (
        "{precision} may decide whole numbers otherwise, and no derived tolerance would show it, and its numbers are others than those of "
        "the reference"
    ),
    FindingCode.OUTSIDE_DECLARED_RANGE: (
        "{count} of {elements} elements overflow, underflow or come from what rounding leaves of zero, in the types that the model itself "
        "declares, where double has a number"
    ),
    FindingCode.BELOW_NORMAL: (
        "{count} of {elements} elements come from numbers below the normal ones of the types that the model itself declares, which lose "
        "digits in every engine"
    ),
    FindingCode.FLUSHED_TO_ZERO: (
        "{count} of {elements} elements are what an engine gives that flushes numbers below the normal ones of their type to zero: declare "
        "the allowance flush-to-zero for this flow if that is meant"
    ),
    FindingCode.NAN: "{count} elements have NaN on one side only, {shown}",
    FindingCode.INFINITY: "{count} elements have an infinity on one side only, {shown}",
    FindingCode.LOWEST_FOR_INFINITY: (
        "{count} elements have the largest finite value of a type in place of an infinity, {shown}"
    ),
    FindingCode.BEYOND_LIMITS: f"elements {_BEYOND}",
    FindingCode.SOME_BEYOND_LIMITS: "{outside} of {elements} elements ({outside_percent:.3g} %) " + _BEYOND,
    FindingCode.NOT_BIT_EXACT: (
        "output {output!r}: all that is computed on the way to it is exact, so every bit must agree; {exact}."
    ),
    FindingCode.CHOICES: (
        "output {output!r}: {count} answers differ where noise cannot have decided ({margin}), " + _DIFFER
    ),
    FindingCode.CANNOT_HAVE_MOVED: (
        "output {output!r}: {count} elements differ that no rounding can have moved, first {first}."
    ),
    FindingCode.ERROR_NORM: ("output {output!r}: the error is {times:.3g} times the noise of a correct flow (limit 4)"),
    FindingCode.ERROR_ELEMENT: (
        "output {output!r}: one element is off by {times:.3g} times what noise explains (limit 4)"
    ),
    FindingCode.ERROR_SLICE: (
        "output {output!r}: index {index} of axis {axis} (the sample is axis 0) is off by {times:.3g} times the noise of a correct flow "
        "(limit 6)"
    ),
    FindingCode.REPEATED_ERRORS: "output {output!r}: errors repeat themselves in all samples" + _LEANS,
    FindingCode.REPEATED_ERROR_AT: "output {output!r}: the error at [{index}] repeats itself in all samples" + _LEANS,
    FindingCode.SHIFT: "output {output!r}: a shift common to all elements" + _LEANS,
    FindingCode.SHIFT_OF_SLICE: (
        "output {output!r}: a shift common to index {index} of axis {axis} of every sample" + _LEANS
    ),
    FindingCode.GAIN: "output {output!r}: a gain common to all elements" + _LEANS,
    FindingCode.GAIN_OF_SLICE: (
        "output {output!r}: a gain common to index {index} of axis {axis} of every sample" + _LEANS
    ),
    FindingCode.LOWER_PRECISION: "this {asked} flow computes in a coarser type than it promises: {coarser}.",
    FindingCode.DRIFT: (
        "fed its own state, output {output!r} has another shape, or NaN or infinity where the reference has a number, at call {call} of a "
        "sequence."
    ),
    FindingCode.NODE_OUTPUT_MISSING: "output {output!r} is missing.",
    FindingCode.NODE_MOVES: (
        "output {output!r}: it only moves or chooses what it reads, and is off by {times:.3g} times what two roundings are."
    ),
    FindingCode.NODE_RANGE: (
        "output {output!r}: NaN or an infinity where the node's own inputs give a number, or a number in its place."
    ),
    FindingCode.NODE_SHAPE: "output {output!r} has shape [{seen}], what the node reads gives [{due}].",
    FindingCode.INPUTS_IGNORED: "The answer stays bit by bit the same on other inputs, where it should not. {About}",
    FindingCode.GUARD_LOST: (
        "On inputs at which the model guards against zero ({zeros} of {count} real numbers are 0, all from {least:.3g} to {most:.3g}) the "
        "answer is another. {About}"
    ),
    FindingCode.AT_SIZES: "at {sizes}: {about}",
    FindingCode.BODY_DISAGREES: "{model} and its function body {body} disagree: {about}; {published}",
    FindingCode.SCHEDULES_DISAGREE: (
        "the model itself answers a prompt otherwise when it is fed {fed}: in call {sample}, position {position}, the next token's "
        "probabilities differ by {divergence:.3g} nats from those of one call{also}; {suspect}, whatever runs it"
    ),
    FindingCode.SKETCH: (
        "after {length} tokens of a prompt, fed {fed} (call {call}), the next token's probabilities diverge by at least {least:.3g} nats "
        "from the golden, and a correct flow's by at most {allowed:.3g}; all errors together are {mean:.3g} times what they may be"
    ),
    FindingCode.SERVED: (
        "Asked {asked}, the service gives token {token} behind {length} tokens of prompt {prompt} the log-probability {actual:.7g} where "
        "{expected:.7g} is right: {used:.3g} times what a correct service may be off, at {count} of {places} places{also}; {suspect}."
    ),
    FindingCode.SERVICE_RULE: "The service breaks a rule: {broken}: expected {expected}, got {actual}.",
    FindingCode.WRONG_BEFORE_USE: "wrong before any wrong use: {about}",
    FindingCode.ACCEPTED: "an error was due ({wrong_use}), and it answered {outputs}",
    FindingCode.REFUSES_AFTERWARDS: "after the wrong use the engine refuses the right inputs: {error}",
    FindingCode.CHANGED_AFTERWARDS: "after the wrong use output {output!r} is another for the same right inputs",
}
_WRONG_USES = {
    "rank": "input '{input}' with an axis too many",
    "shape": "input '{input}' one longer than the model takes",
    "empty": "input '{input}' without elements",
    "dtype": "input '{input}' as {dtype}",
    "missing": "without input '{input}'",
    "extra": "with an input that the model does not have",
    "value": "input '{input}' all {value}",
    "model": "a model that is wrong in itself",
    "threads": "{value} threads",
    "cache": "no cache folder can be made",
    "disk": "no file can grow",
}
_PUBLISHED = {
    (): "the published outputs are those of neither",
    ("operator",): "the published outputs are those of the operator",
    ("body",): "the published outputs are those of the body",
    ("operator", "body"): "on the published inputs both are right, on the same numbers shuffled they part",
}
_MADE: dict[FindingCode, Callable[[Facts], dict[str, object]]] = {
    FindingCode.OUTPUT_CONSTANT: lambda of: {"constant": _constant(of)},
    FindingCode.REFERENCE_CONSTANT: lambda of: {"constant": _constant(of)},
    FindingCode.REFERENCE_CONSTANT_OR_NAN: lambda of: {"constant": _constant(of)},
    FindingCode.ILL_CONDITIONED: lambda of: {"percent": 100.0 * number(of["share"])},
    FindingCode.SELFTEST_BLIND: lambda of: {"listed": defects_text(of["kinds"], of["places"], of["sizes"])},
    FindingCode.SOME_BEYOND_LIMITS: lambda of: {
        "outside_percent": 100.0 * number(of["outside"]) / number(of["elements"])
    },
    FindingCode.OPEN_CHOICES: lambda of: {"margin": decider_text(of["margin"])},
    FindingCode.CHOICES: lambda of: {"margin": decider_text(of["margin"])},
    FindingCode.LOWER_PRECISION: lambda of: {"coarser": _coarser(of)},
    FindingCode.BODY_DISAGREES: lambda of: {"published": _PUBLISHED[tuple(map(str, listed(of["right"])))]},
    FindingCode.SCHEDULES_DISAGREE: lambda of: {
        **SCHEDULES[str(of["schedule"])]._asdict(),
        "also": f" (as with {', '.join(map(str, listed(of['others'])))})" if of["others"] else "",
    },
    FindingCode.SKETCH: lambda of: SCHEDULES[str(of["schedule"])]._asdict(),
    FindingCode.SERVED: lambda of: {
        **WAYS[str(of["way"])]._asdict(),
        "also": f" (and asked {', '.join(WAYS[str(way)].asked for way in listed(of['others']))})"
        if of["others"]
        else "",
    },
    FindingCode.SERVICE_RULE: rule_words,
    FindingCode.ACCEPTED: lambda of: {"wrong_use": _WRONG_USES[str(of["use"])].format(**of)},
}
"""What a sentence says besides the facts themselves."""


def finding_text(finding: Finding | None, *, figures: bool = True) -> str:
    """The sentence; "" where there is no finding. Without `figures` it is silent of the budget and the worst element, which the verdict
    has, too."""
    if finding is None:
        return ""
    facts = finding.facts
    shown = as_words(facts)
    about = finding_text(finding.about, figures=figures)
    about = as_clause(about) if "about};" in _TEXTS.get(finding.code, "").lower() else about
    named = {"kind": finding.kind.replace("_", " "), "output": finding.output, "about": about}
    if about:
        named["About"] = about[0].upper() + about[1:]
    try:
        made = _MADE[finding.code](facts) if finding.code in _MADE else {}
        ending = (_FIGURES if figures else ".") if finding.code in _WITH_FIGURES else ""
        return (_TEXTS[finding.code] + ending).format(**{**named, **_elements(finding, facts), **shown, **made})
    except OTHER_FACTS:
        return of_another_version(finding.code, shown)


def names_its_output(finding: Finding) -> bool:
    """Whether the sentence has the name of the output in it."""
    return "{output" in _TEXTS[finding.code] or (finding.about is not None and names_its_output(finding.about))


def summary_text(summary: NodeSummary) -> str:
    """What judging each node showed: the first that is wrong, or that none is."""
    tapping = summary.tapping
    moved = ""
    if tapping is not None:
        how = "is another" if tapping.share is None else f"moved by {tapping.share:.2g} of its norm"
        moved = f"the tapped engine's output '{tapping.output}' {how}: a fusion that ends at a tap is not judged"
    if summary.first is None:
        rest = f", {summary.left_out} could not be judged" if summary.left_out else ""
        return "; ".join(filter(None, (f"{summary.judged} nodes are right on their own inputs{rest}", moved)))
    others = summary.wrong[1:]
    more = f" (and {len(others)} more: {', '.join(others[:3])})" if others else ""
    text = finding_text(summary.first)
    first = f"the first wrong node is {summary.wrong[0]}{more}: {as_clause(text) if moved else text}"
    return "; ".join(filter(None, (first, moved)))


def _elements(finding: Finding, facts: Facts) -> dict[str, object]:
    if not finding.elements:
        return {}
    places = "; ".join(map(_at, finding.elements))
    more = " ..." if "count" in facts and number(facts["count"]) > len(finding.elements) else "."
    first = finding.elements[0]
    exact = f"at {list(first.index)}: expected {in_full(first.expected)}, got {in_full(first.actual)}"
    return {"first": _at(first), "exact": exact, "shown": places + more}


def _at(element: WorstElement) -> str:
    return f"at {list(element.index)}: expected {element_text(element.expected)}, got {element_text(element.actual)}"


def _constant(facts: Facts) -> str:
    value = number(facts["value"])
    return "all zero" if value == 0.0 else f"constant ({value:.6g})"


def _coarser(facts: Facts) -> str:
    """`Conv, MatMul in int8 (the model has none); ...`."""
    columns = (listed(facts[name]) for name in ("operators", "dtypes", "counts", "allowed"))
    return "; ".join(
        f"{operators} in {dtype} ({f'{count} of them, and the model has {allowed}' if allowed else 'the model has none'})"
        for operators, dtype, count, allowed in zip(*columns, strict=True)
    )
