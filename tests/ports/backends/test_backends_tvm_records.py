"""Tuned records as an option of TVM's flow. `tvm_records/make.py` wrote the database that is read here."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from assay.backends.tvm.backend import TVM
from assay.core.flow import Flow
from assay.core.native_warning import WarningCode
from assay.errors import UsageError

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:tvm", "ignore::DeprecationWarning")

_RECORDS = Path(__file__).parent / "tvm_records"
_VALUES = np.random.default_rng(0).normal(size=(64, 256)).astype(np.float32)


def _model(path: Path, operator: str = "Relu") -> Path:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [64, 256]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node(operator, ["x"], ["y"])], "one", values[:1], values[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def _flow(folder: Path, **more: str) -> Flow:
    return Flow(name="tuned", backend="tvm", options={"records": str(folder), **more})


def test_a_kernel_has_the_schedule_of_its_record_and_the_same_answer(tmp_path: Path) -> None:
    model = _model(tmp_path / "relu.onnx")
    assert "MetaScheduleApplyDatabase" in TVM().passes_run(model, _flow(_RECORDS))
    engine = TVM().lower(model, _flow(_RECORDS))
    assert np.array_equal(engine.run({"x": _VALUES})["y"], np.maximum(_VALUES, 0))
    engine.save(tmp_path)
    loaded = TVM().load(tmp_path, _flow(_RECORDS))
    assert [engine_at.facts().options["records"] for engine_at in (engine, loaded)] == ["1 of 1 kernels"] * 2
    assert "records" not in TVM().lower(model, Flow(name="x", backend="tvm")).facts().options


def test_what_was_read_is_no_warning(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    TVM().lower(_model(tmp_path / "relu.onnx"), _flow(_RECORDS))
    assert TVM().read_warnings("".join(capfd.readouterr())) == ()


def test_a_kernel_without_a_record_is_a_warning_that_names_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [64, 256]) for name in ("x", "y", "z")]
    nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Tan", ["x"], ["z"])]
    graph = helper.make_graph(nodes, "two", values[:1], values[1:])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "two.onnx"
    )
    engine = TVM().lower(tmp_path / "two.onnx", _flow(_RECORDS))
    assert engine.facts().options["records"] == "1 of 2 kernels"
    (warning,) = TVM().read_warnings("".join(capfd.readouterr()))
    assert (warning.code, warning.node) == (WarningCode.FALLBACK, "tir_tan")


def test_records_of_which_none_fits_are_told(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"option .records. is .*, which knows none of the 1 kernels of this model; tune"
    ):
        TVM().lower(_model(tmp_path / "exp.onnx", "Exp"), _flow(_RECORDS))


@pytest.mark.parametrize("more", [{"target": "cuda"}, {"optimization": "none"}])
def test_records_are_of_an_optimized_engine_of_this_processor_alone(more: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="with target=llvm, optimization=full only"):
        TVM().lower(_model(tmp_path / "relu.onnx"), _flow(_RECORDS, **more))


@pytest.mark.parametrize("name", ["database_workload.json", "database_tuning_record.json"])
@pytest.mark.parametrize("text", ["", "\n", "{", "[]", "[1, 2]", '["x", "!!"]', None])
def test_a_damaged_database_is_told_and_ends_no_process(name: str, text: str | None, tmp_path: Path) -> None:
    folder = tmp_path / "records"
    shutil.copytree(_RECORDS, folder)
    if text is None:
        (folder / name).unlink()
    else:
        (folder / name).write_text(text)
    with pytest.raises(
        UsageError, match=f"option .records.(: {folder}/{name}| is {folder}, which this TVM cannot read)"
    ):
        TVM().lower(_model(tmp_path / "relu.onnx"), _flow(folder))
