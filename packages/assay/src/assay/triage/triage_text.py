"""The words for what triage found: made from codes and numbers, in one place."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from assay.judge.operator_regressions import Change, describe
from assay.triage.cause import Cause, Doubt, Pattern, Where
from assay.triage.origin import Origin, Stage
from assay.triage.passes import Cure
from assay.triage.since_text import since
from assay.triage.speed import Speed
from assay.triage.symptom import SLOW, TOO_SLOW, Symptom

_DOUBTS = {
    Doubt.NOT_REPEATED: "the model did not fail again when it was built from its graph, so nothing smaller was looked for",
    Doubt.NO_VALUES: "the model cannot be evaluated in float64, so no part of it can be run alone",
    Doubt.NOT_LOCALIZED: "no part of the model is wrong alone",
    Doubt.OUT_OF_TIME: "the time was over: this is the best so far, --time-limit gives more",
    Doubt.NO_SWITCHES: "this backend has nothing that can be switched off",
    Doubt.SLIPPED: "the small model is made right by other options than the part that it was made from: it may show another defect",
    Doubt.NO_SCRIPT: "no script was written: this backend does not say how it is called without Assay",
    Doubt.NO_SCRIPT_OF_UNSTABLE: "no script was written: it would run the model once, and runs differ",
    Doubt.SCRIPT_UNCONFIRMED: "the script did not fail when it was run by itself",
    Doubt.CURE_UNCONFIRMED: "the script did not pass with the workaround",
}


NAMED = 6
"""Nodes that are named to a person who waits; of more their number."""
NODES_NAMED = 24
"""Of a combination; of more its ends."""
PLACES_NAMED = 3
"""Of the places where the same nodes are wrong."""
_KINDS = {
    "values": "wrong values",
    "range": "an infinity on one side",
    "nan": "a NaN is born",
    "nan_lost": "a NaN is lost",
    "lowest": "the largest finite number in place of an infinity",
    "shape": "a wrong shape",
    "missing": "no output",
    SLOW: "slower",
    TOO_SLOW: "too slow",
    "unstable": "answers that differ from run to run",
}


def title_of(cause: Cause) -> str:
    """One line."""
    version = cause.versions.get(cause.backend, "")
    what = " + ".join(dict.fromkeys(cause.operators)) if len(cause.operators) <= 6 else f"{len(cause.operators)} nodes"
    return f"{cause.backend} {version}".strip() + f": {_wrong(cause)} by {what or 'the model'}{_by(cause)}"


def _wrong(cause: Cause) -> str:
    return wrong(cause.symptom)


def wrong(symptom: Symptom) -> str:
    """What is wrong, in a few words."""
    if symptom.is_refusal:
        outcome, _, reason = symptom.kind.partition(" ")
        return f"{'an error' if outcome == 'error' else 'refused'} ({reason.partition(' ')[2] or reason})"
    named = _KINDS.get(symptom.kind, symptom.kind)
    return f"{named} (answers differ from run to run)" if symptom.unstable else named


def _by(cause: Cause) -> str:
    if cause.cures and cause.cures[0].kind == "pass":
        return f" ({', '.join(cause.cures[0].names)})"
    if cause.saved:
        return ", once saved and loaded again"
    return " (a kernel, not a pass)" if cause.kernel else ""


def red(job_key: str, end: Symptom) -> str:
    """The verdict that is looked into."""
    budget = "" if end.budget is None else f", {end.budget:.3g} times its tolerance"
    where_ = f" at output {end.output!r}" if end.output else ""
    far = f" (relative error {end.size:.2g}{budget})" if end.kind == "values" else ""
    return f"{job_key}: {wrong(end)}{where_}{far}; looking for the cause"


def found_first(labels: Sequence[str], of: int, pattern: Pattern | None) -> str:
    """What is said of a part while the rest is looked for."""
    if pattern is not None:
        what = f"{pattern.title}: " if pattern.title else "found before: "
        return f"known: {what}{pattern.folder}; here it is {', '.join(labels[-NAMED:])}"
    if len(labels) > NAMED:
        return f"wrong, so far: {len(labels)} of {of} nodes together, up to {labels[-1]}"
    return f"wrong alone: {', '.join(labels)}"


def lines(cause: Cause) -> Iterator[str]:
    """What a terminal shows of it."""
    yield title_of(cause)
    if cause.known_as:
        yield f"  known: {known(cause)}"
    yield f"  where: {where(cause)}"
    if cause.nodes and not cause.slower:
        yield f"  smallest: {len(cause.nodes)} of {cause.nodes_of_model} nodes, {size(cause)}"
    yield f"  brought by: {brought(cause)}"
    if line := workaround(cause):
        yield f"  workaround: {line}"
    if cause.healing_taps:
        yield f"  right when one of these is an output: {', '.join(cause.healing_taps)}"
    if line := since(cause.since):
        yield f"  since: {line}"
    if cause.script:
        yield f"  script: {cause.script}"
    for text in doubts(cause):
        yield f"  not established: {text}"


def known(cause: Cause) -> str:
    """What it was found as before."""
    if cause.known_title:
        return f"{cause.known_title}; the script is {cause.known_as} of Assay's source"
    return f"found before, see {cause.known_as}" if cause.known_as else ""


def where(cause: Cause) -> str:
    """The node or the combination, and what it explains."""
    if cause.slower:
        return _slower(cause)
    share = ""
    if cause.explains is not None:
        who = "they explain" if cause.elsewhere else "it explains"
        share = f"{_elsewhere(cause.elsewhere)}; {who} {100 * cause.explains:.0f} % of the error of the model"
    match cause.where:
        case Where.NODE:
            return f"the node {cause.nodes[0]} is wrong on its own inputs{_iteration(cause)}{share}"
        case Where.COMBINATION:
            return f"a combination: {_named_nodes(cause.nodes)} are wrong together{share}"
    return "the whole model: no smaller part was found"


def _named_nodes(nodes: tuple[str, ...]) -> str:
    if len(nodes) <= NODES_NAMED:
        return ", ".join(nodes)
    return f"{len(nodes)} nodes, from {nodes[0]} to {nodes[-1]},"


def _elsewhere(nodes: tuple[str, ...]) -> str:
    """Where else the same is wrong."""
    if not nodes:
        return ""
    more = f" and {len(nodes) - PLACES_NAMED} more" if len(nodes) > PLACES_NAMED else ""
    return f"; so are the same nodes up to {', '.join(nodes[:PLACES_NAMED])}{more}"


def _slower(cause: Cause) -> str:
    first, *others = [_time(change) for change in cause.slower]
    share = "" if cause.explains is None else f"; that is {100 * cause.explains:.0f} % of the time"
    more = f"; then {', '.join(others[:4])}" if others else ""
    return f"{first} in one call, by the backend's profile{share}{more}"


def _time(change: Change) -> str:
    if change.before_s is None and change.name:
        return f"{1e3 * (change.after_s or 0.0):.3g} ms {change.operator} {change.name}"
    return describe(change)


def _iteration(cause: Cause) -> str:
    at = cause.symptom
    return f", from iteration {at.iteration} of {at.iterations} on" if at.iteration and at.iterations > 1 else ""


def size(cause: Cause) -> str:
    """Of the error of the small model."""
    symptom = cause.symptom
    if symptom.kind != "values":
        return _wrong(cause)
    far = "no bound" if math.isinf(symptom.size) else f"relative error {symptom.size:.2g}"
    budget = symptom.budget
    if budget is not None and not math.isinf(budget):
        far = f"{far}, {budget:.3g} times its tolerance"
    plain = cause.small_error is not None and not math.isclose(cause.small_error, symptom.size, rel_tol=0.05)
    return f"{far}, with the model's own numbers" if plain else far


def brought(cause: Cause) -> str:
    """The pass, the level or the option; or that none matters."""
    if cause.saved:
        text = f"; {_brought(cause)}" if cause.cures else ""
        return f"saving: the engine is right as it is built, and wrong once it was saved and loaded again{text}"
    return _brought(cause)


def _brought(cause: Cause) -> str:
    if cause.right_transforms:
        return f"the quantizer's choice: it is right with {', '.join(cause.right_transforms)}; {_by_backend(cause)}"
    return _by_backend(cause)


def _by_backend(cause: Cause) -> str:
    if cause.symptom.kind == TOO_SLOW:
        return "not known: a measurement has no earlier engine to compare with"
    if cause.slower:
        return cause.detail or "not known: both engines were built in the same way"
    if cause.cures:
        first = cause.cures[0]
        others = [", ".join(cure.names) for cure in cause.cures[1:] if cure.kind == first.kind]
        more = f"; also right without {', '.join(others[:6])}" if others and first.kind == "pass" else ""
        return f"{_named(first)}{more}{_after(cause)}"
    if cause.kernel:
        return "a kernel, not a pass: it is wrong at the lowest optimization level, too"
    if cause.where is Where.WHOLE:
        return "not known"
    if origin := "; ".join(filter(None, (_stage(cause.origin), _no_option(cause)))):
        return origin
    if Doubt.OUT_OF_TIME in cause.doubts:
        return "not known: the time was over"
    return "not known: the backend has no passes or options that can be switched"


def _no_option(cause: Cause) -> str:
    if not cause.tried:
        return ""
    if Doubt.OUT_OF_TIME not in cause.doubts:
        return f"no option of the backend matters ({cause.tried} were tried)"
    options = "options" if cause.tried > 1 else "option"
    return f"of {cause.tried} {options} of the backend that there was time for, none matters"


def _after(cause: Cause) -> str:
    stage = _stage(cause.origin)
    return f"; {stage}" if stage else ""


def _stage(origin: Origin) -> str:
    step = origin.name if " " in origin.name else f"the pass {origin.name}"
    match origin.stage:
        case Stage.READER:
            return "the reader: the model is wrong as it is read, before any pass"
        case Stage.PASS:
            return f"{step}: the model that it leaves is the first wrong one (of {origin.judged} that were evaluated)"
        case Stage.UNTIL:
            return f"{step}, or one just before it: those leave models that cannot be evaluated"
        case Stage.FIRST:
            return f"the reader, or what comes up to {step}: no model before that can be evaluated"
        case Stage.LATER:
            named = f" up to {origin.name}" if origin.name else " that could be looked at"
            return f"no pass{named}: {origin.judged} models are right, and those behind them cannot be evaluated"
        case Stage.AFTER:
            return f"no pass: all {origin.judged} models that they leave are right, so it is what the engine builds from the last one"
    return ""


def _named(cure: Cure) -> str:
    match cure.kind:
        case "pass":
            return (
                f"the pass {cure.names[0]}" if len(cure.names) == 1 else f"the passes {', '.join(cure.names)} together"
            )
        case "level":
            return f"optimization: it is right at {', '.join(cure.names)}"
        case "hardware":
            return f"instructions of the processor: it is right with {', '.join(cure.names)}"
    return f"an option: it is right with {', '.join(cure.names)}"


def workaround(cause: Cause) -> str:
    """The options to set, and whether the whole model is right with them."""
    if not cause.cures:
        if not cause.right_transforms:
            return ""
        name = cause.right_transforms[0]
        return f"--transform {name} in place of this {name.partition(':')[0]} (the whole model is right with it{_cost(cause)})"
    options = " ".join(f"--option {name}={value}" for name, value in cause.cures[0].options.items())
    whole = "not tried on the whole model"
    if cause.whole_cured is not None:
        whole = f"the whole model is {'right' if cause.whole_cured else 'still wrong'} with it"
    return f"{options} ({whole}{_cost(cause)})"


def _cost(cause: Cause) -> str:
    if cause.cost is None:
        return ""
    match cause.cost_speed:
        case Speed.SAME:
            return ", and as fast"
        case Speed.UNKNOWN:
            return f", and takes {cause.cost:.2f} times as long, which may be chance"
    return f", and takes {cause.cost:.2f} times as long"


def doubts(cause: Cause) -> list[str]:
    """A sentence each."""
    why = f" ({cause.detail})" if cause.detail else f" (0 of {cause.tries} tries failed)" if not cause.failed else ""
    seldom = (
        [f"it fails rarely: {cause.failed} of {cause.tries} tries failed"] if 0 < cause.failed < cause.tries else []
    )
    return seldom + [
        f"{_DOUBTS[doubt]}{why if doubt in (Doubt.NO_VALUES, Doubt.NOT_REPEATED) else ''}" for doubt in cause.doubts
    ]
