"""What a result of any kind says: of comparisons, of speed, of the engine; nothing where its kind does not tell."""

from __future__ import annotations

from assay.core.comparison import Comparison
from assay.core.engine_info import EngineInfo
from assay.core.input_plan import InputFacts
from assay.core.measurement import Measurement
from assay.core.native_warning import NativeWarning
from assay.core.result import (
    ChangeResult,
    CompareSpeedResult,
    EngineResult,
    MeasureResult,
    PerNodeResult,
    Result,
    VerifyResult,
)
from assay.core.speed import SpeedComparison

ComparedResult = VerifyResult | PerNodeResult | ChangeResult
"""Those that compare outputs with a reference."""

LossResult = VerifyResult | ChangeResult
"""Those that may say how far outputs are from those of another model."""

FedResult = VerifyResult | PerNodeResult | MeasureResult
"""Those that say what an engine was fed."""


def facts_of(result: Result) -> EngineInfo:
    """Of the engine; nothing is known where none took part."""
    return result.facts if isinstance(result, EngineResult) else EngineInfo()


def native_warnings_of(result: Result) -> tuple[NativeWarning, ...]:
    """What the library of the engine warned of; nothing where none took part."""
    return result.native_warnings if isinstance(result, EngineResult) else ()


def comparisons_of(result: Result) -> tuple[Comparison, ...]:
    """Of outputs with a reference; none where none were compared."""
    return result.comparisons if isinstance(result, ComparedResult) else ()


def inputs_of(result: Result) -> tuple[InputFacts, ...]:
    """What an engine was fed; nothing where none was."""
    return result.inputs if isinstance(result, FedResult) else ()


def measurements_of(result: Result) -> tuple[Measurement, ...]:
    """Samples of an engine that was timed alone."""
    return result.measurements if isinstance(result, MeasureResult) else ()


def traces_of(result: Result) -> tuple[str, ...]:
    """Files of the backend's own profile."""
    return result.traces if isinstance(result, MeasureResult) else ()


def speeds_of(result: Result) -> tuple[SpeedComparison, ...]:
    """Comparisons of speed, one for each batch size."""
    return result.speeds if isinstance(result, CompareSpeedResult) else ()
