"""`zoo.toml` and `scenarios/*.toml`: what a collection asks of a submission. A reviewed file, read once."""

from __future__ import annotations

from datetime import date
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from assay_zoo.allowed_packages import PACKAGES
from assay_zoo.check import EXECUTING


def _inside(path: str) -> str:
    """Raises ValueError."""
    if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
        raise ValueError("must be a folder of the zoo, written from its root: datasets/NAME")
    return path


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FileLimits(_Table):
    """Bytes and counts that a submission may have."""

    total_bytes: int = 2_000_000_000
    file_bytes: int = 1_000_000_000
    files: int = 500


class RunLimits(_Table):
    """What code of a submission may use in the sandbox."""

    seconds: float = 600.0
    memory_bytes: int = 4_000_000_000
    disk_bytes: int = 1_000_000_000
    processes: int = 64


class Waiver(_Table):
    """A finding that is accepted: `check` and `match` (part of its sentence) name it, someone signs, and it expires."""

    model: str
    check: str
    match: Annotated[str, Field(min_length=1)]
    reason: Annotated[str, Field(min_length=1)]
    signed: Annotated[str, Field(min_length=1)]
    expires: date


class Rules(_Table):
    """Groups of checks that must have executed before a promotion, groups whose failure a person looks at, and whether
    a person promotes."""

    required: tuple[str, ...] = EXECUTING
    person: tuple[str, ...] = ()
    human: bool = False


class Measure(_Table):
    """A limit of a scenario on one measured metric of one kind of machine, at batch one and one thread."""

    metric: Literal["latency_ms", "throughput_per_s", "peak_memory_bytes", "size_bytes", "load_s"]
    flow: str = "onnxruntime"
    machine: str = ""
    at_most: float | None = None
    at_least: float | None = None


class Scenario(_Table):
    """A use of a model that the zoo serves: what must be measured, and the least that is accepted. `task` names one of
    Assay's task metrics ("" for none), with `task_options`, by which a claimed accuracy is computed again: on `dataset`, a
    folder of the zoo with `inputs.safetensors` (every input of the model, samples on axis 0) and `labels.safetensors`;
    without one it is the notebook's word. A claim lies within `range`, and gives itself no more tolerance than `largest_tolerance`."""

    name: str
    title: str
    task: str = ""
    task_options: dict[str, str | int | float | bool] = {}
    dataset: Annotated[str, AfterValidator(_inside)] = ""
    metric: str
    direction: Literal["higher", "lower"] = "higher"
    minimum: float | None = None
    range: tuple[float, float] = (0.0, 1.0)
    largest_tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.02
    measures: tuple[Measure, ...] = ()


class ZooPolicy(_Table):
    """A zoo. `flows` run every test data set; `packages` are what scripts and notebooks may import, by the name in the
    import; `opset` and `ir` are the newest that its runtimes read. `owners` of a model may change it without a person's consent: by their
    names at the forge, or as git has them; of a model that is not listed, it is who submitted its first version. Nothing of an author
    who has no model in the zoo is run before a maintainer approved the commit, unless `approved` names the author. With `network` the
    checker asks whether the links of a submission still lead somewhere."""

    name: str
    flows: Annotated[tuple[str, ...], Field(min_length=1)] = ("onnxruntime",)
    licenses: tuple[str, ...] = ("Apache-2.0", "MIT", "BSD-3-Clause")
    packages: tuple[str, ...] = PACKAGES
    domains: tuple[str, ...] = ("", "ai.onnx", "ai.onnx.ml")
    opset: int = 26
    ir: int = 13
    allocation_bytes: int = 4_000_000_000
    loop_trips: int = 1_000_000
    slower: float = 0.05
    files: FileLimits = FileLimits()
    run: RunLimits = RunLimits()
    decision: Rules = Rules()
    waivers: tuple[Waiver, ...] = ()
    owners: dict[str, tuple[str, ...]] = {}
    approved: tuple[str, ...] = ()
    demand_sandbox: bool = True
    network: bool = False
