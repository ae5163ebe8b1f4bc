"""Whether the examination refuses models that ONNX Runtime runs: `python benchmarks/sound_models.py [FOLDER ...]`.

Every node case of the onnx package, each at every opset from 7 to 25 to which onnx's converter brings it, crafted models of rare
kinds, and the .onnx files of each folder. A model that is refused is given to ONNX Runtime: where that runs it, and gives what the case
says where it says something, the refusal is false. Cases are looked at in this process: their files are onnx's own.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper
from onnx.backend.test.case.model import collect_testcases as _  # noqa: F401  cases of models are registered
from onnx.backend.test.case.node import collect_testcases

from assay.core.model_finding import ModelFinding, Severity
from assay.core.model_finding_text import sentence
from assay.models.examination.steps import examine

OPSETS = range(7, 26)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folders", type=Path, nargs="*")
    options.add_argument(
        "--opsets",
        type=int,
        nargs="?",
        const=len(OPSETS),
        default=0,
        help="convert every node case to so many others, too [all]",
    )
    options.add_argument("--seed", type=int, default=0, help="of the choice of opsets")
    options.add_argument("--no-engine", action="store_true", help="ONNX Runtime is not asked about what is refused")
    asked = options.parse_args()
    onnxruntime.set_default_logger_severity(4)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        engine = not asked.no_engine
        _report("node cases", ((case.name, _written(case.model, path), case) for case in _cases()), engine)
        if asked.opsets:
            _report("node cases at other opsets", _converted(path, asked.opsets, asked.seed), engine)
        for models in asked.folders:
            _report(str(models), ((file.name, file, None) for file in sorted(models.rglob("*.onnx"))), engine)


def _cases() -> list[Any]:
    cases = [case for case in collect_testcases(None) if case.model is not None]
    return sorted(cases, key=lambda case: case.name)


def _written(model: onnx.ModelProto, path: Path) -> Path:
    path.write_bytes(model.SerializeToString())
    return path


def _converted(path: Path, most: int, seed: int) -> Iterator[tuple[str, Path, Any]]:
    """At most so many of each case."""
    chance = random.Random(seed)
    for case in _cases():
        own = next((entry.version for entry in case.model.opset_import if entry.domain in ("", "ai.onnx")), 0)
        others = [version for version in OPSETS if version != own and own and not case.model.functions]
        count = 0
        for version in chance.sample(others, len(others)):
            if count == most:
                break
            try:
                model = onnx.version_converter.convert_version(case.model, version)
            except Exception:  # noqa: BLE001  the converter knows not every way
                continue
            count += 1
            yield f"{case.name}@{version}", _written(model, path), None


def _report(what: str, models: Iterator[tuple[str, Path, Any]], engine: bool) -> None:
    begin, count, kinds, lost, spent = time.perf_counter(), 0, Counter[str](), [], 0.0
    for name, path, case in models:
        count += 1
        start = time.perf_counter()
        look = examine(path)
        spent += time.perf_counter() - start
        wrong = look.of(Severity.INVALID)
        for finding in look.findings:
            if finding.code == "step-failed" or finding.severity is Severity.CONTRADICTION:
                kinds[finding.code] += 1
                print(f"  {name}: {finding.severity} {finding.code}: {sentence(finding)[:240]}")
        if wrong:
            ran = _ran(path, case) if engine else "not asked"
            kinds[f"refused, {ran[:40]}"] += 1
            lost += [(name, wrong, ran)]
    print(f"{what}: {count} models, {time.perf_counter() - begin:.0f} s, load {os.getloadavg()[0]:.1f}, "
          f"{1e3 * spent / max(count, 1):.1f} ms each; {dict(kinds)}")  # fmt: skip
    for name, wrong, ran in lost:
        _tell(name, wrong, ran)


def _tell(name: str, wrong: list[ModelFinding], ran: str) -> None:
    print(f"  {name}: ONNX Runtime {ran}; refused: {'; '.join(sentence(finding) for finding in wrong)[:240]}")


def _ran(path: Path, case: Any) -> str:
    """What ONNX Runtime does with it."""
    try:
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001  whatever it raises, it does not take the model
        return f"refuses it ({type(error).__name__}: {str(error)[:120]})"
    if case is None or not case.data_sets:
        return "takes it"
    inputs, expected = case.data_sets[0]
    try:
        feeds = {node_arg.name: _array(value) for node_arg, value in zip(session.get_inputs(), inputs, strict=True)}
        actual = session.run(None, feeds)
    except Exception as error:  # noqa: BLE001
        return f"takes it and fails ({type(error).__name__}: {str(error)[:80]})"
    right = all(_close(output, _array(other)) for output, other in zip(actual, expected, strict=True))
    return "runs it rightly" if right else "runs it and differs"


def _array(value: Any) -> Any:
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _close(first: Any, other: Any) -> bool:
    if isinstance(first, list):
        return len(first) == len(other) and all(map(_close, first, other))
    first, other = np.asarray(first), np.asarray(other)
    if first.dtype.kind in "OUS":
        return first.tolist() == other.tolist()
    return first.shape == other.shape and np.allclose(
        first.astype(float), other.astype(float), 1e-2, 1e-3, equal_nan=True
    )


if __name__ == "__main__":
    main()
