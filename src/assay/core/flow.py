"""How a model is deployed."""

from __future__ import annotations

import msgspec

Option = str | int | float | bool


class Flow(msgspec.Struct, frozen=True):
    """Backend + transforms + device + options + environment; `environment` empty means the driver's own."""

    name: str
    backend: str
    options: dict[str, Option] = {}
    transforms: tuple[str, ...] = ()
    device: str = "cpu"
    environment: str = ""
    precision: str = "float32"
