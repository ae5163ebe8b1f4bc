"""Is a coarse tolerance narrower than the derived one, whatever the error looks like?

`python benchmarks/tolerance_coarse.py [--seed N] [--only TEXT]`. On the models of the suite `models`, both tolerances are asked for the
budget of errors in many directions: those of ONNX Runtime and of OpenVINO silently in bfloat16, planted faults in the answer (a
gain, a shift, the last index of every axis), and single elements, above all those where the two evaluations of the coarse one were
loudest. A budget grows in proportion to its error, so that the ratio of the two budgets says for all sizes of an error at once
whether anything that the derived tolerance refuses could pass by the coarse one: it must not be below 1.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import onnx

from assay import plugins
from assay.core.flow import Flow
from assay.errors import AssayError
from assay.models.goldens import read_golden
from assay.numerics.oracle.decompose import expanded
from assay.numerics.tolerance.arithmetic import arithmetic_of
from assay.numerics.tolerance.coarse import coarsely
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.deriving import Deriving
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.ports import Tensor, Tensors
from assay.suites.models import Models

ELEMENTS = 24
Directions = Iterator[tuple[str, list[Tensor]]]


def directions(
    name: str, coarse: DerivedTolerance, fine: DerivedTolerance, engines: Mapping[str, list[Tensors]]
) -> Directions:
    """(what, error of each sample): of one output."""
    oracle = [np.asarray(sample[name], np.float64) for sample in fine.oracle]
    for flow, answers in engines.items():
        yield (
            flow,
            [np.asarray(answer[name], np.float64) - other for answer, other in zip(answers, oracle, strict=True)],
        )
    yield "gain", [sample * 1e-3 for sample in oracle]
    yield "shift", [np.full(array.shape, 1e-3) for array in oracle]
    for axis in range(oracle[0].ndim):
        ends = [np.zeros(array.shape) for array in oracle]
        for end, sample in zip(ends, oracle, strict=True):
            np.moveaxis(end, axis, 0)[-1] = np.moveaxis(sample, axis, 0)[-1] * 1e-3
        yield f"end of axis {axis}", ends
    with np.errstate(all="ignore"):
        louder = np.nan_to_num(coarse.deviation[0][name] / fine.deviation[0][name], posinf=0.0).reshape(-1)
    random = np.random.default_rng(7)
    chosen = [*np.argsort(louder)[-ELEMENTS // 2 :], *random.integers(louder.size, size=ELEMENTS // 2)]
    for at in chosen:
        error = [np.zeros(array.shape) for array in oracle]
        error[0].reshape(-1)[at] = 1e-3
        yield "element", error


def ratios(
    coarse: DerivedTolerance, fine: DerivedTolerance, engines: Mapping[str, list[Tensors]]
) -> Iterator[tuple[float, str]]:
    """Budget by the coarse tolerance over that by the derived one."""
    for output in fine.header.outputs:
        if output.kind != "real":
            continue
        for what, error in directions(output.name, coarse, fine, engines):
            answer = [
                {**sample, output.name: sample[output.name] + off}
                for sample, off in zip(fine.oracle, error, strict=True)
            ]
            used = [
                judge_outputs(answer, None, tolerance.only([output.name]))[output.name] for tolerance in (coarse, fine)
            ]
            mine, theirs = (judgement.metrics["budget_used"] for judgement in used)
            if theirs > 0 and np.isfinite(theirs):
                yield mine / theirs, f"{output.name}: {what}"


def tolerances(path: Path, inputs: Sequence[Tensors]) -> tuple[DerivedTolerance | None, DerivedTolerance]:
    """The coarse one, as it is where nothing is too small for it, and the derived one."""
    proto = expanded(onnx.load(path))
    coarse = coarsely(Deriving(proto, arithmetic_of("float32"), 0), inputs, "float32")
    deriving = Deriving(proto, arithmetic_of("float32"), 0)
    return coarse, deriving.profile(deriving.samples(inputs), "float32")


def answers(path: Path, inputs: Sequence[Tensors]) -> dict[str, list[Tensors]]:
    """Of a correct engine, and of one that is silently coarser than it promises."""
    flows: dict[str, tuple[str, dict[str, Any]]] = {
        "onnxruntime": ("onnxruntime", {}),
        "bfloat16": ("openvino", {"precision": "bfloat16"}),
    }
    found = {}
    for name, (backend, options) in flows.items():
        engine = plugins.load(plugins.BACKENDS, backend)().lower(path, Flow(name, backend, options))
        found[name] = [engine.run(sample) for sample in inputs]
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=61941)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    suite, seen, refused = Models(), list[tuple[float, str, str]](), 0
    asked = [
        candidate
        for candidate in suite.cases(seed=options.seed)
        if options.only in candidate.name and candidate.name.endswith("-static")
    ]
    for case, reason in suite.make(asked, workers=1):
        path = Path(case.model.source)
        if reason or path.suffix != ".onnx":
            continue
        inputs = read_golden(Path(case.inputs.golden)).inputs[:4]
        try:
            coarse, fine = tolerances(path, inputs)
            if coarse is None:
                refused += 1
                print(f"{case.name:32} derived at once", flush=True)
                continue
            found = sorted(ratios(coarse, fine, answers(path, inputs)))
        except AssayError as error:
            print(f"{case.name:32} {type(error).__name__}: {str(error)[:80]}", flush=True)
            continue
        seen += [(ratio, case.name, what) for ratio, what in found]
        if found:
            middle = found[len(found) // 2][0]
            print(
                f"{case.name:32} {len(found):4} directions, least {found[0][0]:.2f} ({found[0][1]}), median {middle:.2f}",
                flush=True,
            )
    seen.sort()
    print(
        f"{len(seen)} directions, {sum(direction[0] < 1 for direction in seen)} below 1; {refused} models derived at once"
    )
    for row in seen[:10]:
        print("  ", *row)


if __name__ == "__main__":
    main()
