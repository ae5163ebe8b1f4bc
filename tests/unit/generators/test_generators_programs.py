"""What a backend is given: a program made from the case, for the sizes that it is fed, which may be wrong before anything is compiled."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from msgspec.structs import replace

from assay.backends.torch.backend import Torch
from assay.core.flow import Flow, Sizes
from assay.core.screening import Screened
from assay.errors import Unsupported
from assay.generators.kept_cases import KeptCases
from assay.generators.screen import _Screener
from assay.models.conversion import convert_to
from assay.plugins import find_flow
from assay.ports import Tensor, Tensors
from assay.ports.generator import GeneratedCase
from assay.testing.faulty_backend import Faulty, FaultyEngine
from screening import OfPrograms, job_of


class _AfterConversion(OfPrograms):
    """Wrong, and in one of two ways: by itself, or because the program that it is given is another one already."""

    def __init__(self, other: Path | None) -> None:
        self._other = other

    def lower(self, model: Path, flow: Flow) -> FaultyEngine:
        engine = super().lower(model, replace(flow, options={"fault": "scale2"}))
        if self._other is not None:
            shutil.copy(self._other, model)
        return engine


@pytest.mark.heavy
@pytest.mark.parametrize("wrongly", [False, True])
def test_what_the_conversion_makes_wrong_is_no_fault_of_the_backend(tmp_path: Path, wrongly: bool) -> None:
    graph = '<ir_version: 8, opset_import: ["" : 17]> g (float[2, 3] x) => (float[2, 3] y) {{ y = {}(x) }}'
    case, other = (onnx.parser.parse_model(graph.format(name)).SerializeToString() for name in ("Sigmoid", "Relu"))
    (tmp_path / "other.onnx").write_bytes(other)
    job = job_of(GeneratedCase(case, {"x": np.ones((2, 3), np.float32)}), tmp_path)
    program = convert_to(tmp_path / "other.onnx", "torch", tmp_path) if wrongly else None
    screener = _Screener(job, _AfterConversion(program), KeptCases(job.kept))
    screener.one(0)
    screening = screener.result()
    assert screening.counts == {Screened.CONVERTED if wrongly else Screened.SUSPECT: 1}
    assert screening.refused == ({"Sigmoid@13 converted": 1} if wrongly else {})
    assert [suspect.kind for suspect in screening.suspects] == ([] if wrongly else ["values"])


class _BuiltForSizes(Faulty):
    """It is told the sizes that it will be fed; one that it cannot be built for it refuses when it runs."""

    needs_sizes = True

    def __init__(self) -> None:
        self.told: list[dict[str, Sizes]] = []

    def lower(self, model: Path, flow: Flow) -> FaultyEngine:
        self.told.append(flow.sample_sizes)
        made = super().lower(model, flow)
        return _TakesNoOddSizes(made._inner, made._options)


class _TakesNoOddSizes(FaultyEngine):
    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        if any(size % 2 for tensor in tensors.values() for size in tensor.shape):
            raise Unsupported("It takes no odd sizes.", cause="other")
        return super().run(tensors)


@pytest.mark.parametrize(("size", "became"), [(2, Screened.RIGHT), (3, Screened.REFUSED)])
def test_a_backend_is_built_for_the_sizes_that_it_is_fed_and_may_refuse_them(
    tmp_path: Path, size: int, became: Screened
) -> None:
    graph = '<ir_version: 8, opset_import: ["" : 17]> g (float[N, 4] x) => (float[N, 4] y) { y = Neg(x) }'
    fed, *others = ({"x": np.ones((rows, 4), np.float32)} for rows in (size, 0, 6))
    case = GeneratedCase(onnx.parser.parse_model(graph).SerializeToString(), fed, tuple(others))
    job = job_of(case, tmp_path)
    screener = _Screener(job, backend := _BuiltForSizes(), KeptCases(job.kept))
    screener.one(0)
    assert screener.result().counts[became] == 1
    assert backend.told[0] == {"x[0]": (1, size, 6), "x[1]": (4, 4, 4)}


@pytest.mark.heavy
def test_what_cannot_be_exported_for_any_size_is_exported_for_the_sizes_that_are_fed(tmp_path: Path) -> None:
    graph = """<ir_version: 8, opset_import: ["" : 17]>
      g (float[T, B, 1] x, float[1, 6, 1] w, float[1, 6, 2] r) => (float[T, D, B, 2] y) { y = GRU<hidden_size = 2>(x, w, r) }"""
    sizes = {"x": (5, 3, 1), "w": (1, 6, 1), "r": (1, 6, 2)}
    fed = {name: np.linspace(-1, 1, np.prod(shape), dtype=np.float32).reshape(shape) for name, shape in sizes.items()}
    job = job_of(GeneratedCase(onnx.parser.parse_model(graph).SerializeToString(), fed), tmp_path)
    screener = _Screener(replace(job, flow=find_flow("torch-eager")), Torch(), KeptCases(job.kept))
    screener.one(0)
    assert screener.result().counts == {Screened.RIGHT: 1}
