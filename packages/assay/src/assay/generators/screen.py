"""Cheap cases, many in one job: make, evaluate, run, compare. What looks wrong is left for the driver to look into."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job import ScreenJob
from assay.core.note import noted
from assay.core.outcome import Stage
from assay.core.refusals.usage_codes import UsageCode
from assay.core.result import ScreenResult
from assay.core.screening import CaseId, Screened, Suspect, Use
from assay.errors import Lowering, Unsupported, UsageError
from assay.generators.case_values import CaseValues
from assay.generators.comparison import Far, coarse_sum, compare, far_of, judge, other_reading
from assay.generators.files import keep_case, write_anew
from assay.generators.ignored import ablate_fully
from assay.generators.kept_cases import KeptCases
from assay.generators.narrowing import Run, Trial, localized, simplified
from assay.generators.open_generator import open_generator
from assay.generators.plain_uses import in_plain_model
from assay.generators.programs import EAGER, is_right_uncompiled
from assay.generators.progress import Progress, used_s
from assay.generators.rewriting import change, rewritten_pair, wrong_kernels
from assay.generators.uses import Maker, answers, sizes_of
from assay.models.conversion import convert_to
from assay.ports import Backend, BuiltForSizes
from assay.ports.engine import Engine
from assay.ports.generator import GeneratedCase, Generator
from assay.worker.engine.lower import backend_class
from assay.worker.stages import Stages

THREADS = "threads"
"""The option of a backend: with one thread an error may be swallowed (docs/findings)."""


def screen(job: ScreenJob, stages: Stages) -> ScreenResult:
    """Ends after `job.count` cases or `job.seconds`, whichever is first. A case that ends the process ends the job: the file
    `job.progress` names it."""
    generator = KeptCases(job.kept) if job.kept else open_generator(job.generator, job.near, job.learned)
    if generator.version != job.version:
        kind, here = job.generator, generator.version
        raise UsageError(noted(UsageCode.GENERATOR_VERSION, generator=kind, version=here, asked=job.version))
    with stages.enter(Stage.IMPORT):
        backend: Backend = backend_class(job.flow.backend)()
        backend.prepare()
    screener = _Screener(job, backend, generator)
    with stages.enter(Stage.RUN):
        begin, cpu = time.monotonic(), used_s()
        done = job.first
        with Progress(job.progress) as progress:
            for done in range(job.first + 1, job.first + job.count + 1):
                progress.write(done - 1)
                screener.one(done - 1)
                if time.monotonic() - begin > job.seconds:
                    break
    return replace(screener.result(), done=done, cpu_s=used_s() - cpu)


class _Screener:
    def __init__(self, job: ScreenJob, backend: Backend, generator: Generator) -> None:
        self._job, self._backend, self._generator = job, backend, generator
        self._model = self._given = Path(job.scratch) / "case.onnx"
        self._maker = Maker(self._lower, lambda folder: backend.load(folder, job.flow), Path(job.scratch))
        self._case: GeneratedCase
        self._counts: Counter[str] = Counter()
        """Of cases by what became of them, and of uses that were tried."""
        self._seen: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._suspects: list[Suspect] = []
        self._derived = 0
        self._rewritten: set[tuple[str, str]] = set()
        self._fired: Counter[str] = Counter()
        self._right: list[int] = []

    def result(self) -> ScreenResult:
        return replace(
            empty_result(self._job),
            counts=dict(self._counts),
            seen=dict(self._seen),
            refused=dict(self._refused),
            suspects=tuple(self._suspects),
            derived=self._derived,
            rewritten=tuple(sorted(self._rewritten)),
            fired=dict(self._fired),
            right=tuple(self._right),
        )

    def _write(self, case: GeneratedCase) -> None:
        self._case = case
        write_anew(self._model, case.model)

    def _lower(self, flow: Flow | None = None) -> Engine:
        """The case that was written, in the form that the backend reads and for the sizes that it will be fed; for the flow of the job
        where none is given."""
        shapes = {name: array.shape for name, array in self._case.inputs.items()}
        self._given = convert_to(self._model, self._backend.accepts, self._model.parent, shapes=shapes)
        flow = flow or self._job.flow
        if isinstance(self._backend, BuiltForSizes) and self._backend.needs_sizes:
            flow = replace(flow, sample_sizes=sizes_of(self._case))
        return self._backend.lower(self._given, flow)

    def one(self, index: int) -> None:
        self._counts[became := self._look(index)] += 1
        self._right += [index] if self._job.kept and became is Screened.RIGHT else []

    def _look(self, index: int) -> Screened:
        case = self._generator.make(self._job.seed, index)
        if case is None:
            return Screened.NOT_MADE
        derive = bool(self._job.derive_each) and index % self._job.derive_each == 0
        trial = self._trial(case, derive=derive, empty=bool(self._job.kept))
        if trial.became in (Screened.REFUSED, Screened.CONVERTED):
            self._refused[f"{'+'.join(trial.values.operators)} {trial.detail}"] += 1
        elif trial.became in (Screened.RIGHT, Screened.FAILED, Screened.SUSPECT):
            self._seen.update(trial.values.forms())
        if trial.became in (Screened.FAILED, Screened.SUSPECT):
            self._keep(index, *self._narrowed(trial))
        return trial.became

    def _run_of(self, trial: Trial) -> Run:
        """How parts of a suspect are run. Where its shape is wrong, so may be that of what has no elements; where it is little off, a part
        that is nearer than the screen looks may be what is wrong."""
        far, little = trial.far, trial.is_little_off
        return lambda case: self._trial(case, empty=far.kind == "shape", derive=little)

    def _trial(self, case: GeneratedCase, *, derive: bool = False, empty: bool = False, once: bool = False) -> Trial:
        values = CaseValues(case)
        if not values.is_valid() or not values.fits():
            return Trial(case, values, Screened.INVALID)
        try:
            values.evaluate()
        except Lowering:
            return Trial(case, values, Screened.NO_ORACLE)
        if not values.has_numbers(empty=empty):
            return Trial(case, values, Screened.NO_NUMBERS)
        self._write(case)
        try:
            engine = self._lower()
        except Exception as error:  # noqa: BLE001  whatever a backend raises of a model that it does not take
            return Trial(case, values, Screened.REFUSED, detail=type(error).__name__)
        try:
            answers = {name: np.asarray(array) for name, array in engine.run(case.inputs).items()}
        except Unsupported as error:
            return Trial(case, values, Screened.REFUSED, detail=type(error).__name__)
        except Exception as error:  # noqa: BLE001  what it has compiled it must run
            return self._as_given(Trial(case, values, Screened.FAILED, Far("failed"), _said(error)))
        far = compare(answers, values)
        if not far.kind and values.is_doubtful():
            return Trial(case, values, Screened.NO_ORACLE)
        if far.kind in ("values", "range") or (derive and not far.kind):
            self._derived += 1
            far = judge(answers, values, far, self._job.flow, self._job.seed)
        if far.kind in ("values", "range") and values.is_doubtful_inside():
            return Trial(case, values, Screened.NO_ORACLE)
        if self._job.learn and not far.kind:
            self._learn(values, engine)
        if derive and not (far.kind or case.uses or case.others):
            self._watch(values, engine)
        if far.kind:
            reading = other_reading(answers, values, far)
            return self._as_given(Trial(case, values, Screened.SUSPECT, far, answers=answers, reading=reading))
        used = self._used(engine, case, once) if case.uses or case.others else None
        return used or Trial(case, values, Screened.RIGHT)

    def _as_given(self, trial: Trial) -> Trial:
        """What is wrong in the form that the backend was given already is no fault of the backend."""
        plain = self._backend.accepts != "torch" or self._job.flow.name == EAGER
        if plain or is_right_uncompiled(self._given, trial.values, self._job.seed):
            return trial
        return Trial(trial.case, trial.values, Screened.CONVERTED, detail=Screened.CONVERTED.value)

    def _watch(self, values: CaseValues, engine: Engine) -> None:
        try:
            rewrite = change(values, engine)
        except Exception:  # noqa: BLE001  an engine that cannot say what it executes says nothing of its compiler
            return
        self._fired.update([] if rewrite is None else [rewrite])

    def _learn(self, values: CaseValues, engine: Engine) -> None:
        try:
            pair = rewritten_pair(values, engine, self._compiled)
        except Exception:  # noqa: BLE001  a part that a backend does not take says nothing
            return
        self._rewritten |= {pair} if pair else set()

    def _compiled(self, case: GeneratedCase) -> Engine:
        self._write(case)
        return self._lower()

    def _used(self, engine: Engine, case: GeneratedCase, once: bool) -> Trial | None:
        """The first use after which an answer is wrong, twice: with an engine of its own, too. Or once."""
        for place, other in enumerate(case.others):
            alone = GeneratedCase(case.model, other)
            if (trial := self._at(engine, alone, Use.OTHER_SIZES)) is not None:
                fresh = self._trial(alone)
                if fresh.became is Screened.SUSPECT:
                    return fresh
                if once or self._repeats(case, place):
                    return dataclasses.replace(
                        trial, case=GeneratedCase(case.model, case.inputs, case.others[: place + 1])
                    )
        for use in case.uses:
            plain = GeneratedCase(case.model, case.inputs, uses=(use,))
            if (trial := self._at(engine, plain, use)) and (once or self._at(self._lower(), plain, use)):
                return trial
        return None

    def _repeats(self, case: GeneratedCase, last: int) -> bool:
        """Whether an engine of its own, asked at the same sizes in the same order, is wrong at the last, too."""
        try:
            engine = self._lower()
            engine.run(case.inputs)
        except Exception:  # noqa: BLE001  it did both before: what comes once is not repeated
            return False
        others = case.others[: last + 1]
        tried = [self._at(engine, GeneratedCase(case.model, other), Use.OTHER_SIZES) for other in others]
        return tried[-1] is not None

    def _at(self, engine: Engine, case: GeneratedCase, use: Use) -> Trial | None:
        """What a use shows. None where it is right, or nobody knows what is."""
        values = CaseValues(case)
        if not values.is_valid() or not values.fits():
            return None
        try:
            values.evaluate()
        except Lowering:
            return None
        if not values.has_numbers() or values.is_doubtful() or values.is_doubtful_inside():
            return None
        self._counts[use.value] += 1
        try:
            for answer in answers(self._maker, engine, case, use):
                if (far := far_of(answer, values, self._job.flow, self._job.seed)).kind:
                    return Trial(case, values, Screened.SUSPECT, replace(far, kind=use.value))
        except Exception as error:  # noqa: BLE001  what it has compiled it must run
            if use is Use.OTHER_SIZES:  # the evaluation takes sizes that an operator does not: a refusal is no failure
                return None
            return Trial(case, values, Screened.SUSPECT, Far(use.value), _said(error))
        return None

    def _narrowed(self, trial: Trial) -> tuple[Trial, dict[str, bool]]:
        plain, tried = in_plain_model(trial, lambda case: self._trial(case, once=True))  # it may be a race
        if plain is not None or trial.far.kind == Use.OTHER_SIZES:  # a part has fixed sizes
            return plain or trial, tried
        run = self._run_of(trial)
        best, ablated = simplified(localized(trial, run), run)
        if (swallowed := self._swallowed(best)) is not None:
            return swallowed, {}
        return best, ablate_fully(best, ablated, run) | tried | wrong_kernels(best.values, self._compiled)

    def _swallowed(self, trial: Trial) -> Trial | None:
        """The case as one that fails, where an engine with two threads raises what one with a single thread does not tell."""
        flow = self._job.flow
        if trial.became is not Screened.SUSPECT or THREADS in flow.options or trial.far.kind in {*Use}:
            return None
        if THREADS not in {option.name for option in self._backend.options}:
            return None
        self._write(trial.case)
        try:
            engine = self._lower(replace(flow, options={**flow.options, THREADS: 2}))
        except Exception:  # noqa: BLE001  what is not taken with two threads says nothing of one
            return None
        try:
            engine.run(trial.case.inputs)
        except Exception as error:  # noqa: BLE001  whatever a backend raises of what it has compiled
            return Trial(trial.case, trial.values, Screened.FAILED, Far("failed"), _said(error))
        return None

    def _keep(self, index: int, trial: Trial, ablated: dict[str, bool]) -> None:
        job, values = self._job, trial.values
        suspect = Suspect(
            CaseId(job.generator, job.version, job.seed, index),
            trial.far.kind,
            operators=values.operators,
            attributes=values.attributes,
            dtypes=values.dtypes,
            output=trial.far.output,
            rel_l2=trial.far.rel_l2,
            budget=trial.far.budget,
            unspecified=(*trial.silent, *coarse_sum(trial.answers, values, job.flow, job.seed)),
            detail=trial.detail,
            ablated=ablated,
        )
        keep_case(trial.case, Path(job.corpus), suspect.case)
        self._suspects.append(suspect)


def _said(error: Exception) -> str:
    """The kind of an error and the first 800 characters of its words, on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:800]}"
