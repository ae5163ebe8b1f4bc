"""Whether triage recognizes what docs/findings describes: each finding has to stand in a model that its own script makes.

    python benchmarks/findings_known.py [--only TEXT] [--seconds S]

Prints the findings that do not, with the numbers that the operators read there, and a last line with how many do.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from msgspec.structs import replace

from assay.core.region import GraphNode
from assay.triage.findings import PLACE, Finding, findings, pattern_of_finding
from assay.triage.graph import Graph
from assay.triage.known_causes import numbers_of, occurrences
from assay.worker.regions.value_files import declared_dtypes, graph_of

FOLDER = "ASSAY_KEPT_MODELS"
KEPT = f"""
import os
from itertools import count
from pathlib import Path
import onnx
from onnx import helper, parser
numbers = count()
def keep(model):
    if isinstance(model, onnx.ModelProto):
        (Path(os.environ["{FOLDER}"]) / f"{{os.getpid()}}-{{next(numbers)}}.onnx").write_bytes(model.SerializeToString())
def kept(make):
    def made(*arguments, **said):
        keep(model := make(*arguments, **said))
        return model
    return made
def kept_as_saved(save):
    def saved(model, *arguments, **said):
        keep(model)
        return save(model, *arguments, **said)
    return saved
helper.make_model, parser.parse_model = kept(helper.make_model), kept(parser.parse_model)
onnx.save = onnx.save_model = kept_as_saved(onnx.save)
"""
"""Runs at the start of each process."""


def models_of(script: Path, seconds: float) -> Iterator[onnx.ModelProto]:
    """All that it and its children make or save before they end, however they end, or in that time."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as start:
        (Path(start) / "sitecustomize.py").write_text(KEPT)
        try:
            subprocess.run(
                [sys.executable, str(script)], capture_output=True, timeout=seconds, check=False,
                env={**os.environ, "PYTHONPATH": start, FOLDER: folder},
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            print(f"{script.name} did not end in {seconds:g} s: --seconds gives more")
        for path in sorted(Path(folder).glob("*.onnx")):
            yield onnx.load_from_string(path.read_bytes())


def graph_in(model: onnx.ModelProto) -> Graph:
    """With the types that the model declares."""
    shaped = onnx.shape_inference.infer_shapes(model)
    infos = (*shaped.graph.value_info, *shaped.graph.input, *shaped.graph.output)
    sizes = {info.name: tuple(size.dim_value or 1 for size in info.type.tensor_type.shape.dim) for info in infos}
    return Graph(
        graph_of(model, {name: np.empty(size, np.bool_) for name, size in sizes.items()}, declared_dtypes(model))
    )


def read(graph: Graph, finding: Finding) -> set[tuple[str, ...]]:
    """What nodes of these operators read first."""
    nodes: list[GraphNode] = [node for node in graph.nodes if node.operator in finding.operators]
    return {(node.operator, numbers_of(node.dtypes[0]) if node.dtypes else "") for node in nodes}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=180.0, help="for each script")
    said = parser.parse_args()
    only = said.only
    by_script: dict[str, list[Finding]] = {}
    for finding in findings():
        by_script.setdefault(finding.file, []).append(finding)
    stands: dict[tuple[str, str], bool] = {}
    for file, each in by_script.items():
        if only not in file:
            continue
        graphs = [graph_in(model) for model in models_of(Path(PLACE) / file, said.seconds)]
        for case in each:
            pattern = pattern_of_finding(case)
            here = any(occurrences(graph, pattern) for graph in graphs)
            # One defect may have patterns that stand in other models.
            stands[file, case.title] = here or stands.get((file, case.title), False)
            if not here:
                of_any = any(occurrences(graph, replace(pattern, types=())) for graph in graphs)
                why = "of other numbers" if of_any else f"nowhere in {len(graphs)} models"
                print(file, case.title, case.operators, why, *(read(graph, case) for graph in graphs), flush=True)
    print(f"{sum(stands.values())} of {len(stands)} findings stand in a model of their script")


if __name__ == "__main__":
    main()
