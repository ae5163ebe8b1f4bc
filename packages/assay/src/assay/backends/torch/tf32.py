"""TF32 on CUDA: torch (2.9 to 2.13) lets cuDNN's convolutions and recurrent layers use it unasked, and matrix products not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from assay.core.engine_info import NumericDefault
from assay.core.flow import Option
from assay.ports import OptionSpec

OPTION = OptionSpec(
    "tf32",
    "default",
    ("default", "on", "off"),
    "TF32 in products of float32 on CUDA; default: as torch chooses (convolutions and recurrent layers)",
)
_VALUES = {"on": "tf32", "off": "ieee"}
_CUDNN = ("convolution", "aten.conv", "cudnn", "aten.lstm", "aten.gru", "aten.rnn")


@contextmanager
def tf32_as_asked(options: Mapping[str, Option]) -> Iterator[None]:
    """torch's settings as the option says, put back afterwards; nothing on the CPU, and where torch chooses."""
    chosen = _VALUES.get(str(options["tf32"]))
    if chosen is None or options["device"] == "cpu":
        yield
        return
    settings = _settings()
    before = [setting.fp32_precision for setting in settings]
    for setting in settings:
        setting.fp32_precision = chosen
    try:
        yield
    finally:
        for setting, value in zip(settings, before, strict=True):
            setting.fp32_precision = value


def tf32_defaults(options: Mapping[str, Option], operators: Iterable[tuple[str, str]]) -> tuple[NumericDefault, ...]:
    """Of an engine with these operators (name, type of the result): TF32 where torch chose it."""
    if options["device"] == "cpu" or options["tf32"] != "default":
        return ()
    taken = any(kind == "float32" and any(word in name for word in _CUDNN) for name, kind in operators)
    if not taken or _settings()[0].fp32_precision != "tf32":
        return ()
    return (NumericDefault("cudnn.conv.fp32_precision", "tf32", "coarse-products", OPTION.name, "off"),)


def _settings() -> tuple[Any, ...]:
    import torch

    backends: Any = torch.backends
    return backends.cudnn.conv, backends.cudnn.rnn, backends.cuda.matmul
