"""What would decide what is not proven: one sentence with a command that can be copied, for each way of proving nothing."""

from __future__ import annotations

import shlex

from assay.core.reference import ReferenceKind
from assay.core.result import Cause, Outcome, Result


def command(result: Result, source: str, *options: str) -> str:
    """`assay check` of the same model on the same flow, with these options."""
    return shlex.join(["assay", "check", source or "MODEL.onnx", "--flow", result.flow, *options])


def advice(result: Result, source: str) -> str:
    """For a result that is mistrusted, by what made it so and by whose inputs it was fed."""
    if result.cause is Cause.NO_REFERENCE:
        return _without_answers(result, source)
    if result.reference.kind is ReferenceKind.DEFINITION:
        return "no more can be told by these published answers: give inputs of your own to the same operator"
    if result.reference.own_inputs:
        return (
            "to decide it on these inputs, judge by what the outputs mean, with labels in the golden "
            f"({command(result, source, '--golden', 'GOLDEN', '--answers', 'classification')}), or by a looser limit that you state "
            f"({command(result, source, '--golden', 'GOLDEN', '--rtol', '0.01', '--atol', '0.001')})"
        )
    return (
        f"to decide it, give inputs of your own: {command(result, source, '--inputs', 'FILE.npz')}; or other drawn ones: "
        f"{command(result, source, '--seed', '1', '--samples', '16')}"
    )


def to_compare(result: Result, source: str) -> str:
    """Where answers are missing or in doubt."""
    return (
        "to decide it, give the answers of the framework that the model comes from, beside their inputs, as a golden: "
        f"{command(result, source, '--golden', 'ANSWERS.npz')}"
    )


def to_measure(result: Result, source: str) -> str:
    """Where no sample was taken."""
    return f"to decide it, measure for longer: {command(result, source, '--task', 'measure', '--measure-seconds', '5')}"


def _without_answers(result: Result, source: str) -> str:
    if result.facts.transforms and (result.comparisons or result.against_float):
        return (
            "to decide it, choose a transform or a size that the reference evaluator can compute, or judge by what the outputs mean, "
            f"with labels in the golden: {command(result, source, '--golden', 'GOLDEN', '--answers', 'classification')}"
        )
    if result.outcome is Outcome.INFRASTRUCTURE:
        return "free the machine and check again"
    return to_compare(result, source)
