"""What a service tells of itself: gauges in Prometheus' text, by the names that servers have for them."""

from __future__ import annotations

import http.client
import math
import re

from assay.endpoints.fetch import fetched

RUNNING, WAITING, CACHE_USED, LIVE_BYTES = "running", "waiting", "cache_used", "live_bytes"
NAMES = {
    "vllm:num_requests_running": RUNNING,
    "vllm:num_requests_waiting": WAITING,
    "vllm:kv_cache_usage_perc": CACHE_USED,
    "vllm:gpu_cache_usage_perc": CACHE_USED,
    "sglang:num_running_reqs": RUNNING,
    "sglang:num_queue_reqs": WAITING,
    "sglang:token_usage": CACHE_USED,
    "llamacpp:requests_processing": RUNNING,
    "llamacpp:requests_deferred": WAITING,
    "llamacpp:kv_cache_usage_ratio": CACHE_USED,
    "tgi_batch_current_size": RUNNING,
    "tgi_queue_size": WAITING,
    "nv_inference_pending_request_count": WAITING,
    "assay_requests_running": RUNNING,
    "assay_requests_waiting": WAITING,
    "assay_cache_used": CACHE_USED,
    "assay_memory_live_bytes": LIVE_BYTES,
}
"""Of vLLM, SGLang, llama.cpp, Text Generation Inference and Triton, and of the server of `assay.testing`. Shares are from 0 to 1."""
_PATIENCE_S, _MOST_BYTES = 2.0, 2**22
_LINE = re.compile(r"(?P<name>[A-Za-z_:][\w:]*)(?:\{[^}]*\})?\s+(?P<value>\S+)")


def read_gauges(address: str) -> dict[str, float]:
    """Those that are known, each the sum of all that bear its name, a share the largest of them; nothing where the address gives none. A
    key goes to this address, and to none that it redirects to."""
    try:
        status, content = fetched(address, _PATIENCE_S, _MOST_BYTES)
    except (OSError, ValueError, http.client.HTTPException):
        return {}
    return parse_gauges(content.decode(errors="replace")) if status < 300 else {}


def parse_gauges(text: str) -> dict[str, float]:
    """The same of a text."""
    gauges: dict[str, float] = {}
    for line in text.splitlines():
        match = _LINE.match(line)
        name = NAMES.get(match["name"]) if match else None
        if match is None or name is None:
            continue
        try:
            value = float(match["value"])
        except ValueError:
            continue
        if math.isfinite(value) and value >= 0.0:
            gauges[name] = max(gauges.get(name, 0.0), value) if name == CACHE_USED else gauges.get(name, 0.0) + value
    return gauges
