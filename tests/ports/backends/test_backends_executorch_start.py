"""What ExecuTorch does not import or export for a job that has no use for it, and that nothing else is another for it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from assay.backends.executorch import patches as executorch_patches
from assay.backends.executorch.backend import ExecuTorch
from assay.backends.executorch.patches import memory_saving_export, minimal_import
from assay.core.model import TensorSpec
from assay.models.program import save_program

_XNNPACK = next(flow for flow in ExecuTorch.flows if flow.name == "executorch-xnnpack")
_LOAD = """
import sys
from pathlib import Path
import numpy as np
from assay.backends.executorch.backend import ExecuTorch
backend = ExecuTorch()
flow = next(flow for flow in backend.flows if flow.name == "executorch-xnnpack")
backend.prepare_to_load()
print(sorted({"executorch.exir", "torch._dynamo", "torch._decomp", "torchao"} & set(sys.modules)))
print(*backend.load(Path(sys.argv[1]), flow).run({"x": np.array([-1, 2], np.float32)})["y"])
from executorch.runtime import Runtime
print("quantized_decomposed::quantize_per_channel.out" in Runtime.get().operator_registry.operator_names)
print("torch._decomp" in sys.modules)
"""


class Relu(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)


class Doubled(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)


class Attention(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mask = torch.zeros(4, 4)
        return torch.nn.functional.scaled_dot_product_attention(x, torch.tanh(x), torch.relu(x), attn_mask=mask)


def program(module: torch.nn.Module, shape: Sequence[int], path: Path) -> Path:
    exported = torch.export.export(module, (torch.ones(*shape),), strict=False)
    return save_program(exported, path, [TensorSpec("x", "float32", tuple(shape))], ["y"])


def test_a_process_that_loads_imports_no_compiler(tmp_path: Path) -> None:
    """That it lowers all the same is a part of what `check_backend` asks."""
    ExecuTorch().prepare()
    made = program(Relu(), (2,), tmp_path / "relu.pt2")
    saved = tmp_path / "saved"
    saved.mkdir()
    ExecuTorch().lower(made, _XNNPACK).save(saved)
    done = subprocess.run(
        [sys.executable, "-c", _LOAD, str(saved)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[]", "0.0 2.0", "True", "False"]


_COUNT = "from torch._decomp import meta_table; print(len(meta_table), flush=True)"
_EACH = f"""
import os, sys
from assay.backends.executorch.patches import import_torch
import_torch()
import torch
print("torch._meta_registrations" in sys.modules, flush=True)
for use in sys.argv[1:]:
    if not (child := os.fork()):
        exec(use)
        {_COUNT}
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, use
"""
"""Of a process that imports torch once, one for each use."""


def told(code: str, *arguments: str) -> list[str]:
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_who_needs_the_rules_for_tensors_without_data_has_them() -> None:
    """By a module of torch that is imported then, or by a name that torch never imports where it uses it."""
    uses = (
        "torch.broadcast_shapes((1,), (3,))",
        "import torch._decomp.decompositions",
        "import torch._meta_registrations",
        "torch.vmap(torch.sin)(torch.ones(3))",
    )
    first, *counts = told(_EACH, *uses)
    assert first == "False"
    assert dict(zip(uses, counts, strict=True)) == dict.fromkeys(uses, *told(f"import torch; {_COUNT}"))


def test_a_bare_package_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "heavy" / "part"
    inner.mkdir(parents=True)
    (tmp_path / "heavy" / "__init__.py").write_text("")
    (inner / "__init__.py").write_text("loaded = True\n")
    (inner / "light.py").write_text("value = 3\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with minimal_import("heavy.part"):
        import heavy.part.light as light  # type: ignore[import-not-found]

        assert light.value == 3
        assert not hasattr(sys.modules["heavy.part"], "loaded")
    assert not [module for module in sys.modules if module.startswith("heavy.part")]
    import heavy.part  # type: ignore[import-not-found]

    assert heavy.part.loaded
    with minimal_import("heavy.part"):
        assert sys.modules["heavy.part"] is heavy.part
    assert sys.modules["heavy.part"] is heavy.part
    with pytest.raises(ModuleNotFoundError, match=r"heavy\.other"), minimal_import("heavy.other"):
        pass


def graph(operators: int) -> Any:
    nodes = [SimpleNamespace(op="placeholder"), *[SimpleNamespace(op="call_function")] * operators]
    return SimpleNamespace(graph=SimpleNamespace(nodes=nodes))


def test_patterns_are_looked_for_where_they_fit() -> None:
    patterns = SimpleNamespace(get=lambda: ["pattern"])
    calling = memory_saving_export(lambda self, module: patterns.get(), patterns, "get", list)
    assert [calling(None, graph(count)) for count in (0, 3, 4, 40)] == [[], [], ["pattern"], ["pattern"]]
    assert patterns.get() == ["pattern"]


@pytest.mark.parametrize(
    ("module", "shape", "looked"),
    [(Relu(), (2,), False), (Doubled(), (1, 3, 4, 4), False), (Attention(), (1, 2, 4, 8), True)],
)
def test_artifacts_are_those_of_executorch_itself(
    module: torch.nn.Module, shape: Sequence[int], looked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = ExecuTorch()
    backend.prepare()
    from executorch.backends.xnnpack.partition.graphs.bilinear_2d import _get_bilinear_2d_graphs

    def asked() -> int:
        known = (
            _get_bilinear_2d_graphs.cache_info()
        )  # to make them takes longer than the test: they stay for the next one
        return known.hits + known.misses

    made = program(module, shape, tmp_path / "made.pt2")
    before = asked()
    engine = backend.lower(made, _XNNPACK)
    assert bool(asked() - before) == looked
    monkeypatch.setattr(executorch_patches, "FEWEST", 0)
    before = asked()
    plain = backend.lower(made, _XNNPACK)
    assert asked() > before
    for place, built in enumerate((engine, plain)):
        (tmp_path / str(place)).mkdir()
        built.save(tmp_path / str(place))
    assert (tmp_path / "0" / "model.pte").read_bytes() == (tmp_path / "1" / "model.pte").read_bytes()
    x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    np.testing.assert_array_equal(engine.run({"x": x})["y"], plain.run({"x": x})["y"])
