"""What a service tells of itself, as servers write it."""

from __future__ import annotations

import pytest

from assay.serving.gauges import parse_gauges, read_gauges

VLLM = """# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 3.0
vllm:num_requests_running{engine="1",model_name="m"} 2.0
vllm:num_requests_waiting{engine="0",model_name="m"} 7.0
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25
vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.5
vllm:num_requests_running_total 99
"""


@pytest.mark.parametrize(
    ("text", "gauges"),
    [
        (VLLM, {"running": 5.0, "waiting": 7.0, "cache_used": 0.5}),
        ("llamacpp:kv_cache_usage_ratio 0.125\nllamacpp:requests_deferred 1\n", {"cache_used": 0.125, "waiting": 1.0}),
        ("assay_memory_live_bytes 12345678 1700000000000\n", {"live_bytes": 12345678.0}),
        ("tgi_queue_size NaN\ntgi_batch_current_size -1\nnot a line\nassay_cache_used much\n{", {}),
        ("", {}),
    ],
)
def test_known_gauges_are_read_and_nothing_else(text: str, gauges: dict[str, float]) -> None:
    assert parse_gauges(text) == gauges


def test_an_address_that_gives_none_is_no_trouble() -> None:
    assert read_gauges("http://127.0.0.1:9/metrics") == {}
    assert read_gauges("no address") == {}
