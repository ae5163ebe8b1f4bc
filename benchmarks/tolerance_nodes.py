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
from functools import partial
from typing import Any

import numpy as np
import onnx
from onnx.backend.test.loader import load_model_tests

from assay.errors import AssayError
from assay.numerics.tolerance.choice import share_out
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.judge import judge

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
    if not all(isinstance(one, np.ndarray) for one in (*inputs, *outputs)):
        return None
    if not any(one.dtype == np.float32 for one in inputs) or not any(one.dtype == np.float32 for one in outputs):
        return None
    return list(inputs), list(outputs)


def verdict(actual: dict[str, Any], profile: Any) -> tuple[bool | None, str]:
    """(is wrong, why); None where no output was judged."""
    judged = judge([actual], None, profile)
    if not judged:
        return None, "; ".join(f"{one.name}: {one.reason}" for one in profile.header.outputs) or "shapes"
    texts = [finding.text for one in judged.values() for finding in one.findings]
    clashes = [
        name
        for name in judged
        if not np.array_equal(np.isnan(actual[name].astype(float)), np.isnan(profile.oracle[0][name].astype(float)))
    ]
    return bool(texts or clashes), "; ".join(texts) or (f"NaN differs in {clashes}" if clashes else "")


def _run(session: Any, feeds: dict[str, Any]) -> dict[str, Any]:
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(None, feeds), strict=True))


def main() -> None:
    import onnxruntime

    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true", help="every false alarm and every survivor")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    onnxruntime.set_default_logger_severity(4)
    count: collections.Counter[str] = collections.Counter()
    alarms, underived, survivors, unruled = [], [], [], collections.Counter()
    peers: collections.Counter[str] = collections.Counter()
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = load_model_tests(kind="node")
    for case in sorted(cases, key=lambda one: one.name):
        if options.only and options.only not in case.name:
            continue
        with np.errstate(all="ignore"):
            loaded = tensors(case)
        if loaded is None or case.model is None:
            continue
        inputs, _ = loaded
        names = [one.name for one in case.model.graph.input]
        if len(names) != len(inputs):
            continue
        feeds = dict(zip(names, inputs, strict=True))
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = 1
        try:
            session = onnxruntime.InferenceSession(case.model.SerializeToString(), settings)
            run = partial(_run, session)
            actual = run(feeds)
        except Exception:  # noqa: BLE001  whatever the library raises: it does not have the case
            count["not run by onnxruntime"] += 1
            continue
        count["cases"] += 1
        try:
            profile = derive_model(case.model, [feeds], "float32")
        except AssayError as error:
            underived.append((case.name, str(error)[:150]))
            continue
        except Exception as error:  # noqa: BLE001
            underived.append((case.name, f"CRASH {type(error).__name__}: {error}"[:200]))
            continue
        for operator in profile.header.without_rule:
            unruled[operator] += 1
        wrong, why = verdict(actual, profile)
        if wrong is None:
            underived.append((case.name, why[:150]))
            continue
        count["judged"] += 1
        if wrong:
            alarms.append((case.name, why[:300]))
        for kind, bits in BITS.items():
            mutated = {name: rounded(array, bits) for name, array in feeds.items()}
            try:
                other = run(mutated)
            except Exception:  # noqa: BLE001
                continue
            same = all(
                np.array_equal(other[name], actual[name], equal_nan=other[name].dtype.kind == "f")
                for name in other
                if isinstance(other[name], np.ndarray)
            )
            if same or wrong:
                continue
            count[f"{kind} mutants"] += 1
            seen = verdict(other, profile)[0]
            count[f"{kind} killed"] += bool(seen)
            if not seen:
                survivors.append((case.name, kind, json.dumps(_budgets(other, profile))))
            for name in other:
                shares = (
                    share_out([(other[name], profile.oracle[0][name])], "float32") if name in profile.oracle[0] else {}
                )
                for table, share in shares.items():
                    peers[f"{kind} {table}"] += share > 0
                break
    print(f"cases with float32 in and out run by onnxruntime {onnxruntime.__version__}: {count['cases']}")
    print(f"judged by a derived tolerance: {count['judged']}; not derived: {len(underived)}")
    print(f"correct kernels called wrong: {len(alarms)}")
    for kind in BITS:
        total = max(1, count[f"{kind} mutants"])
        print(
            f"inputs rounded to {kind}: killed {count[f'{kind} killed']} of {count[f'{kind} mutants']} "
            f"({100 * count[f'{kind} killed'] / total:.1f} %); torch's table {peers[f'{kind} share_out_of_torch']}, "
            f"ONNX's {peers[f'{kind} share_out_of_onnx']}"
        )
    print(f"operators without a rule: {dict(unruled)}")
    print(f"{time.process_time() - begin:.0f} s of processor time, onnx {onnx.__version__}")
    if options.list:
        for title, rows in (("ALARM", alarms), ("UNDERIVED", underived), ("SURVIVOR", survivors)):
            for row in rows:
                print(title, *row)


def _budgets(actual: dict[str, Any], profile: Any) -> dict[str, float]:
    return {name: round(one.metrics.get("budget_used", -1), 3) for name, one in judge([actual], None, profile).items()}


if __name__ == "__main__":
    main()
