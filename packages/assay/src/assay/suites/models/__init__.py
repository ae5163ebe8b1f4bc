"""Whole architectures with seeded weights, reduced in width and mostly in depth; static and, where the batch may vary, dynamic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

import msgspec

from assay.core.case import Case
from assay.models.code_digest import code_digest
from assay.suites.build_cases import build_cases
from assay.suites.torch_case import Attribute, RandomArg, TorchCase, listed

_IMAGE = (RandomArg("x", "float32", (1, 3, 32, 32)),)
_LARGER = (RandomArg("x", "float32", (1, 3, 64, 64)),)
_TOKENS = (RandomArg("x", "int64", (1, 12), "below:50"),)
_WHOLE = (RandomArg("x", "float32", (1, 3, 224, 224)),)
_SENTENCE = (RandomArg("x", "int64", (1, 128), "below:30522"),)


@dataclass(frozen=True)
class Architecture:
    """One line of the table: `factory` in the module `room`, its settings, and what goes in."""

    name: str
    room: str
    factory: str
    inputs: tuple[RandomArg, ...] = _IMAGE
    settings: dict[str, Attribute] = field(default_factory=dict)
    dynamic: bool = True


def _seen(name: str, factory: str = "", **settings: Attribute) -> Architecture:
    return Architecture(name, "vision", factory or name, settings=settings)


TABLE = (
    Architecture("alexnet", "vision", "alexnet", _LARGER),
    _seen("vgg11", "vgg"),
    _seen("resnet18", "resnet", kind="basic"),
    _seen("resnet50", "resnet", kind="bottleneck"),
    _seen("resnext50", "resnet", kind="bottleneck", groups=4),
    _seen("wide_resnet50", "resnet", kind="bottleneck", w=16),
    _seen("densenet"),
    _seen("inception"),
    _seen("mnasnet", "mobilenet", version=1),
    _seen("mobilenet_v2", "mobilenet", version=2),
    _seen("mobilenet_v3", "mobilenet", version=3),
    _seen("efficientnet", "mobilenet", version=4),
    _seen("shufflenet"),
    _seen("squeezenet"),
    _seen("regnet"),
    _seen("convnext"),
    _seen("unet"),
    _seen("deeplab"),
    _seen("detector"),
    _seen("autoencoder"),
    _seen("super_resolution"),
    Architecture(
        "diffusion_block", "vision", "diffusion_block",
        (RandomArg("x", "float32", (1, 16, 8, 8)), RandomArg("y", "float32", (1, 8))), dynamic=False,
    ),
    Architecture("vit", "sequence", "vit"),
    Architecture("swin", "sequence", "swin", dynamic=False),
    Architecture("maxvit", "sequence", "maxvit", dynamic=False),
    Architecture("bert", "sequence", "bert", _TOKENS, dynamic=False),
    Architecture("gpt", "sequence", "gpt", _TOKENS),
    Architecture("llama", "sequence", "llama", _TOKENS),
    Architecture(
        "llama_cached", "sequence", "llama_cached",
        (RandomArg("x", "int64", (1, 1), "below:50"), RandomArg("y", "float32", (1, 2, 6, 8)), RandomArg("z", "float32", (1, 2, 6, 8))),
        dynamic=False,
    ),
    Architecture(
        "t5", "sequence", "t5", (*_TOKENS, RandomArg("y", "int64", (1, 7), "below:50")), dynamic=False,
    ),
    Architecture("conformer", "signal", "conformer", (RandomArg("x", "float32", (1, 20, 16)),)),
    Architecture("wav2letter", "signal", "wav2letter", (RandomArg("x", "float32", (1, 1, 400)),)),
    Architecture("wav2vec", "signal", "wav2vec", (RandomArg("x", "float32", (1, 1, 400)),)),
    Architecture(
        "recommender", "sequence", "recommender",
        (RandomArg("x", "float32", (3, 6)), RandomArg("y", "int64", (3, 4), "below:20"), RandomArg("z", "int64", (3, 4), "below:20")),
        dynamic=False,
    ),
    Architecture("lstm", "signal", "recurrent", (RandomArg("x", "float32", (1, 10, 4)),), {"kind": "lstm"}, dynamic=False),
    Architecture("gru", "signal", "recurrent", (RandomArg("x", "float32", (1, 10, 4)),), {"kind": "gru"}, dynamic=False),
    Architecture("tcn", "signal", "tcn", (RandomArg("x", "float32", (1, 4, 24)),)),
    Architecture("mlp", "sequence", "mlp", (RandomArg("x", "float32", (1, 16)),)),
    Architecture("mixer", "sequence", "mixer", (RandomArg("x", "float32", (1, 9, 16)),)),
    Architecture("resnet50_deep", "deep", "resnet50", _LARGER),
    Architecture("mobilenet_v1", "deep", "mobilenet", _LARGER),
    Architecture("unet4", "deep", "unet4"),
    Architecture("transformer12", "deep", "transformer12", _TOKENS),
    Architecture("rotary12", "deep", "rotary12", _TOKENS),
    Architecture("spatial_transformer", "deep", "spatial_transformer", dynamic=False),
    Architecture("m5", "signal", "m5", (RandomArg("x", "float32", (1, 1, 400)),)),
    Architecture("tagger", "signal", "tagger", _TOKENS, dynamic=False),
    Architecture("crnn", "signal", "crnn", (RandomArg("x", "float32", (1, 3, 16, 24)),), dynamic=False),
)  # fmt: skip

FULL = (
    Architecture("alexnet", "full", "alexnet", _WHOLE),
    Architecture("squeezenet", "full", "squeezenet", _WHOLE),
    Architecture("resnet18", "full", "resnet", _WHOLE, {"counts": (2, 2, 2, 2), "kind": "basic"}),
    Architecture("resnet50", "full", "resnet", _WHOLE, {"counts": (3, 4, 6, 3)}),
    Architecture("resnext50", "full", "resnet", _WHOLE, {"counts": (3, 4, 6, 3), "groups": 32, "base": 4}),
    Architecture("wide_resnet50", "full", "resnet", _WHOLE, {"counts": (3, 4, 6, 3), "base": 128}),
    Architecture("mobilenet_v2", "full", "mobilenet_v2", _WHOLE),
    Architecture("vit_b_16", "full", "vit_b_16", _WHOLE),
    Architecture("bert_base", "full", "bert_base", _SENTENCE),
)
"""As large as published: a gigabyte of memory and minutes for the largest, so that nobody runs them by accident."""


class Models:
    """Conformance: `assay.testing.check_suite`. `Models("full")` is `models:full`: fewer of them, as large as published."""

    name = "models"
    variants = ("full",)
    about = (
        f"{len(TABLE)} architectures with seeded weights, static and dynamic: vision, speech, text, time series; "
        f"models:full: {len(FULL)} as large as published"
    )

    def __init__(self, variant: str = "") -> None:
        self._authored = _full if variant else _reduced
        self.counted_as = f"{self.name}:{variant}" if variant else self.name

    def cases(self, *, seed: int) -> Iterator[Case]:
        """Named `models/ARCHITECTURE-static` and `-dynamic`, or `-full`."""
        for torch_case in self._authored().values():
            yield listed(torch_case, seed)

    def make(self, cases: Sequence[Case], *, workers: int) -> Iterator[tuple[Case, str]]:
        """Exported by torch, with the module itself in float64 as the reference."""
        seed = cases[0].inputs.seed if cases else 0
        return build_cases(self.name, [self._authored()[case.name] for case in cases], seed=seed, workers=workers)


def _batched(inputs: tuple[RandomArg, ...]) -> tuple[RandomArg, ...]:
    """Two of each: torch.export takes a dimension of 0 or 1 for a constant."""
    return tuple(msgspec.structs.replace(random_arg, shape=(2, *random_arg.shape[1:])) for random_arg in inputs)


@cache
def _reduced() -> dict[str, TorchCase]:
    torch_cases = [_case(architecture, "static", architecture.inputs) for architecture in TABLE]
    dynamic = [
        _case(architecture, "dynamic", _batched(architecture.inputs)) for architecture in TABLE if architecture.dynamic
    ]
    opened = [msgspec.structs.replace(torch_case, dynamic=True) for torch_case in dynamic]
    return {torch_case.name: torch_case for torch_case in (*torch_cases, *opened)}


@cache
def _full() -> dict[str, TorchCase]:
    return {
        torch_case.name: torch_case
        for torch_case in (_case(architecture, "full", architecture.inputs) for architecture in FULL)
    }


def _case(architecture: Architecture, size: str, inputs: tuple[RandomArg, ...]) -> TorchCase:
    return TorchCase(
        name=f"models/{architecture.name}-{size}",
        call=f"m({', '.join(drawn.name for drawn in inputs)})",
        inputs=inputs,
        module=f"{__name__}.{architecture.room}:{architecture.factory}",
        attributes=architecture.settings,
        source=code_digest(f"{__name__}.{architecture.room}"),
    )
