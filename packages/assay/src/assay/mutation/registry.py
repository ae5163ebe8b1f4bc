"""All mutation operators, by name; what applies to a graph, and where."""

from __future__ import annotations

from dataclasses import dataclass

from assay.core.note import noted
from assay.core.refusals.name_codes import name_hint
from assay.core.refusals.usage_codes import UsageCode
from assay.errors import UsageError
from assay.mutation import (
    activations,
    attention,
    axes,
    coarse_arithmetic,
    integer_overflow,
    lost_structure,
    normalization,
    outputs,
    quantization,
    recurrent,
    sampling,
    trees,
    weights,
    windows,
)
from assay.mutation.graph import Graph
from assay.mutation.mutation_operator import MutationOperator
from assay.numerics.operators.index import open_to

FAMILIES = (coarse_arithmetic, weights, windows, sampling, normalization, activations, axes, attention, lost_structure, quantization,
            integer_overflow, recurrent, trees, outputs)  # fmt: skip
OPERATORS: dict[str, MutationOperator] = {
    operator.name: operator for family in FAMILIES for operator in family.OPERATORS
}


@dataclass(frozen=True)
class Mutant:
    """One operator at one site. Written `operator@site`, with a distance `operator=0.5@site`."""

    operator: str
    site: str
    distance: float | None = None

    def __str__(self) -> str:
        knob = "" if self.distance is None else f"={self.distance!r}"
        return f"{self.operator}{knob}@{self.site}"


def parse(text: str) -> Mutant:
    """The inverse of `str`. Raises UsageError, which names the nearest operator."""
    head, at, site = text.partition("@")
    name, equals, number = head.partition("=")
    if not at or not site:
        raise UsageError(noted(UsageCode.NO_MUTANT, mutant=text))
    if name not in OPERATORS:
        raise UsageError(noted(UsageCode.NO_MUTATION_OPERATOR, operator=name, hint=name_hint(name, OPERATORS)))
    if not equals:
        return Mutant(name, site)
    if OPERATORS[name].distance is None:
        raise UsageError(noted(UsageCode.NO_DISTANCE, operator=name, site=site))
    try:
        return Mutant(name, site, float(number))
    except ValueError:
        raise UsageError(noted(UsageCode.DISTANCE_NO_NUMBER, distance=number, operator=name)) from None


def sites(graph: Graph) -> list[Mutant]:
    """Every operator at every site where it applies, operators in the order of the table, sites in that of the graph."""
    mutants = []
    for operator in OPERATORS.values():
        keys = dict.fromkeys(graph.key(node) for node in operator.sites(graph))
        mutants += [Mutant(operator.name, key) for key in keys]
    return mutants


def inject(graph: Graph, mutant: Mutant) -> None:
    """Change the graph in place. Raises UsageError where the operator does not apply at that site."""
    operator = OPERATORS[mutant.operator]
    keys = {graph.key(node) for node in operator.sites(graph)}
    if mutant.site not in keys:
        if not keys:
            raise UsageError(
                noted(
                    UsageCode.MUTATION_NEEDS,
                    operator=mutant.operator,
                    site=mutant.site,
                    operators=tuple(sorted(open_to(mutant.operator))),
                )
            )
        sites = tuple(sorted(keys)[:5])
        raise UsageError(noted(UsageCode.MUTATION_ELSEWHERE, operator=mutant.operator, site=mutant.site, sites=sites))
    # What the file says of inner shapes was true of the model before.
    del graph.model.graph.value_info[:]
    distance = mutant.distance if mutant.distance is not None else operator.distance
    operator.apply(graph, graph.at(mutant.site), 0.0 if distance is None else distance)
