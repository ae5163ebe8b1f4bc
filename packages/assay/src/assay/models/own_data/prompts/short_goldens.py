"""Goldens of prompts that keep their tokens alone, or a sketch of the probabilities behind each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np

from assay.core.golden import SKETCH, WHOLE, GoldenLock
from assay.core.note import noted
from assay.core.refusals.golden_codes import GoldenCode
from assay.core.schedules import NAMES
from assay.errors import BadGolden
from assay.models.golden_checks import file_problems, model_problems
from assay.models.goldens import Golden, read_golden, read_lock, read_tensors, write_contents
from assay.models.own_data.prompts.beginnings import Beginnings
from assay.models.own_data.prompts.read_prompts import demand_tokens
from assay.models.own_data.prompts.signature import IDS, LOGITS, Signature
from assay.numerics.token_sketch import ROWS, TOP, Sketcher, TokenSketch, least_apart
from assay.ports import Tensor
from assay.task_metrics.language import log_probabilities

Prompt = tuple[int, ...]
_STORED = 2.0**-23
"""Relative rounding of two logits that are stored in single, whose difference is what a log-probability is."""
_FIELDS = ("ids", "logs", "sums")
_TYPES = {
    "ids": np.uint32,
    "logs": np.float64,
    "sums": np.float32,
    "mass": np.float64,
    "squares": np.float64,
    "noise": np.float64,
}
_MOST_NOISE = 1e100
"""Beyond it nothing is told, and its square is no number."""
_ROUNDED = 1e-9
"""What the sum of all probabilities is more than 1 by."""


@dataclass(frozen=True)
class SketchedGolden:
    """What is known of the token behind each beginning of the `prompts`, by the numbers of `Beginnings`. `noise` is the mean square, by
    the model's probabilities, of what a correct flow in float32 is off in a log-probability; not a number where no tolerance was
    derived. `lengths`: of each, its tokens."""

    lock: GoldenLock
    prompts: list[Prompt]
    sketches: list[TokenSketch]
    noise: Tensor
    lengths: list[int]

    @property
    def sketcher(self) -> Sketcher:
        """With the signs that it was recorded by."""
        return Sketcher(self.lock.vocabulary, seed=self.lock.seed)


def prompts_of(golden: Golden) -> dict[int, Prompt]:
    """Those that were fed in one call, by its number. Raises BadGolden where there are none."""
    if "schedule" not in golden.labels or any(IDS not in sample for sample in golden.inputs):
        raise BadGolden(noted(GoldenCode.GOLDEN_NO_PROMPTS))
    whole = NAMES.index("whole")
    numbers = [number for number, schedule in enumerate(golden.labels["schedule"]) if schedule == whole]
    return {number: tuple(map(int, golden.inputs[number][IDS][0])) for number in numbers}


def is_of_prompts(folder: Path) -> bool:
    """Whether a golden that is whole may be kept in another form."""
    return "schedule" in {
        tensor.name for file in read_lock(folder).files for tensor in file.tensors if tensor.role == "label"
    }


def shorten(folder: Path, form: str, deviation: Sequence[Mapping[str, Tensor]] = ()) -> GoldenLock:
    """Keep a whole golden in this form. `deviation`: by call, the noise of a correct flow in float32 in each element."""
    golden = read_golden(folder)
    prompts = prompts_of(golden)
    kind = golden.inputs[0][IDS].dtype
    contents = {"input": {f"{IDS}@{at:05d}": np.array([ids], kind) for at, ids in enumerate(prompts.values())}}
    lock = msgspec.structs.replace(golden.lock, form=form, samples=len(prompts), sequences=(), plan=None, files=())
    if form == SKETCH:
        other = sorted({*golden.outputs[0]} - {LOGITS, *golden.lock.state})
        if other:
            raise BadGolden(noted(GoldenCode.NO_SKETCH_OF, output=other[0]))
        logs = {
            number: log_probabilities([golden.outputs[number]], LOGITS)[0][0]
            for number in prompts
            if np.isfinite(golden.outputs[number][LOGITS]).all()
        }
        if len(logs) < len(prompts):
            raise BadGolden(noted(GoldenCode.NO_SKETCH_OF_INFINITE))
        lock = msgspec.structs.replace(lock, vocabulary=int(logs[next(iter(prompts))].shape[-1]))
        noise = {number: _noise(deviation, number, log) for number, log in logs.items()}
        contents["sketch"] = _sketched(Sketcher(lock.vocabulary, seed=lock.seed), prompts, logs, noise)
    return write_contents(folder, lock, contents)


def _noise(deviation: Sequence[Mapping[str, Tensor]], number: int, logs: Tensor) -> Tensor:
    """Of each place: of the logit itself, and of the sum that all are divided by; and what storing it rounds."""
    if number >= len(deviation) or LOGITS not in deviation[number]:
        return np.full(len(logs), np.nan)
    own, shares = np.asarray(deviation[number][LOGITS][0], np.float64), np.exp(logs)
    whole = own + (shares * own).sum(axis=1, keepdims=True)
    stored = _STORED * np.abs(logs).max(axis=1)
    array = np.asarray((shares * whole**2).sum(axis=1) + stored**2)
    return np.where(array <= _MOST_NOISE, array, np.nan)


def _sketched(
    sketcher: Sketcher, prompts: Mapping[int, Prompt], logs: Mapping[int, Tensor], noise: Mapping[int, Tensor]
) -> dict[str, Tensor]:
    """One row for each beginning, in their order."""
    beginnings = Beginnings()
    rows: list[tuple[TokenSketch, float]] = []
    for number, prompt in prompts.items():
        for at, row in enumerate(beginnings.of(prompt)):
            if row == len(rows):
                rows.append((sketcher.sketch(logs[number][at]), float(noise[number][at])))
    kept = [sketch for sketch, _ in rows]
    sums = np.array([(sketch.mass, sketch.squares, size) for sketch, size in rows])
    stacked = {name: np.stack([token_sketch.tensors()[name] for token_sketch in kept]) for name in _FIELDS}
    return {**stacked, "mass": sums[:, 0], "squares": sums[:, 1], "noise": sums[:, 2]}


def read_prompt_tokens(folder: Path, vocabulary: int) -> list[Prompt]:
    """The prompts of a golden in one of their forms, for a model that knows so many tokens (0: it does not say). Raises BadGolden."""
    _, prompts, _ = _read(folder, None)
    demand_tokens(str(folder), [*chain.from_iterable(prompts)], vocabulary)
    return prompts


def read_sketches(folder: Path, model_digest: str | None = None) -> SketchedGolden:
    """Raises BadGolden where it is broken, or of another model."""
    lock, prompts, tensors = _read(folder, model_digest)
    lengths = Beginnings(prompts).lengths
    if lock.seed < 0 or lock.vocabulary < 1 or not _sound(tensors, len(lengths), lock.vocabulary):
        raise BadGolden(noted(GoldenCode.SKETCHES_DAMAGED, folder=str(folder)))
    demand_tokens(str(folder), [*chain.from_iterable(prompts)], lock.vocabulary)
    ids, logs, sums, *scalars = (tensors[name] for name in ("ids", "logs", "sums", "mass", "squares"))
    mass, squares = (scalar.tolist() for scalar in scalars)
    sketches = [*map(TokenSketch, ids, logs, sums, mass, squares)]
    return SketchedGolden(lock, prompts, sketches, tensors["noise"], lengths)


def check_signature(golden: SketchedGolden, signature: Signature) -> None:
    """Raises BadGolden where the model has another vocabulary, or outputs that sketches tell nothing of."""
    model, vocabulary = signature.model, golden.lock.vocabulary
    if signature.vocabulary not in (0, vocabulary):
        raise BadGolden(
            noted(
                GoldenCode.SKETCHES_OF_ANOTHER,
                tokens=vocabulary,
                model=model.name,
                known=signature.vocabulary,
            )
        )
    other = [output.name for output in model.outputs if output.name not in (LOGITS, *signature.state)]
    if other:
        raise BadGolden(noted(GoldenCode.SKETCHES_LACK, model=model.name, output=other[0]))


def diff_short(old: Path, new: Path) -> list[str]:
    """What changed between two goldens of the same prompts, in lines for people. Of sketches how far they moved, at least."""
    before, after = read_lock(old), read_lock(new)
    lines = []
    if before.model_digest != after.model_digest:
        lines.append(f"model: {before.model_digest[:12]} -> {after.model_digest[:12]}")
    return lines if before.form != SKETCH else lines + _moved(old, new)


def _moved(old: Path, new: Path) -> list[str]:
    mine, theirs = read_sketches(old), read_sketches(new)
    if mine.lock.vocabulary != theirs.lock.vocabulary:
        return [f"sketches: of {mine.lock.vocabulary} tokens -> of {theirs.lock.vocabulary}"]
    both = [*zip(mine.sketches, theirs.sketches, strict=True)]
    apart = [least_apart(*pair) for pair in both]
    changed = sum(not _same(*pair) for pair in both)
    lines = []
    if changed:
        worst = int(np.argmax(apart))
        lines.append(
            f"sketches: {changed} of {len(apart)} changed, the farthest by at least {apart[worst]:.3g} nats, "
            f"after {mine.lengths[worst]} tokens"
        )
    moved = (mine.noise > 0.0) & (mine.noise != theirs.noise)
    ratios = theirs.noise[moved] / mine.noise[moved]
    known = ratios[np.isfinite(ratios)]
    if known.size:
        lines.append(f"noise: {known.min():.3g} to {known.max():.3g} times what it was")
    if (np.isnan(mine.noise) != np.isnan(theirs.noise)).any():
        lines.append("noise: derived in one of them alone")
    return lines


def _same(sketch: TokenSketch, other: TokenSketch) -> bool:
    alike = all(np.array_equal(array, other.tensors()[name]) for name, array in sketch.tensors().items())
    return alike and (sketch.mass, sketch.squares) == (other.mass, other.squares)


def _sound(tensors: Mapping[str, Tensor], beginnings: int, vocabulary: int) -> bool:
    """Types, sizes and numbers that sketches have."""
    if {name: tensor.dtype for name, tensor in tensors.items()} != {
        name: np.dtype(dtype) for name, dtype in _TYPES.items()
    }:
        return False
    top = min(TOP, vocabulary)
    sizes = dict.fromkeys(tensors, (beginnings,)) | {
        "ids": (beginnings, top),
        "logs": (beginnings, top),
        "sums": (beginnings, ROWS),
    }
    if any(tensor.shape != sizes[name] for name, tensor in tensors.items()):
        return False
    ids, logs, noise = tensors["ids"], tensors["logs"], tensors["noise"]
    parts = (tensors["mass"], tensors["squares"], np.exp(np.minimum(logs, 1.0)).sum(axis=1))
    return bool(
        all(np.isfinite(tensors[name]).all() for name in ("logs", "sums"))
        and all(((part >= 0.0) & (part <= 1.0 + _ROUNDED)).all() for part in parts)
        and (np.isnan(noise) | ((noise >= 0.0) & (noise <= _MOST_NOISE))).all()
        and (np.diff(np.sort(ids, axis=1), axis=1) > 0).all()
        and (ids < vocabulary).all()
        and (logs[:, 1:] <= logs[:, :-1]).all()
    )


def _read(folder: Path, model_digest: str | None) -> tuple[GoldenLock, list[Prompt], dict[str, Tensor]]:
    lock = read_lock(folder)
    if lock.form == WHOLE:
        return lock, [*prompts_of(read_golden(folder, model_digest)).values()], {}
    problems = [*file_problems(folder, lock)]
    problems += model_problems(folder, lock, model_digest) if model_digest is not None and not problems else ()
    for problem in problems:
        raise BadGolden(problem)
    tensors = read_tensors(folder, lock)
    rows = [array.reshape(-1) for _, array in sorted(tensors.get("input", {}).items())]
    prompts = [tuple(map(int, row)) for row in rows if row.dtype.kind in "iu"]
    if not prompts or len(prompts) != lock.samples or not all(prompts):
        raise BadGolden(noted(GoldenCode.GOLDEN_PROMPTS_LOST, folder=str(folder), samples=lock.samples))
    return lock, prompts, tensors.get("sketch", {})
