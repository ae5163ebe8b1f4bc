"""A service that can be measured: where it answers, and how it is started, where Assay starts it."""

from __future__ import annotations

import msgspec


class Service(msgspec.Struct, frozen=True):
    """`start` is a command ("": it runs already), `health` an address that answers when it is ready ("": its list of models), `stop` a
    command that ends it ("": its processes are ended), `metrics` an address with its gauges in Prometheus' text ("": none is
    read). `ready_s` is how long it may take to answer."""

    name: str
    url: str
    start: str = ""
    health: str = ""
    stop: str = ""
    model: str = ""
    ready_s: float = 60.0
    metrics: str = ""
