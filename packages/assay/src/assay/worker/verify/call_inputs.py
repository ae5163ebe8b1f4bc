"""What an engine is fed, call after call: the same values, in memory that begins at another place each time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from assay.ports import Tensor
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.inputs.memory_layout import with_layout
from assay.worker.verify.same_bytes import same_bytes

LINE_BYTES = 64
"""Where vector instructions and caches begin."""
_KEPT_BYTES = 32 * 2**20
"""Of inputs that are kept ready for the next call."""

Feed = dict[str, Tensor]


class Feeds:
    """Inputs of samples as the rewritten model takes them. What the engine is given is never what it is compared with."""

    def __init__(self, rewritten: TransformedModel, inputs: Sequence[Mapping[str, Tensor]], layout: str) -> None:
        self._rewritten, self._inputs, self._layout = rewritten, inputs, layout
        self._pristine: dict[int, Feed] = {}
        self._ready: dict[tuple[int, int], Feed] = {}
        self._kept = 0

    def at(self, sample: int, offset: int = 0) -> Feed:
        """The sample, `offset` bytes behind a boundary of 64; an offset within an element is that of one element."""
        if (sample, offset) in self._ready:
            return self._ready[sample, offset]
        pristine = self._of(sample)
        if self._layout:
            return with_layout({name: array.copy() for name, array in pristine.items()}, self._layout)
        fresh = {name: _placed(array, offset) for name, array in pristine.items()}
        if self._room(fresh):
            self._ready[sample, offset] = fresh
        return fresh

    def written(self, sample: int, offset: int, feed: Feed) -> list[str]:
        """The inputs of a feed that the engine has written into; the next feed of the sample is as it should be."""
        pristine = self._of(sample)
        changed = [name for name, array in pristine.items() if not same_bytes(feed[name], array)]
        if changed:
            self._ready.pop((sample, offset), None)
        return changed

    def _of(self, sample: int) -> Feed:
        if sample in self._pristine:
            return self._pristine[sample]
        (made,) = self._rewritten.fed([self._inputs[sample]])
        if self._room(made):
            self._pristine[sample] = made
        return made

    def _room(self, feed: Feed) -> bool:
        size = sum(array.nbytes for array in feed.values())
        if self._kept + size > _KEPT_BYTES:
            return False
        self._kept += size
        return True


def _placed(array: Tensor, offset: int) -> Tensor:
    """A copy in memory of its own, `offset` bytes (at least an element, where it is not 0) behind a boundary."""
    if array.dtype.hasobject or not array.nbytes:
        return array.copy()
    behind = -(-offset // array.dtype.itemsize) * array.dtype.itemsize
    memory = np.empty(array.nbytes + LINE_BYTES + behind, np.uint8)
    begin = -memory.__array_interface__["data"][0] % LINE_BYTES + behind
    placed = memory[begin : begin + array.nbytes].view(array.dtype).reshape(array.shape)
    placed[...] = array
    return placed
