"""One sample evaluated exactly and with noise, as often as its tolerance takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from onnx.reference.op_run import OpFunction

from assay.errors import Lowering
from assay.numerics.oracle.batched.evaluation import Rows, evaluate_rows, stackable
from assay.numerics.oracle.batched.operator import NotBatchable
from assay.numerics.oracle.evaluator import Evaluator
from assay.numerics.oracle.hooks import observed_by
from assay.numerics.oracle.split_weights import split_weights
from assay.numerics.steps import at_draw
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.derived_tolerance import DRAWS
from assay.numerics.tolerance.judge.systematic_error import Sums
from assay.numerics.tolerance.rules.derivation_cost import cost_of
from assay.numerics.tolerance.rules.noise_pool import NoisePool
from assay.numerics.tolerance.rules.rounding_sites import Diverged
from assay.numerics.tolerance.rules.rounding_steps import StepRecorder
from assay.numerics.tolerance.simulate.amplification import amplification, single_evaluator
from assay.numerics.tolerance.simulate.batched_draws import BatchedDraws
from assay.numerics.tolerance.simulate.coarse_draws import draw_once
from assay.numerics.tolerance.simulate.double_evaluation import as_type, check_classes, named
from assay.numerics.tolerance.simulate.graph_study import Graph
from assay.numerics.tolerance.simulate.noise import Draw
from assay.numerics.tolerance.simulate.noisy_evaluation import NoisyEvaluation, Sample
from assay.numerics.tolerance.simulate.site_recorder import SiteRecorder
from assay.numerics.tolerance.simulate.spread import Spread
from assay.numerics.tolerance.simulate.tie_breaking import TieRuns, TieTracker
from assay.ports import Tensor, Tensors

QUIETER = 2.0**4
"""Of the last draw of those that are not CHECKED: still above the rounding of single precision, and where noise bends by more
than is allowed, it shows between this and AMPLIFIED."""
CHECKED = 2
"""Evaluations (of one sample, or of several at once) whose last draw is not amplified, and shows whether that was right:
where it was not, it is off by an order of magnitude. Those after them are where their last draw, QUIETER, is elsewhere than
the others."""
AT_ONCE = 1 << 20
"""Elements of one place in all rows of an evaluation of several draws: beyond, memory costs more than Python."""
BYTES_A_PLACE = 16
"""Its deviation, its value in double, and what lies between."""
_SMALL = 1e15
"""Below, neither a number nor its square overflows in single precision."""


class NonlinearNoise(Exception):
    """The noise of this model does not grow in proportion: it must be drawn as it is."""


class NoiseSimulation(NoisyEvaluation):
    """Of one model and contract. `decisive` is what the operator gives that decides an output; `draws_by` says how many noisy
    evaluations there are, by what the first sample costs;
    `met` the values that any gave; `kept` the names of those that every engine starts from;
    `without_rule` the operators without one; `fallen` those that several draws at once failed on."""

    def __init__(self, proto: Any, graph: Graph, arithmetic: Arithmetic, seed: int) -> None:
        light, weights = split_weights(proto)
        super().__init__(light, weights, graph, arithmetic, seed)
        self.decisive: dict[str, tuple[str, ...]] = {}
        self._single = single_evaluator(self.wide, light, weights, arithmetic, graph)
        self.draws_by: Callable[[int], int] = lambda _: DRAWS
        self.once = False
        self._tips: TieTracker | None = None  # of the sample that is made
        self._together = stackable(self.wide)
        self._has_names = not any(isinstance(node, OpFunction) for node in self.wide.rt_nodes_)
        self.kept = self.feeding.kept if self._has_names else None
        self._amplified = amplification(arithmetic, graph, single=self._single is not None)
        self._unchecked = CHECKED
        self.without_rule, self.fallen, self.met = (dict[str, None]() for _ in range(3))
        self.seconds = {"record": 0.0, "draws": 0.0}

    def unamplified(self) -> None:
        """From now on, in double: the noise of this model bends."""
        self._single, self._amplified = None, 1.0

    def sample(self, number: int, inputs: Tensors, keep: Sequence[str] = (), *, joined: int = 1) -> Sample:
        """The exact evaluation and the noise of one, or of so many `joined`; its number seeds the draws. `Sample.kept` are the
        values called `keep`."""
        sample = Sample()
        begin = time.perf_counter()
        whole = self._together or not self.graph.subgraphs
        recorder = SiteRecorder(self.graph, self.arithmetic, keep=whole, kept=self.kept)
        steps = StepRecorder(recorder, recorder.before_steps)
        with observed_by(steps if self.graph.rounds else recorder), np.errstate(all="ignore"):
            sample.values, sample.kept = self.exact(inputs, keep)
        sample.decided, sample.exact = (
            frozenset(group.intersection(self.outputs)) for group in (recorder.decided, recorder.exact)
        )
        for output, names in self.decisive.items():
            sample.margins.update((f"{output}/open", tie) for tie in recorder.open_ties(names))
        sample.recorded_bytes = recorder.values * BYTES_A_PLACE
        sample.cost = cost_of(recorder.products, recorder.values)
        self.draws = self.draws if number else self.draws_by(sample.cost)
        self.without_rule.update(recorder.without_rule)
        self.met.update((name, None) for outputs in recorder.places for name in outputs)
        self.seconds["record"] += time.perf_counter() - begin
        begin = time.perf_counter()
        added = Sums(sample.values, joined) if self.graph.rounds else None
        if added is not None:
            self._tips = TieTracker(self, number, self._alone(recorder), steps.found)
        self._draw(number, inputs, recorder, sample, added)
        if added is not None and self._tips is not None:
            self._tips.tell(inputs, sample, added)
            sample.margins.update(added.margins())
            self._tips = None
        self.seconds["draws"] += time.perf_counter() - begin
        return sample

    def _alone(self, recorder: SiteRecorder | None) -> SiteRecorder | None:
        """What a draw evaluated by itself may go by: control flow may take it another way than was recorded."""
        return None if self.graph.subgraphs else recorder

    def _draw(self, number: int, inputs: Tensors, recorder: SiteRecorder, sample: Sample, added: Sums | None) -> None:
        pool = NoisePool((self.seed, number), recorder.largest)
        if self.once:
            draw_once(self, number, inputs, self._alone(recorder), pool, sample)
            return
        try:
            self._draws(number, inputs, recorder, pool, sample, added, self._single or self.wide, self._amplified)
        except (Diverged, Lowering, FloatingPointError):
            # Another way through the graph, or an operator that single precision cannot do.
            self._draws(number, inputs, None, pool, sample, added, self.wide, 1.0)

    def _draws(
        self,
        number: int,
        inputs: Tensors,
        recorder: SiteRecorder | None,
        pool: NoisePool,
        sample: Sample,
        added: Sums | None,
        evaluator: Evaluator,
        amplified: float,
    ) -> None:
        loud = evaluator is not self.wide and amplified > 1.0
        straight = loud and self._unchecked > 0
        self._unchecked -= straight
        quieter = loud and not straight
        loudness = [amplified] * (self.draws - straight - quieter) + [QUIETER] * quieter

        def draws(recorder: SiteRecorder | None) -> list[Draw]:
            return [self.draw_of((number, turn), amplitude, recorder, pool) for turn, amplitude in enumerate(loudness)]

        base, evaluations = self._several(evaluator, inputs, draws, recorder, sample)
        spread = Spread(base)
        at_draw(1, self.draws)
        for done, (noisy, amplitude) in enumerate(zip(evaluations, loudness, strict=True), 1):
            at_draw(min(done + 1, self.draws), self.draws)
            if amplitude < amplified and not spread.is_continued(noisy, base, [*self.outputs, *self.taps], amplitude):
                straight = True
                break
            spread.add(noisy, base, amplitude)
            if added is not None:
                added.add(noisy, base)
        if straight:
            spread = self._look(number, inputs, self._alone(recorder), pool, sample, spread)
        spread.note_lost(base)
        sample.deviations, sample.unstable = spread.deviations(), spread.unstable
        sample.margins.update(spread.ranges())

    def _several(
        self,
        evaluator: Evaluator,
        inputs: Tensors,
        draws: Callable[[SiteRecorder | None], list[Draw]],
        recorder: SiteRecorder | None,
        sample: Sample,
    ) -> tuple[dict[str, Tensor], Iterable[dict[str, Tensor]]]:
        """What the draws differ from, and an evaluation of each: as rows of one where that is less work, with the tips."""
        at_once = AT_ONCE // max(1, recorder.largest) if recorder is not None and self._together else 1
        if recorder is not None and at_once > 1:
            if (tips := self._tips) is not None and evaluator is self.wide and self._alone(recorder) is not None:
                with suppress(NotBatchable, Diverged, Lowering, IndexError, ValueError):
                    drawn = draws(recorder)
                    _, rows = self._in_rows(evaluator, inputs, drawn + tips.draws(), recorder, sample, at_once, tips)
                    tips.found = rows[len(drawn) :]
                    return sample.values, rows[: len(drawn)]
            with suppress(NotBatchable, Diverged):
                return self._in_rows(evaluator, inputs, draws(recorder), recorder, sample, at_once)
        alone = self._alone(recorder)
        base, known = self._base(inputs, alone, sample, evaluator)
        return base, (self.evaluated(evaluator, inputs, draw, known) for draw in draws(alone))

    def _in_rows(
        self,
        evaluator: Evaluator,
        inputs: Tensors,
        draws: list[Draw],
        recorder: SiteRecorder,
        sample: Sample,
        at_once: int,
        tips: TieTracker | None = None,
    ) -> tuple[dict[str, Tensor], list[dict[str, Tensor]]]:
        """So many at once, and before them what they differ from. Raises Unlike or Diverged where they cannot be rows."""
        names = [*self.outputs, *self.taps]
        needs_quiet = evaluator is not self.wide and (
            not self._is_exact(recorder) or bool(self.feeding.untouched(evaluator, inputs, recorder, names))
        )
        rows: list[dict[str, Tensor]] = []
        quiet = int(needs_quiet)
        moved = tips.moved() if tips is not None else []
        while draws or moved:
            part, draws = draws[: at_once - quiet], draws[at_once - quiet :]
            room = at_once - quiet - len(part)
            others, moved = moved[:room], moved[room:]
            feeds, rowed, probe = self._row_feeds(evaluator, inputs, part, recorder, quiet, len(others))
            count = quiet + len(part) + len(others)
            if others and tips is not None:
                probe = TieRuns(others, tips.exact, count, probe)
            with np.errstate(all="ignore"):
                values = evaluate_rows(evaluator, feeds, rowed, count, probe, names)
            rows += [named(names, row) for row in values]
            quiet = 0
        if any(value.shape != sample.values[name].shape for answers in rows for name, value in answers.items()):
            raise NotBatchable
        if not needs_quiet:
            return sample.values, rows
        check_classes(rows[0], sample.values)
        return rows[0], rows[1:]

    def _row_feeds(
        self,
        evaluator: Evaluator,
        inputs: Tensors,
        draws: Sequence[Draw],
        recorder: SiteRecorder,
        quiet: int,
        still: int,
    ) -> tuple[dict[str, Tensor], list[str], Rows]:
        """What some rows start from, what of it has rows, and the noise on their way."""
        with np.errstate(all="ignore"):
            if draws:
                feeds, rowed = self.feeding.rows(evaluator, inputs, draws, quiet, still)
            else:
                feeds, rowed = as_type(inputs, evaluator.computes_in), []
        return feeds, rowed, BatchedDraws(draws, recorder, quiet, self.fallen, still=still)

    def _look(
        self,
        number: int,
        inputs: Tensors,
        recorder: SiteRecorder | None,
        pool: NoisePool,
        sample: Sample,
        spread: Spread,
    ) -> Spread:
        """The last draw in double and as it is: amplified noise, divided again, is too small where a root or a logarithm
        at its end, or chaos, bends it. Raises NonlinearNoise where two of two lie elsewhere than the others."""
        for turn in (self.draws - 1, self.draws):
            noisy = self.evaluated(self.wide, inputs, self.draw_of((number, turn), 1.0, recorder, pool))
            if spread.is_continued(noisy, sample.values, [*self.outputs, *self.taps]):
                spread.add(noisy, sample.values, 1.0)
                return spread
        raise NonlinearNoise

    def _base(
        self, inputs: Tensors, recorder: SiteRecorder | None, sample: Sample, evaluator: Evaluator
    ) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """What the draws differ from, and the values that are the same in all of them."""
        if evaluator is self.wide:
            return sample.values, {}
        names = [*self.outputs, *self.taps]
        same = self.feeding.untouched(evaluator, inputs, recorder, names) if recorder is not None else []
        if recorder is not None and not same and self._is_exact(recorder):
            return sample.values, {}
        with np.errstate(all="ignore"):
            values = evaluator.evaluate(as_type(inputs, np.float32), (*self.taps, *same))
        base = named(names, values[: len(names)])
        check_classes(base, sample.values)
        return base, dict(zip(same, values[len(names) :], strict=True))

    def _is_exact(self, recorder: SiteRecorder) -> bool:
        """Whether single precision errs by a unit of the noise that is amplified: by nothing, once that is divided again."""
        return recorder.peak < _SMALL and self._amplified > 1.0 and not self.graph.jumps
