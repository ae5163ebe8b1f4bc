"""Jobs and files for nodes that do not see the driver's disk: by a folder as a store, and without Ray."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from assay.core.case import Case, Inputs
from assay.core.job import CompareSpeedJob, InspectJob, RegionJob, VerifyJob
from assay.core.model import Model, TensorSpec
from assay.core.outcome import Outcome
from assay.core.result import VerifyResult
from assay.core.speed import BaselineEngine
from assay.core.wire import decode_job
from assay.errors import BlobLost, WorkerFailed
from assay.launch.ray.far_nodes import FarNodes
from assay.launch.ray.messages import Batch, Parcel, pack_results, unpack_batch
from assay.launch.ray.travelling import KnownFiles, TravellingFile, open_store, weights_beside
from assay.models.tolerance_file import coarse_of
from assay.testing.builders import make_flow, make_result


class FarNode:
    """What an agent does with its files."""

    def __init__(self, folder: Path, store: Path) -> None:
        self.base = str(folder)
        self.files = KnownFiles(open_store(str(store)), lambda path: Path(f"{folder}{path}"))

    def at(self, path: Path) -> Path:
        return Path(f"{self.base}{path}")


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FarNode:
    (tmp_path / "project" / ".assay" / "scratch" / "r").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    return FarNode(tmp_path / "node", tmp_path / "store")


@pytest.fixture
def far(tmp_path: Path, node: FarNode) -> FarNodes:
    return FarNodes(str(tmp_path / "store"))


def _job(folder: Path) -> VerifyJob:
    """Of a model beside the command, a golden that is named as a user does, and answers in the history. A tensor has a name like a path."""
    tensor = TensorSpec("/layer/Relu_output_0", "float32", (2,))
    model = Model("m", "m.onnx", "d", inputs=(tensor,))
    history = folder / ".assay"
    return VerifyJob(
        Case("m.onnx", model, Inputs(golden="golden")),
        make_flow(),
        reference_dir=str(history / "oracle" / "a"),
        tolerance_dir=str(history / "oracle" / "a-tolerance"),
        scratch=str(history / "scratch" / "r"),
    )


def _write(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(path.name.encode())


def test_a_job_finds_its_files_on_a_node(node: FarNode, far: FarNodes) -> None:
    here = Path.cwd()
    job = _job(here)
    _write(
        here / "m.onnx",
        here / "golden" / "0.npz",
        here / ".assay" / "oracle" / "a" / "golden.lock",
        here / "other.onnx",
    )
    parcel = far.parcel([job], node.base, Parcel((), alone=False))
    node.files.fetch(parcel.files)
    there = {str(path.relative_to(node.at(here))) for path in node.at(here).rglob("*") if path.is_file()}
    assert there == {"m.onnx", "golden/0.npz", ".assay/oracle/a/golden.lock"}
    sent = decode_job(parcel.jobs[0])
    assert isinstance(sent, VerifyJob)
    assert sent.case == job.case, "a name is no path, whatever it looks like"
    assert sent.reference_dir == f"{node.base}{job.reference_dir}"
    assert (sent.key, sent.scratch) == (job.key, f"{node.base}{job.scratch}")
    assert parcel.folders == (job.scratch,)


def test_the_model_of_a_baseline_goes_along(node: FarNode, far: FarNodes) -> None:
    _write(Path("new.onnx"), Path("old.onnx"))
    old, new = (Model(name, f"{name}.onnx", "d") for name in ("old", "new"))
    job = CompareSpeedJob(Case("m", new), make_flow(), baseline=BaselineEngine("old", make_flow(), old))
    files = far.parcel([job], node.base, Parcel((), alone=False)).files
    assert {Path(file.path).name for file in files} == {"new.onnx", "old.onnx"}


def test_the_modules_of_a_function_go_along(node: FarNode, far: FarNodes) -> None:
    _write(Path("nets/__init__.py"), Path("other.py"))
    Path("nets/__init__.py").write_text("")
    Path("nets/sizes.py").write_text("SIZE = 4")
    Path("helper.py").write_text("raise SystemExit('nobody imports it here')")
    Path("nets/small.py").write_text("import torch\nfrom .sizes import SIZE\n\ndef net():\n    import helper\n")
    job = InspectJob(Case("m", Model("m", "nets.small:net", "d")))
    files = far.parcel([job], node.base, Parcel((), alone=False)).files
    assert {str(Path(file.path).relative_to(Path.cwd())) for file in files} == {
        *("nets/__init__.py", "nets/small.py", "nets/sizes.py", "helper.py")
    }


def _modules(node: FarNode, far: FarNodes, function: str) -> set[str]:
    files = far.parcel([InspectJob(Case("m", Model("m", function, "d")))], node.base, Parcel((), alone=False)).files
    return {str(Path(file.path).relative_to(Path.cwd())) for file in files}


def test_a_plain_folder_of_an_imported_name_is_a_package_without_a_file(node: FarNode, far: FarNodes) -> None:
    _write(Path("onnx/a.onnx"), Path("data/labels.py"), Path("data/unused.py"))
    Path("data/labels.py").write_text("NAMES = ['cat']")
    Path("net.py").write_text("import onnx\nimport onnx.helper\nfrom data import labels\nimport size\n")
    Path("size.py").write_text("SIZE = 4")
    assert _modules(node, far, "net:make") == {"net.py", "data/labels.py", "size.py"}
    assert _modules(node, far, "data.labels:make") == {"data/labels.py"}


@pytest.mark.parametrize("code", ["def make(:", "x = '\0'", f"x = {'-' * 20_000}1"])
def test_a_module_that_is_no_code_goes_along(node: FarNode, far: FarNodes, code: str) -> None:
    """There Python says why."""
    Path("net.py").write_text("import broken\nimport size\n")
    Path("broken.py").write_text(code)
    Path("size.py").write_text("SIZE = 4")
    assert _modules(node, far, "net:make") == {"net.py", "broken.py", "size.py"}
    assert _modules(node, far, "broken:make") == {"broken.py"}


def test_a_module_that_was_edited_is_read_again(node: FarNode, far: FarNodes) -> None:
    Path("size.py").write_text("SIZE = 4")
    Path("net.py").write_text("def make(): pass")
    assert _modules(node, far, "net:make") == {"net.py"}
    Path("net.py").write_text("import size")
    assert _modules(node, far, "net:make") == {"net.py", "size.py"}


def test_a_job_that_names_nothing_is_as_it_was(node: FarNode, far: FarNodes) -> None:
    job = InspectJob(Case("m", Model("m", "gone.onnx", "")))
    parcel = far.parcel([job], node.base, Parcel((), alone=False))
    assert (decode_job(parcel.jobs[0]), parcel.files, parcel.folders) == (job, (), ())


def test_what_a_job_wrote_is_on_the_driver_and_nothing_else_travels(node: FarNode, far: FarNodes) -> None:
    job = _job(Path.cwd())
    _write(Path("m.onnx"), Path(job.reference_dir) / "golden.lock")
    parcel = far.parcel([job], node.base, Parcel((), alone=False))
    node.files.fetch(parcel.files)
    _write(node.at(Path(job.tolerance_dir)) / "tolerance.json", node.at(Path(job.scratch)) / "much")
    written = node.files.changed(parcel.watched[job.key])
    assert [file.path for file in written] == [f"{job.tolerance_dir}/tolerance.json"]
    result = replace(make_result("m.onnx"), log=f"{node.base}{job.scratch}/x: cannot be opened")
    (came,) = far.results(unpack_batch(pack_results([result], written)), node.base)
    assert (Path(job.tolerance_dir) / "tolerance.json").read_text() == "tolerance.json"
    assert isinstance(came, VerifyResult)
    assert came.log == f"{job.scratch}/x: cannot be opened", "people read the paths of their own machine"
    assert not node.files.changed(parcel.watched[job.key]), "once"
    coarse = coarse_of(job.tolerance_dir)
    _write(node.at(Path(coarse)) / "tolerance.json")
    assert [file.path for file in node.files.changed(parcel.watched[job.key])] == [f"{coarse}/tolerance.json"]
    # Of the next job the driver knows what it has: nothing of it is brought again.
    again = far.parcel([job], node.base, Parcel((), alone=False))
    assert {file.path for file in again.files} >= {file.path for file in written}


def test_a_file_that_changed_is_brought_again(node: FarNode, far: FarNodes) -> None:
    job = _job(Path.cwd())
    for content in (b"one", b"three"):
        Path("m.onnx").write_bytes(content)
        node.files.fetch(far.parcel([job], node.base, Parcel((), alone=False)).files)
        assert node.at(Path.cwd() / "m.onnx").read_bytes() == content


def test_the_key_of_a_job_that_is_made_of_paths_is_that_of_the_driver(node: FarNode, far: FarNodes) -> None:
    case = Case("m", Model("m", "m.onnx", "d"))
    values, scratch = (str(Path.cwd() / ".assay" / "scratch" / "r" / name) for name in ("values", "own"))
    job = RegionJob(case, make_flow(), values_dir=values, windows=((0, 1),), scratch=scratch)
    parcel = far.parcel([job], node.base, Parcel((), alone=False))
    far_key = decode_job(parcel.jobs[0]).key
    assert far_key != job.key
    (came,) = far.results(unpack_batch(pack_results([replace(make_result("m"), job_key=far_key)])), node.base)
    assert came.job_key == job.key


@pytest.mark.parametrize("path", ["/etc/passwd", "{here}/../outside"])
def test_a_node_writes_nothing_that_no_job_names(node: FarNode, far: FarNodes, path: str) -> None:
    far.parcel([_job(Path.cwd())], node.base, Parcel((), alone=False))
    file = TravellingFile(path.format(here=Path.cwd()), "0" * 64, 3)
    with pytest.raises(WorkerFailed, match="which no job names: nothing of it was taken"):
        far.results(Batch((), (file,)), node.base)


def test_a_file_that_the_store_lost_is_no_file(node: FarNode, far: FarNodes, tmp_path: Path) -> None:
    Path("m.onnx").write_bytes(b"a model")
    parcel = far.parcel([_job(Path.cwd())], node.base, Parcel((), alone=False))
    for blob in (tmp_path / "store").rglob("*"):
        if blob.is_file():
            blob.write_bytes(b"another")
    with pytest.raises(BlobLost):
        node.files.fetch(parcel.files)
    assert not node.at(Path.cwd() / "m.onnx").exists()


def test_files_of_weights_are_found_by_their_names_alone(tmp_path: Path) -> None:
    import numpy as np
    import onnx
    from onnx import numpy_helper

    weights = numpy_helper.from_array(np.ones((64, 64), np.float32), "w")
    graph = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 21]> g (float[2,64] x) => (float[2,64] y) { y = Relu (x) }'
    )
    graph.graph.initializer.append(weights)
    onnx.save(graph, str(tmp_path / "m.onnx"), save_as_external_data=True, location="m.weights", size_threshold=0)
    (tmp_path / "other.weights").write_bytes(b"of another model")
    assert weights_beside(str(tmp_path / "m.onnx")) == [str(tmp_path / "m.weights")]
    (tmp_path / "whole.onnx").write_bytes(b"")
    assert weights_beside(str(tmp_path / "whole.onnx")) == []


def test_messages_are_read_as_they_were_written() -> None:
    batch = unpack_batch(pack_results([make_result("m")], [TravellingFile("/a", "0" * 64, 1)]))
    assert (len(batch.results), batch.files[0].path) == (1, "/a")
    assert msgspec.msgpack.decode(batch.results[0])


def _answer(node: FarNode, detail: str) -> VerifyResult:
    result = replace(make_result(kind="verify"), outcome=Outcome.ERROR, detail=detail)
    return replace(result, detail=detail.replace("HERE", f"{node.base}{Path.cwd()}"))


def test_a_file_that_was_not_sent_is_named_by_its_path_here(node: FarNode, far: FarNodes) -> None:
    _write(Path("data/words.txt"))
    answer = _answer(node, "No such file or directory: 'HERE/data/words.txt'")
    (result,) = far.results(Batch(unpack_batch(pack_results([answer])).results), node.base)
    assert (result.outcome, result.detail.partition(" was")[0]) == (Outcome.UNAVAILABLE, "data/words.txt")


def test_a_file_that_went_to_another_node_was_not_sent_to_this_one(node: FarNode, far: FarNodes) -> None:
    _write(Path("data/words.txt"), Path("net.onnx"))
    for name, base in (("data/words.txt", "/other"), ("net.onnx", node.base)):
        far.parcel([InspectJob(Case("m", Model("m", name, "d")))], base, Parcel((), alone=False))
    batch = Batch(unpack_batch(pack_results([_answer(node, "No such file: 'data/words.txt'")])).results)
    outcomes = [far.results(batch, base)[0].outcome for base in (node.base, "/other")]
    assert outcomes == [Outcome.UNAVAILABLE, Outcome.ERROR]


def test_files_that_are_to_be_sent_go_along_with_each_job(node: FarNode, tmp_path: Path) -> None:
    _write(Path("m.onnx"), Path("data/words.txt"))
    far = FarNodes(str(tmp_path / "store"), ["data/words.txt"])
    files = far.parcel([InspectJob(Case("m", Model("m", "m.onnx", "d")))], node.base, Parcel((), alone=False)).files
    assert {Path(file.path).name for file in files} == {"m.onnx", "words.txt"}
    missed = _answer(node, "No such file or directory: 'data/words.txt'")
    (result,) = far.results(Batch(unpack_batch(pack_results([missed])).results), node.base)
    assert result.outcome is Outcome.ERROR, "it was sent, so that something else is wrong"
