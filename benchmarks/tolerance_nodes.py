"""ONNX's own node cases with float32 in and out: correct kernels called wrong, and kernels that round their inputs caught.

`python benchmarks/tolerance_nodes.py [--list]`. The kernels are ONNX Runtime's. A mutant is the same kernel with its
floating inputs rounded to 11 significant bits (what a tf32 or fp16 multiply does) or 8 (bf16); one whose outputs equal
those of the original bit by bit is equivalent and not counted.
"""

from __future__ import annotations

import argparse
import collections
import json
import time
import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import onnx
from onnx.backend.test.loader import load_model_tests

from assay.errors import AssayError
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.numerics.tolerance.tolerance_tables import share_out

BITS = {"tf32": 11, "bf16": 8}


def rounded(array: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    """To `bits` significant bits, nearest."""
    if array.dtype != np.float32:
        return array
    mantissa, exponent = np.frexp(array.astype(np.float64))
    with np.errstate(all="ignore"):
        result = np.ldexp(np.round(mantissa * 2.0**bits) / 2.0**bits, exponent).astype(np.float32)
    return np.where(np.isfinite(array), result, array)


def tensors(case: Any) -> tuple[list[np.ndarray[Any, Any]], list[np.ndarray[Any, Any]]] | None:
    """The first data set of a case, where all of it are arrays."""
    if not case.data_sets:
        return None
    inputs, outputs = case.data_sets[0]
    if not all(isinstance(array, np.ndarray) for array in (*inputs, *outputs)):
        return None
    if not any(sample.dtype == np.float32 for sample in inputs) or not any(
        output.dtype == np.float32 for output in outputs
    ):
        return None
    return list(inputs), list(outputs)


def verdict(actual: dict[str, Any], profile: Any) -> tuple[bool | None, str]:
    """(is wrong, why); None where no output was judged."""
    judged = judge_outputs([actual], None, profile)
    if not judged:
        return None, "; ".join(f"{output.name}: {output.reason}" for output in profile.header.outputs) or "shapes"
    texts = [finding.text for comparison in judged.values() for finding in comparison.findings]
    clashes = [
        name
        for name in judged
        if not np.array_equal(np.isnan(actual[name].astype(float)), np.isnan(profile.oracle[0][name].astype(float)))
    ]
    return bool(texts or clashes), "; ".join(texts) or (f"NaN differs in {clashes}" if clashes else "")


def _run(session: Any, feeds: dict[str, Any]) -> dict[str, Any]:
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, feeds), strict=True))


@dataclass
class Seen:
    """What all cases together have shown."""

    count: collections.Counter[str] = field(default_factory=collections.Counter)
    peers: collections.Counter[str] = field(default_factory=collections.Counter)
    unruled: collections.Counter[str] = field(default_factory=collections.Counter)
    alarms: list[tuple[str, str]] = field(default_factory=list)
    underived: list[tuple[str, str]] = field(default_factory=list)
    survivors: list[tuple[str, str, str]] = field(default_factory=list)


def main() -> None:
    import onnxruntime

    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true", help="every false alarm and every survivor")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    onnxruntime.set_default_logger_severity(4)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = load_model_tests(kind="node")
    seen = Seen()
    for case in sorted(cases, key=lambda test_case: test_case.name):
        if options.only in case.name:
            look_at(case, seen)
    tell(seen)
    print(f"{time.process_time() - begin:.0f} s of processor time, onnx {onnx.__version__}")
    if options.list:
        for title, rows in (("ALARM", seen.alarms), ("UNDERIVED", seen.underived), ("SURVIVOR", seen.survivors)):
            for row in rows:
                print(title, *row)


def look_at(case: Any, seen: Seen) -> None:
    """The case's kernel, and the same fed with rounded inputs, compared with the derived tolerance."""
    feeds = _feeds(case)
    if feeds is None:
        return
    try:
        run = partial(_run, _session(case.model))
        actual = run(feeds)
    except Exception:  # noqa: BLE001  whatever the library raises: it does not have the case
        seen.count["not run by onnxruntime"] += 1
        return
    seen.count["cases"] += 1
    try:
        profile = derive_model(case.model, [feeds], "float32")
    except AssayError as error:
        seen.underived.append((case.name, str(error)[:150]))
        return
    except Exception as error:  # noqa: BLE001  a defect of ours, listed as one
        seen.underived.append((case.name, f"CRASH {type(error).__name__}: {error}"[:200]))
        return
    seen.unruled.update(profile.header.without_rule)
    wrong, why = verdict(actual, profile)
    if wrong is None:
        seen.underived.append((case.name, why[:150]))
        return
    seen.count["judged"] += 1
    if wrong:
        seen.alarms.append((case.name, why[:300]))
        return
    for kind, bits in BITS.items():
        try:
            other = run({name: rounded(array, bits) for name, array in feeds.items()})
        except Exception:  # noqa: BLE001  rounded inputs may be illegal: then there is no mutant
            continue
        _mutant(case.name, kind, other, actual, profile, seen)


def _feeds(case: Any) -> dict[str, np.ndarray[Any, Any]] | None:
    with np.errstate(all="ignore"):
        loaded = tensors(case)
    if loaded is None or case.model is None:
        return None
    names = [value.name for value in case.model.graph.input]
    return dict(zip(names, loaded[0], strict=True)) if len(names) == len(loaded[0]) else None


def _session(model: onnx.ModelProto) -> Any:
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), settings)


def _mutant(case: str, kind: str, other: dict[str, Any], actual: dict[str, Any], profile: Any, seen: Seen) -> None:
    same = all(
        np.array_equal(other[name], actual[name], equal_nan=other[name].dtype.kind == "f")
        for name in other
        if isinstance(other[name], np.ndarray)
    )
    if same:
        return
    killed = bool(verdict(other, profile)[0])
    seen.count[f"{kind} mutants"] += 1
    seen.count[f"{kind} killed"] += killed
    if not killed:
        seen.survivors.append((case, kind, json.dumps(_budgets(other, profile))))
    first = next(iter(other))
    if first in profile.oracle[0]:
        for table, share in share_out([(other[first], profile.oracle[0][first])], "float32").items():
            seen.peers[f"{kind} {table}"] += share > 0


def tell(seen: Seen) -> None:
    import onnxruntime

    count, peers = seen.count, seen.peers
    print(f"cases with float32 in and out run by onnxruntime {onnxruntime.__version__}: {count['cases']}")
    print(f"judged by a derived tolerance: {count['judged']}; not derived: {len(seen.underived)}")
    print(f"correct kernels called wrong: {len(seen.alarms)}")
    for kind in BITS:
        total = max(1, count[f"{kind} mutants"])
        print(
            f"inputs rounded to {kind}: killed {count[f'{kind} killed']} of {count[f'{kind} mutants']} "
            f"({100 * count[f'{kind} killed'] / total:.1f} %); torch's table {peers[f'{kind} share_out_of_torch']}, "
            f"ONNX's {peers[f'{kind} share_out_of_onnx']}"
        )
    print(f"operators without a rule: {dict(seen.unruled)}")


def _budgets(actual: dict[str, Any], profile: Any) -> dict[str, float]:
    return {
        name: round(output.metrics.get("budget_used", -1), 3)
        for name, output in judge_outputs([actual], None, profile).items()
    }


if __name__ == "__main__":
    main()
