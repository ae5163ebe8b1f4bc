"""What is known of an engine: how it was made, where its operators run, what it says of itself."""

from __future__ import annotations

import msgspec

from assay.core.flow import Option


class Placement(msgspec.Struct, frozen=True):
    """How many operators of one kind ran where, and in which type. `device` is the backend's word (CPUExecutionProvider).

    `role` is `compute`; `fused`, a kernel that stands for several operators of the model; `cast`, which only changes the
    type (QuantizeLinear and DequantizeLinear too); `reformat`, which only changes the layout; "" where the backend
    does not tell.
    """

    operator: str
    device: str
    precision: str
    count: int
    role: str = ""


class AppliedTransform(msgspec.Struct, frozen=True):
    """One transform as it was carried out: `name:argument`, the version of the library that did it, the digest of the model
    it wrote. `samples` are the samples it was calibrated with, by their index in the golden set (or in the stream of
    the seed), drawn with `seed`; none of them is judged."""

    transform: str
    version: str = ""
    digest: str = ""
    samples: tuple[int, ...] = ()
    seed: int = 0


class NumericDefault(msgspec.Struct, frozen=True):
    """A setting of the backend that nobody asked for and that changes numbers, with the value that the engine has. `effect` is a code of
    `assay.judge.words.default_names`. `option` and `off` are the option of the flow, and its value, that turn it off ("" where none
    does). `cures`: whether the answers are right without it, asked where they were wrong; None: not tried, or it failed."""

    name: str
    value: str
    effect: str
    option: str = ""
    off: Option = ""
    cures: bool | None = None


class WeightSparsity(msgspec.Struct, frozen=True):
    """One weight: its elements, how many of them are zero (its zero point, where it is quantized), and whether at least two of every four
    terms of a sum are."""

    name: str
    elements: int
    zeros: int
    two_of_four: bool = False


class Sparsity(msgspec.Struct, frozen=True):
    """Of all stored weights that a model multiplies with; `two_of_four` counts the elements of those with the 2:4 pattern. `weights`
    are those with the largest share of zeros."""

    elements: int
    zeros: int
    two_of_four: int = 0
    weights: tuple[WeightSparsity, ...] = ()


class EngineInfo(msgspec.Struct, frozen=True):
    """What the engine really is, as far as the backend tells.

    `precision` is the coarsest type that the engine computes in. `delegated` counts the operators (or parts) that a delegate took,
    None for a backend that delegates nothing by design; 0 makes the outcome `undelegated`. `undelegated` names those
    that were left to somebody else, as often as they occur. `weights` counts layers by the type in which the artifact stores
    their weights, where the backend tells. `reused` is the key of the cached artifact that was loaded,
    "" where this job lowered the model itself. `numeric_defaults` are those that apply to this engine. `nodes` is how many nodes the
    model has that it was made of, 0 where that is not known. `sparsity` is that of its weights, as the backend was given them;
    `sparse_kernels` counts kernels that skip zeros, None where the backend does not tell.
    """

    backend_version: str = ""
    artifact_bytes: int = 0
    artifact_digest: str = ""
    precision: str = ""
    placements: tuple[Placement, ...] = ()
    undelegated: tuple[str, ...] = ()
    options: dict[str, str] = {}
    delegated: int | None = None
    transforms: tuple[AppliedTransform, ...] = ()
    reused: str = ""
    weights: dict[str, int] = {}
    numeric_defaults: tuple[NumericDefault, ...] = ()
    nodes: int = 0
    sparsity: Sparsity | None = None
    sparse_kernels: int | None = None
