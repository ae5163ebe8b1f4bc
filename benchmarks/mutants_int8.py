"""What int8 shows at the outputs: small systematic defects in quantized models, and correct engines of the same.

`python benchmarks/mutants_int8.py [--samples N] [--seeds N] [--derived N]`. The digit models and seeded ones, quantized statically
(QDQ), per tensor and per channel. Mutants, in ONNX Runtime: scales off by 1 and 10 %, zero points off by one, biases or one element of
them dropped, weights saturated at half their range. Correct engines: ONNX Runtime with and without its optimizations,
OpenVINO, and evaluations that requantize with noise of 2^-10 of a step, or that round every tie up, or down.
"""

from __future__ import annotations

import argparse
import collections
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from mutants_local import run
from mutants_models import MODELS

from assay import plugins
from assay.core.flow import Flow
from assay.models.goldens import read_golden
from assay.numerics.oracle.evaluator import Evaluator
from assay.numerics.oracle.hooks import Call, Hook, observed_by
from assay.numerics.tolerance.derive import derive
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs

Array = np.ndarray[Any, Any]
Values = Mapping[str, Array]
EXAMPLES = Path(__file__).parent.parent / "examples" / "digits"
ORT = Flow("onnxruntime", "onnxruntime", {"threads": 1}, precision="int8")
ENGINES = {
    "onnxruntime": ORT,
    "onnxruntime-disable": Flow("disable", "onnxruntime", {"threads": 1, "optimization": "disable"}, precision="int8"),
    "openvino": Flow("openvino", "openvino", {}, precision="int8"),
}
PARTS = ("budget_norm", "budget_element", "budget_slice", "budget_systematic")


class Requantized(Hook):
    """A correct engine: noise of `steps` before a value is put on its grid, around `lean`."""

    def __init__(self, seed: int, steps: float = 2.0**-10, lean: float = 0.0) -> None:
        self._random = np.random.default_rng(seed)
        self._steps, self._lean = steps, lean

    def site(self, kind: str, value: Array, call: Call, operands: Mapping[str, Any]) -> Array:
        del call, operands
        noise = self._random.normal(self._lean, self._steps, value.shape)
        return (value + noise).astype(value.dtype) if kind == "steps" else value


def quantized(path: Path, inputs: Sequence[Values], argument: str, folder: Path) -> Path:
    transform = plugins.load("assay.transforms", "int8-qdq")()
    transform.prepare()
    target = folder / f"{path.stem}-{argument}"
    target.mkdir()
    return Path(transform.apply(path, target, argument, [dict(sample) for sample in inputs]))


def mutants(model: onnx.ModelProto) -> list[tuple[str, onnx.ModelProto]]:
    """One for each quantized layer and kind, and where."""
    held = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    found: list[tuple[str, onnx.ModelProto]] = []

    def changed(kind: str, name: str, array: Array, reader: str = "") -> None:
        """`reader`: only nodes of this type read the wrong one."""
        if np.array_equal(array, held[name]):
            return
        other = onnx.ModelProto()
        other.CopyFrom(model)
        other.graph.initializer.append(numpy_helper.from_array(array.astype(held[name].dtype), "wrong"))
        for node in other.graph.node:
            if not reader or node.op_type == reader:
                node.input[:] = ["wrong" if input_name == name else input_name for input_name in node.input]
        found.append((f"{kind} @{name}", other))

    for name, array in held.items():
        activation = array.size == 1
        if name.endswith("_scale") and activation:
            for factor in (1.01, 1.1):
                changed(f"scale x {factor} on one side", name, array * np.float32(factor), "QuantizeLinear")
                changed(f"scale x {factor} on both: another grid", name, array * np.float32(factor))
        elif name.endswith("_zero_point") and activation and array.dtype == np.int8:
            moved = np.where(array < 127, array + 1, array - 1)
            changed("zero point off by one on one side", name, moved, "QuantizeLinear")
        elif name.endswith("_quantized") and array.dtype == np.int32:
            changed("bias dropped", name, np.zeros_like(array))
            changed_array = array.copy()
            changed_array.reshape(-1)[array.size // 2] = 0
            changed("bias element dropped", name, changed_array)
        elif name.endswith("_quantized") and array.dtype == np.int8 and array.size > 1:
            changed("weights saturated at 63", name, np.clip(array, -63, 63))
    return found


def used(actual: Sequence[Values], profile: DerivedTolerance, derived: int) -> dict[str, float]:
    """Of the first `derived` samples by their tolerance, of the others by what its noisiest element was allowed."""
    known = profile.first(derived)
    judged = judge_outputs(actual[:derived], None, known)
    by_part = {
        part: max(comparison.metrics.get(part, 0.0) for comparison in judged.values())
        for part in (*PARTS, "budget_used")
    }
    for name, comparison in judged.items():
        for mine, theirs in zip(actual[derived:], profile.oracle[derived:], strict=True):
            off = float(np.abs(mine[name].astype(np.float64) - theirs[name]).max())
            allowed = comparison.statistics.most if comparison.statistics is not None else 0.0
            by_part["budget_used"] = max(by_part["budget_used"], off / allowed if allowed else float(off > 0.0) * 2)
    return by_part


def correct(path: Path, inputs: Sequence[Values], seeds: int) -> dict[str, list[dict[str, Array]]]:
    answers = {}
    for name, flow in ENGINES.items():
        answers[name] = run(path, flow, inputs)
    plain = Evaluator(onnx.load(path))
    names = [value.name for value in onnx.load(path).graph.output]
    probes = {f"noise {seed}": Requantized(1000 + seed) for seed in range(seeds)}
    probes |= {"ties up": Requantized(0, 0.0, 2.0**-18), "ties down": Requantized(0, 0.0, -(2.0**-18))}
    for name, probe in probes.items():
        with observed_by(probe):
            answers[name] = [dict(zip(names, plain.evaluate(dict(sample)), strict=True)) for sample in inputs]
    return answers


@dataclass
class Tally:
    """Mutants by family: all whose outputs differ, those seen by three statistics alone, those seen; and correct engines."""

    total: collections.Counter[str] = field(default_factory=collections.Counter)
    before: collections.Counter[str] = field(default_factory=collections.Counter)
    killed: collections.Counter[str] = field(default_factory=collections.Counter)
    flows: int = 0
    alarms: int = 0
    largest: float = 0.0

    def add_correct(self, name: str, figures: Mapping[str, float]) -> None:
        wrong = figures["budget_used"] > 1
        self.flows, self.alarms = self.flows + 1, self.alarms + wrong
        self.largest = max(self.largest, figures["budget_used"])
        print(f"   {'ALARM ' if wrong else ''}{name}: {told(figures)}", flush=True)

    def add_mutant(self, what: str, figures: Mapping[str, float]) -> None:
        family = what.partition(" @")[0]
        self.total[family] += 1
        self.before[family] += max(figures[part] for part in PARTS[:3]) > 1
        self.killed[family] += figures["budget_used"] > 1
        if figures["budget_used"] <= 1:
            print(f"   survived {what}: {told(figures)}")

    def table(self) -> None:
        print("\n| defect | mutants | three statistics alone | and systematic errors |\n|---|---|---|---|")
        for family in [*self.total, "all"]:
            counters = (self.total, self.before, self.killed)
            n, old, new = (sum(counter.values()) if family == "all" else counter[family] for counter in counters)
            print(f"| {family} | {n} | {old} | {new} |")
        print(f"correct engines called wrong: {self.alarms} of {self.flows} (largest budget {self.largest:.2f})")


def told(figures: Mapping[str, float]) -> str:
    return ", ".join(f"{part[7:]} {figures[part]:.2f}" for part in PARTS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=64)
    parser.add_argument("--seeds", type=int, default=2, help="noisy evaluations of each model")
    parser.add_argument("--models", default="classifier,detector,segmenter")
    parser.add_argument("--kinds", default="per-tensor,per-channel")
    parser.add_argument("--most", type=int, default=0, help="mutants of a model; 0: all")
    parser.add_argument(
        "--derived", type=int, default=0, help="samples whose tolerance is derived, as of a model so large; 0: all"
    )
    options = parser.parse_args()
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.models.split(","):
            for kind in options.kinds.split(","):
                path, inputs, calibration = source(name, options.samples, Path(scratch))
                model = quantized(path, calibration, kind, Path(scratch))
                cost = campaign(f"{name} {kind}", model, inputs, options, tally)
                seen, alone = sum(tally.killed.values()), sum(tally.before.values())
                print(
                    f"{name} {kind}: {seen} of {sum(tally.total.values())} so far, {alone} by the three statistics alone; "
                    f"derived in {cost:.1f} s of processor time",
                    flush=True,
                )
    tally.table()


def campaign(
    name: str, model: Path, inputs: list[dict[str, Array]], options: argparse.Namespace, tally: Tally
) -> float:
    """Correct engines and mutants of one quantized model; processor seconds of its tolerance."""
    begin = time.process_time()
    profile = derive(model, inputs, "float32")
    cost = time.process_time() - begin
    for engine, outputs in correct(model, inputs, options.seeds).items():
        tally.add_correct(f"{name} {engine}", used(outputs, profile, options.derived or len(inputs)))
    lies = mutants(onnx.load(model))
    if options.most and len(lies) > options.most:
        drawn = np.random.default_rng(0).permutation(len(lies))[: options.most]
        lies = [lies[place] for place in sorted(drawn)]
    sound = run(model, ORT, inputs)
    for what, lie in lies:
        file = model.parent / "mutant.onnx"
        onnx.save(lie, str(file))
        outputs = run(file, ORT, inputs)
        if not all(np.array_equal(a[key], b[key]) for a, b in zip(sound, outputs, strict=True) for key in a):
            tally.add_mutant(what, used(outputs, profile, options.derived or len(inputs)))
    return cost


def source(name: str, samples: int, folder: Path) -> tuple[Path, list[dict[str, Array]], list[dict[str, Array]]]:
    """A model, what it is judged on, and what its ranges are taken from."""
    if (EXAMPLES / "models" / f"{name}.onnx").exists():
        golden = [dict(sample) for sample in read_golden(EXAMPLES / "goldens" / name).inputs]
        return EXAMPLES / "models" / f"{name}.onnx", golden[:samples], golden[-16:]
    stem, _, seed = name.partition("-")
    path = folder / f"{name}.onnx"
    made = MODELS[stem](int(seed or 0) + 100)
    onnx.save(made, str(path))
    shape = [dim.dim_value for dim in made.graph.input[0].type.tensor_type.shape.dim]
    rng = np.random.default_rng([7, int(seed or 0)])
    drawn = [{"x": rng.normal(size=shape).astype(np.float32)} for _ in range(samples + 16)]
    return path, drawn[:samples], drawn[samples:]


if __name__ == "__main__":
    main()
