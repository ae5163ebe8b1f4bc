"""The codes of wrong usage that the driver finds, or a worker where it was not asked. `assay.judge.refusals.usage_text` makes the
sentences."""

from __future__ import annotations

import enum


class UsageCode(enum.StrEnum):
    """The facts that come with each are the names in its sentence."""

    # plug-ins
    NO_SUCH = "no_such"
    NOT_HERE = "not_here"
    PLUGIN_NEEDS = "plugin_needs"
    PLUGIN_BROKEN = "plugin_broken"
    FLOW_NOT_AVAILABLE = "flow_not_available"
    NO_SUCH_FLOW = "no_such_flow"
    FLOW_OF_FILE = "flow_of_file"
    GENERATOR_VERSION = "generator_version"
    # contracts
    NO_ALLOWANCE = "no_allowance"
    NO_ARITHMETIC = "no_arithmetic"
    NO_PRECISION = "no_precision"
    NO_TOLERANCE_TABLE = "no_tolerance_table"
    # mutants
    NO_MUTANT = "no_mutant"
    NO_MUTATION_OPERATOR = "no_mutation_operator"
    NO_DISTANCE = "no_distance"
    DISTANCE_NO_NUMBER = "distance_no_number"
    MUTATION_ELSEWHERE = "mutation_elsewhere"
    MUTATION_NEEDS = "mutation_needs"
    # values and folders
    NEGATIVE = "negative"
    NOT_64_BITS = "not_64_bits"
    NOT_POSITIVE = "not_positive"
    NO_VALUE = "no_value"
    NO_HOME = "no_home"
