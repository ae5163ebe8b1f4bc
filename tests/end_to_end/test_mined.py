"""The operators of a user's own models: taken apart, deduplicated, counted, and run each for itself."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from assay.errors import UsageError
from assay.suites.mined_operators import Mined
from assay.testing.suite_checks import check_suite
from command_line import run_assay


@pytest.fixture(autouse=True)
def cache(own_cache: Path) -> None:
    pass


def _model(path: Path, kinds: Sequence[str] = ("Relu", "Relu", "Mul", "Mul")) -> Path:
    """A chain over a symbolic batch; each Mul has a weight of its own, the loop at the end a body."""
    nodes, tensors, here = [], [], "x"
    for place, kind in enumerate(kinds):
        inputs = [here]
        if kind == "Mul":
            inputs.append(f"w{place}")
            tensors.append(numpy_helper.from_array(np.arange(4, dtype=np.float32) + place, inputs[-1]))
        nodes.append(helper.make_node(kind, inputs, [f"t{place}"], name=f"node{place}"))
        here = f"t{place}"
    then = helper.make_graph(
        [helper.make_node("Neg", [here], ["n"])], "b", [], [helper.make_tensor_value_info("n", 1, None)]
    )
    nodes.append(helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=then))
    graph = helper.make_graph(
        nodes, "chain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4]),
         helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 4])], tensors,
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), str(path))
    return path


def test_equal_operators_are_one_case_that_knows_its_uses(tmp_path: Path) -> None:
    suite = Mined(f"{_model(tmp_path / 'a.onnx')},{_model(tmp_path / 'b.onnx', ('Relu', 'Tanh'))}")
    check_suite(suite, at_least=3, made=3)
    case_by_kind = {case.name.partition("/")[2].partition("-")[0]: case for case in suite.cases(seed=0)}
    assert {kind: case.uses for kind, case in case_by_kind.items()} == {"Relu": 3, "Mul": 2, "Tanh": 1}
    assert case_by_kind["Mul"].model.inputs[0].shape == (3, 4)
    assert suite.left_out() == ("2 x If: it has a body of its own",)


def test_a_sparse_weight_is_mined_as_the_dense_one(tmp_path: Path) -> None:
    path = _model(tmp_path / "a.onnx", ["Relu", "Mul"])
    model = onnx.load(path)
    dense = model.graph.initializer.pop()
    values = numpy_helper.from_array(numpy_helper.to_array(dense), dense.name)
    places = numpy_helper.from_array(np.arange(4), "at")
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [4]))
    onnx.save(model, path)
    assert sorted(case.name.partition("/")[2].partition("-")[0] for case in Mined(str(path)).cases(seed=0)) == [
        "Mul",
        "Relu",
    ]


def test_a_model_that_changed_is_mined_again_and_one_that_is_not_there_is_told(tmp_path: Path) -> None:
    path = _model(tmp_path / "a.onnx")
    assert len(list(Mined(str(path)).cases(seed=0))) == 2
    _model(path, ("Relu", "Exp", "Sqrt"))
    assert len(list(Mined(str(path)).cases(seed=0))) == 3
    with pytest.raises(UsageError, match=r"there is no model nothing\.onnx"):
        Mined("nothing.onnx")


def test_they_run_and_are_weighted_by_use(tmp_path: Path) -> None:
    _model(tmp_path / "a.onnx")
    words = ["run", "mined:a.onnx", "--flow", "onnxruntime", "--report", "suite-markdown=out.md"]
    done = run_assay(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 of 2 jobs passed" in done.stdout
    assert "| onnxruntime | 4 | 100.0 % |" in (tmp_path / "out.md").read_text()


def test_a_file_that_is_no_model_is_the_users_mistake_told_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "junk.onnx").write_bytes(b"junk")
    with pytest.raises(UsageError, match=r"^\S*junk\.onnx is truncated or not ONNX: [^\n]* \(4 bytes\)[^\n]*$"):
        list(Mined(str(tmp_path / "junk.onnx")).cases(seed=0))


def test_a_smaller_model_mined_after_a_larger_one_is_no_suite_that_shrank(tmp_path: Path) -> None:
    large, small = _model(tmp_path / "a.onnx"), _model(tmp_path / "b.onnx", ("Relu",))
    for path in (large, small):
        done = run_assay("run", "--flow", "onnxruntime", "--history", str(tmp_path / "history"), f"mined:{path}")
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_programs_and_what_factories_build_are_taken_apart_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "built.py").write_text(
        "import torch\n"
        "def net():\n"
        "    torch.manual_seed(0)\n"
        "    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 4), torch.nn.ReLU())\n"
        "    return net.eval(), (torch.ones(2, 3),)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    make = "import torch, built; net, given = built.net(); torch.export.save(torch.export.export(net, given), 'own/net.pt2')"
    (tmp_path / "own").mkdir()
    subprocess.run([sys.executable, "-c", make], cwd=tmp_path, check=True)
    listings = []
    for source in ("built:net", str(tmp_path / "own" / "net.pt2"), str(tmp_path / "own")):
        suite = Mined(source)
        cases = list(suite.cases(seed=0))
        listings.append(sorted((case.name.partition("-")[0], case.uses) for case in cases))
        assert list(suite.cases(seed=0)) == cases
    assert listings[0] == listings[1] == listings[2] == [("mined/Gemm", 1), ("mined/Gemm", 1), ("mined/Relu", 2)]
    with pytest.raises(UsageError, match="built"):
        list(Mined("built:nothing").cases(seed=0))
