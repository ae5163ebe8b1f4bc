"""From a red verdict to its causes, on one page:

every value in float64 -> does the whole fail again? -> suspects -> (a part: cures -> fewer nodes -> smaller -> script) -> the rest
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec.structs import replace

from assay.core.outcome import Outcome
from assay.core.region import RegionGraph
from assay.core.result import RegionResult
from assay.triage.cause import Cause, Doubt, Where
from assay.triage.context import Context, Whole, end_error
from assay.triage.graph import Graph, Places
from assay.triage.localize import SCREEN, SHARE, Suspect, shows_beside_others, suspects
from assay.triage.part import LEFT, Part
from assay.triage.prober import OutOfTime, Prober
from assay.triage.quantizer import right_choices
from assay.triage.reduce import fewest_outputs
from assay.triage.sites import wrong_sites
from assay.triage.symptom import UNSTABLE, WITHIN, Symptom, refusal_of, symptom_of
from assay.triage.told_again import told_again
from assay.triage.unstable import find_unstable

MOST_CAUSES = 3
"""Of one verdict."""
EXPLAINS = 0.1
"""Of the end's error: a part that is wrong alone and explains less is not the cause of this verdict."""
MOST_SUSPECTS = 8
MOST_OUTPUTS = 12
"""Of a model that gives no answer, that are tried alone."""
TRIES = 5
"""Of a model that does not fail again at once."""
SURE = 2
"""Of one that fails at once."""
MISSED = 0.02
MOST_TRIES = 20


async def find_causes(context: Context) -> list[Cause]:
    """Gravest first. Each claim is confirmed on an engine without taps; what was not is among the doubts of the cause."""
    try:
        values = await context.values()
    except OutOfTime:
        return [_unlocated(context, Graph(RegionGraph()), Doubt.OUT_OF_TIME)]
    if values.outcome is not Outcome.OK:
        return [_unlocated(context, Graph(RegionGraph()), Doubt.NO_VALUES, values.detail)]
    graph, prober = Graph(values.graph), context.prober()
    everything = frozenset(range(len(graph.nodes)))
    causes: list[Cause] = []
    try:
        if context.end.kind == UNSTABLE:
            return [await _unstable(context, graph, prober)]
        known = await _known_at_once(context, graph, prober)
        result, tries, failed = (known.whole.result, 1, 1) if known else await _again(context, graph, prober)
        if not failed and context.end.unstable:
            return [await _unstable(context, graph, prober)]
        if not failed:
            missing = _unlocated(context, graph, Doubt.NOT_REPEATED, result.detail)
            return [replace(missing, tries=tries, failed=0)]
        prober.tries = tries_for(failed / tries)
        whole = Whole(context, graph, prober, everything, result)
        avoid: Places = frozenset()
        while len(causes) < MOST_CAUSES:
            part = known or await _known_part(whole, avoid) or await _part(whole, avoid)
            if part is None:
                break
            if known is None:
                context.tell(part.first_sentence)
            known = None
            cause = await told_again(part, len(causes)) or await part.cause(len(causes))
            causes.append(replace(cause, tries=tries, failed=failed))
            avoid |= part.everywhere
            if cause.explains is None or cause.explains >= 1.0 - LEFT:
                break
        if causes and not any(known_cause.cures for known_cause in causes):
            choices = await right_choices(context, whole.error)
            causes = [replace(known_cause, right_transforms=choices) for known_cause in causes]
    except OutOfTime:
        return causes or [_unlocated(context, graph, Doubt.OUT_OF_TIME)]
    return causes or [_unlocated(context, graph, Doubt.NOT_LOCALIZED)]


async def _unstable(context: Context, graph: Graph, prober: Prober) -> Cause:
    cause = await find_unstable(context, graph, prober)
    return cause or replace(_unlocated(context, graph, Doubt.NOT_REPEATED), tries=context.builds, failed=0)


def tries_for(share: float) -> int:
    """How often what fails in that share of its tries is asked, so that it is missed once in fifty."""
    return 1 if share >= 1.0 else min(MOST_TRIES, math.ceil(math.log(MISSED) / math.log(1.0 - share)))


async def _again(context: Context, graph: Graph, prober: Prober) -> tuple[RegionResult, int, int]:
    """The model, built from its graph: a result that fails, if there is one, of how many tries, and how many failed. Wrong values are asked
    for `SURE` times, and `TRIES` times where one of these is right; a crash was repeated by the check."""
    whole = [frozenset(range(len(graph.nodes)))]
    results = [await prober.ask(whole, outputs=graph.outputs, derive=False)]
    for attempt in range(1, TRIES if results[0].outcome is Outcome.OK else 1):
        if attempt == SURE and all(_repeats(context, result) for result in results):
            break
        results.append(await prober.ask(whole, outputs=graph.outputs, derive=False, attempt=attempt))
    failed = [result for result in results if _repeats(context, result)]
    return (failed or results)[0], len(results), len(failed)


def _repeats(context: Context, result: RegionResult) -> bool:
    """Whether the model fails again when it is built from its graph, as large as before."""
    if result.outcome is not Outcome.OK:
        return (refusal_of(result) or symptom_of(result) or Symptom("")).kind == context.end.kind
    error = end_error(result)
    as_large = context.end.kind == "values" and error >= context.end.size / WITHIN and error > 0.0
    return as_large or any(region_error.kind for region_error in result.errors)


async def _known_at_once(context: Context, graph: Graph, prober: Prober) -> Part | None:
    """What is told before anything is asked twice: a known pattern that is wrong here, too, where the model fails at the first try."""
    everything = frozenset(range(len(graph.nodes)))
    result = await prober.ask([everything], outputs=graph.outputs, derive=False)
    if context.end.unstable or not _repeats(context, result):
        return None
    part = await _known_part(Whole(context, graph, prober, everything, result), frozenset())
    if part is not None:
        context.tell(part.first_sentence)
    return part


async def _part(whole: Whole, avoid: Places) -> Part | None:
    """The suspect that explains most of the end's error; where no window is wrong, all that an output is computed by."""
    graph, prober, suspected = whole.graph, whole.prober, list[Suspect]()
    answers = whole.result.outcome is Outcome.OK
    if answers and (avoid or await shows_beside_others(graph, prober, whole.everything, whole.error)):
        suspected = await suspects(graph, prober, whole.error, avoid)
    for suspect in suspected[:MOST_SUSPECTS]:
        part = await Part.of(whole, suspect)
        if part is not None and (part.explains is None or part.explains >= EXPLAINS):
            return part
    if avoid:
        return None
    worst = max(whole.result.errors, key=lambda region_error: region_error.rel_l2, default=None)
    if worst is None:
        shown = prober.symptom_of(whole.result)
        return await _with_one_output(whole, shown) if shown is not None else None
    places = graph.before(worst.output)
    symptom = Symptom(worst.kind or "values", worst.output, worst.rel_l2, worst.budget)
    return await Part.of(whole, Suspect(places, symptom))


async def _with_one_output(whole: Whole, symptom: Symptom) -> Part | None:
    """Of a model that gives no answer: what its first output is computed by that gives none alone, or what its fewest outputs are computed
    by that give none together."""
    if len(whole.graph.outputs) == 1:
        return Part(whole, whole.graph.outputs[0], whole.everything, symptom, None)
    for output in whole.graph.outputs[:MOST_OUTPUTS]:
        places = whole.graph.before(output)
        again = whole.prober.symptom_of(await whole.prober.ask([places], outputs=(output,)))
        if again is not None and symptom.is_like(again):
            return Part(whole, output, places, again, None)
    return await _with_fewest_outputs(whole, symptom)


async def _with_fewest_outputs(whole: Whole, symptom: Symptom) -> Part | None:
    graph, prober = whole.graph, whole.prober

    async def fails(outputs: tuple[str, ...]) -> bool:
        again = prober.symptom_of(await prober.ask([graph.before_all(outputs)], outputs=outputs))
        return symptom.is_like(again)

    computed = [name for name in graph.outputs if graph.before(name)]
    if not computed:
        return None
    first, *others = await fewest_outputs(computed, fails)
    if not await fails((first, *others)):
        return None
    return Part(whole, first, graph.before_all((first, *others)), symptom, None, beside=tuple(others))


async def _known_part(whole: Whole, avoid: Places) -> Part | None:
    """Where the nodes of an earlier cause stand and are wrong alone, and that explains the error: at all these places together."""
    whole.prober.screen(min(SCREEN, SHARE * whole.error))
    known = [
        pattern for pattern in whole.context.patterns if not pattern.versions or pattern.versions == whole.versions
    ]
    for sites in await wrong_sites(whole, known, avoid):
        part, others = await _first_part(whole, sites.suspects)
        if part is None or sites.pattern.symptom not in ("", part.symptom.kind):
            continue
        part.pattern = sites.pattern
        if part.explains is not None and part.explains < 1.0 - LEFT and others:
            await part.stands_also(others)
        # A model that gives no answer has no share that a part explains.
        died = part.explains is None and sites.pattern.symptom == whole.context.end.kind
        if died or (part.explains is not None and part.explains >= 1.0 - LEFT):
            return part
    return None


async def _first_part(whole: Whole, suspects: Sequence[Suspect]) -> tuple[Part | None, list[Suspect]]:
    """The first that is wrong alone, and the others."""
    for suspect in suspects[:MOST_SUSPECTS]:
        part = await Part.of(whole, suspect)
        if part is not None:
            return part, [other for other in suspects if other is not suspect]
    return None, []


def _unlocated(context: Context, graph: Graph, doubt: Doubt, detail: str = "") -> Cause:
    return Cause(
        job_key=context.job.key,
        model=context.job.case.name,
        flow=context.job.flow.name,
        backend=context.job.flow.backend,
        versions={},
        where=Where.WHOLE,
        end=context.end,
        symptom=context.end,
        nodes_of_model=len(graph.nodes),
        doubts=(doubt,),
        detail=detail,
        folder=str(context.folder),
    )
