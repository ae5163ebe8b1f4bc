"""`python -m assay.suites.build_onnx_node INDEX`: collect the node cases through onnx's Python interface, once."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.core.case import Case, Contract, Inputs, Tolerance
from assay.core.digest import sha256_bytes
from assay.errors import BadModel
from assay.models.flatten import flatten
from assay.models.goldens import write_golden
from assay.models.model_precision import readable_coarse_types
from assay.models.onnx_file import describe, open_model
from assay.suites.cache import write_index


def main() -> None:
    index = Path(sys.argv[1])
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # onnx computes some cases with overflow on purpose
        test_cases = load_model_tests(kind="node")
    write_index(
        index,
        [_case(test_case, index.parent) for test_case in sorted(test_cases, key=lambda test_case: test_case.name)],
    )


def _case(test: Any, root: Path) -> Case:
    """Files of one case below a folder named by the digest of its model, and the case. One data set each since 1.0."""
    data = test.model.SerializeToString(deterministic=True)
    folder = root / "cases" / f"{test.name}-{sha256_bytes(data)[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "model.onnx"
    path.write_bytes(data)
    try:
        model = open_model(path)
    except BadModel:  # onnx's own checker refuses some of onnx's own cases: what a backend says of them is the question
        model = describe(path)
    model = msgspec.structs.replace(model, name=test.name)
    sides = [
        [_named(values, test.model, kind) for values, kind in zip(pair, ("input", "output"), strict=True)]
        for pair in test.data_sets
    ]
    write_golden(
        folder / "golden",
        model=model,
        inputs=[inputs for inputs, _ in sides],
        outputs=[outputs for _, outputs in sides],
        seed=0,
        producer="onnx",
        producer_version=_version(),
        who="onnx",
        reason="published with the node case",
        created_at="",
        coarse=readable_coarse_types(path),
    )
    return Case(
        name=f"onnx-node/{test.name}",
        model=model,
        inputs=Inputs(golden=str(folder / "golden"), samples=len(sides)),
        contract=Contract(tolerances={"*": Tolerance(test.rtol, test.atol)}, published=True),
    )


def _named(values: Any, model: Any, side: str) -> dict[str, np.ndarray[Any, Any]]:
    """The tensors of one side by the names of the graph: by place, as onnx's runner pairs them."""
    names = [value.name for value in getattr(model.graph, side)]
    tensors: dict[str, np.ndarray[Any, Any]] = {}
    for name, value in zip(names, values, strict=False):
        tensors |= flatten(name, _value(value))
    return tensors


def _value(value: Any) -> Any:
    from onnx import TensorProto, numpy_helper

    if isinstance(value, TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, list | tuple):
        return [_value(element) for element in value]
    return value


def _version() -> str:
    import onnx

    return str(onnx.__version__)


if __name__ == "__main__":
    main()
