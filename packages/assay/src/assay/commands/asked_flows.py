"""The flows that a command line or assay.toml asks for, by name, with the options and transforms that were added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from assay import plugins
from assay.commands.backend_options import with_options
from assay.commands.known_environments import check_environment, known_environments
from assay.config.assay_toml import Config
from assay.core.environment import split_flow
from assay.core.flow import Flow, Option
from assay.core.note import noted
from assay.core.refusals.usage_codes import UsageCode
from assay.errors import UnknownName, UsageError
from assay.options.check import CheckOptions
from assay.plugins import with_transforms


def flows_of(names: Sequence[str], options: CheckOptions, config: Config | None) -> tuple[Flow, ...]:
    own = {flow.name: flow for flow in config.flows} if config else {}
    if not names and not options.endpoint:
        raise UsageError("no flow to check on: give --flow, or list some in [flows] use")
    served = [endpoint_flow(options.endpoint, options.tokenizer)] if options.endpoint else []
    optioned = with_options([*(_flow(name, own) for name in names), *served], options.options)
    flows = tuple(with_transforms(flow, options.transforms) for flow in optioned)
    if named := {flow.environment for flow in flows} - {""}:
        known = known_environments(config)
        for environment in sorted(named):
            check_environment(environment, known)
    return flows


PROTOCOLS = {"v1": "openai", "v2": "oip"}
"""The flow of a service, by the last part of its address."""


def endpoint_flow(address: str, tokenizer: str) -> Flow:
    """Raises UsageError for an address that does not say which protocol is spoken there."""
    last = address.rstrip("/").rpartition("/")[2]
    if last not in PROTOCOLS or "://" not in address:
        raise UsageError(
            f"--endpoint {address!r}: an address ends in /v1, where prompts are completed by OpenAI's protocol, or in /v2, "
            "where tensors are taken by the Open Inference Protocol; give such a one, http://127.0.0.1:8000/v1"
        )
    flow = plugins.find_flow(PROTOCOLS[last])
    own: dict[str, Option] = {"url": address}
    if tokenizer and flow.name == "openai":
        own["tokenizer"] = tokenizer
    return msgspec.structs.replace(flow, options=own)


def _flow(name: str, own: Mapping[str, Flow]) -> Flow:
    """One of assay.toml, also in another environment (`mine@ort130`) or transformed (`mine+fp16`); else one that a backend offers."""
    base, environment = split_flow(name)
    plain, *more = base.split("+")
    if name not in own and plain not in own:
        return plugins.find_flow(name)
    _check_backend(own[name if name in own else plain])
    if name in own:
        return own[name]
    flow = with_transforms(msgspec.structs.replace(own[plain], name=plain), more)
    return msgspec.structs.replace(flow, name=name, environment=environment or flow.environment)


def _check_backend(flow: Flow) -> None:
    """A mistyped backend would be unavailable, which a policy may skip in silence. Another environment may have its own."""
    known = plugins.names(plugins.BACKENDS)
    if not flow.environment and flow.backend not in known:
        raise UnknownName(
            noted(UsageCode.FLOW_OF_FILE, flow=flow.name, error=plugins.unknown("backend", flow.backend, known))
        )
