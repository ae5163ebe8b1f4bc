"""One model with one recipe of inputs and its precision contract."""

from __future__ import annotations

import math

import msgspec

from assay.core.data import Data
from assay.core.error_case import ErrorCase
from assay.core.input_plan import InputRange
from assay.core.model import Model
from assay.core.note import Note, noted
from assay.core.refusals.usage_codes import UsageCode
from assay.errors import UsageError

LARGEST = 2**63 - 1
"""What msgpack, ONNX and numpy agree to call a whole number."""


class Tolerance(msgspec.Struct, frozen=True):
    """What a user allows for one output: `|actual - expected| <= atol + rtol * |expected|`. None: the default of the contract."""

    rtol: float | None = None
    atol: float | None = None

    def __post_init__(self) -> None:
        for name in ("rtol", "atol"):
            value = getattr(self, name)
            if value is not None and not 0.0 <= value < math.inf:
                raise UsageError(noted(UsageCode.NEGATIVE, name=name, value=value))


class Contract(msgspec.Struct, frozen=True):
    """The precision a flow promises, and what a user allows on top.

    `precision` is the coarsest type in which the flow may multiply; outputs are judged against its unit roundoff.
    `tolerances` maps an output name (or `*`) to explicit limits; `task_metric` names what users mean by "same answer"
    (classification, detection, segmentation), if anything beyond the tensors. `published` says that the reference is
    the answer by definition (a conformance case): a NaN, a constant or an empty output in it is what is asked for.
    `tolerance` is what an output without explicit limits is judged by: derived, default, torch, onnx, or fixed:RTOL,ATOL.
    """

    precision: str = "float32"
    tolerances: dict[str, Tolerance] = {}
    task_metric: str | None = None
    task_metric_options: dict[str, str | int | float | bool] = {}
    published: bool = False
    tolerance: str = "derived"


class Inputs(msgspec.Struct, frozen=True):
    """Where the inputs come from: a golden folder (stored samples), or a seed (`golden` empty).

    `calibration` samples are kept for transforms that need them and are not judged on such flows (0: a quarter of the
    golden set, 128 at most). `dims` gives (least, usual, most) of symbolic dimensions, `input[2]` for one without a name: flows
    that claim dynamic shapes are run at these sizes besides, or at those in `sizes` where there are some, on random inputs.
    `ranges` are what a user states of the values of inputs, in place of what the graph says. `fill` is how they are drawn:
    normal, or exact (small whole numbers, on which sums of products are exact in any order). `layout` is how they lie in
    memory when the engine is fed: "" in order, strided (the first axis innermost, every second element), channels-last.
    `resampled`: where the golden set has one sample only, flows are calibrated on resamplings of its values; else refused.
    `data` are inputs as a user has them, until they were read; `given` is the folder that inputs without expected outputs
    were put into then, like a golden without outputs: the reference answers them. `fewer`: nobody said how many samples, and
    fewer are drawn of a model that takes long for one.
    """

    golden: str = ""
    seed: int = 0
    samples: int = 4
    batch: int = 1
    calibration: int = 0
    dims: dict[str, tuple[int, int, int]] = {}
    fill: str = "normal"
    layout: str = ""
    resampled: bool = False
    given: str = ""
    data: Data | None = None
    sizes: dict[str, tuple[int, ...]] = {}
    ranges: dict[str, InputRange] = {}
    fewer: bool = False

    def __post_init__(self) -> None:
        for name in ("seed", "samples", "batch", "calibration"):
            if not -LARGEST - 1 <= getattr(self, name) <= LARGEST:
                raise UsageError(noted(UsageCode.NOT_64_BITS, name=name, value=str(getattr(self, name))))


class Original(msgspec.Struct, frozen=True):
    """The model that a case's model is to be still, after it was exported, rewritten, quantized or upgraded.

    `model` has an empty source where only its `golden` is known: a folder of inputs and answers recorded for it ("": its
    reference answers are computed). `inputs` and `outputs` map names of the new model to those of the original;
    `without` are outputs of the original that the new model does not have. `precision` is the coarsest type that the new model
    computes or stores weights in and the original does not, or float32. `notes` say what was converted or left out.
    """

    model: Model
    golden: str = ""
    inputs: dict[str, str] = {}
    outputs: dict[str, str] = {}
    without: tuple[str, ...] = ()
    precision: str = "float32"
    notes: tuple[Note, ...] = ()


class Case(msgspec.Struct, frozen=True):
    """What is asked of a flow. `name` is unique inside a run; `misuse` is an exception scenario, for verify jobs only; `uses`
    how often it occurs where it was found, by which reports weigh it; `body` is another model that must give the same
    answers, the body of the function that the standard defines the model's operator by: each is the other's oracle;
    `program` the same model as torch exported it, for flows that read programs: None, they convert `model`; `original` the
    model that this one is to be still: None, nobody asks."""

    name: str
    model: Model
    inputs: Inputs = Inputs()
    contract: Contract = Contract()
    misuse: ErrorCase | None = None
    uses: int = 1
    body: Model | None = None
    program: Model | None = None
    original: Original | None = None
