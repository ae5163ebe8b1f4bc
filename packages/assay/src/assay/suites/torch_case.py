"""A case authored once as a torch module: a value, so that the driver can list thousands without importing torch."""

from __future__ import annotations

import msgspec

from assay.core.case import Case, Contract, Inputs
from assay.core.digest import value_digest
from assay.core.model import Model, TensorSpec

Attribute = None | bool | int | float | str | tuple[int | float, ...]


class RandomArg(msgspec.Struct, frozen=True):
    """One input: `kind` says how its values are drawn (see `assay.suites.random_tensors`), `values` gives them outright."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    kind: str = "normal"


class TorchCase(msgspec.Struct, frozen=True):
    """`module` is an expression for a torch.nn.Module (called `m`), or `package.module:factory`; `call` an expression over
    `m`, the inputs and the attributes; `dtype` that of the weights. `published`: NaN, constant and empty answers are
    meant. `layout` is that of `core.case.Inputs`. `source` is the digest of whatever code outside this value decides what is computed."""

    name: str
    call: str
    inputs: tuple[RandomArg, ...]
    module: str = ""
    attributes: dict[str, Attribute] = {}
    dtype: str = "float32"
    published: bool = False
    source: str = ""
    dynamic: bool = False
    layout: str = ""


class MakeRequest(msgspec.Struct, frozen=True):
    """What crosses to the process that makes cases."""

    case: TorchCase
    seed: int
    folder: str


class MakeAnswer(msgspec.Struct, frozen=True):
    """The model that was made, or why there is none. `program` is the same as torch exported it, where `model` is not that
    itself. `final`: asking again would give the same answer."""

    model: Model | None = None
    program: Model | None = None
    reason: str = ""
    final: bool = True


def key_of(case: TorchCase, seed: int, versions: dict[str, str]) -> str:
    """Where a made case lies in the cache: by everything that decides its bytes."""
    return value_digest((case, seed, versions))


def listed(case: TorchCase, seed: int) -> Case:
    """The case before it is made: its inputs are known, its file is not."""
    specs = tuple(TensorSpec(random_arg.name, random_arg.dtype, random_arg.shape) for random_arg in case.inputs)
    return Case(
        name=case.name,
        model=Model(case.name.partition("/")[2], "", "", inputs=specs),
        inputs=Inputs(seed=seed, samples=1, layout=case.layout),
        # NaN, infinity and sizes of nothing are no noise: there is nothing to derive a tolerance from.
        contract=Contract(published=case.published, tolerance="default" if case.published else "derived"),
    )
