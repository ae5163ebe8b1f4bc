"""Which worker may use which GPU: counted, nothing else. Who measures has a GPU to itself."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.device import Gpu

VARIABLE = "CUDA_VISIBLE_DEVICES"
_LEASED = ("cuda", "gpu")


def gpus_needed(device: str) -> int:
    """How many a machine must have for a flow of that device: `cuda` any one, `cuda:1` two, `cpu` none."""
    kind, _, number = device.partition(":")
    if kind not in _LEASED:
        return 0
    return int(number) + 1 if number.isdecimal() else 1


class Leases:
    """GPUs of this machine, lent to workers. `exclusive`: one worker each; else the least used one, shared."""

    def __init__(self, gpus: Sequence[Gpu], *, exclusive: bool) -> None:
        self._names = [gpu.visible for gpu in gpus]
        self._uses = dict.fromkeys(self._names, 0)
        self._exclusive = exclusive

    def wants(self, device: str) -> bool:
        """Whether a flow of that device (`cuda`, `cuda:1`) needs a lease: not where there is nothing to lend."""
        return bool(self._names) and gpus_needed(device) > 0

    def take(self, device: str) -> str | None:
        """The name of a GPU for `CUDA_VISIBLE_DEVICES`; None where all that may serve are in use.

        A number in `device` pins the GPU. One that this machine does not have is not waited for: it is lent as it is, and
        the backend says that there is none.
        """
        _, _, number = device.partition(":")
        if number:
            chosen = self._names[int(number)] if number.isdecimal() and int(number) < len(self._names) else number
        else:
            chosen = min(self._names, key=lambda name: self._uses[name])
        if self._exclusive and self._uses.get(chosen, 0):
            return None
        self._uses[chosen] = self._uses.get(chosen, 0) + 1
        return chosen

    def give_back(self, name: str) -> None:
        """The worker that had it is gone."""
        self._uses[name] -= 1
