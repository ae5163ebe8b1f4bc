"""Engines that answer the same question otherwise: how many are seen, and how many are called what they are.

    python benchmarks/unstable.py [--times 20] [--rare 200]

Each kind of `assay.testing.instabilities` is verified so many times; one call in 50, at random moments, `--rare` times. A steady engine and
one that is unsteady in its last bits are verified as often: they must pass.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from assay.core.case import Case
from assay.core.flow import Flow, Option
from assay.core.job import VerifyJob
from assay.core.limits import Limits
from assay.core.model import Model
from assay.core.outcome import Outcome
from assay.core.result import Result, VerifyResult
from assay.judge.job_outcome import with_outcome
from assay.models.goldens import write_golden
from assay.models.onnx_file import open_model
from assay.testing.instabilities import SEEN_AS
from assay.worker.dispatch import execute
from assay.worker.stages import Stages

SLOWER: dict[str, dict[str, Option]] = {"late_moment": {"wait_s": 0.002}, "rare_call": {"every": 10}}
"""A tenth of a second must pass, and a bad call be there, for a kind to show: that chance is another question."""
STEADY = ("none", "last_bits")


def made(folder: Path) -> tuple[Model, Path]:
    """A model of two nodes and its golden: four samples of three rows."""
    spec = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 4]) for name in ("x", "y")]
    nodes = [helper.make_node("Mul", ["x", "x"], ["s"]), helper.make_node("Sqrt", ["s"], ["y"])]
    graph = helper.make_graph(nodes, "size", spec[:1], spec[1:])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), folder / "size.onnx"
    )
    model = open_model(folder / "size.onnx")
    inputs = [{"x": np.random.default_rng(seed).normal(size=(3, 4)).astype(np.float32)} for seed in range(4)]
    outputs = [{"y": np.abs(sample["x"])} for sample in inputs]
    write_golden(
        folder / "golden",
        model=model,
        inputs=inputs,
        outputs=outputs,
        seed=0,
        producer="numpy",
        producer_version=np.__version__,
        who="benchmarks",
        reason="unstable engines",
        created_at="",
    )
    return model, folder / "golden"


def verified(model: Model, golden: Path, fault: str, **options: Option) -> Result:
    """Of a job of its own, in this process."""
    flow = Flow("faulty", "faulty", {"fault": fault, **options})
    with tempfile.TemporaryDirectory() as scratch:
        job = VerifyJob(Case("size", model), flow, limits=Limits(), scratch=scratch, reference_dir=str(golden))
        return with_outcome(execute(job, Stages(lambda stage: None)), job)


def seen(results: Sequence[Result]) -> int:
    """How many are called unstable."""
    return sum(result.outcome is Outcome.NONDETERMINISTIC for result in results)


def main() -> None:
    """Prints a line for each kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--rare", type=int, default=200)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        model, golden = made(Path(name))
        total = named = 0
        for fault, pattern in SEEN_AS.items():
            results = [verified(model, golden, fault, **SLOWER.get(fault, {})) for _ in range(asked.times)]
            right = sum(
                isinstance(result, VerifyResult) and pattern in {i.pattern for i in result.repeats.found}
                for result in results
            )
            total, named = total + len(results), named + right
            print(f"{fault:14} seen {seen(results)} of {len(results)}, called {pattern.value} {right}", flush=True)
        print(f"all kinds: {named} of {total} called what they are")
        for fault in STEADY:
            begin = time.process_time()
            results = [verified(model, golden, fault) for _ in range(asked.times)]
            cost = (time.process_time() - begin) / len(results)
            print(
                f"{fault:14} passes {sum(result.outcome is Outcome.OK for result in results)} of {len(results)}, {cost * 1e3:.0f} ms each"
            )
        results = [verified(model, golden, "rare_call", every=50) for _ in range(asked.rare)]
        print(f"one call in 50, at random: seen {seen(results)} of {len(results)}")


if __name__ == "__main__":
    main()
