"""The same pairs of outputs under every gate: mutants killed, and correct flows called wrong.

Peers' rules as published: torch.testing (float32 1.3e-6 / 1e-5), ONNX node tests (1e-3 / 1e-7), ONNX Runtime's backend tests
(1e-3 / 1e-5), Polygraphy 0.53 (1e-5 / 1e-5 per element, the same on means, cosine 0.997, PSNR 30 dB), NNSmith (1e-2 / 1e-3),
ExecuTorch's backend tester (4e-2 / 1e-1), relative L2 1e-3. All of them are given the float64 answer as the reference, rounded
to float32: none is charged for a worse one. Structure (names, shapes, types, NaN) counts as seen by every gate.
"""

from __future__ import annotations

import argparse
import collections
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from mutants_models import MODELS

from assay import plugins
from assay.core.flow import Flow
from assay.models.goldens import read_golden
from assay.mutation.graph import Graph
from assay.mutation.load import load_graph
from assay.mutation.registry import Mutant, inject, sites
from assay.mutation.validate import why_invalid
from assay.numerics.tolerance.derive import derive
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs

Array = np.ndarray[Any, Any]
Outputs = list[dict[str, Array]]
EXAMPLES = Path(__file__).parent.parent / "examples" / "digits"
CORRECT = ("onnxruntime", "onnxruntime-basic", "onnxruntime-disable", "openvino-f32")


def close(rtol: float, atol: float) -> Callable[[Array, Array], bool]:
    return lambda a, e: bool(np.all(np.abs(a - e) <= atol + rtol * np.abs(e)))


def cosine(a: Array, e: Array) -> bool:
    norms = np.linalg.norm(a) * np.linalg.norm(e)
    return bool(norms == 0 or float(np.sum(a * e)) / norms >= 0.997)


def psnr(a: Array, e: Array) -> bool:
    error = float(np.mean((a - e) ** 2))
    return error == 0 or 20 * np.log10(max(float(np.abs(e).max()), 1e-30)) - 10 * np.log10(error) >= 30


def mean(a: Array, e: Array) -> bool:
    error = float(np.mean(np.abs(a - e)))
    return error <= 1e-5 or error <= 1e-5 * float(np.mean(np.abs(e)))


def relative(a: Array, e: Array) -> bool:
    return float(np.linalg.norm(a - e)) <= 1e-3 * float(np.linalg.norm(e))


PEERS: dict[str, Callable[[Array, Array], bool]] = {
    "torch 1.3e-6 / 1e-5": close(1.3e-6, 1e-5),
    "Polygraphy elementwise 1e-5": close(1e-5, 1e-5),
    "ONNX 1e-3 / 1e-7": close(1e-3, 1e-7),
    "ONNX Runtime 1e-3 / 1e-5": close(1e-3, 1e-5),
    "Polygraphy mean 1e-5": mean,
    "relative L2 1e-3": relative,
    "NNSmith 1e-2 / 1e-3": close(1e-2, 1e-3),
    "ExecuTorch 4e-2 / 1e-1": close(4e-2, 1e-1),
    "cosine 0.997": cosine,
    "PSNR 30 dB": psnr,
}
OURS = "Assay, derived"


def passes(actual: Outputs, profile: DerivedTolerance, gate: str) -> bool:
    """Whether the gate accepts these outputs."""
    wanted = [output.name for output in profile.header.outputs]
    for mine, oracle in zip(actual, profile.oracle, strict=True):
        for name in wanted:
            if name not in mine or mine[name].shape != oracle[name].shape or not np.isfinite(mine[name]).all():
                return False
    if gate == OURS:
        return all(
            output.metrics.get("budget_used", 0.0) <= 1.0 for output in judge_outputs(actual, None, profile).values()
        )
    rule = PEERS[gate]
    for mine, oracle in zip(actual, profile.oracle, strict=True):
        for name in wanted:
            expected = oracle[name].astype(mine[name].dtype)
            if expected.dtype.kind != "f":
                if not np.array_equal(mine[name], expected):
                    return False
            elif not rule(mine[name].astype(np.float64), expected.astype(np.float64)):
                return False
    return True


def run_flow(model: Path, name: str, inputs: Sequence[dict[str, Array]]) -> Outputs:
    """Through the flow's own backend, saved and loaded as it would be deployed."""
    flow = _flow(name)
    backend = plugins.load("assay.backends", flow.backend)()
    backend.prepare()
    with tempfile.TemporaryDirectory() as folder:
        backend.lower(model, flow).save(Path(folder))
        engine = backend.load(Path(folder), flow)
        return [dict(engine.run(sample)) for sample in inputs]


def _flow(name: str) -> Flow:
    if name.startswith("onnxruntime-"):
        return Flow(name, "onnxruntime", options={"optimization": name.partition("-")[2], "threads": 1})
    return plugins.find_flow(name)


def models(first: int, seeds: int, folder: Path) -> list[tuple[str, Path, list[dict[str, Array]]]]:
    """Name, file and samples: the digit models on held-out samples, the seeded ones on noise."""
    inputs_by_model = []
    for name in ("classifier", "detector", "segmenter"):
        samples = read_golden(EXAMPLES / "goldens" / name).inputs[:4]
        inputs_by_model.append((name, EXAMPLES / "models" / f"{name}.onnx", [dict(sample) for sample in samples]))
    for seed in range(first, first + seeds):
        for name, make in MODELS.items():
            path = folder / f"{name}-{seed}.onnx"
            made = make(100 + seed)
            onnx.save(made, str(path))
            shape = [d.dim_value for d in made.graph.input[0].type.tensor_type.shape.dim]
            rng = np.random.default_rng(seed)
            inputs_by_model.append(
                (path.stem, path, [{"x": rng.normal(size=shape).astype(np.float32)} for _ in range(2)])
            )
    return inputs_by_model


def mutants_of(path: Path, most: int) -> list[tuple[Mutant, Graph]]:
    """First, last and middle site of each operator, those that are valid models."""
    graph = load_graph(path)
    by_operator = collections.defaultdict(list)
    for mutant in sites(graph):
        by_operator[mutant.operator].append(mutant)
    chosen = []
    for nodes in by_operator.values():
        places = list(dict.fromkeys((0, len(nodes) - 1, len(nodes) // 2)))[:most]
        for place in places:
            changed = graph.copy()
            inject(changed, nodes[place])
            if not why_invalid(changed.model):
                chosen.append((nodes[place], changed))
    return chosen


def same(outputs: Outputs, other: Outputs) -> bool:
    return all(
        a.keys() == b.keys() and all(np.array_equal(a[n], b[n]) for n in a) for a, b in zip(outputs, other, strict=True)
    )


class Tally:
    """What each gate said, so far."""

    def __init__(self) -> None:
        self.gates = [OURS, *PEERS]
        self.killed: collections.Counter[str] = collections.Counter()
        self.alarms: collections.Counter[str] = collections.Counter()
        self.survived: collections.Counter[str] = collections.Counter()
        self.wide: collections.Counter[str] = collections.Counter()
        self.pairs = self.flows = self.equal = self.far = 0

    def correct(self, name: str, flow: str, outputs: Outputs, profile: DerivedTolerance) -> None:
        """A flow with nothing wrong in it."""
        self.flows += 1
        for gate in self.gates:
            if not passes(outputs, profile, gate):
                self.alarms[gate] += 1
                if gate == OURS:
                    print(f"  FALSE ALARM {name} on {flow}")

    def mutant(self, operator: str, outputs: Outputs, sound: Outputs, profile: DerivedTolerance) -> None:
        """A mutant beside the engine that it was made from."""
        if same(outputs, sound):
            self.equal += 1
            return
        self.pairs += 1
        far = widths(outputs, sound, profile) >= 4.0
        self.far += far
        for gate in self.gates:
            if not passes(outputs, profile, gate):
                self.killed[gate] += 1
                self.wide[gate] += far
            elif gate == OURS:
                self.survived[operator] += 1

    def table(self) -> str:
        """In Markdown."""
        lines = [
            f"{self.pairs} mutants whose outputs differ ({self.equal} more are equal bit for bit), {self.flows} correct flows",
            "",
            "| gate | mutants killed | of those of 4 noise widths or more | correct flows called wrong |",
            "|---|---|---|---|",
        ]
        for gate in self.gates:
            killed, wide = self.killed[gate], self.wide[gate]
            lines.append(
                f"| {gate} | {killed} ({100 * killed / max(1, self.pairs):.1f} %) | {wide} of {self.far} "
                f"({100 * wide / max(1, self.far):.1f} %) | {self.alarms[gate]} of {self.flows} |"
            )
        return "\n".join([*lines, f"survived the derived tolerance: {dict(self.survived.most_common())}"])


def widths(outputs: Outputs, sound: Outputs, profile: DerivedTolerance) -> float:
    """How far the mutant is from the sound engine, in widths of the derived noise; infinite where it is another answer."""
    judged = judge_outputs(outputs, sound, profile)
    if len(judged) < len(profile.header.outputs):
        return float("inf")
    return max(
        4.0 * comparison.metrics.get("budget_norm", comparison.metrics.get("budget_used", 0.0))
        for comparison in judged.values()
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--sites", type=int, default=3)
    arguments = parser.parse_args()
    plugins.load("assay.backends", "onnxruntime")().prepare()
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        for name, path, inputs in models(arguments.first_seed, arguments.seeds, Path(scratch)):
            profile = derive(path, inputs, "float32")
            for flow in CORRECT:
                try:
                    tally.correct(name, flow, run_flow(path, flow, inputs), profile)
                except Exception as error:  # noqa: BLE001  a backend may refuse a model: told, and not counted
                    print(f"  {name} on {flow}: {error}")
            sound = run_flow(path, "onnxruntime", inputs)
            for mutant, graph in mutants_of(path, arguments.sites):
                lie = Path(scratch) / "mutant.onnx"
                onnx.save(graph.model, str(lie))
                try:
                    outputs = run_flow(lie, "onnxruntime", inputs)
                except Exception:  # noqa: BLE001  refused or crashed: every gate sees that
                    continue
                tally.mutant(mutant.operator, outputs, sound, profile)
            print(f"\nup to {name}:\n{tally.table()}", flush=True)


if __name__ == "__main__":
    main()
