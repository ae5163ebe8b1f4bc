"""200 jobs of which 5 segfault, 3 hang and 2 exhaust memory: is every one blamed right, with cause and stage? With `--on`, on the nodes of
a Ray cluster that is there already."""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from assay.core.outcome import Outcome, Stage
from assay.launch.pool import Pool
from assay.launch.prefork import Preforked
from assay.models.goldens import write_golden
from assay.models.onnx_file import open_model
from assay.ports import JobList, Launcher
from assay.testing.launcher_checks import check_blame, faulty_job

FAULTS = ["segfault"] * 5 + ["hang"] * 3 + ["leak"] * 2
STAGES = [Stage.LOWER, Stage.SAVE, Stage.LOAD, Stage.RUN]


@contextmanager
def on_ray(address: str) -> Iterator[Launcher]:
    from assay.launch.ray.cluster import RayCluster
    from assay.launch.ray.ray_pool import RayPool

    with closing(RayCluster(address, workers=1)) as cluster:
        yield RayPool(cluster)


@contextmanager
def here(flows: Sequence[str]) -> Iterator[Launcher]:
    with Preforked(flows) as ahead:
        yield Pool(2, preforked=ahead)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--on", default="", metavar="HOST:PORT", help="of the head of a cluster [this machine]")
    address = parser.parse_args().on
    ways = {"on Ray": on_ray(address)} if address else {"started": here(()), "forked": here(("faulty",))}
    with tempfile.TemporaryDirectory() as folder:
        model, golden = _identity(Path(folder))
        chance = random.Random(3)
        plan = [(fault, chance.choice(STAGES)) for fault in FAULTS] + [("none", Stage.RUN)] * 190
        chance.shuffle(plan)
        jobs = [
            faulty_job(f"{n}-{fault}", fault, model=model, golden=golden, stage=stage, options={"model": "identity"})
            for n, (fault, stage) in enumerate(plan)
        ]
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        for what, way in ways.items():
            with way as launcher:
                begin = time.perf_counter()
                results = list(launcher.launch(JobList(jobs)))
                seconds = time.perf_counter() - begin
            check_blame(jobs, results)
            innocent = sum(r.outcome is not Outcome.OK for r in results if r.case.endswith("-none"))
            print(
                f"workers that were {what}: {len(results)}/{len(jobs)} blamed right with cause and stage, "
                f"{innocent} innocent blamed, 0 lost, {seconds:.1f} s"
            )


def _identity(folder: Path):  # type: ignore[no-untyped-def]
    spec = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 4]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "identity", spec[:1], spec[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), folder / "m.onnx")
    model = open_model(folder / "m.onnx")
    samples = [{"x": np.random.default_rng(n).normal(size=(1, 4)).astype(np.float32)} for n in range(4)]
    outputs = [{"y": sample["x"]} for sample in samples]
    provenance = {"seed": 0, "producer": "identity", "producer_version": "1", "who": "benchmark", "reason": "blame"}
    write_golden(folder / "golden", model=model, inputs=samples, outputs=outputs, created_at="", **provenance)
    return model, folder / "golden"


if __name__ == "__main__":
    main()
