"""The sentences of what rooms that run in a worker refuse: a table for each room."""

from __future__ import annotations

from assay.judge.refusals.availability_text import AVAILABILITY
from assay.judge.refusals.backend_text import BACKENDS
from assay.judge.refusals.conversion_text import CONVERSION
from assay.judge.refusals.data_text import DATA
from assay.judge.refusals.endpoint_text import ENDPOINTS
from assay.judge.refusals.golden_text import GOLDENS
from assay.judge.refusals.model_text import MODELS
from assay.judge.refusals.task_metric_text import TASK_METRICS
from assay.judge.refusals.transform_text import TRANSFORMS
from assay.judge.refusals.usage_text import USAGE
from assay.judge.refusals.worker_text import WORKER

REFUSAL_TEXTS: dict[str, str] = (
    WORKER
    | CONVERSION
    | TRANSFORMS
    | MODELS
    | DATA
    | GOLDENS
    | AVAILABILITY
    | BACKENDS
    | ENDPOINTS
    | USAGE
    | TASK_METRICS
)
