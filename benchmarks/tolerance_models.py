"""Whole models with seeded weights over CPU flows at their declared contract: correct flows called wrong, and what it costs.

`python benchmarks/tolerance_models.py [--seed N]`. The models are the suite `models` (48 architectures); the flows ONNX
Runtime with all optimizations and with none, OpenVINO in float32 and in bfloat16, and OpenVINO silently in bfloat16 under
a float32 contract, which must be caught. Cost is processor time of one thread, the least of nine, turn by turn: the
derivation, from reading the file to the self-test, beside the oracle alone.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import onnx

from assay import plugins
from assay.core.flow import Flow
from assay.errors import AssayError
from assay.models.goldens import read_golden
from assay.numerics.oracle.evaluator import WideEvaluator
from assay.numerics.tolerance.derive import derive
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.numerics.tolerance.simulate.double_evaluation import as_type
from assay.ports import Tensors
from assay.suites.models import Models

SNEAKY = "bf16 as f32"
FLOWS: dict[str, tuple[str, dict[str, Any], str]] = {
    "ort all": ("onnxruntime", {}, "float32"),
    "ort disable": ("onnxruntime", {"optimization": "disable"}, "float32"),
    "openvino f32": ("openvino", {}, "float32"),
    "openvino bf16": ("openvino", {"precision": "bfloat16"}, "bfloat16"),
    SNEAKY: ("openvino", {"precision": "bfloat16"}, "float32"),
}


PAIRS = 9


def ratio(work: Callable[[], object], oracle: Callable[[], object]) -> float:
    """Of processor seconds, the least of each, turn by turn: what is loaded once, and what else runs on the machine, does not
    count."""
    taken: list[list[float]] = [[], []]
    for _ in range(PAIRS):
        for each, call in zip(taken, (oracle, work), strict=True):
            begin = time.process_time()
            call()
            each.append(time.process_time() - begin)
    return min(taken[1]) / min(taken[0])


class Seen:
    """What all models showed so far."""

    def __init__(self) -> None:
        self.wrong: list[tuple[Any, ...]] = []
        self.correct = 0
        self.sneaky = 0
        self.missed: list[str] = []
        self.ratios: list[float] = []

    def model(self, name: str, path: Path, inputs: Sequence[Tensors]) -> None:
        """One of them over all flows, and a line of it."""
        nodes = len(onnx.load(path).graph.node)
        profiles: dict[str, DerivedTolerance] = {}
        line = []
        for flow in FLOWS:
            try:
                line.append(f"{flow} {self._flow(name, flow, path, inputs, profiles)}")
            except AssayError as error:
                line.append(f"{flow}: {type(error).__name__} {str(error)[:60]}")
        cost = self.ratios[-1] if "float32" in profiles else float("nan")
        print(f"{name:26} {nodes:5} {cost:5.1f}  {', '.join(line)}{_odd(profiles.get('float32'))}", flush=True)

    def _flow(
        self, name: str, flow: str, path: Path, inputs: Sequence[Tensors], profiles: dict[str, DerivedTolerance]
    ) -> str:
        backend, settings, precision = FLOWS[flow]
        if precision not in profiles:
            profiles[precision] = derive(path, inputs, precision)
            if precision == "float32":
                self.ratios.append(cost(path, inputs))
        engine = plugins.load(plugins.BACKENDS, backend)().lower(
            path, Flow(flow, backend, settings, precision=precision)
        )
        judged = judge_outputs([engine.run(sample) for sample in inputs], None, profiles[precision])
        budget = max(
            (comparison.metrics.get("budget_used", 0.0) for comparison in judged.values()), default=float("nan")
        )
        if flow == SNEAKY:
            self.sneaky += 1
            if not budget > 1:
                self.missed.append(name)
        else:
            self.correct += 1
            if budget > 1 or not judged:
                self.wrong.append(
                    (name, flow, budget, [f.text for comparison in judged.values() for f in comparison.findings])
                )
        return f"{budget:.2f}{'?' if any(comparison.degenerate for comparison in judged.values()) else ''}"

    def tell(self) -> None:
        print(f"correct flows called wrong: {len(self.wrong)} of {self.correct}")
        for row in self.wrong:
            print("  ", *row)
        print(
            f"OpenVINO silently in bfloat16 under a float32 contract: caught {self.sneaky - len(self.missed)} of "
            f"{self.sneaky} {self.missed}"
        )
        if self.ratios:
            print(
                f"cost of the derivation beside the oracle's own time: median {np.median(self.ratios):.1f}, largest "
                f"{max(self.ratios):.1f}"
            )


def cost(path: Path, inputs: Sequence[Tensors]) -> float:
    """Of the derivation in float32, in times of the oracle."""
    proto = onnx.load(path)

    def evaluated() -> None:
        oracle = WideEvaluator(proto)
        for sample in inputs:
            oracle.evaluate(as_type(sample, np.float64))

    return ratio(partial(derive, path, inputs, "float32"), evaluated)


def _odd(profile: DerivedTolerance | None) -> str:
    """What the report of a model must not pass over in silence."""
    if profile is None:
        return ""
    header = profile.header
    blind = [attempt.defect.kind for attempt in header.selftest if not attempt.killed]
    weak = {"without a rule": header.without_rule, "self-test did not see": blind, "one by one": header.fallen}
    return "".join(f"  {what}: {which}" for what, which in weak.items() if which)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=2027)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'model':26} {'nodes':>5} {'cost':>5}  largest budget by flow")
    seen, suite = Seen(), Models()
    asked = [
        candidate
        for candidate in suite.cases(seed=options.seed)
        if options.only in candidate.name and candidate.name.endswith("-static")
    ]
    for case, reason in suite.make(asked, workers=1):
        path = Path(case.model.source)
        if reason or path.suffix != ".onnx":
            print(f"{case.name:26} {reason or path.suffix}")
            continue
        seen.model(case.name, path, read_golden(Path(case.inputs.golden)).inputs[:4])
    seen.tell()


if __name__ == "__main__":
    main()
