"""Evaluations that share no code with the oracle: ONNX Runtime without its optimizer, torch functions, numpy by hand."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import redirect_stderr
from typing import Any

import numpy as np
import onnx
import onnx.inliner

from oracle_table.by_hand import BY_HAND
from oracle_table.case import OpCase

NEWEST_OF_ONNXRUNTIME = 26
Witness = Callable[[OpCase], list[Any]]


class Refused(Exception):
    """It does not evaluate this case."""


def onnxruntime(case: OpCase) -> list[Any]:
    """As given; then with further inputs as constants, which some kernels demand."""
    version = case.version if case.domain else min(case.version, NEWEST_OF_ONNXRUNTIME)
    later = [name for name in case.names[1:] if name and isinstance(case.feeds()[name], np.ndarray)]
    try:
        return run_onnxruntime(case.model(version), case.feeds())
    except Refused:
        if not later:
            raise
        kept = {name: value for name, value in case.feeds().items() if name not in later}
        return run_onnxruntime(case.model(version, later), kept)


def earlier(case: OpCase) -> list[Any]:
    """An earlier version of the operator that takes the same attributes and as many inputs: most versions add types alone."""
    known = [
        one
        for one in onnx.defs.get_all_schemas_with_history()
        if (one.domain, one.name) == (case.domain, case.operator)
    ]
    for schema in sorted(known, key=lambda schema_of_version: -schema_of_version.since_version):
        fits = (
            set(case.attributes) <= set(schema.attributes) and schema.min_input <= len(case.inputs) <= schema.max_input
        )
        if schema.since_version >= case.version or schema.deprecated or not fits:
            continue
        try:
            return run_onnxruntime(case.model(schema.since_version), case.feeds())
        except Refused:
            continue
    raise Refused("no earlier version")


def decomposed(case: OpCase) -> list[Any]:
    """The standard's own definition of the operator by others, in ONNX Runtime."""
    model = case.model()
    try:
        typed = onnx.shape_inference.infer_shapes(model)
        expanded = onnx.inliner.inline_selected_functions(typed, [(case.domain, case.operator)], False, True)
    except Exception as error:
        raise Refused(str(error)) from error
    if any(node.op_type == case.operator for node in expanded.graph.node):
        raise Refused("no definition by others")
    for entry in expanded.opset_import:
        if entry.domain == "" and entry.version > NEWEST_OF_ONNXRUNTIME:
            entry.version = NEWEST_OF_ONNXRUNTIME
    return run_onnxruntime(expanded, case.feeds())


def run_onnxruntime(model: onnx.ModelProto, feeds: dict[str, Any]) -> list[Any]:
    import onnxruntime as ort

    from assay.backends.onnxruntime.session import session_options
    from assay.backends.onnxruntime.tensors import from_ort_value, to_ort_value

    options = session_options("disable", 1, {"int8_sums": "exact", "disabled_optimizers": "", "prepacking": True})
    options.log_severity_level = 4
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        if all(isinstance(feed, np.ndarray) for feed in feeds.values()) and not any(
            nests(output.type) for output in session.get_outputs()
        ):
            given = {
                name: to_ort_value(np.ascontiguousarray(value) if value.ndim else value)
                for name, value in feeds.items()
            }
            return [from_ort_value(value) for value in session.run_with_ort_values(None, given)]
        return list(session.run(None, feeds))
    except Exception as error:
        raise Refused(str(error)) from error


def nests(kind: str) -> bool:
    return not kind.startswith("tensor(")


def torch(case: OpCase) -> list[Any]:
    """Our conversion of ONNX into torch functions, which knows nothing of the oracle."""
    from torch import Tensor

    from assay.onnx_to_torch import torch_graph_of
    from assay.onnx_to_torch.dtypes import from_numpy

    if any(not isinstance(feed, np.ndarray) or feed.dtype.kind == "O" for feed in case.feeds().values()):
        raise Refused("no tensors")
    try:
        import torch as library

        with library.no_grad(), redirect_stderr(io.StringIO()):
            answers = torch_graph_of(case.model())(*(from_numpy(feed) for feed in case.feeds().values()))
    except Exception as error:
        raise Refused(str(error)) from error
    values = answers if isinstance(answers, tuple | list) else [answers]
    return [_to_numpy(value) if isinstance(value, Tensor) else value for value in values]


def _to_numpy(tensor: Any) -> Any:
    from assay.onnx_to_torch.dtypes import to_numpy

    return to_numpy(tensor)


def by_hand(case: OpCase) -> list[Any]:
    function = BY_HAND.get((case.domain, case.operator))
    if function is None:
        raise Refused("not written by hand")
    with np.errstate(all="ignore"):
        outputs = function(case)
    return list(outputs)


WITNESSES: dict[str, Witness] = {
    "onnxruntime": onnxruntime,
    "onnxruntime, earlier version": earlier,
    "by hand": by_hand,
    "torch": torch,
    "definition": decomposed,
}
"""In the order in which they are asked, until one answers."""
