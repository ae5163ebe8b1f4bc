"""Opening good models: what is described, and what the digest depends on."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from assay.core.model import TensorSpec
from assay.models.files import file_digest
from assay.models.onnx_file import model_digest, open_model

info = helper.make_tensor_value_info


def save(path: Path, nodes: list[onnx.NodeProto], inputs: list, outputs: list, **more: object) -> Path:
    model_options = {"opset_imports": [helper.make_opsetid("", 21), helper.make_opsetid("mine", 3)], "ir_version": 10}
    model = helper.make_model(helper.make_graph(nodes, "g", inputs, outputs, **more), **model_options)
    path.write_bytes(model.SerializeToString())
    return path


def test_signature_versions_and_digest(tmp_path: Path) -> None:
    x = info("x", TensorProto.FLOAT, ["batch", None, 4])
    x.type.tensor_type.shape.dim.add(dim_value=-1)
    weight = helper.make_tensor("w", TensorProto.FLOAT, [4], [1.0] * 4)
    path = save(
        tmp_path / "net.onnx",
        [helper.make_node("Mine", ["x", "w"], ["y"], domain="mine"), helper.make_node("Cast", ["y"], ["z"], to=16)],
        [x, info("w", TensorProto.FLOAT, [4])],
        [info("z", TensorProto.BFLOAT16, []), info("y", TensorProto.FLOAT, None)],
        initializer=[weight],
    )
    model = open_model(path)
    assert model.inputs == (TensorSpec("x", "float32", ("batch", "?", 4, "?")),), "initializers are no inputs"
    assert model.outputs == (TensorSpec("z", "bfloat16", ()), TensorSpec("y", "float32", ("...",)))
    assert (model.name, model.source, model.nodes, model.ir_version) == ("net", str(path), 2, 10)
    assert model.opsets == {"": 21, "mine": 3}
    assert model.digest == model_digest(path) == hashlib.sha256(path.read_bytes()).hexdigest() == file_digest(path)
    assert model.size_bytes == path.stat().st_size


def test_types_that_are_no_tensors(tmp_path: Path) -> None:
    sequence = helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)
    text = info("t", TensorProto.STRING, [1])
    node = helper.make_node("Mine", ["s", "t"], ["y"], domain="mine")
    model = open_model(save(tmp_path / "net.onnx", [node], [sequence, text], [info("y", TensorProto.INT4, [1])]))
    assert [spec.dtype for spec in (*model.inputs, *model.outputs)] == ["sequence", "string", "int4"]


def external_model(folder: Path) -> Path:
    folder.mkdir()
    weights = []
    for name, location in (("w1", "b.bin"), ("w2", "a.bin")):
        weight = TensorProto(name=name, dims=[4], data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
        weight.external_data.add(key="location", value=location)
        weights.append(weight)
        (folder / location).write_bytes(location.encode().ljust(16))
    nodes = [helper.make_node("Add", ["x", "w1"], ["a"]), helper.make_node("Mul", ["a", "w2"], ["y"])]
    x, y = info("x", TensorProto.FLOAT, ["N", 4]), info("y", TensorProto.FLOAT, ["N", 4])
    return save(folder / "net.onnx", nodes, [x], [y], initializer=weights)


def test_the_digest_covers_external_data(tmp_path: Path) -> None:
    path, same = external_model(tmp_path / "one"), external_model(tmp_path / "two")
    before = open_model(path)
    assert before.digest == model_digest(same), "the same bytes elsewhere are the same model"
    assert before.digest != file_digest(path)
    assert before.size_bytes == path.stat().st_size + 32
    changed = bytearray((tmp_path / "one" / "b.bin").read_bytes())
    changed[3] ^= 1
    (tmp_path / "one" / "b.bin").write_bytes(changed)
    assert model_digest(path) != before.digest


def test_the_files_of_a_model_are_known_where_its_digest_is_not_that_of_one(tmp_path: Path) -> None:
    path = external_model(tmp_path / "one")
    files = [path, path.with_name("a.bin"), path.with_name("b.bin")]
    assert open_model(path).files == {str(file): file_digest(file) for file in files}
    x, y = info("x", TensorProto.FLOAT, ["N", 4]), info("y", TensorProto.FLOAT, ["N", 4])
    assert not open_model(save(tmp_path / "net.onnx", [helper.make_node("Abs", ["x"], ["y"])], [x], [y])).files


def test_opening_changes_no_file(tmp_path: Path) -> None:
    path = external_model(tmp_path / "one")
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    open_model(path)
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


def test_a_subgraph_may_use_what_is_defined_around_it(tmp_path: Path) -> None:
    def branch(name: str) -> onnx.GraphProto:
        return helper.make_graph([helper.make_node("Relu", ["outer"], [name])], name, [], [info(name, 1, ["N"])])

    nodes = [
        helper.make_node("Abs", ["x"], ["outer"]),
        helper.make_node("If", ["c"], ["y"], then_branch=branch("a"), else_branch=branch("b")),
    ]
    path = save(tmp_path / "if.onnx", nodes, [info("x", 1, ["N"]), info("c", 9, [])], [info("y", 1, ["N"])])
    assert [spec.name for spec in open_model(path).inputs] == ["x", "c"]


def test_an_opset_that_backends_lack_is_no_error_here(tmp_path: Path) -> None:
    newest = [helper.make_opsetid("", onnx.defs.onnx_opset_version())]
    body = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [info("x", 1, [1])], [info("y", 1, [1])])
    model = helper.make_model(body, opset_imports=newest, ir_version=onnx.IR_VERSION)
    (tmp_path / "new.onnx").write_bytes(model.SerializeToString())
    assert open_model(tmp_path / "new.onnx").ir_version == onnx.IR_VERSION


def test_the_driver_looks_at_a_large_file_in_little_memory_and_without_onnx(tmp_path: Path) -> None:
    with (tmp_path / "large.onnx").open("wb") as file:
        file.write(b"\x08\x0a")
        file.truncate(300 << 20)
    script = (
        "import sys, pathlib; from assay.models.files import check_model_file, file_digest\n"
        "path = pathlib.Path(sys.argv[1]); check_model_file(path); file_digest(path)\n"
        "assert 'onnx' not in sys.modules and 'numpy' not in sys.modules\n"
        "print(next(l.split()[1] for l in open('/proc/self/status') if l.startswith('VmHWM')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "large.onnx")], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 60_000, "kilobytes of peak resident memory"
