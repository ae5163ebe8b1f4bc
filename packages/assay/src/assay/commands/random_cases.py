"""Random inputs beside a golden: an engine may be right on the samples that were kept, and wrong on the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from assay import plugins
from assay.core.case import Inputs
from assay.errors import UsageError
from assay.models.sources import source_name
from assay.options.check import CheckOptions
from assay.pipeline.request import ModelRequest

BATCH = 2
"""In a batch of one, nobody sees an item that was left over from another."""
SUFFIX = "-random"


def with_random_samples(models: Sequence[ModelRequest], options: CheckOptions) -> tuple[ModelRequest, ...]:
    """Behind each model that asks for it a case of its own, verified against the model in double. Raises UsageError where
    there is no golden to draw beside."""
    asked = [
        one if options.random_samples is None else replace(one, random_samples=options.random_samples) for one in models
    ]
    if any(one.random_samples for one in asked) and not any(one.random_samples and one.inputs.golden for one in asked):
        raise UsageError(
            "random samples go beside a golden, and there is none: give one, or leave out --random-samples (random-samples in "
            "assay.toml): without a golden all inputs are random, as many as --samples says"
        )
    return tuple(both for one in asked for both in (one, *_drawn(one)))


def _drawn(model: ModelRequest) -> tuple[ModelRequest, ...]:
    """Flows that are calibrated on the golden are left out: other inputs lie beyond the range that they were promised."""
    flows = tuple(one for one in model.flows if not any(map(plugins.is_calibrated, one.transforms)))
    if not model.random_samples or not model.inputs.golden or not flows:
        return ()
    inputs = Inputs(seed=model.inputs.seed, samples=model.random_samples, batch=BATCH, fill=model.inputs.fill)
    contract = msgspec.structs.replace(model.contract, task_metric=None, task_metric_options={})
    name = f"{model.name or source_name(model.path)}{SUFFIX}"
    return (replace(model, name=name, flows=flows, inputs=inputs, contract=contract, random_samples=0, verified=True),)
