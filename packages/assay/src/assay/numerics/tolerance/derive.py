"""Derive a tolerance: the oracle, the noise of every place that rounds, and what noisy evaluations make of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from assay.core.input_plan import InputRange
from assay.errors import Lowering
from assay.numerics.load_onnx import load_onnx
from assay.numerics.oracle.decompose import expanded
from assay.numerics.oracle.tie_rules import Rules, ties_by
from assay.numerics.tolerance.arithmetic import arithmetic_of
from assay.numerics.tolerance.coarse import WORTH, coarsely, work
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.deriving import Deriving
from assay.numerics.tolerance.selftest import selftest
from assay.numerics.tolerance.simulate.bit_exact import derive_bits
from assay.numerics.tolerance.simulate.graph_study import study
from assay.numerics.tolerance.simulate.guarded_inputs import guarded_inputs
from assay.numerics.tolerance.simulate.tensors_only import tensors_only
from assay.numerics.tolerance.simulate.tie_choices import choices, is_alike, may_meet_ties
from assay.numerics.tolerance.simulate.weight_grids import with_stored_constants
from assay.ports import Tensors

NOTHING_STATED: Mapping[str, InputRange] = MappingProxyType({})


def derive(
    model: Path,
    inputs: Sequence[Tensors],
    precision: str,
    *,
    seed: int = 0,
    allowances: tuple[str, ...] = (),
    coarse: bool = False,
) -> DerivedTolerance:
    """The profile of an ONNX model on these inputs for flows of this precision.

    Raises UsageError for a precision without arithmetic, `assay.errors.Lowering` where the model cannot be evaluated in
    double (custom operators, text): the reason is its text. `coarse`: a coarse one will do, where that saves work.
    """

    return derive_model(load_onnx(model), inputs, precision, seed=seed, allowances=allowances, coarse=coarse)


def derive_model(
    proto: Any,
    inputs: Sequence[Tensors],
    precision: str,
    *,
    seed: int = 0,
    allowances: tuple[str, ...] = (),
    coarse: bool = False,
) -> DerivedTolerance:
    """The same of a loaded model, which is left as it is."""
    (derived_tolerance,) = derive_each(proto, inputs, precision, [allowances], seed=seed, coarse=coarse)
    return derived_tolerance


def derive_each(
    proto: Any,
    inputs: Sequence[Tensors],
    precision: str,
    allowances: Sequence[tuple[str, ...]],
    *,
    seed: int = 0,
    coarse: bool = False,
    stated: Mapping[str, InputRange] | None = NOTHING_STATED,
) -> list[DerivedTolerance]:
    """One for each flow of a group whose allowances differ in their rule for ties alone: the noise of half to even, which is most of
    the work, is drawn once for all. `stated`: what a user says of the values of inputs; None where the inputs are the user's own."""
    whole = expanded(tensors_only(proto))
    if precision == "int8":
        whole = with_stored_constants(whole)
    graph = study(whole, inputs)
    # float32 is what a flow promises that promises nothing: what a model declares in double is asked for in double then.
    plain = precision == "float32" and "double-in-float32" not in allowances[0]
    precision = "float64" if plain and graph.is_double else precision
    each = [
        msgspec.structs.replace(arithmetic_of(precision, allowance), mixed=plain and graph.is_mixed)
        for allowance in allowances
    ]
    closed = msgspec.structs.replace(each[0], ties="")
    assert all(msgspec.structs.replace(tolerance, ties="") == closed for tolerance in each)
    try:
        deriving = Deriving(whole, closed, seed, graph)
    except Lowering as error:
        return [derive_bits(whole, inputs, graph, precision, tolerance, error) for tolerance in each]
    cost = work(whole, inputs)
    tied = graph.rounds and may_meet_ties(whole.graph)
    rules = [choices(deriving, inputs, tolerance.ties, cost) if tied else [] for tolerance in each]
    coarse = coarse and cost >= WORTH
    common = _tried(deriving, inputs, precision, coarse, stated) if any(rule is not None for rule in rules) else None
    tolerances = []
    for arithmetic, chosen in zip(each, rules, strict=True):
        if chosen is None or common is None:
            tolerances.append(_tried(Deriving(whole, arithmetic, seed, graph), inputs, precision, coarse, stated))
            continue
        tried = common.header.selftest
        others = [_by_rules(Deriving(whole, closed, seed, graph), choice, inputs, precision) for choice in chosen]
        others = [other.with_header(selftest=tried) for other in others if not is_alike(other, common)]
        tolerances.append(replace(common, others=others))
    return tolerances


def _tried(
    deriving: Deriving,
    inputs: Sequence[Tensors],
    precision: str,
    coarse: bool,
    stated: Mapping[str, InputRange] | None,
) -> DerivedTolerance:
    """By half to even, or with the ties of all grids open, and tried on built-in defects."""
    profile = coarsely(deriving, inputs, precision) if coarse else None
    profile = profile or deriving.profile(deriving.samples(inputs), precision)
    begin = time.perf_counter()
    tried = selftest(deriving, profile, inputs)
    seconds = {**deriving.drawing.seconds, "selftest": time.perf_counter() - begin}
    begin = time.perf_counter()
    guarded = guarded_inputs(deriving, inputs, profile, stated) if stated is not None else ()
    seconds["guards"] = time.perf_counter() - begin
    return replace(profile.with_header(selftest=tried, seconds=seconds), guarded=guarded)


def _by_rules(deriving: Deriving, rules: Rules, inputs: Sequence[Tensors], precision: str) -> DerivedTolerance:
    with ties_by(rules):
        return deriving.profile(deriving.samples(inputs), precision)
