"""What becomes of a program whose ONNX file cannot be had: refused by the exporter, wrong, or lost by a defect of our own."""

from __future__ import annotations

import errno
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from onnx import TensorProto, helper, save

from installed import needs

pytestmark = needs("torch", "onnxscript")

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")


def _made(folder: Path, function: Any) -> list[str]:
    """The files that are made of a program."""
    import torch

    from assay.suites.build_torch import save_models

    class Small(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return function(x)

    program = torch.export.export(Small(), (torch.ones(2, 4),), strict=False)
    save_models(program, folder, ["x"], ["out0"])
    return sorted(path.name for path in folder.iterdir())


def test_what_the_exporter_refuses_is_a_program_alone(tmp_path: Path) -> None:
    import torch

    assert _made(tmp_path, lambda x: torch.median(x)) == ["model.pt2"]


def test_a_file_that_contradicts_itself_does_not_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    nodes = [helper.make_node("Relu", ["x"], ["out0"])]
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("x", [2, 4]), ("out0", [7]))
    )
    wrong = helper.make_model(helper.make_graph(nodes, "wrong", [x], [y]), opset_imports=[helper.make_opsetid("", 18)])
    gives = SimpleNamespace(save=lambda path: save(wrong, path))
    monkeypatch.setattr(torch.onnx, "export", lambda *_, **__: gives)
    assert _made(tmp_path, torch.relu) == ["model.pt2"]


def test_a_patch_that_breaks_the_exporter_is_not_taken_for_a_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch
    from torch.onnx._internal.exporter._registration import ONNXRegistry

    whole = ONNXRegistry.from_torchlib
    monkeypatch.setattr(ONNXRegistry, "from_torchlib", staticmethod(lambda: whole()))
    with pytest.raises(TypeError, match="opset_version"):
        _made(tmp_path, torch.relu)


def test_what_a_full_disk_or_too_little_memory_prevents_is_asked_again(tmp_path: Path) -> None:
    """Kept for good, the case would be gone for good."""
    from assay.errors import NotWritable
    from assay.suites.build_torch import _answer
    from assay.suites.torch_case import MakeRequest, TorchCase

    def final(*errors: Exception) -> bool:
        def make(asked: MakeRequest, folder: Path) -> None:
            raise errors[0] from (errors[1] if errors[1:] else None)

        return _answer(MakeRequest(TorchCase("own/case", "x + 1", ()), 0, str(tmp_path / "case")), make).final

    full = OSError(errno.ENOSPC, "No space left on device")
    assert not final(full)
    assert not final(RuntimeError("the exporter failed"), full)
    assert not final(NotWritable("golden cannot be written (No space left on device)"))
    assert not final(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"))
    assert final(RuntimeError("median has no ONNX function"))
