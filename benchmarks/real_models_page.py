"""The page of `real_models.py`: a matrix of marks for each way of feeding, then the reasons of all that is no right pass."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from typing import Any

from real_models_lines import FACTOR, LIMITS, PAIR_FACTOR, STORED_FACTOR, Line

WAYS = ("first contact", "plausible")
REASON_LENGTH = 260
MARKS = {
    "pass": ("✓", "pass, and an independent engine agrees"),
    "fail": ("✗", "fail, and an independent engine agrees that the answers are wrong"),
    "crash": ("†", "fail: the engine's process died, in a fresh one too"),
    "skip": ("–", "the backend cannot take the model: *unsupported*, in its own words below"),
    "other precision": ("≠", "inconclusive: the engine computes in another precision than its flow is named for"),
    "undecidable": (
        "≈",
        "inconclusive, or a pass by the reference alone, and independent engines (or roundings) are themselves too far apart to say",
    ),
    "open": ("?", "nothing was decided, or no engine of another library runs the model"),
    "vacuous": ("○", "pass, but other inputs have the same answers: it proves nothing"),
    "WRONG": ("**!**", "the verdict is the contrary of what independent engines say"),
}
"""By answer, and for right ones by verdict."""
WORST_FIRST = ("WRONG", "vacuous", "open", "crash", "fail", "undecidable", "other precision", "skip", "pass")
ADVICE = re.compile(
    r"; (?:rewrite that part of the model|fix the flow|read the job's log|choose a flow,|repeat the job alone|such a pass proves).*",
    re.DOTALL,
)
"""What to do about it comes last in each reason, and is the same in all."""


def shown(line: Line) -> str:
    far = "-" if line.distance is None else f"{line.distance:.1e}"
    reason = "" if line.verdict == "pass" else f"  {short(line)}"
    return (
        f"{line.answer:7}  {line.model:26} {line.inputs:13} {line.flow:20} {line.verdict:12} {far:8} "
        f"{line.seconds:5.1f} s  first sign {line.progress_s:.1f} s{reason}"
    )


def summary(lines: Sequence[Line]) -> Iterator[str]:
    for way in WAYS:
        some = [line for line in lines if line.inputs == way]
        if some:
            counts = Counter(line.answer for line in some)
            yield (
                f"{way}: {len(some)} verdicts on {len({line.model for line in some})} models and "
                f"{len({line.flow for line in some})} flows: {counts['right']} right, {counts['WRONG']} wrong, "
                f"{counts['vacuous']} vacuous, {counts['undecidable']} undecidable, {counts['other precision']} in another precision, "
                f"{counts['crash']} crashed, {counts['open']} open, {counts['skip']} skipped"
            )


def page(lines: Sequence[Line], catalogue: Mapping[str, Any], notes: Mapping[str, str]) -> Iterator[str]:
    """`catalogue`: the models by name; `notes`: by a glob of model and flow, what was found out about a row that is not a right pass."""
    loads, days = [line.load for line in lines], [line.day for line in lines]
    yield "# Real models on every CPU flow"
    yield ""
    yield "Trained models that ship inside public wheels (`benchmarks/real_models.toml`: names, versions, digests), checked as a new user"
    yield "would: at *first contact* `assay check M.onnx --flow …` and nothing else; with *plausible* inputs, such as bytes, token ids"
    yield "and pictures. Made by `python benchmarks/real_models.py --only-kind verify` (no engine was measured),"
    yield f"{' to '.join(dict.fromkeys((min(days), max(days))))}, two cores shared with other work, load"
    yield f"{min(loads):.0f} to {max(loads):.0f}."
    yield "Each row as it was collected: `docs/results/real-models.jsonl`."
    yield ""
    yield "Each verdict is compared with engines of other libraries, called directly: ONNX Runtime without optimisation, OpenVINO in"
    yield "float32 without dynamic quantization, and onnx's reference evaluator where one of those cannot run the model or they are"
    yield "more than 10 % apart (but where it ignores `sequence_lens`). An engine is right"
    yield f"where its answers are within {FACTOR} times the distance of the nearest two from each other (at least {FACTOR} roundings of"
    yield f"float32, at most {LIMITS['float32']:.0e}; in float16 {LIMITS['float16']:.0e}, in bfloat16 and int8 {LIMITS['int8']:.0e};"
    yield f"in float16 and bfloat16 within {STORED_FACTOR} times what rounding every value to that type does, and in int8 what rounding"
    yield "weights (and what they are multiplied by, where the flow says so) to eight bits does, where that is known;"
    yield f"never below {PAIR_FACTOR} times that distance), in relative L2. In a file that is quantized itself it is"
    yield f"{LIMITS['float32']:.0e}: one value that falls to the next step of its grid moves the answers by more than two engines"
    yield "that agree differ."
    yield "Where a flow quantizes the model first, these engines are given the quantized model: how far that is from the float model is a"
    yield "loss that the flow chose."
    yield ""
    for text in summary(lines):
        yield f"* {text}"
    yield ""
    yield "| mark | means |"
    yield "|---|---|"
    for mark, meaning in MARKS.values():
        yield f"| {mark} | {meaning} |"
    yield "| | not run |"
    eleven = [name for name, model in catalogue.items() if model.get("eleven")]
    for way in WAYS:
        yield from matrix([line for line in lines if line.inputs == way and line.model in eleven], eleven, way)
    others = [line for line in lines if line.model not in eleven]
    if others:
        yield from other_models(others, [name for name in catalogue if name not in eleven])
    yield from reasons(lines, notes)


def matrix(lines: Sequence[Line], models: Sequence[str], way: str) -> Iterator[str]:
    """Flows by models, one mark a cell."""
    marks = {
        (line.flow, line.model): MARKS[line.verdict if line.answer == "right" else line.answer][0] for line in lines
    }
    yield ""
    yield f"## The eleven models: {way}"
    yield ""
    yield f"| flow | {' | '.join(models)} |"
    yield f"|---|{':-:|' * len(models)}"
    for flow in sorted({line.flow for line in lines}):
        yield f"| {flow} | {' | '.join(marks.get((flow, model), '') for model in models)} |"


def other_models(lines: Sequence[Line], models: Sequence[str]) -> Iterator[str]:
    """Models by flows, in brackets the distance."""
    flows = sorted({line.flow for line in lines})
    cells = {
        (
            line.model,
            line.inputs,
            line.flow,
        ): f"{MARKS[line.verdict if line.answer == 'right' else line.answer][0]}{_far(line)}"
        for line in lines
    }
    yield ""
    yield "## Other models"
    yield ""
    yield "In brackets: relative L2 distance to the nearest independent engine."
    yield ""
    yield f"| model | inputs | {' | '.join(flows)} |"
    yield f"|---|---|{':-:|' * len(flows)}"
    for model in models:
        for way in WAYS:
            if any((model, way, flow) in cells for flow in flows):
                yield f"| {model} | {way} | {' | '.join(cells.get((model, way, flow), '') for flow in flows)} |"


def reasons(lines: Sequence[Line], notes: Mapping[str, str]) -> Iterator[str]:
    """One row for all flows on which the same models have the same mark for the same reason, whatever its numbers."""
    rows: dict[tuple[str, str, str], list[Line]] = {}
    for line in lines:
        if line.answer != "right" or line.verdict != "pass":
            rows.setdefault((_mark(line), line.flow, _template(short(line))), []).append(line)
    merged: dict[tuple[str, str, tuple[str, ...]], list[Line]] = {}
    for (mark, _, reason), some in rows.items():
        merged.setdefault((mark, reason, tuple(sorted({line.model for line in some}))), []).extend(some)
    yield ""
    yield "## What is no pass, and why"
    yield ""
    yield "| mark | flows | models | inputs | why | found |"
    yield "|---|---|---|---|---|---|"
    for (mark, _, models), some in sorted(merged.items(), key=lambda row: (_rank(row[0][0]), row[1][0].flow, row[0])):
        far = [line.distance for line in some if line.distance is not None]
        apart = f" ({min(far):.0e})" if far else ""
        ways = "both" if len({line.inputs for line in some}) == 2 else some[0].inputs
        found = dict.fromkeys(
            text for line in some for glob, text in notes.items() if fnmatch(f"{line.model} {line.flow}", glob)
        )
        why = _cell(short(some[0]))
        yield f"| {mark} | {_listed(line.flow for line in some)} | {', '.join(models)}{apart} | {ways} | {why} | {_cell(' '.join(found))} |"


def short(line: Line) -> str:
    """The reason without the advice after it, cut at a whole word."""
    text = ADVICE.sub("", line.reason)
    return text if len(text) <= REASON_LENGTH else text[:REASON_LENGTH].rsplit(" ", 1)[0] + " …"


def _mark(line: Line) -> str:
    return MARKS[line.verdict if line.answer == "right" else line.answer][0]


def _rank(mark: str) -> int:
    return [MARKS[answer][0] for answer in WORST_FIRST].index(mark)


def _far(line: Line) -> str:
    return "" if line.distance is None else f" ({line.distance:.0e})"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(set(names)))


def _template(text: str) -> str:
    """Without its numbers and the names in quotes."""
    return re.sub(r"(?<![^\s(])'[^']*'|\"[^\"]*\"|\d[\d.e+-]*", "#", text)


def _cell(text: str) -> str:
    return text.replace("|", "/").replace("<", "&lt;").replace("*", "\\*")
