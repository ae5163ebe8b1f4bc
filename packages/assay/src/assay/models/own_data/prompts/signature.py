"""What a causal language model takes and gives, by the names that exporters use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from assay.core.dtype import numpy_dtype
from assay.core.model import Model, TensorSpec
from assay.core.note import noted
from assay.core.refusals.data_codes import DataCode
from assay.errors import BadGolden
from assay.models.own_data.state import proposed
from assay.ports import Tensor

IDS, MASK, POSITIONS, LOGITS = "input_ids", "attention_mask", "position_ids", "logits"


@dataclass(frozen=True)
class Signature:
    """`state` maps each output of the cache to its input; `batched` says whether a call takes several prompts."""

    model: Model
    state: Mapping[str, str]
    batched: bool

    @property
    def masked(self) -> bool:
        """Whether it can be told which tokens are padding."""
        return MASK in _inputs(self.model)

    @property
    def vocabulary(self) -> int:
        """How many tokens there are; 0 where the model does not say."""
        last = next(spec for spec in self.model.outputs if spec.name == LOGITS).shape[-1:]
        return last[0] if last and isinstance(last[0], int) else 0

    def call(self, ids: Tensor, mask: Tensor, *, first: bool) -> dict[str, Tensor]:
        """The inputs of a call with new tokens `ids` (batch, new) behind others; `mask` (batch, all) is 0 for padding. The `first`
        call brings an empty cache; the others take what the call before gave."""
        specs = _inputs(self.model)
        positions = np.maximum(np.cumsum(mask, axis=1) - 1, 0)[:, -ids.shape[1] :]
        values = {IDS: ids, MASK: mask, POSITIONS: positions}
        feeds = {name: value.astype(numpy_dtype(specs[name].dtype)) for name, value in values.items() if name in specs}
        if first:
            feeds |= {name: _empty(specs[name], specs[IDS], len(ids)) for name in self.state.values()}
        return feeds


def signature_of(model: Model, state: Mapping[str, str]) -> Signature:
    """Raises BadGolden where the model is no causal language model that prompts can be fed to."""
    specs = _inputs(model)
    if IDS not in specs or not any(spec.name == LOGITS for spec in model.outputs):
        outputs = tuple(output.name for output in model.outputs)
        raise BadGolden(noted(DataCode.NO_LANGUAGE_MODEL, model=model.name, inputs=tuple(specs), outputs=outputs))
    cache = dict(state) or proposed(model)
    other = [name for name in specs if name not in (IDS, MASK, POSITIONS, *cache.values())]
    if other:
        raise BadGolden(noted(DataCode.INPUT_NOT_OF_PROMPTS, model=model.name, input=other[0]))
    shape = specs[IDS].shape
    if len(shape) != 2 or isinstance(shape[1], int):
        raise BadGolden(noted(DataCode.FIXED_LENGTH, model=model.name, shape=shape))
    return Signature(model, cache, not isinstance(shape[0], int))


def _inputs(model: Model) -> dict[str, TensorSpec]:
    return {spec.name: spec for spec in model.inputs}


def _empty(spec: TensorSpec, ids: TensorSpec, batch: int) -> Tensor:
    """A cache of no position: the axis that is named like that of the batch is as long as it, the other free one 0."""
    name = ids.shape[0]
    free = [axis for axis, size in enumerate(spec.shape) if isinstance(size, str)]
    rows = [axis for axis in free if spec.shape[axis] == name] or free[:-1]
    shape = [size if isinstance(size, int) else batch if axis in rows else 0 for axis, size in enumerate(spec.shape)]
    return np.zeros(shape, numpy_dtype(spec.dtype))
