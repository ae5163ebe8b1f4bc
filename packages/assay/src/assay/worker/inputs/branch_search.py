"""Samples changed so that branches of If that none of them takes are taken: other values are tried on the reference."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from assay.core.input_plan import InputPlan
from assay.core.model import Model
from assay.models.input_plan.candidates import candidates, compared_numbers
from assay.models.input_plan.graph import read_graph
from assay.numerics.load_onnx import load_onnx
from assay.numerics.oracle.branches import Branch, TakenBranches, branches_of
from assay.numerics.oracle.evaluator import Evaluator
from assay.numerics.oracle.hooks import observed_by
from assay.ports import Tensor

Samples = list[dict[str, Tensor]]
Answer = Callable[[Samples], Samples]
MOST = 200
"""Candidates that are tried, so that every machine that is quick enough finds the same samples."""
SEARCHING_S = 5.0


class BranchSearch:
    """Of the model as an ONNX file; of one that is none, and of one without If, nothing is looked for."""

    def __init__(self, file: Path | None, model: Model, *, seed: int) -> None:
        self._model, self._seed = model, seed
        self._branches: tuple[Branch, ...] = ()
        self._numbers: tuple[float, ...] = ()
        self._file = file
        self._evaluator: Evaluator | None = None
        if file is not None and file.suffix == ".onnx" and file.is_file():
            self._read(file)

    def _read(self, file: Path) -> None:
        import onnx

        proto = onnx.load(str(file), load_external_data=False)
        self._branches = branches_of(proto.graph)
        if self._branches:
            self._numbers = compared_numbers(read_graph(proto))

    def improve(
        self, inputs: Samples, outputs: Samples, plan: InputPlan, answer: Answer
    ) -> tuple[Samples, Samples, InputPlan]:
        """The same with the last samples changed, as many as branches were found a value for; the first one stays."""
        if not any(branch.inputs for branch in self._branches) or len(inputs) < 2:
            return inputs, outputs, plan
        look = answer
        taken = [self._watched(feed, look)[1] for feed in inputs]
        if not set().union(*taken):
            # Nobody can look into that reference: into the graph itself then, and the reference answers what is found.
            look = self._evaluated
            taken = [self._watched(feed, look)[1] for feed in inputs]
        inputs, outputs = list(inputs), list(outputs)
        improved, tried = self._found(inputs[0], plan, set().union(*taken), look)
        changed = []
        for sample, seen, met in improved:
            place = _replaceable(taken)
            answered = seen if look is answer else self._watched(sample, answer)[0]
            if place is None or answered is None:
                break
            inputs[place], outputs[place], taken[place] = sample, answered, met
            changed.append(place)
        return inputs, outputs, replace(plan, branch_samples=tuple(sorted(changed)), branch_tries=tried)

    def _evaluated(self, samples: Samples) -> Samples:

        if self._evaluator is None:
            self._evaluator = Evaluator(load_onnx(str(self._file)))
        names = self._evaluator.output_names
        return [dict(zip(names, self._evaluator.evaluate(sample), strict=True)) for sample in samples]

    def _found(
        self, base: dict[str, Tensor], plan: InputPlan, met: set[str], answer: Answer
    ) -> tuple[list[tuple[dict[str, Tensor], dict[str, Tensor], set[str]]], int]:
        """Samples, each of which takes a branch that none before it does, with their answers; and how many were tried."""
        begin, tried = time.monotonic(), 0
        taken_inputs: list[tuple[dict[str, Tensor], dict[str, Tensor], set[str]]] = []
        for names in dict.fromkeys(branch.inputs for branch in self._missing(met)):
            stream = np.random.default_rng([self._seed, len(names)])
            for changes in candidates(self._model, plan, base, names, self._numbers, stream):
                if not self._missing(met) or tried >= MOST or time.monotonic() - begin > SEARCHING_S:
                    return taken_inputs, tried
                tried += 1
                sample = {**base, **changes}
                answered, seen = self._watched(sample, answer)
                if answered is not None and any(not branch.values.isdisjoint(seen) for branch in self._missing(met)):
                    taken_inputs.append((sample, answered, seen))
                    met = met | seen
        return taken_inputs, tried

    def _missing(self, met: set[str]) -> list[Branch]:
        return [branch for branch in self._branches if branch.inputs and branch.values.isdisjoint(met)]

    def _watched(self, sample: dict[str, Tensor], answer: Answer) -> tuple[dict[str, Tensor] | None, set[str]]:
        """The answer, None where there is none that tells anything, and the names of all values on the way."""
        watching = TakenBranches()
        try:
            with observed_by(watching):
                (answered,) = answer([sample])
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001  whatever an evaluator raises at values that it cannot take
            return None, set()
        return (answered if _is_finite(answered) else None), watching.met


def _is_finite(answer: dict[str, Tensor]) -> bool:
    arrays = [array for array in answer.values() if isinstance(array, np.ndarray) and array.dtype.kind == "f"]
    return all(array.size and 2 * np.count_nonzero(np.isfinite(array)) >= array.size for array in arrays)


def _replaceable(taken: list[set[str]]) -> int | None:
    """The last sample but the first that meets nothing that no other meets."""
    for place in range(len(taken) - 1, 0, -1):
        others = set().union(*(branches for at, branches in enumerate(taken) if at != place))
        if taken[place] <= others:
            return place
    return None
