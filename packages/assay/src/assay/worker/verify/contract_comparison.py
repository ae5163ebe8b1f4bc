"""How the outputs of a job are compared: by the tolerance of its contract, at the precision that its flow promises."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import msgspec

from assay.core.case import Contract
from assay.core.dtype import dtype_name, is_floating
from assay.core.job import VerifyJob
from assay.core.model import Model
from assay.errors import Lowering
from assay.models.flatten import declared_types
from assay.models.goldens import Golden
from assay.models.load_tolerance import load_tolerance
from assay.numerics.tolerance.choose_comparator import comparator_of_quantized
from assay.numerics.tolerance.comparator import ToleranceComparator
from assay.numerics.tolerance.drawn_comparison import drawn_parts
from assay.numerics.tolerance.tolerance_tables import DERIVED
from assay.worker.engine.lower import backend_class
from assay.worker.engine.model_format import model_to_read, to_onnx
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.verify.declared_shapes import against_declarations
from assay.worker.verify.metric_plugins import with_metrics
from assay.worker.verify.reference_comparison import Compared, Samples


def compare_outputs(
    job: VerifyJob, rewritten: TransformedModel, judging: ToleranceComparator, actual: Samples, expected: Samples
) -> Compared:
    names = dict.fromkeys(name for sample in expected for name in sample)
    declared = types_due(job, rewritten, names, actual)
    drawn = drawn_parts(names, judging.drawn)
    known = [{name: array for name, array in sample.items() if name not in drawn} for sample in expected]
    compared = against_declarations(judging.compare(actual, expected, declared), declaring(job))
    return with_metrics(compared, actual, known, contract_of(job))


def types_due(job: VerifyJob, rewritten: TransformedModel, names: Iterable[str], actual: Samples) -> dict[str, str]:
    """Of the outputs of these names."""
    declared = declared_types(declaring(job).outputs, names) | rewritten.gives
    if "float64" in (job.flow.precision, job.flow.options.get("precision")):
        declared = {name: _in_double(name, dtype, actual) for name, dtype in declared.items()}
    return declared


def declaring(job: VerifyJob) -> Model:
    """The model that says which types and shapes are due: the program, where the flow reads programs. The ONNX file that an exporter
    made of it may declare others: torch 2.13 makes the absolute value of float16 a float."""
    return model_to_read(job, backend_class(job.flow.backend).accepts)


def _in_double(name: str, declared: str, actual: Samples) -> str:
    """A flow that computes in double throughout answers so: its values are compared in double, and not rounded before."""
    dtypes = {dtype_name(sample[name].dtype) for sample in actual if name in sample}
    return "float64" if is_floating(declared) and dtypes == {"float64"} else declared


def choose_comparator(job: VerifyJob, rewritten: TransformedModel, golden: Golden) -> ToleranceComparator:
    if rewritten.standard is None:
        return load_tolerance(job, contract_of(job))
    contract = contract_of(job)
    standard = rewritten.standard
    if contract.tolerance == DERIVED:
        with suppress(Lowering):
            standard = to_onnx(standard, job)
    inputs, allowances = rewritten.fed(golden.inputs), tuple(job.flow.allowances)
    return comparator_of_quantized(standard, inputs, contract, job.case.inputs.seed, allowances)


def contract_of(job: VerifyJob) -> Contract:
    """The case's contract at the precision that the flow promises."""
    return msgspec.structs.replace(job.case.contract, precision=job.flow.precision)
