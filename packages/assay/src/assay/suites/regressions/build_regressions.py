"""`python -m assay.suites.regressions.build_regressions INDEX`: models, inputs and right answers, once."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
from onnx import helper, numpy_helper, parser

from assay.core.case import Case, Contract, Inputs
from assay.models.goldens import write_golden
from assay.models.model_precision import readable_coarse_types
from assay.models.onnx_file import open_model
from assay.suites.cache import write_index
from assay.suites.regressions.declare import Numbers, Regression, Spread, tables
from assay.worker.regions.value_files import evaluate

Array = np.ndarray[Any, Any]
IR_VERSION, IR_VERSION_21 = 8, 10
"""Old enough for every backend; types of four bits need the second."""


def main() -> None:
    index = Path(sys.argv[1])
    write_index(index, [_case(table, index.parent / "cases" / table.name) for table in tables()])


def _case(regression: Regression, folder: Path) -> Case:
    folder.mkdir(parents=True, exist_ok=True)
    proto, inputs = model_of(regression)
    path = folder / "model.onnx"
    path.write_bytes(proto.SerializeToString(deterministic=True))
    model = msgspec.structs.replace(open_model(path), name=regression.name)
    write_golden(
        folder / "golden",
        model=model,
        inputs=[inputs],
        outputs=[answers(regression, proto, inputs)],
        seed=0,
        producer="specification",
        producer_version="",
        who=regression.finding,
        reason="what is right was checked by hand",
        created_at="",
        coarse=readable_coarse_types(path),
    )
    return Case(
        name=f"regressions/{regression.name}",
        model=model,
        inputs=Inputs(golden=str(folder / "golden"), samples=1),
        contract=Contract(published=True),
    )


def model_of(regression: Regression) -> tuple[Any, dict[str, Array]]:
    """The model and its inputs."""
    ir = IR_VERSION_21 if regression.opset >= 21 else IR_VERSION
    head = f'<ir_version: {ir}, opset_import: ["" : {regression.opset}]>'
    model = parser.parse_model(f"{head}\nregression {regression.graph}")
    declared = {value.name: value for value in model.graph.input}
    unknown = {*regression.inputs, *regression.constants} - declared.keys()
    assert not unknown, f"{regression.name}: the graph has no {', '.join(sorted(unknown))}"
    for name, numbers in regression.constants.items():
        model.graph.input.remove(declared[name])
        model.graph.initializer.append(numpy_helper.from_array(_array(declared.pop(name), numbers), name))
    onnx.checker.check_model(model)
    return model, {name: _array(value, regression.inputs.get(name, Spread())) for name, value in declared.items()}


def answers(regression: Regression, model: Any, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Of every output, in its declared type."""
    names = [value.name for value in model.graph.output]
    wide = evaluate(model, inputs, names) if names != [*regression.outputs] else {}
    return {
        value.name: _array(value, regression.outputs[value.name])
        if value.name in regression.outputs
        else np.asarray(wide[value.name]).astype(_dtype(value))
        for value in model.graph.output
    }


def _array(value: Any, spread: Numbers | Spread) -> Array:
    shape = tuple(axis.dim_value for axis in value.type.tensor_type.shape.dim)
    size = int(np.prod(shape, dtype=np.int64))
    if isinstance(spread, Spread):
        numbers = np.linspace(spread.low, spread.high, size)[_mixed(size)]
    else:
        numbers = np.resize(np.asarray(spread), size) if size else np.zeros(0)
    dtype = _dtype(value)
    numbers = np.round(numbers) if isinstance(spread, Spread) and dtype.kind in "iu" else numbers
    return np.asarray(numbers.reshape(shape).astype(dtype))


def _mixed(size: int) -> Array:
    """Each place once: steps of about the golden section, prime to the size."""
    step = next(number for number in range(int(size * 0.618) + 1, 2 * size + 2) if np.gcd(number, max(size, 1)) == 1)
    return np.arange(size) * step % max(size, 1)


def _dtype(value: Any) -> np.dtype[Any]:
    return np.dtype(helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type))


if __name__ == "__main__":
    main()
