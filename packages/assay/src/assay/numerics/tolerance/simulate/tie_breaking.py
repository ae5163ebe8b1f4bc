"""Further evaluations of one sample whose values are rounded to a grid: how far jumps reach, and what leans to one side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import Lowering
from assay.numerics.oracle.batched.evaluation import Rows
from assay.numerics.oracle.hooks import Call, Hook, Values, observed_by
from assay.numerics.tolerance.derived_tolerance import DRAWS
from assay.numerics.tolerance.judge.systematic_error import DirectionalBias, Sums
from assay.numerics.tolerance.rules.noise_pool import NoisePool
from assay.numerics.tolerance.rules.rounding_sites import Diverged
from assay.numerics.tolerance.rules.rounding_steps import TIPPING, Exact, HalfStep, LargestJump, StepReplay
from assay.numerics.tolerance.simulate.double_evaluation import as_type, named
from assay.numerics.tolerance.simulate.noise import Draw
from assay.numerics.tolerance.simulate.site_recorder import SiteRecorder
from assay.ports import Tensor, Tensors

if TYPE_CHECKING:
    from assay.numerics.tolerance.simulate.noisy_evaluation import NoisyEvaluation, Sample

WAYS = (("down", -1.0), ("up", 1.0))
Found = Mapping[tuple[str, ...], Sequence[Exact]]


class TieRuns(Rows):
    """A row for each of these evaluations, behind those of `draws`, in so many `count` rows."""

    def __init__(self, moved: Sequence[StepReplay], exact: Found, count: int, draws: Rows | None) -> None:
        self._moved = moved
        self._exact = exact
        self._count = count
        self._first = count - len(moved)
        self._draws = draws

    def touches(self, outputs: tuple[str, ...]) -> bool:
        return outputs in self._exact or (self._draws is not None and self._draws.touches(outputs))

    def in_single(self, outputs: tuple[str, ...]) -> bool:
        return self._draws is not None and self._draws.in_single(outputs)

    def row(self, number: int) -> Hook:
        if self._draws is not None and number < self._first:
            return self._draws.row(number)
        return self._moved[number - self._first]

    def broken(self, outputs: tuple[str, ...], why: str) -> None:
        raise Diverged(outputs, why)

    def site(self, kind: str, value: Tensor, call: Call, operands: Mapping[str, Any]) -> Tensor:
        exact = self._moved[0].expected(call) if kind == "steps" else None
        drawn = value if self._draws is None else self._draws.site(kind, value, call, operands)
        if kind != "steps":
            return drawn
        before = self._apart(value, exact)
        array = self._rows_of(drawn, before)
        for place, (step_replay, row) in enumerate(zip(self._moved, before, strict=True), self._first):
            array[place] = step_replay.site(kind, row, call, operands)
        return array

    def node(self, call: Call, results: Values, again: Callable[..., Values]) -> Values:
        exact = self._moved[0].expected(call)
        noisy = results if self._draws is None else self._draws.node(call, results, again)
        if call.outputs not in self._exact or exact is None or call.marked:
            return noisy
        inputs = self._apart(np.asarray(call.inputs[0]), exact)
        rows = np.array(np.broadcast_to(noisy[0], (self._count, *exact.value.shape)))
        for place, (step_replay, row) in enumerate(zip(self._moved, inputs, strict=True), self._first):
            rows[place] = step_replay.node(call.silent((row,)), results, again)[0]
        return (rows, *noisy[1:])

    def _rows_of(self, drawn: Tensor, before: Sequence[Tensor]) -> Tensor:
        """An array of all rows that may be written to."""
        shape = (self._count, *before[0].shape)
        fresh = drawn.shape == shape and drawn.flags.writeable
        return drawn if fresh else np.array(np.broadcast_to(drawn, shape))

    def _apart(self, value: Tensor, exact: Exact | None) -> Sequence[Tensor]:
        """What goes into each of those that are moved."""
        if exact is not None and value.shape == exact.value.shape:
            return [value] * len(self._moved)
        if exact is None or value.shape != (self._count, *exact.value.shape):
            raise Diverged
        return list(value[self._first :])


class TieTracker:
    """The further evaluations of one sample: `draws`, with larger noise of either sign, and `moved`, which lean, then shake."""

    def __init__(self, drawing: NoisyEvaluation, number: int, recorder: SiteRecorder | None, exact: Found) -> None:
        self.exact = exact
        self._drawing = drawing
        self._turn = (number, DRAWS + 1)
        self._recorder = recorder
        self._pool = NoisePool((drawing.seed, number), recorder.largest if recorder is not None else 1)
        self.found: list[dict[str, Tensor]] = []
        """All of them in this order, where they were rows of the evaluation of the draws."""

    def draws(self) -> list[Draw]:
        return [self._drawing.draw_of(self._turn, sign * TIPPING, self._recorder, self._pool) for _, sign in WAYS]

    def moved(self) -> list[StepReplay]:
        steps, seed = self._drawing.arithmetic.steps, (self._drawing.seed, *self._turn)
        leans = [DirectionalBias(self.exact, steps, sign) for _, sign in WAYS]
        return [*leans, *(HalfStep(self.exact, seed, steps, 1 + place) for place in range(len(WAYS)))]

    def tell(self, inputs: Tensors, sample: Sample, added: Sums) -> None:
        """Where jumps reach and how far, which draws of true size are too few to show, and what leans."""
        tipped, shaken = LargestJump(sample.values), LargestJump(sample.values)
        for place, (way, _) in enumerate(WAYS):
            try:
                noisy = self._evaluated(place, inputs)
                tipped.add(noisy)
                added.tip(noisy, sample.values)
                leaning = self._evaluated(len(WAYS) + place, inputs)
                sample.margins.update(_errors(leaning, sample.values, way))
                shaken.add(self._evaluated(2 * len(WAYS) + place, inputs))
            except (Diverged, Lowering, IndexError, ValueError):
                continue  # another way through the graph, or an index moved out of range
        sample.margins.update({**tipped.margins("tipped"), **shaken.margins("shaken")})

    def _evaluated(self, place: int, inputs: Tensors) -> dict[str, Tensor]:
        if self.found:
            return self.found[place]
        drawing = self._drawing
        if place < len(WAYS):
            return drawing.evaluated(drawing.wide, inputs, self.draws()[place])
        with observed_by(self.moved()[place - len(WAYS)]), np.errstate(all="ignore"):
            values = drawing.wide.evaluate(as_type(inputs, np.float64), drawing.taps)
        return named([*drawing.outputs, *drawing.taps], values)


def _errors(tensors: Tensors, exact: Tensors, way: str) -> dict[str, Tensor]:
    """Signed, of the real values, by `NAME/way`."""
    with np.errstate(all="ignore"):
        return {
            f"{name}/{way}": np.nan_to_num(tensors[name] - value, posinf=0.0, neginf=0.0).astype(np.float32)
            for name, value in exact.items()
            if value.dtype.kind == "f" and tensors[name].shape == value.shape
        }
