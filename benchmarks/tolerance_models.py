"""Whole models with seeded weights over CPU flows at their declared contract: correct flows called wrong, and what it costs.

`python benchmarks/tolerance_models.py [--seed N]`. The models are the suite `models` (39 architectures); the flows ONNX
Runtime with all optimizations and with none, OpenVINO in float32 and in bfloat16, and OpenVINO silently in bfloat16 under
a float32 contract, which must be caught. Cost is processor time of one thread, the least of three: the derivation beside
the oracle alone.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

FLOWS = {
    "ort all": ("onnxruntime", {}, "float32"),
    "ort disable": ("onnxruntime", {"optimization": "disable"}, "float32"),
    "openvino f32": ("openvino", {}, "float32"),
    "openvino bf16": ("openvino", {"precision": "bfloat16"}, "bfloat16"),
    "bf16 as f32": ("openvino", {"precision": "bfloat16"}, "float32"),
}


def least(work: Callable[[], object]) -> float:
    """Processor seconds, the least of three: what is loaded once, and what else runs on the machine, does not count."""
    taken = []
    for _ in range(3):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return min(taken)


def main() -> None:
    import onnx

    from assay import plugins
    from assay.core.flow import Flow
    from assay.errors import AssayError
    from assay.models.goldens import read_golden
    from assay.numerics.oracle.evaluator import WideEvaluator
    from assay.numerics.tolerance.derive import derive
    from assay.numerics.tolerance.evaluation import as_type
    from assay.numerics.tolerance.judge import judge
    from assay.suites.models import Models

    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=2027)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    wrong, correct, sneaky, missed, ratios = [], 0, 0, [], []
    print(f"{'model':26} {'nodes':>5} {'cost':>5}  largest budget by flow")
    suite = Models()
    asked = [one for one in suite.cases(seed=options.seed) if options.only in one.name and one.name.endswith("-static")]
    for case, reason in suite.make(asked, workers=1):
        path = Path(case.model.source)
        if reason or path.suffix != ".onnx":
            print(f"{case.name:26} {reason or path.suffix}")
            continue
        golden = read_golden(Path(case.inputs.golden), allow_nan=True)
        inputs = golden.inputs[:4]
        proto = onnx.load(path)

        def evaluated(proto: Any = proto, inputs: Any = inputs) -> None:
            oracle = WideEvaluator(proto)
            for one in inputs:
                oracle.evaluate(as_type(one, np.float64))

        alone = least(evaluated)
        profiles: dict[str, Any] = {}
        line = []
        for name, (backend, settings, precision) in FLOWS.items():
            try:
                if precision not in profiles:
                    profiles[precision] = derive(path, inputs, precision)
                    if precision == "float32":
                        ratios.append(least(partial(derive, path, inputs, precision)) / alone)
                engine = plugins.load(plugins.BACKENDS, backend)().lower(
                    path, Flow(name, backend, settings, precision=precision)
                )
                actual = [engine.run(one) for one in inputs]
            except AssayError as error:
                line.append(f"{name}: {type(error).__name__} {str(error)[:60]}")
                continue
            judged = judge(actual, None, profiles[precision])
            budget = max((one.metrics.get("budget_used", 0.0) for one in judged.values()), default=float("nan"))
            poor = any(one.degenerate for one in judged.values())
            line.append(f"{name} {budget:.2f}{'?' if poor else ''}")
            if name == "bf16 as f32":
                sneaky += 1
                if not budget > 1:
                    missed.append(case.name)
                continue
            correct += 1
            if budget > 1 or not judged:
                wrong.append((case.name, name, budget, [f.text for one in judged.values() for f in one.findings]))
        header = profiles["float32"].header if "float32" in profiles else None
        blind = [one.mutant for one in header.selftest if not one.killed] if header else []
        extra = f"  without a rule: {header.without_rule}" if header and header.without_rule else ""
        extra += f"  self-test did not see: {blind}" if blind else ""
        print(
            f"{case.name:26} {len(proto.graph.node):5} {ratios[-1] if ratios else 0:5.1f}  {', '.join(line)}{extra}",
            flush=True,
        )
    print(f"correct flows called wrong: {len(wrong)} of {correct}")
    for row in wrong:
        print("  ", *row)
    print(f"OpenVINO silently in bfloat16 under a float32 contract: caught {sneaky - len(missed)} of {sneaky} {missed}")
    if ratios:
        print(
            f"cost of the derivation beside the oracle's own time: median {np.median(ratios):.1f}, largest {max(ratios):.1f}"
        )


if __name__ == "__main__":
    main()
