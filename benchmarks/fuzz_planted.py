"""How soon does `assay fuzz` find a backend's own optimiser rewriting graphs wrongly?

Each fault of `planted_rewrites` stands alone between a model and ONNX Runtime without optimization. One stream of cases serves all: a case
in which a fault finds its pattern is run with that fault, and judged as `assay fuzz` screens. Generators take turns of equal processor
time. A fault is found with the first case that is wrong with it, or ends the process, and right without. Nothing is told to the generators.
The stream runs in a process of its own: where a case ends it without a fault, that is printed, and the stream goes on behind it.

    python benchmarks/fuzz_planted.py [--more] [SECONDS [SEED [GENERATOR...]]]

The table says of each fault in how many cases its pattern stood, and how many of these could be judged.

`--more`: the 29 faults of `planted_more` and `planted_more_layers` in place of the forty.
"""

from __future__ import annotations

import importlib
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from planted_graph import FAULTS, Graph, shapes_of
from planted_process import NO_FAULT, Ended, Processes, UnderWay, print_ended

from assay import plugins
from assay.errors import Lowering
from assay.generators.case_values import CaseValues
from assay.generators.comparison import compare, judge
from assay.ports.generator import GeneratedCase

TURN_S = 2.0
CLOCK_EVERY = 20
"""Cases: to ask for processor time is not free."""


@dataclass(frozen=True)
class Finding:
    """Of a fault: the processor seconds, the case and its operators."""

    fault: str
    at_s: float
    case: str
    operators: str


@dataclass(frozen=True)
class Block:
    """Cases of one generator: the next index; by fault how many had its pattern, and how many of these could be judged."""

    generator: int
    next: int
    cases: int
    stood: Counter[str]
    fired: Counter[str]


@dataclass
class Stream:
    """One stretch of the stream, in the process that a case may end."""

    seed: int
    left: set[str]
    tell: Callable[[Any], None]
    under_way: UnderWay
    used_s: Callable[[], float]
    stood: Counter[str] = field(default_factory=Counter)
    fired: Counter[str] = field(default_factory=Counter)

    def run(self, generators: Sequence[Any], nexts: Sequence[int], first: int, seconds: float) -> None:
        """In turns, from the generator of number `first` on."""
        nexts, number = [*nexts], first
        while self.used_s() < seconds and self.left:
            turn = self.used_s()
            while self.used_s() - turn < TURN_S and self.left:
                for index in range(nexts[number], nexts[number] + CLOCK_EVERY):
                    self.under_way.case(number, index)
                    self._see(generators[number], index)
                nexts[number] += CLOCK_EVERY
                self.tell(Block(number, nexts[number], CLOCK_EVERY, self.stood, self.fired))
                self.stood, self.fired = Counter(), Counter()
            number = (number + 1) % len(generators)

    def _see(self, generator: Any, index: int) -> None:
        """One case with all faults that are left and find their pattern in it."""
        case = generator.make(self.seed, index)
        if case is None:
            return
        model = onnx.load_from_string(case.model)
        operators = {node.op_type for node in model.graph.node}
        rewritten = [*self._rewritten(model, operators)]
        self.stood.update(fault for fault, _ in rewritten)
        if not rewritten or (values := self._values(case, model)) is None:
            return
        for fault, changed in rewritten:
            self.fired[fault] += 1
            self.under_way.fault([*FAULTS].index(fault))
            wrong = self._is_wrong(changed, values)
            self.under_way.fault(NO_FAULT)
            if wrong:
                self.left.remove(fault)
                nodes = "+".join(node.op_type for node in model.graph.node)
                self.tell(
                    Finding(fault, self.used_s(), f"{generator.name}-{generator.version}-{self.seed}-{index}", nodes)
                )

    def _values(self, case: GeneratedCase, model: Any) -> CaseValues | None:
        """None where nobody knows what is right, or the case is wrong without any fault."""
        values = CaseValues(case)
        try:
            if not values.is_valid():
                return None
            values.evaluate()
        except Lowering:
            return None
        if not values.has_numbers() or values.is_doubtful() or self._is_wrong(model, values):
            return None
        return values

    def _rewritten(self, model: Any, operators: set[str]) -> Iterator[tuple[str, Any]]:
        shapes = None
        for fault, (rewrite, needs) in FAULTS.items():
            if fault not in self.left or not operators.issuperset(needs):
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
            arrays = session.run(None, dict(values.case.inputs))
        except Exception:  # noqa: BLE001  a graph that cannot be run shows as well
            return model.graph.node != values.model.graph.node
        answers = {output.name: np.asarray(array) for output, array in zip(session.get_outputs(), arrays, strict=True)}
        far = compare(answers, values)
        if far.kind in ("values", "range"):
            far = judge(answers, values, far, plugins.find_flow("onnxruntime-disable"), self.seed)
        return bool(far.kind)


class Tally:
    """What all processes found together."""

    def __init__(self, names: Sequence[str], seed: int) -> None:
        self.names, self.seed = [*names], seed
        self.generators = [plugins.load("assay.generators", name)() for name in names]
        self.nexts = [0] * len(self.names)
        self.cases = 0
        self.found: dict[str, Finding] = {}
        self.stood: Counter[str] = Counter()
        self.fired: Counter[str] = Counter()
        self.processes = Processes(self._hear)

    def run(self, seconds: float) -> None:
        first = 0
        while True:
            begins = first

            def work(tell: Callable[[Any], None], under_way: UnderWay, used_s: Callable[[], float]) -> None:
                stream = Stream(self.seed, {*FAULTS} - self.found.keys(), tell, under_way, used_s)
                stream.run(self.generators, self.nexts, begins, seconds)  # noqa: B023  it runs before the next one

            ended = self.processes.run(work)
            if ended is None:
                return
            self._pass(ended)
            first = ended.generator

    def _pass(self, ended: Ended) -> None:
        """The case that ended a process is over."""
        print_ended(ended, self.names, [*FAULTS])
        self.nexts[ended.generator] = ended.index + 1
        if ended.fault != NO_FAULT:
            generator = self.generators[ended.generator]
            case = f"{generator.name}-{generator.version}-{self.seed}-{ended.index}"
            self._hear(Finding([*FAULTS][ended.fault], self.processes.used_s(), case, ended.how))

    def _hear(self, message: Finding | Block) -> None:
        if isinstance(message, Block):
            self.nexts[message.generator] = message.next
            self.cases += message.cases
            self.stood += message.stood
            self.fired += message.fired
            return
        self.found[message.fault] = message
        print(f"{message.at_s:.0f} CPU s: {len(self.found)} found, {message.fault}", file=sys.stderr, flush=True)

    def show(self) -> None:
        print(f"{'fault':<30} {'CPU s':>6} {'stood':>6} {'judged':>6}  first case")
        for fault in FAULTS:
            finding = self.found.get(fault) or Finding(fault, 0.0, "not found", "")
            counts = f"{self.stood[fault]:>6} {self.fired[fault]:>6}"
            print(f"{fault:<30} {finding.at_s:>6.0f} {counts}  {finding.case} {finding.operators}")
        used = f"{self.processes.used_s():.0f} CPU s and {self.cases} cases, seed {self.seed}"
        print(f"{len(self.found)} of {len(FAULTS)} found in {used}")


def main(seconds: float, seed: int, names: Sequence[str]) -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    tally = Tally(names or plugins.names("assay.generators"), seed)
    try:
        tally.run(seconds)
    except KeyboardInterrupt:
        print("ended early", file=sys.stderr)
    finally:
        tally.show()


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--more"]
    more = len(words) < len(sys.argv) - 1
    for name in ("planted_more", "planted_more_layers") if more else ("planted_rewrites", "planted_layers"):
        importlib.import_module(name)  # each fills the table
    main(float(words[0]) if words else 600.0, int(words[1]) if len(words) > 1 else 7, words[2:])
