"""How a model is deployed."""

from __future__ import annotations

import msgspec

Option = str | int | float | bool


class Flow(msgspec.Struct, frozen=True):
    """Backend + transforms + device + options + environment; `environment` empty means the driver's own.

    `transforms` are `name` or `name:argument`, in order. `dims` are (least, usual, most) of the symbolic dimensions: the
    worker fills them in from the case before it lowers, for backends that build for a range of shapes. `allowances` are
    what it declares beside its precision (`assay.numerics.tolerance.contract.ALLOWANCES`: winograd, fp16-accumulation ...).
    """

    name: str
    backend: str
    options: dict[str, Option] = {}
    transforms: tuple[str, ...] = ()
    device: str = "cpu"
    environment: str = ""
    precision: str = "float32"
    dims: dict[str, tuple[int, int, int]] = {}
    allowances: tuple[str, ...] = ()


def device_of(flow: Flow) -> str:
    """Its kind, `cuda` of `cuda:1`. A backend with an option for it says by that where it runs."""
    return str(flow.options.get("device", flow.device)).partition(":")[0]
