"""What the fixture `flow` gives to people's own tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import plugins
from assay.core.verdict import VerdictStatus
from assay.errors import UsageError
from assay.judge.words.missing_text import missing_text
from assay.models.module_export import export_module
from assay.pipeline.open_run import Checked


class FlowUnderTest:
    """A flow and a folder of its own. `name` is the flow's."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._folder = folder

    def unavailable(self) -> str:
        """Why the flow cannot run here, and the command that would change it; "" where it can."""
        flow = plugins.find_flow(self.name)
        here = plugins.load(plugins.BACKENDS, flow.backend)().availability()
        return missing_text(here)

    def check(
        self,
        model: Any,
        inputs: Mapping[str, Any] | Sequence[Any] | None = None,
        *,
        golden: str | Path | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        seed: int = 0,
        samples: int | None = None,
    ) -> Checked:
        """Build, run and compare with the float64 reference of the model, or with a golden.

        `model` is a path, or a torch module or function, exported with `inputs`. `inputs` are arrays by name or in the
        model's order; without them they are drawn from `seed`. Fails the test where the judge says fail, and skips it
        where the flow does not support the model's operators; returns what was observed.
        """
        from assay.commands.check import run_check
        from assay.options.check import CheckOptions
        from assay.options.groups import HERE

        arrays = _arrays(inputs)
        path = Path(model) if isinstance(model, str | Path) else self._exported(model, arrays)
        if arrays is not None and golden is None:
            golden = self._golden(path, arrays)
        checked = run_check(
            CheckOptions(
                models=(path,),
                flows=(self.name,),
                golden=Path(golden) if golden else None,
                only_kind="verify",
                rtol=rtol,
                atol=atol,
                seed=seed,
                samples=samples,
                on=HERE,
                history=str(self._folder / "history"),
            )
        )
        verdict = checked.judgement.verdicts[0]
        if verdict.word is VerdictStatus.SKIP:
            pytest.skip(verdict.reason)
        if verdict.word is not VerdictStatus.PASS:
            pytest.fail(f"{verdict.word.value}: {verdict.reason}", pytrace=False)
        return checked

    def _exported(self, function: Any, arrays: Mapping[str, Any] | Sequence[Any] | None) -> Path:
        if arrays is None:
            raise UsageError("flow.check of a torch module needs the inputs to export it with")
        named = isinstance(arrays, Mapping)
        arguments = list(arrays.values()) if isinstance(arrays, Mapping) else list(arrays)
        path = self._folder / "model.onnx"
        export_module(function, arguments, list(arrays) if named else [f"in{at}" for at in range(len(arguments))], path)
        return path

    def _golden(self, path: Path, arrays: Mapping[str, Any] | Sequence[Any]) -> Path:
        """The reference's outputs on these inputs."""
        from assay.commands.composition import open_services
        from assay.core.case import Inputs
        from assay.core.data import Data
        from assay.core.limits import Limits
        from assay.models.tensors import write_tensors
        from assay.pipeline.goldens import golden
        from assay.pipeline.inspect_models import inspect_models
        from assay.pipeline.request import ModelRequest

        flow = plugins.find_flow("reference")
        with open_services(str(self._folder / "history")) as services:
            inspected = inspect_models([ModelRequest(path=path, flows=(flow,))], Limits(), services)
            (case,) = services.jobs.complete(inspected)
            names = [spec.name for spec in case.model.inputs]
            named = dict(arrays) if isinstance(arrays, Mapping) else dict(zip(names, arrays, strict=True))
            stored = self._folder / "inputs.safetensors"
            write_tensors(stored, {name: np.asarray(array) for name, array in named.items()})
            folder = self._folder / f"golden-{len(list(self._folder.iterdir()))}"
            inputs = Inputs(data=Data(str(stored), expected=False))
            golden.record(path, folder, inputs, flow, "inputs of a test", services, limits=Limits())
        return folder


def _arrays(inputs: Mapping[str, Any] | Sequence[Any] | None) -> Mapping[str, Any] | Sequence[Any] | None:
    """Arrays of numpy, whatever framework they come from."""

    def plain(value: Any) -> Any:
        return value.detach().cpu().numpy() if hasattr(value, "detach") else np.asarray(value)

    if inputs is None:
        return None
    if isinstance(inputs, Mapping):
        return {name: plain(value) for name, value in inputs.items()}
    return [plain(value) for value in inputs]
