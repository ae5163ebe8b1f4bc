"""The head of a cluster that is not there is one sentence, at once. Ray itself is not needed."""

from __future__ import annotations

import socket

import pytest

from assay.errors import UsageError
from assay.launch.ray.head import demand_listening


def test_where_nobody_listens_it_is_said_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        demand_listening(address)
    with pytest.raises(UsageError, match=f"no Ray cluster at {address} .*refused.*--on ray://HOST:PORT"):
        demand_listening(address)
    with pytest.raises(UsageError, match=r"no Ray cluster at 127\.0\.0\.1:70000"):
        demand_listening("127.0.0.1:70000")


@pytest.mark.parametrize("address", ["", "auto", "local"])
def test_what_is_no_address_is_left_to_ray(address: str) -> None:
    demand_listening(address)
