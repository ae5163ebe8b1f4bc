"""A backend that misbehaves as told: every way in which an engine can fail the gate, on demand.

It runs the model by onnx.reference, or, with `model = "identity"`, returns its first input without opening the file:
then it is cheap enough for hundreds of jobs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from assay.backends.flow_options import resolve_options
from assay.backends.onnx_reference import Reference
from assay.core.engine_info import EngineInfo
from assay.core.flow import Flow, Option
from assay.errors import UsageError
from assay.ports import Availability, Engine, OptionSpec, Tensor, Tensors
from assay.testing import instabilities, synthetic_costs
from assay.testing.acts import ACTS
from assay.testing.faults import ADMITTED, AT_SIZES, LIES, PROCESS_FAULTS, SPOILS, WHEN, Misbehaviour, zero_outputs

_FAULTS = ("none", *PROCESS_FAULTS, *LIES, *AT_SIZES, *SPOILS, *ADMITTED, *instabilities.UNSTEADY)
_STAGES = ("lower", "save", "load", "run")
VERSION = "0"
_IMPORT_FAULT = "ASSAY_FAULTY_IMPORT"
IMPORT_ACT = "ASSAY_FAULTY_IMPORT_ACT"


class Faulty:
    """Conformance: `assay.testing.check_backend`, as long as it is not told to fail.

    `prepare` sees no flow, so the `import` stage is told by the environment: ASSAY_FAULTY_IMPORT holds the fault,
    ASSAY_FAULTY_IMPORT_ACT the act.
    """

    name = "faulty"
    accepts = "onnx"
    dynamic = True
    options = (
        OptionSpec("fault", "none", _FAULTS, "what goes wrong"),
        OptionSpec("stage", "run", _STAGES, "where a fault of the process happens; false answers are always of run"),
        OptionSpec("act", "", ("", *ACTS), "what it does besides, once in each engine, in that stage"),
        OptionSpec(
            "act_when",
            "now",
            WHEN,
            "at once, when its answer is freed (while it is compared, or after), or later by a thread",
        ),
        OptionSpec("act_after_s", 0.0, help="how much later"),
        OptionSpec("once_file", "", help="misbehave only while this file does not exist, and create it first"),
        OptionSpec("model", "reference", ("reference", "identity"), "what it computes when it behaves"),
        OptionSpec("output", "y", help="the name of the output of identity"),
        OptionSpec("seconds", 0.2, help="how long slow sleeps"),
        OptionSpec("leak_bytes", 4 * 2**30, help="where a leak that nobody stops stops growing"),
        OptionSpec("chat_bytes", 4 * 2**20, help="how much chatty writes to stdout, and again to stderr"),
        OptionSpec("claims", "float32", help="the precision that its facts report"),
        OptionSpec("after", 0, help="calls of one engine before a fault of run strikes"),
        *synthetic_costs.OPTIONS,
        *instabilities.OPTIONS,
    )
    flows = (
        Flow(name="faulty", backend="faulty"),
        *(Flow(name=f"faulty-{fault}", backend="faulty", options={"fault": fault}) for fault in _FAULTS[1:]),
    )

    def availability(self) -> Availability:
        """It comes with Assay."""
        return Availability(available=True, version=VERSION)

    def prepare(self) -> None:
        """The fault that the environment asks for, if any. onnx is imported when a model is opened."""
        fault = os.environ.get(_IMPORT_FAULT, "none")
        if fault not in ("none", *PROCESS_FAULTS):
            raise UsageError(f"{_IMPORT_FAULT} cannot be {fault!r}; use one of: {', '.join(PROCESS_FAULTS)}.")
        at_import = {"fault": fault, "act": os.environ.get(IMPORT_ACT, ""), "stage": "import"}
        Misbehaviour({**{spec.name: spec.default for spec in self.options}, **at_import}).at("import")

    def lower(self, model: Path, flow: Flow) -> FaultyEngine:
        """The model is not opened for `identity`."""
        options = resolve_options(self.options, flow)
        Misbehaviour(options).at("lower")
        inner = None if options["model"] == "identity" else Reference().lower(model, _plain())
        return FaultyEngine(inner, options)

    def load(self, folder: Path, flow: Flow) -> FaultyEngine:
        """What `save` left."""
        options = resolve_options(self.options, flow)
        Misbehaviour(options).at("load")
        inner = None if options["model"] == "identity" else Reference().load(folder, _plain())
        salt = instabilities.salt_of(folder) if options["fault"] == "by_build" else 0.0
        return FaultyEngine(inner, options, synthetic_costs.SyntheticCost(options), salt)


class FaultyEngine:
    """The reference, or the identity, with a fault."""

    def __init__(
        self,
        inner: Engine | None,
        options: dict[str, Option],
        burden: synthetic_costs.SyntheticCost | None = None,
        salt: float = 0.0,
    ) -> None:
        self._inner, self._options, self._burden = inner, options, burden
        self._unsteady = instabilities.Unsteady(options, salt)
        self._calls = 0
        self._misbehaviour = Misbehaviour(options)

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        """Right, or false in the way that was asked for."""
        self._calls += 1
        lying = self._calls > int(self._options["after"]) and self._misbehaviour.at("run")
        if self._options["fault"] in SPOILS:
            zero_outputs(tensors)
        if self._burden:
            self._burden.carry(tensors)
        outputs = self._inner.run(tensors) if self._inner else self._identity(tensors)
        if self._options["fault"] in instabilities.UNSTEADY:
            return self._unsteady.answer(tensors, outputs)
        self._misbehaviour.when_freed(outputs)
        lie: Callable[[dict[str, Tensor]], dict[str, Tensor]] | None = {**LIES, **AT_SIZES}.get(
            str(self._options["fault"])
        )
        return lie(outputs) if lie and lying else outputs

    def device_call(self, tensors: Tensors) -> Callable[[], float] | None:
        """One call, and the seconds that its device spent on it, where it has one."""
        burden = self._burden
        return (lambda: burden.carry(tensors)) if burden and burden.has_device else None

    def _identity(self, tensors: Tensors) -> dict[str, Tensor]:
        return {str(self._options["output"]): next(iter(tensors.values())).copy()}

    def save(self, folder: Path) -> None:
        """The model's copy; a few bytes for identity."""
        self._misbehaviour.at("save")
        if self._inner is None:
            (folder / "identity").write_text("y = x\n")
        else:
            self._inner.save(folder)
        if self._options["fault"] == "by_build":
            instabilities.leave_salt(folder)

    def facts(self) -> EngineInfo:
        """Plain: version, precision, options."""
        return EngineInfo(
            backend_version=VERSION,
            precision=str(self._options["claims"]),
            options={name: str(value) for name, value in self._options.items()},
            delegated=0 if self._options["fault"] in ADMITTED else None,
            undelegated=("Identity",) if self._options["fault"] in ADMITTED else (),
        )


def _plain() -> Flow:
    return Flow(name="reference", backend="reference")
