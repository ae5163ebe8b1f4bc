"""The exporter's table of ONNX functions: the same as torch's own, once a process."""

from __future__ import annotations

from typing import Any

import pytest

from installed import needs

pytestmark = needs("torch", "onnxscript")


def test_the_table_is_the_same_and_is_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from onnxscript._internal.values import TracedOnnxFunction
    from torch.onnx._internal.exporter._registration import ONNXRegistry

    from assay.suites.exporter_registry import remember_registry

    plain, whole = ONNXRegistry.from_torchlib(), vars(TracedOnnxFunction)["function_ir"]
    monkeypatch.setattr(ONNXRegistry, "from_torchlib", ONNXRegistry.from_torchlib)
    read: list[str] = []

    def reading(function: Any) -> Any:
        read.append(function.name)
        return whole.fget(function)

    monkeypatch.setattr(TracedOnnxFunction, "function_ir", property(reading))
    remember_registry()
    quick = ONNXRegistry.from_torchlib()
    assert quick is ONNXRegistry.from_torchlib()
    newer = ONNXRegistry.from_torchlib(opset_version=23)
    assert newer is ONNXRegistry.from_torchlib(opset_version=23)
    assert (quick.opset_version, newer.opset_version) == (plain.opset_version, 23)
    assert read == []
    assert vars(TracedOnnxFunction)["function_ir"].fget is reading
    assert len(plain.functions) > 300
    assert plain.functions.keys() == quick.functions.keys()
    for target, known in plain.functions.items():
        assert [(overload.onnx_function, overload.signature, overload.is_complex) for overload in known] == [
            (overload.onnx_function, overload.signature, overload.is_complex) for overload in quick.functions[target]
        ]


def test_the_domain_is_that_which_the_source_says() -> None:
    import onnxscript.function_libs.torch_lib.ops  # noqa: F401
    from onnxscript.function_libs.torch_lib.registration import default_registry

    from assay.suites.exporter_registry import domains_alone

    functions = [overload for _, named in default_registry.items() for overload in named.overloads][::12]
    said = [function.function_ir.domain for function in functions]
    with domains_alone():
        assert [function.function_ir.domain for function in functions] == said


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_programs_become_the_same_files() -> None:
    import torch

    from assay.suites.exporter_registry import remember_registry

    class Small(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.gelu(x).sum(-1)

    program = torch.export.export(Small(), (torch.ones(2, 4),), strict=False)

    def exported() -> bytes:
        made = torch.onnx.export(program, (), dynamo=True, verbose=False, verify=False, opset_version=18)
        assert made is not None
        return bytes(made.model_proto.SerializeToString())

    plain = exported()
    with pytest.MonkeyPatch.context() as patched:
        from torch.onnx._internal.exporter._registration import ONNXRegistry

        patched.setattr(ONNXRegistry, "from_torchlib", ONNXRegistry.from_torchlib)
        remember_registry()
        assert exported() == exported() == plain
