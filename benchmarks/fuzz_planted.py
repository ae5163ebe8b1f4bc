"""How soon does `assay fuzz` find a backend's own optimiser rewriting graphs wrongly?

Each fault of `planted_rewrites` stands alone between a model and ONNX Runtime without optimization. One stream of cases serves all: a case
in which a fault finds its pattern is run with that fault, and judged as `assay fuzz` screens. Generators take turns of equal processor
time. A fault is found with the first case that is wrong with it and right without. Nothing is told to the generators.

    python benchmarks/fuzz_planted.py [--more] [SECONDS [SEED [GENERATOR...]]]

`--more`: the 29 faults of `planted_more` and `planted_more_layers` in place of the forty.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from planted_graph import FAULTS, Graph, shapes_of

from assay import plugins
from assay.errors import Lowering
from assay.generators.case_values import CaseValues
from assay.generators.comparison import compare, judge
from assay.ports.generator import GeneratedCase

TURN_S = 2.0
CLOCK_EVERY = 20
"""Cases: to ask for processor time is not free."""


@dataclass
class Stream:
    """What was found so far: by fault the processor seconds and the case."""

    folder: Path
    seed: int
    began: float
    found: dict[str, tuple[float, str, str]] = field(default_factory=dict)
    fired: Counter[str] = field(default_factory=Counter)
    cases: int = 0

    @property
    def used(self) -> float:
        return time.process_time() - self.began

    def see(self, case: GeneratedCase, name: str) -> None:
        """One case with all faults that are left and find their pattern in it."""
        self.cases += 1
        model = onnx.load_from_string(case.model)
        operators = {node.op_type for node in model.graph.node}
        rewritten = [*self._rewritten(model, operators)]
        if not rewritten:
            return
        values = CaseValues(case)
        try:
            if not values.is_valid():
                return
            values.evaluate()
        except Lowering:
            return
        if not values.has_numbers() or values.is_doubtful() or self._is_wrong(model, values):
            return
        for fault, changed in rewritten:
            self.fired[fault] += 1
            if self._is_wrong(changed, values):
                self.found[fault] = (self.used, name, "+".join(node.op_type for node in model.graph.node))
                print(f"{self.used:.0f} CPU s, {self.cases} cases: {len(self.found)} found, {fault}", file=sys.stderr)

    def _rewritten(self, model: Any, operators: set[str]) -> Iterator[tuple[str, Any]]:
        shapes = None
        for fault, (rewrite, needs) in FAULTS.items():
            if fault in self.found or not operators.issuperset(needs):
                continue
            shapes = shapes if shapes is not None else shapes_of(model)
            copy = onnx.ModelProto()
            copy.CopyFrom(model)
            graph = Graph(copy, shapes)
            rewrite(graph)
            if graph.changed:
                yield fault, copy

    def _is_wrong(self, model: Any, values: CaseValues) -> bool:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads, options.log_severity_level = 1, 4
        try:
            session = onnxruntime.InferenceSession(model.SerializeToString(), options)
            given = session.run(None, dict(values.case.inputs))
        except Exception:  # noqa: BLE001  a graph that cannot be run shows as well
            return model.graph.node != values.model.graph.node
        answers = {output.name: np.asarray(array) for output, array in zip(session.get_outputs(), given, strict=True)}
        far = compare(answers, values)
        if far.kind in ("values", "range"):
            far = judge(answers, values, far, plugins.find_flow("onnxruntime-disable"), self.seed)
        return bool(far.kind)


def main(seconds: float, seed: int, names: Sequence[str]) -> None:
    generators = {name: plugins.load("assay.generators", name)() for name in names or plugins.names("assay.generators")}
    nexts = dict.fromkeys(generators, 0)
    with tempfile.TemporaryDirectory() as folder:
        stream = Stream(Path(folder), seed, time.process_time())
        while stream.used < seconds and len(stream.found) < len(FAULTS):
            for name, generator in generators.items():
                turn = stream.used
                while stream.used - turn < TURN_S:
                    for index in range(nexts[name], nexts[name] + CLOCK_EVERY):
                        case = generator.make(seed, index)
                        if case is not None:
                            stream.see(case, f"{name}-{generator.version}-{seed}-{index}")
                    nexts[name] += CLOCK_EVERY
    print(f"{'fault':<30} {'CPU s':>6} {'fired':>6}  first case")
    for fault in FAULTS:
        at, case, operators = stream.found.get(fault, (0.0, "not found", ""))
        print(f"{fault:<30} {at:>6.0f} {stream.fired[fault]:>6}  {case} {operators}")
    print(
        f"{len(stream.found)} of {len(FAULTS)} found in {stream.used:.0f} CPU s and {stream.cases} cases, seed {seed}"
    )


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--more"]
    more = len(words) < len(sys.argv) - 1
    for name in ("planted_more", "planted_more_layers") if more else ("planted_rewrites", "planted_layers"):
        importlib.import_module(name)  # each fills the table
    main(float(words[0]) if words else 600.0, int(words[1]) if len(words) > 1 else 7, words[2:])
