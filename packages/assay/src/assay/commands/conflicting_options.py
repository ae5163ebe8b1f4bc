"""Options that would change nothing beside others that were given: refused, so that nobody believes that they did."""

from __future__ import annotations

from collections.abc import Mapping

from assay.errors import UsageError
from assay.models.own_data.functions import is_function
from assay.options.check import CheckOptions
from assay.options.declaration import rows


def reject_with_golden(options: CheckOptions) -> None:
    """How inputs are drawn says nothing of those that a golden stores. Raises UsageError where both are given."""
    source = str(options.golden or options.inputs)
    # How many are wanted is a question to a function, which may have no end.
    samples = None if is_function(source) else options.samples
    given = {"--samples": samples, "--batch": options.batch, "--fill": options.fill}
    if options.golden and (named := _given(given)):
        raise UsageError(
            f"{named} cannot go with --golden {options.golden}: a golden brings its own inputs, and all of them "
            "are run; leave out one of the two, or record another with `assay golden record`"
        )
    if options.inputs and (named := _given(given)):
        raise UsageError(f"{named} cannot go with --inputs {options.inputs}: all of the inputs are run as they are")


def reject_unnamed(options: CheckOptions) -> None:
    """What each [[model]] of assay.toml says for itself. Raises UsageError where the command line says it of all."""
    given = {row.flag: getattr(options, row.name) != row.default for row in rows(CheckOptions) if row.of_model}
    if named := _given(given):
        raise UsageError(
            f"{named} cannot go with the models of assay.toml, each of which says so itself: write it there, or name a model "
            "on the command line"
        )


def _given(options: Mapping[str, object]) -> str:
    return " and ".join(name for name, value in options.items() if value)
