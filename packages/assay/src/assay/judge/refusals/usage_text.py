"""The sentences of wrong usage that the driver finds, or a worker where it was not asked."""

from __future__ import annotations

from assay.core.refusals.usage_codes import UsageCode

USAGE: dict[str, str] = {
    # plug-ins
    UsageCode.NO_SUCH: "there is no {kind} {name!r}; {hint}",
    UsageCode.NOT_HERE: "there is no {kind} {name!r} here; run pip install 'assay[{name}]'",
    UsageCode.PLUGIN_NEEDS: "{kind} {name!r} needs the package {package!r}; run pip install 'assay[{name}]'",
    UsageCode.PLUGIN_BROKEN: "{kind} {name!r}{source} is broken ({exception}: {error}); reinstall or remove it",
    UsageCode.FLOW_NOT_AVAILABLE: "flow {flow!r} is not available: {error}",
    UsageCode.NO_SUCH_FLOW: "{error} (assay flows lists them all)",
    UsageCode.FLOW_OF_FILE: "flow {flow!r} of assay.toml: {error}",
    UsageCode.GENERATOR_VERSION: "generator {generator!r} is of version {version} here, and {asked} is asked for",
    # contracts
    UsageCode.NO_ALLOWANCE: "Unknown allowance {allowance!r} in a contract: use one of {known}.",
    UsageCode.NO_ARITHMETIC: "No arithmetic is known for precision {precision!r}: a tolerance cannot be derived from it.",
    UsageCode.NO_PRECISION: "Unknown precision {precision!r} in a contract: use one of {known}.",
    UsageCode.NO_TOLERANCE_TABLE: "tolerance {tolerance!r} is none of {choices}; write for example fixed:1e-3,1e-5",
    # mutants
    UsageCode.NO_MUTANT: "{mutant!r} is no mutant: write OPERATOR@NODE, for example drop-bias@conv1",
    UsageCode.NO_MUTATION_OPERATOR: "there is no mutation operator {operator!r}; {hint}",
    UsageCode.NO_DISTANCE: "mutation operator {operator!r} has no distance; write {operator}@{site}",
    UsageCode.DISTANCE_NO_NUMBER: "the distance {distance!r} of mutation operator {operator!r} is no number",
    UsageCode.MUTATION_ELSEWHERE: "mutation {operator!r} does not apply at {site!r}; it applies at {sites}",
    UsageCode.MUTATION_NEEDS: "mutation {operator!r} does not apply at {site!r}; it needs {needs}",
    # values and folders
    UsageCode.NEGATIVE: "{name} is {value:g}; it must be a finite number, at least 0",
    UsageCode.NOT_64_BITS: "{name} is {value}; it must fit 64 bits",
    UsageCode.NOT_POSITIVE: "{name} is {value:g}; it must be a finite number, more than 0",
    UsageCode.NO_VALUE: "a {type} is no tensor, sequence, optional or map",
    UsageCode.NO_HOME: "this user has no home folder to keep downloads in: set ASSAY_CACHE to a folder of its own",
}
