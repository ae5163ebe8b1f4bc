"""The words for a session, made from its counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set

from assay.core.screening import Screened
from assay.fuzz.corpus import CAUSES, Arm, Bucket, Session, is_cause
from assay.fuzz.cures import cures
from assay.judge.words.silent_standard import SILENT_STANDARD

STATUSES = {
    "wrong": "wrong by two witnesses",
    "crash": "ended the process",
    "timeout": "did not end",
    "in_use": "right at first, and wrong at other sizes, when it is called or loaded again, or beside another engine; or ended then",
    "unstable": "wrong, and not the same answer twice",
    "one_witness": "wrong by the reference alone, and no other engine could say",
    "undecided": "wrong, and perhaps a cause that is there already: what would tell them apart could not be tried",
    "failed": "compiled, and does not run",
    "disputed": "another engine sides with the engine: look into the reference first",
    "unspecified": "the standard does not say what is right",
    "refused": "ended its process, or had no end, and is refused when it is checked alone",
    "not_judged": "wrong when it was screened, and the check came to no verdict; others like it are looked into",
    "not_repeated": "right when it was checked again",
}
SHOWN, UNREACHED, FIRED = 8, 40, 8
LONGEST = 300
"""Of what an engine said."""
RAN = (Screened.RIGHT, Screened.SUSPECT, Screened.FAILED)
LEAST_HOURS = 0.1
"""A rate of causes an hour says nothing before."""


def lines(session: Session, new: Set[str]) -> Iterator[str]:
    """Buckets by what they are, those of this call first, then what was spent."""
    known = [bucket for bucket in session.buckets.values() if bucket.known and bucket.count]
    buckets = sorted(
        (bucket for bucket in session.buckets.values() if not bucket.known),
        key=lambda bucket: (bucket.key not in new, bucket.at),
    )
    for status, meaning in STATUSES.items():
        of_status = [bucket for bucket in buckets if bucket.status == status]
        if not of_status:
            continue
        print_all = status in (*CAUSES, "undecided", "one_witness", "disputed")
        yield f"{status}: {len(of_status)} ({meaning})"
        for bucket in of_status if print_all else of_status[:SHOWN]:
            yield from _bucket(bucket, bucket.key in new)
        if not print_all and len(of_status) > SHOWN:
            yield f"  and {len(of_status) - SHOWN} more"
    if known:
        yield f"known: {len(known)} (found before; counted, not shown)"
        counts: Counter[str] = Counter()
        for bucket in known:
            counts[bucket.known] += bucket.count
        for place, count in sorted(counts.items()):
            yield f"  {place}, {count} case{'s' if count > 1 else ''}"
    yield from _spent(session)


def screening_text(session: Session, arms: Sequence[Arm]) -> str:
    """What goes on: "249 cases, 1 cause; screening sweep on onnxruntime"."""
    return f"{_so_far(session)}; screening {', '.join(arm.name for arm in arms)}"


def looking_text(session: Session, flows: Sequence[str]) -> str:
    """The same, where suspects of these flows are looked into."""
    several = f"{len(flows)} suspects" if len(flows) != 1 else "a suspect"
    return f"{_so_far(session)}; looking into {several} on {', '.join(dict.fromkeys(flows))}"


def _so_far(session: Session) -> str:
    cases, causes = sum(arm.cases for arm in session.arms.values()), sum(map(is_cause, session.buckets.values()))
    return f"{_many(cases, 'case')}, {_many(causes, 'cause')}"


def _bucket(bucket: Bucket, new: bool) -> Iterator[str]:
    times = f", {bucket.count} cases" if bucket.count > 1 else ""
    yield f"  {'new: ' if new else ''}{bucket.title} [{bucket.key}]{times}"
    matter = f"; matters: {', '.join(bucket.attributes)}" if bucket.attributes else ""
    yield f"    first: {bucket.first} ({', '.join(bucket.dtypes)}){matter}"
    for reason in bucket.unspecified:
        yield f"    {SILENT_STANDARD[reason]}"
    if bucket.like:
        yield f"    like: {bucket.like}"
        yield f"    {_decides(bucket)}"
    if bucket.workaround:
        yield f"    workaround: {bucket.workaround}"
    if bucket.detail and bucket.status in ("failed", "crash", "refused", "not_judged", "not_repeated"):
        yield f"    {_middle_left_out(bucket.detail)}"
    yield f"    {'script: ' + bucket.script if bucket.script else 'model: ' + bucket.smallest}"


def _middle_left_out(text: str) -> str:
    """Engines begin with where they are, and end with what is wrong."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 3]} ... {text[-2 * LONGEST // 3 :]}"


def _decides(bucket: Bucket) -> str:
    cured = sorted(cures(bucket))
    done = f"what makes this one right ({', '.join(cured)})" if cured else "what makes that one right"
    return f"would be decided by: the answer of the other case once {done} is done to it"


def _spent(session: Session) -> Iterator[str]:
    cases = sum(arm.cases for arm in session.arms.values())
    run = sum(counts.get(name, 0) for counts in session.counts.values() for name in RAN)
    causes = sum(map(is_cause, session.buckets.values()))
    per_s = cases / session.cpu_s if session.cpu_s else 0.0
    yield (
        f"seed {session.seed}: {_many(cases, 'case')} made, {run} run, {_many(causes, 'cause')}, in {session.wall_s:.0f} s "
        f"({session.cpu_s:.0f} s of processor time screening at {per_s:.0f} cases/s per core, "
        f"{session.looking_s:.0f} s looking into suspects)"
    )
    if session.processor_s:
        hours = session.processor_s / 3600
        rate = f": {_many(float(f'{causes / hours:.2g}'), 'cause')} an hour" if hours >= LEAST_HOURS else ""
        yield f"  {hours:.2f} hours of processor time in all{rate}"
    for arm in session.arms.values():
        if arm.cases:
            counts = session.counts.get(arm.name, {})
            text = ", ".join(f"{counts[name]} {name.replace('_', ' ')}" for name in sorted(counts) if counts[name])
            yield f"  {arm.name}: {_many(arm.cases, 'case')}, {arm.cpu_s:.0f} s, {_many(arm.found, 'cause')} ({text})"
    yield from _idle_flows(session)
    yield from _waiting(session)


def _waiting(session: Session) -> Iterator[str]:
    """Suspects that nobody looked into, or that were not compared with every known defect when the time was over."""
    if session.waiting:
        yield f"waiting: {_many(len(session.waiting), 'suspect')} (not compared yet; the next call goes on with them)"
    for waiting in session.waiting[:SHOWN]:
        suspect = waiting.suspect
        names = "+".join(operator.partition("@")[0] for operator in suspect.operators)
        what = f"{names}, {suspect.kind}" if names else suspect.kind
        yield f"  {waiting.flow}: {what} (case {suspect.case})"
    if len(session.waiting) > SHOWN:
        yield f"  and {len(session.waiting) - SHOWN} more"


def _idle_flows(session: Session) -> Iterator[str]:
    """Flows of which nothing was run: no cause was found there because none could be."""
    for flow in dict.fromkeys(arm.flow for arm in session.arms.values() if arm.cases):
        counts = Counter[str]()
        for arm in session.arms.values():
            counts.update(session.counts.get(arm.name, {}) if arm.flow == flow else {})
        if counts[Screened.REFUSED] and not any(counts[name] for name in RAN):
            yield (
                f"  NOTHING WAS RUN on {flow}: it refused all of {_many(counts[Screened.REFUSED], 'case')}; "
                f"`assay check MODEL --flow {flow}` says why it refuses one"
            )


def _many(number: float, thing: str) -> str:
    """As "1 case", "2 cases"."""
    return f"{number:.12g} {thing}{'s' if number != 1 else ''}"


def curve_lines(session: Session) -> Iterator[str]:
    """Each cause with the processor hours that were used when it was found, the first first."""
    buckets = sorted((bucket for bucket in session.buckets.values() if is_cause(bucket)), key=lambda bucket: bucket.at)
    if buckets:
        yield "causes over hours of processor time:"
    for number, bucket in enumerate(buckets, 1):
        yield f"  {bucket.at / 3600:.2f} h: {number}, {bucket.title} ({bucket.generator} on {bucket.flow})"


def _fired(fired: Mapping[str, int]) -> Iterator[str]:
    """In which ways a compiler was seen to change graphs."""
    changed = Counter({way: count for way, count in fired.items() if way})
    if changed:
        often = ", ".join(f"{way} ({count})" for way, count in changed.most_common(FIRED))
        yield (
            f"  graphs before and after its compiler: {changed.total()} of {sum(fired.values())} that were looked into are changed, "
            f"in {len(changed)} ways; most often {often}"
        )


def coverage_lines(session: Session, possible: Set[str] = frozenset()) -> Iterator[str]:
    """What was run on each flow, and what never was: `possible` are the forms by opset that the generators know ("Conv@11")."""
    for flow, coverage in session.seen.items():
        operators = Counter(feature.split(" ")[0] for feature in coverage)
        names = {operator.partition("@")[0] for operator in operators}
        attributes = sum(" ." in feature for feature in coverage)
        whole = f" of {len(possible)}" if possible else ""
        yield (
            f"coverage on {flow}: {len(names)} operators, {len(operators)}{whole} of their forms by opset, "
            f"{len(coverage) - attributes} forms by type and rank, {attributes} by attribute"
        )
        yield from _fired(session.fired.get(flow, {}))
        refused = session.refused.get(flow, {})
        converted = sorted({feature.split(" ")[0] for feature in refused if feature.endswith(f" {Screened.CONVERTED}")})
        if converted:
            yield f"  wrong before it is compiled, by the conversion or by torch itself: {', '.join(converted)}"
        never = sorted(
            {feature.split(" ")[0] for feature in refused if "+" not in feature} - set(operators) - set(converted)
        )
        if never:
            yield f"  always refused: {', '.join(never)}"
        unreached = sorted(possible - set(operators) - set(never) - set(converted))
        if unreached:
            more = f" and {len(unreached) - UNREACHED} more" if len(unreached) > UNREACHED else ""
            yield f"  never reached: {', '.join(unreached[:UNREACHED])}{more}"
