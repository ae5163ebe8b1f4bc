"""What is known to be right of each sample: values called `label`, or `label_NAME`, that the model neither takes nor gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.core.model import Model
from assay.core.note import noted
from assay.core.refusals.data_codes import DataCode
from assay.errors import BadGolden
from assay.models.own_data.raw import Raw
from assay.ports import Tensor

PLAIN, PREFIX = "label", "label_"


def is_label(name: str, model: Model) -> bool:
    """Whether a value of that name is a label, and no tensor of the model."""
    tensors = {spec.name for spec in (*model.inputs, *model.outputs)}
    return name not in tensors and (name == PLAIN or (name.startswith(PREFIX) and len(name) > len(PREFIX)))


def labels_of(raws: Sequence[tuple[Raw, int]], model: Model) -> dict[str, Tensor]:
    """One entry for each sample, in their order, under the names that tasks read (`label_boxes` is `boxes`). `raws` come with the
    number of samples that each holds. Raises BadGolden where some samples have a label and others have not."""
    entries_by_name: dict[str, list[Any]] = {}
    total = 0
    for raw, count in raws:
        for name, value in {**raw.values, **raw.expected}.items():
            if is_label(name, model):
                entries_by_name.setdefault(name, []).extend(_entries(raw, name, value, count))
        total += count
        lacking = next((name for name, entries in entries_by_name.items() if len(entries) != total), None)
        if lacking is not None:
            raise BadGolden(noted(DataCode.LABEL_OF_SOME, where=raw.where, label=lacking))
    return {name.removeprefix(PREFIX): _stacked(name, entries) for name, entries in entries_by_name.items()}


def _entries(raw: Raw, name: str, value: Any, count: int) -> list[Any]:
    array = np.asarray(value)
    if raw.splits and array.ndim and len(array) == count:
        return list(array)
    if count == 1:
        return [array[0] if array.ndim == 1 and len(array) == 1 else array]
    raise BadGolden(noted(DataCode.LABEL_FOR_SAMPLES, where=raw.where, label=name, shape=array.shape, samples=count))


def _stacked(name: str, entries: Sequence[Any]) -> Tensor:
    try:
        array: Tensor = np.stack([np.asarray(entry) for entry in entries])
    except ValueError:
        shape, other, *_ = dict.fromkeys(np.shape(entry) for entry in entries)
        raise BadGolden(noted(DataCode.LABEL_SHAPES, label=name, shape=shape, other=other)) from None
    if array.dtype.kind not in "biuf":
        raise BadGolden(noted(DataCode.LABEL_TYPE, label=name, dtype=str(array.dtype)))
    return array
