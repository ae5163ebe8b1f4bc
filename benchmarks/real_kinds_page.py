"""The page that real_kinds.py writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LOST = 2e-3
"""Relative L2 distance from the framework at which the file is another model."""


@dataclass(frozen=True)
class Row:
    """One question. `distance` is relative L2 to the independent answer, `independent` says whose that was; `framework` is the
    distance to the framework's own predictions."""

    model: str
    question: str
    flow: str
    verdict: str
    independent: str
    distance: float | None
    answer: str
    seconds: float
    reason: str
    framework: float | None = None


def page(rows: Sequence[Row], notes: Mapping[str, str]) -> Iterator[str]:
    """`notes`: by model, why its file is another model than the framework's."""
    counts = Counter(row.answer for row in rows)
    yield "# Real models of other kinds"
    yield ""
    yield "Made by `python benchmarks/real_kinds.py`: pipelines trained on data that scikit-learn brings, and models of wheels"
    yield "after a change that people make (`benchmarks/real_kinds.toml`). *Distance* is relative L2 between the engine called"
    yield "directly and an independent evaluation of the file: the other engine, `onnx.reference` where that refuses the file, or the"
    yield "old file. Where `onnx.reference` parts from an engine that gives what the framework predicts, the framework counts. A"
    yield "verdict is *right* where it agrees with that; a skip is right where the engine refuses the model when it is called"
    yield "directly, too (*refused*). *Framework* is the distance to what the framework itself predicts for the same rows: it says"
    yield "whether the converter kept the model, which the file alone cannot say. Limits of distance: 2e-3, half precision 2e-2,"
    yield "dynamic int8 0.1."
    yield ""
    yield (
        f"{len(rows)} answers on {len({row.model for row in rows})} models: {counts['right']} right, {counts['WRONG']} wrong, "
        f"{counts['open']} open."
    )
    yield ""
    yield "| model | question | flow | verdict | independent | distance | the verdict is | framework | command |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for row in rows:
        question = f"`{row.question}`" if row.question.startswith("-") else row.question
        cells = (row.model, question, row.flow, row.verdict, row.independent, short(row.distance), row.answer)
        yield f"| {' | '.join(cells)} | {short(row.framework)} | {row.seconds:.1f} s |"
    wrong_rows = [row for row in rows if row.verdict not in ("pass", "skip") or row.answer != "right"]
    if wrong_rows:
        yield ""
        yield "What is not a pass, and why:"
        yield ""
        for row in wrong_rows:
            yield f"* `{row.model}`, {row.question}, {row.flow}: {row.verdict}. {row.reason[:400].replace(str(Path.home()), '~')}"

    yield from converted(rows, notes)


def converted(rows: Sequence[Row], notes: Mapping[str, str]) -> Iterator[str]:
    """The models of which the framework says otherwise than a file that the engine computes rightly."""
    lost = dict.fromkeys(row.model for row in rows if row.answer == "right" and (row.framework or 0.0) > LOST)
    if lost:
        yield ""
        yield 'The file is not what its framework predicts, and the engine is right to give what the file says. For the question "is the'
        yield "file my framework's model\" give the framework's answers: `assay check model.onnx --golden ANSWERS.npz`."
        yield ""
        yield "| model | why |"
        yield "|---|---|"
        for name in lost:
            yield f"| `{name}` | {notes.get(name, 'not analysed')} |"


def short(distance: float | None) -> str:
    return "" if distance is None else f"{distance:.1e}"
