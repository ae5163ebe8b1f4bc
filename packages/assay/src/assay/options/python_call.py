"""The keywords of `assay.check(...)`: the options of `assay check`, as Python says them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from assay.options.declaration import Option, rows

if TYPE_CHECKING:
    from assay.core.data import Picture
    from assay.core.flow import Option as Value
    from assay.options.task_metric import MetricChoice


class CheckKeywords(TypedDict, total=False):
    """What each may be. The rows have their defaults and meanings; `measure` is the one keyword that is no option."""

    config: str | Path | None
    flows: Sequence[str]
    options: Mapping[str, Value]
    transforms: Sequence[str]
    reference: str | Path | None
    golden: str | Path | None
    golden_of_another_model: bool
    map_inputs: Mapping[str, str]
    map_outputs: Mapping[str, str]
    inputs: str | Path
    tokenizer: str | Path
    state: Mapping[str, str]
    image: str | Picture | None
    seed: int
    samples: int | None
    batch: int | None
    fill: str
    calibration: int
    dims: Mapping[str, str | int | Sequence[int]]
    input_ranges: Mapping[str, str | Sequence[float]]
    input_values: Mapping[str, str | float | Sequence[float]]
    random_samples: int | None
    task_metric: str | MetricChoice | None
    tolerance: str
    rtol: float | None
    atol: float | None
    baseline: bool
    only: str
    only_kind: str
    per_node: bool
    measure_seconds: float | None
    measure_batches: Sequence[int]
    threads: int | None
    timeout_s: float | None
    derive_timeout_s: float | None
    memory_bytes: int | None
    repeat_share: float | None
    workers: int
    fresh_processes: bool
    on: str
    policy: str | Path
    require: Sequence[str]
    compare_run: str
    reports: Mapping[str, str | Path]
    alerts: str
    history: str | Path
    endpoint: str
    save_inputs: str | Path
    save_outputs: str | Path
    trace: bool
    no_cache: bool
    measure: bool


def signature_of(options: type[Any], keywords: type, returns: str) -> Signature:
    """Models, then each option with its default: what `help()` shows, and what a call is checked against."""
    annotation_texts = {name: _text(annotation) for name, annotation in keywords.__annotations__.items()}
    declared = {row.name: _default(row) for row in rows(options) if not row.argument}
    parameters = [Parameter("models", Parameter.VAR_POSITIONAL, annotation="str | Path")]
    parameters += [
        Parameter(name, Parameter.KEYWORD_ONLY, default=declared.get(name, True), annotation=annotation)
        for name, annotation in annotation_texts.items()
    ]
    return Signature(parameters, return_annotation=returns)


def _default(row: Option) -> object:
    return () if row.type.startswith("tuple[") and row.kind == "" else {} if row.repeatable else row.default


def _text(annotation: Any) -> str:
    return str(getattr(annotation, "__forward_arg__", annotation))
