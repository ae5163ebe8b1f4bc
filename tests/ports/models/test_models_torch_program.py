"""Exported programs as files: what they keep, and what is refused before torch may read it."""

from __future__ import annotations

import io
import json
import resource
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from assay.core.model import TensorSpec
from assay.errors import BadModel, InvalidModel, Unsupported
from assay.models.conversion import program_to_onnx
from assay.models.files import file_digest
from assay.models.program import describe, open_program, program_digest, save_program
from assay.models.sources import check_source, open_source

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")


class _Two(torch.nn.Module):
    def __init__(self, bias: float = 0.5) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3))
        self.register_buffer("bias", torch.tensor([bias]))

    def forward(self, x: torch.Tensor, *, scale: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"score": x @ self.weight.t() + self.bias, "scaled": x * scale}


def _exported(bias: float = 0.5) -> torch.export.ExportedProgram:
    dims = {"x": {0: torch.export.Dim("rows")}, "scale": None}
    return torch.export.export(_Two(bias), (torch.ones(2, 3),), {"scale": torch.ones(())}, dynamic_shapes=dims)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    torch.export.save(_exported(), tmp_path / "two.pt2")
    return tmp_path / "two.pt2"


def test_a_program_of_another_writer(path: Path) -> None:
    program = open_program(path)
    assert [(spec.name, spec.dtype) for spec in program.inputs] == [("x", "float32"), ("scale", "float32")]
    assert [spec.name for spec in program.outputs] == ["score", "scaled"]
    assert isinstance(program.inputs[0].shape[0], str)
    args, kwargs = program.arguments({"scale": np.array(2, np.float32), "x": np.ones((4, 3), np.float32)})
    results = program.results(program.exported.module()(*args, **kwargs))
    assert results["score"].tolist()[0] == [3.5, 12.5]
    assert results["scaled"].shape == (4, 3)


def test_masks_that_are_joined_bit_by_bit(tmp_path: Path) -> None:
    class Joined(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return ((x > 0) & (x < 2)) | (x == 5)

    torch.export.save(torch.export.export(Joined(), (torch.ones(3),)), tmp_path / "joined.pt2")
    program = open_program(tmp_path / "joined.pt2")
    assert {str(node.target) for node in program.exported.graph.nodes} >= {"aten.__and__.Tensor", "aten.__or__.Tensor"}


def test_names_are_kept(tmp_path: Path) -> None:
    names = (TensorSpec("image/0", "float32", ("batch", 3)), TensorSpec("factor", "float32", ()))
    save_program(_exported(), tmp_path / "named.pt2", names, ["out:0", "out:1"])
    program = open_program(tmp_path / "named.pt2")
    assert program.inputs == names
    assert [(spec.name, spec.shape) for spec in program.outputs] == [("out:0", ("batch", 2)), ("out:1", ("batch", 3))]


class _Half(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.interpolate(x, scale_factor=1.5, mode="bilinear")


def test_sizes_that_are_computed(tmp_path: Path) -> None:
    """Their expressions hold numbers, quoted and with a precision."""
    auto = torch.export.Dim.AUTO
    exported = torch.export.export(_Half(), (torch.ones(2, 1, 4, 6),), dynamic_shapes=({0: auto, 2: auto, 3: auto},))
    torch.export.save(exported, tmp_path / "half.pt2")
    program = open_program(tmp_path / "half.pt2")
    args, kwargs = program.arguments({"x": np.ones((1, 1, 8, 10), np.float32)})
    assert program.results(program.exported.module()(*args, **kwargs))["output"].shape == (1, 1, 12, 15)


def test_the_digest_is_of_graph_and_weights(path: Path, tmp_path: Path) -> None:
    first = program_digest(open_program(path))
    save_program(_exported(), tmp_path / "again.pt2", open_program(path).inputs, ["score", "scaled"])
    assert program_digest(open_program(tmp_path / "again.pt2")) == first
    assert open_source(path).files == {str(path): file_digest(path)}
    torch.export.save(_exported(bias=0.75), tmp_path / "other.pt2")
    assert program_digest(open_program(tmp_path / "other.pt2")) != first


class _Branches(torch.nn.Module):
    def __init__(self, factor: float) -> None:
        super().__init__()
        self.layer, self.factor = torch.nn.Linear(3, 3), factor
        torch.nn.init.constant_(self.layer.weight, 0.5)
        torch.nn.init.constant_(self.layer.bias, 0.25)

    def forward(self, x: torch.Tensor) -> Any:
        return torch.cond(x.sum() > 0, lambda y: self.layer(y), lambda y: y * self.factor, (x,))


def test_the_digest_of_a_program_with_branches_is_kept_in_a_file_and_is_of_its_branches(tmp_path: Path) -> None:
    digests = []
    for factor in (2.0, 2.0, 3.0):
        exported = torch.export.export(_Branches(factor), (torch.ones(2, 3),))
        torch.export.save(exported, tmp_path / "branches.pt2")
        digests += [program_digest(describe(exported)), program_digest(open_program(tmp_path / "branches.pt2"))]
    assert digests[:4] == [digests[0]] * 4
    assert digests[4] == digests[5] != digests[0]


class _Complex(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_a_complex_input_has_no_onnx_form(tmp_path: Path, dtype: torch.dtype) -> None:
    """The exporter makes an input of another shape, pairs, which the same data does not fit."""
    exported = torch.export.export(_Complex(), (torch.ones(2, 3, dtype=dtype),))
    torch.export.save(exported, tmp_path / "complex.pt2")
    with pytest.raises(Unsupported, match="makes pairs of real numbers of the complex"):
        program_to_onnx(tmp_path / "complex.pt2", tmp_path / "complex.onnx")


def _changed(path: Path, change: Callable[[str, bytes], bytes | None]) -> Path:
    """A copy of the archive with members changed, or left out."""
    changed = path.with_name("changed.pt2")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            data = change(name, old.read(name))
            if data is not None:
                new.writestr(name, data)
    return changed


class _Trap:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return (Path.touch, (self.mark,))


def test_example_inputs_that_bring_code(path: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    buffer = io.BytesIO()
    torch.save(((_Trap(mark),), {}), buffer)
    changed = _changed(path, lambda name, data: buffer.getvalue() if "sample_inputs" in name else data)
    with pytest.raises(InvalidModel, match="example inputs that are more than tensors"):
        open_program(changed)
    assert not mark.exists()


def test_weights_that_bring_code(path: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    buffer = io.BytesIO()
    torch.save(_Trap(mark), buffer)

    def change(name: str, data: bytes) -> bytes:
        if name.endswith("model_weights_config.json"):
            config = json.loads(data)
            config["config"]["weight"]["use_pickle"] = True
            return json.dumps(config).encode()
        return buffer.getvalue() if name.endswith("weights/weight_0") else data

    with pytest.raises(InvalidModel, match="'weight' as a pickle"):
        open_program(_changed(path, change))
    assert not mark.exists()


@pytest.mark.parametrize("spelled", [str, str.upper], ids=["same", "case"])
def test_a_second_entry_of_one_name_that_brings_code(path: Path, tmp_path: Path, spelled: Callable[[str], str]) -> None:
    """torch 2.13 reads the first, and zipfile, by which it is checked, the last."""
    mark = tmp_path / "ran"
    buffer = io.BytesIO()
    torch.save(_Trap(mark), buffer)
    twice = path.with_name("twice.pt2")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(twice, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("model_weights_config.json"):
                config = json.loads(data)
                config["config"]["weight"]["use_pickle"] = True
                new.writestr(spelled(name), json.dumps(config))
            with warnings.catch_warnings(action="ignore"):  # of a duplicate name
                new.writestr(name, buffer.getvalue() if name.endswith("weights/weight_0") else data)
    with pytest.raises(InvalidModel, match="twice"):
        open_program(twice)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("torch.ops.aten.matmul.default", "torch.os.system", "no operator of torch"),
        ("torch.ops.aten.matmul.default", "torch.load", "no operator of torch"),
        ("torch.ops.aten.matmul.default", "_operator.attrgetter", "no operator of torch"),
        ("torch.ops.aten.matmul.default", "torch.ops.aten.__and__.__class__", "no operator of torch"),
        ("torch.ops.aten.matmul.default", "torch.ops.aten.__getattr__.Tensor", "no operator of torch"),
        ("Symbol(", "__import__('os').system(", "no size"),
        ("Symbol(", "exec(", "no size"),
    ],
)
def test_a_graph_that_brings_code(path: Path, old: str, new: str, said: str) -> None:
    seen = []

    def change(name: str, data: bytes) -> bytes:
        if "/models/" not in name:
            return data
        seen.append(old in data.decode())
        return data.decode().replace(old, new).encode()

    changed = _changed(path, change)
    assert seen == [True]
    with pytest.raises(InvalidModel, match=said):
        open_program(changed)


def test_compiled_code_in_a_program(path: Path) -> None:
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("two/data/aotinductor/model/model.so", b"\x7fELF")
    with pytest.raises(InvalidModel, match="compiled code"):
        open_program(path)


def test_files_that_are_no_programs(path: Path, tmp_path: Path) -> None:
    noise, pickle, cut, empty = (tmp_path / f"{name}.pt2" for name in ("noise", "pickle", "cut", "empty"))
    noise.write_bytes(b"no archive" * 10)
    torch.save({"weight": torch.ones(2)}, pickle)
    cut.write_bytes(path.read_bytes()[:2000])
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr("readme", "nothing")
    for file, said in [
        (noise, "not an archive"),
        (pickle, "pickle of torch.save"),
        (cut, "not an archive"),
        (empty, "0 graphs"),
    ]:
        with pytest.raises(InvalidModel, match=said):
            open_program(file)
    damaged = _changed(path, lambda name, data: data[: len(data) // 2] if "/models/" in name else data)
    with pytest.raises(InvalidModel, match="damaged"):
        open_program(damaged)
    lost = _changed(path, lambda name, data: None if name.endswith("weight_0") else data)
    with pytest.raises(InvalidModel, match="export the model again"):
        open_program(lost)


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.pt2"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/models/model.json", "{}")
        with archive.open("archive/data/sample_inputs/model.pt", "w") as entry:
            for _ in range(520):
                entry.write(bytes(2**20))
    with pytest.raises(InvalidModel, match="unpacks to 54"):
        open_program(bomb)


@pytest.mark.parametrize("name", ["model.pt", "model.pth", "model.ckpt"])
def test_pickles_are_refused_unread(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\x80\x02.")
    with pytest.raises(BadModel, match=r"is a pickle, which runs code .* torch\.export\.save as \.pt2"):
        check_source(tmp_path / name)


def test_a_disk_that_takes_no_more_is_told(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            save_program(_exported(), tmp_path / "two.pt2", [], [])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
