"""The number of threads that a person asks for, as the option of each flow's backend."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay import plugins
from assay.core.flow import Flow
from assay.errors import UsageError
from assay.ports import Backend

OPTION = "threads"


def with_threads(flow: Flow, threads: int) -> Flow:
    """The flow as it is for one thread, which is every backend's default, or where it names a number itself. Raises
    UsageError for a backend that has no such option."""
    if threads == 1 or OPTION in flow.options:
        return flow
    backend: Backend = plugins.load(plugins.BACKENDS, flow.backend)()
    if OPTION not in {option.name for option in backend.options}:
        raise UsageError(
            f"backend {flow.backend!r} has no option {OPTION!r}: it cannot be measured on {threads} threads; "
            "leave --threads out for it"
        )
    return replace(flow, options={**flow.options, OPTION: threads})


def with_threads_each(flows: Sequence[Flow], threads: int) -> dict[str, Flow]:
    """Each flow as `with_threads`, by name. A backend without the option is given it all the same: it refuses it when it lowers,
    as the outcome of that flow, and the others go on. Raises UsageError where no backend has it."""
    by_name: dict[str, Flow] = {}
    refusals: list[UsageError] = []
    for flow in flows:
        try:
            by_name[flow.name] = with_threads(flow, threads)
        except UsageError as error:
            refusals.append(error)
            by_name[flow.name] = replace(flow, options={**flow.options, OPTION: threads})
    if refusals and len(refusals) == len(flows):
        raise refusals[0]
    return by_name
