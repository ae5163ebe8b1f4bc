"""Writes the two files beside it: a database of MetaSchedule with one record, for Relu of 64 by 256 numbers in TVM 0.27.

It needs apache-tvm-ffi 0.1.14: 0.1.15.post1 and post2 end with SIGSEGV where a kernel is written as JSON.
"""

from __future__ import annotations

from pathlib import Path

import tvm
from onnx import TensorProto, helper
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx
from tvm.s_tir import Schedule
from tvm.s_tir import meta_schedule as ms

TARGET = {"kind": "llvm", "mcpu": "generic", "num-cores": 2}


def main() -> None:
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [64, 256]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", value[:1], value[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    target = tvm.target.Target(TARGET)
    passes = [
        relax.transform.DecomposeOpsForInference(),
        relax.transform.CanonicalizeBindings(),
        relax.get_pipeline("zero"),
    ]
    with target:
        module = tvm.transform.Sequential(passes)(from_onnx(model, keep_params_in_input=False))
    database = ms.database.JSONDatabase(work_dir=str(Path(__file__).parent))
    for task in ms.relax_integration.extract_tasks(module, target):
        kernel = task.dispatched[0]
        schedule = Schedule(kernel)
        _, inner = schedule.get_loops(schedule.get_sblock("compute"))
        schedule.vectorize(schedule.split(inner, [None, 16])[1])
        arguments = ms.arg_info.ArgInfo.from_prim_func(kernel["main"])
        record = ms.database.TuningRecord(schedule.trace, database.commit_workload(kernel), [1e-5], target, arguments)
        database.commit_tuning_record(record)


main()
