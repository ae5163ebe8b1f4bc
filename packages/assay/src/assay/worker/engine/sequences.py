"""Sequences of calls: the state that one call gives is fed into the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from assay.core.finding import Finding, FindingCode, facts
from assay.core.model import Model
from assay.core.note import Note, NoteCode, noted
from assay.errors import Lowering
from assay.models.goldens import Golden
from assay.models.own_data.state import as_input, first_state
from assay.ports import Engine, Tensor
from assay.worker.engine.checked_answer import checked
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.inputs.load_inputs import Source

Samples = list[dict[str, Tensor]]


def run_calls(engine: Engine, rewritten: TransformedModel, source: Source, model: Model) -> tuple[Samples, Samples]:
    """As `ask_calls`, of an engine. The answers are copies: what an engine hands out may be memory that it uses again."""

    def ask(call: Mapping[str, Tensor]) -> dict[str, Tensor]:
        (ready,) = rewritten.fed([call])
        return {name: array.copy() for name, array in checked(engine.run(ready)).items()}

    return ask_calls(ask, source, model)


def ask_calls(
    ask: Callable[[dict[str, Tensor]], dict[str, Tensor]], source: Source, model: Model
) -> tuple[Samples, Samples]:
    """Inputs with the states that were fed, and the answers. What a call brings of its state is fed as it is. Raises Lowering where an
    answer lacks the state that the next call is due."""
    if not source.state:
        return source.inputs, [ask(sample) for sample in source.inputs]
    fed, answers = Samples(), Samples()
    for start, count in spans(source.sequences):
        before: Mapping[str, Tensor] = {}
        for step in range(start, start + count):
            call = dict(source.inputs[step])
            for output, name in source.state.items():
                if name not in call:
                    call[name] = (
                        as_input(_state(before, output), name, model) if before else first_state(name, model, call)
                    )
            before = ask(call)
            fed.append(call)
            answers.append(dict(before))
    return fed, answers


def _state(answer: Mapping[str, Tensor], output: str) -> Tensor:
    if output not in answer:
        raise Lowering(noted(NoteCode.GAVE_NO_STATE, output=output))
    return answer[output]


def spans(sequences: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Where each begins, and how many calls it has."""
    start = 0
    for count in sequences:
        yield start, count
        start += count


def run_free(
    engine: Engine, rewritten: TransformedModel, golden: Golden, model: Model
) -> tuple[tuple[Note, ...], tuple[Finding, ...]]:
    """The engine on its own states: how far it drifts from the reference by the end of each sequence, for each output; and
    what no drift explains: a NaN, an infinity or a shape that the reference does not have there.

    Each call by itself is judged on the reference's state before this. How far small errors grow is the model's own nature,
    and so a metric, not a verdict.
    """
    lock = golden.lock
    if not lock.state or sum(lock.sequences) != len(golden.inputs) or max(lock.sequences) < 2:
        return (), ()
    fed = set(lock.state.values())
    drift: dict[str, float] = {}
    findings: dict[str, Finding] = {}
    for start, count in spans(lock.sequences):
        own = [
            dict(sample) if not step else {name: array for name, array in sample.items() if name not in fed}
            for step, sample in enumerate(golden.inputs[start : start + count])
        ]
        _, answers = run_calls(engine, rewritten, Source(own, state=lock.state, sequences=(count,)), model)
        for step, (mine, theirs) in enumerate(zip(answers, golden.outputs[start : start + count], strict=True)):
            for name in theirs:
                apart = _apart(mine.get(name), theirs[name])
                if apart is None:
                    findings.setdefault(name, Finding("drift", name, FindingCode.DRIFT, facts(call=step)))
                elif step == count - 1:
                    drift[name] = max(drift.get(name, 0.0), apart)
    known = noted(NoteCode.DRIFTED, calls=max(lock.sequences), outputs=tuple(drift), apart=tuple(drift.values()))
    return ((known,) if drift else ()), tuple(findings.values())


def _apart(mine: Tensor | None, theirs: Tensor) -> float | None:
    """The largest absolute difference; None where there is no telling."""
    if mine is None or mine.shape != theirs.shape:
        return None
    if theirs.dtype.kind not in "fiub" or mine.dtype.kind not in "fiub":
        return 0.0 if np.array_equal(mine, theirs) else 1.0
    left, right = mine.astype(np.float64), theirs.astype(np.float64)
    known = np.isfinite(right)
    if (np.isfinite(left) != known).any():
        return None
    return float(np.abs(left - right)[known].max(initial=0.0))
