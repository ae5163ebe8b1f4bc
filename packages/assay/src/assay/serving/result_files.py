"""Result files of other load generators, as the figures of one load: what they say, and what they cannot prove.

Each reader knows a file by the keys that are in it. Times become milliseconds.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from assay.errors import UsageError
from assay.serving.load_summary import LoadSummary

_NO_INTERVAL = "one run: how far another would be off is not known, so that a limit is judged without an interval"
_JSON = re.compile(r"\s*(\{|\[\s*[\[{\"])")
"""How an object and a list of them begin; a line of a log begins otherwise."""
_PERCENTILES = ("50", "90", "95", "99")
Read = Callable[[Any], dict[str, float]]


def read_results(path: Path) -> LoadSummary:
    """Raises UsageError for a file that is none of these tools', or a damaged one."""
    value = _parsed(path)
    for tool, (knows, read, note) in TOOLS.items():
        if not knows(value):
            continue
        try:
            figures = {name: float(number) for name, number in read(value).items() if number is not None}
        except KeyError as error:
            raise UsageError(f"{path} looks like a result of {tool}, and lacks {error}: another version?") from None
        except (TypeError, ValueError, AttributeError, ArithmeticError, LookupError) as error:
            raise UsageError(
                f"{path} looks like a result of {tool}, and a figure in it cannot be read ({error}): damaged?"
            ) from None
        odd = next((name for name, number in figures.items() if number < 0.0), None)
        if odd is not None:  # no figure of a load is
            raise UsageError(f"{path} looks like a result of {tool}, and {odd} is {figures[odd]:g}, below 0: damaged?")
        metrics = {name: number for name, number in figures.items() if math.isfinite(number)}
        absent = ", ".join(sorted(figures.keys() - metrics.keys()))
        notes = (_NO_INTERVAL, note, f"no number in the file: {absent}" if absent else "")
        return LoadSummary(metrics, notes=tuple(filter(None, notes)), source=tool)
    raise UsageError(f"{path} is a result file of none of these: {', '.join(TOOLS)}")


def _parsed(path: Path) -> Any:
    """JSON, the rows of a CSV file, or the text itself."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read ({error}); give a result file of {', '.join(TOOLS)}") from None
    if not text.strip():
        raise UsageError(f"{path} is empty; give a result file of {', '.join(TOOLS)}")
    if path.suffix == ".csv":
        try:
            return list(csv.DictReader(text.splitlines()))
        except csv.Error as error:
            raise UsageError(f"{path} is no table of figures ({error}): damaged, or another file?") from None
    try:
        return json.loads(text)
    except RecursionError:
        raise UsageError(f"{path} is a result file of none of these: {', '.join(TOOLS)}") from None
    except ValueError as error:
        if path.suffix == ".json" or _JSON.match(text):
            raise UsageError(
                f"{path} is not one whole JSON value ({error}): it was cut off, or has a value on each line"
            ) from None
    return text


def _has(*keys: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, Mapping) and all(key in value for key in keys)


def _vllm(document: Mapping[str, Any]) -> dict[str, float]:
    requests = document.get("num_prompts", document["completed"] + document.get("failed", 0))
    figures = {
        "requests": requests,
        "errors": requests - document["completed"],
        "throughput_per_s": document["request_throughput"],
        "tokens_per_s": document.get("output_throughput"),
        "goodput_per_s": document.get(
            "request_goodput", document.get("request_goodput:")
        ),  # older versions have the colon
    }
    for own, theirs in (("ttft", "ttft"), ("itl", "itl"), ("tpot", "tpot"), ("e2e", "e2el")):
        figures[f"{own}_mean_ms"] = document.get(f"mean_{theirs}_ms")
        figures |= {f"{own}_p{percent}_ms": document.get(f"p{percent}_{theirs}_ms") for percent in _PERCENTILES}
        figures[f"{own}_p50_ms"] = document.get(f"p50_{theirs}_ms", document.get(f"median_{theirs}_ms"))
    return figures


def _guidellm(document: Mapping[str, Any]) -> dict[str, float]:
    metrics = document["benchmarks"][0]["metrics"]
    good = {
        name: metric["successful"]
        for name, metric in metrics.items()
        if isinstance(metric, Mapping) and "successful" in metric
    }
    totals = metrics.get("request_totals", {})
    figures = {
        "requests": totals.get("total"),
        "errors": totals.get("errored"),
        "throughput_per_s": good["requests_per_second"]["mean"],
        "tokens_per_s": good.get("output_tokens_per_second", {}).get("mean"),
    }
    own = {
        "ttft": ("time_to_first_token_ms", 1.0),
        "itl": ("inter_token_latency_ms", 1.0),
        "e2e": ("request_latency", 1e3),
    }
    for name, (theirs, scale) in own.items():
        if (figure := good.get(theirs)) is None:
            continue
        figures[f"{name}_mean_ms"] = scale * figure["mean"]
        percentiles = figure.get("percentiles", {})
        figures |= {f"{name}_p{p}_ms": scale * percentiles[f"p{p}"] for p in _PERCENTILES if f"p{p}" in percentiles}
    return figures


def _aiperf(document: Mapping[str, Any]) -> dict[str, float]:
    """AIPerf, and GenAI-Perf before it: a table for each figure, with its unit."""
    figures: dict[str, float] = {}
    count = document.get("request_count", {})
    errors = document.get("error_request_count", {}).get("avg", 0.0)
    figures |= {"requests": count["avg"] + errors, "errors": errors} if "avg" in count else {}
    figures |= {"valid": 0.0} if document.get("was_cancelled") else {}
    figures["throughput_per_s"] = document["request_throughput"]["avg"]
    figures["tokens_per_s"] = document.get("output_token_throughput", {}).get("avg")
    figures["goodput_per_s"] = document.get("goodput", {}).get("avg")
    for name, theirs in (("ttft", "time_to_first_token"), ("itl", "inter_token_latency"), ("e2e", "request_latency")):
        if (figure := document.get(theirs)) is None:
            continue
        scale = {"ms": 1.0, "s": 1e3, "us": 1e-3, "ns": 1e-6}[figure.get("unit", "ms")]
        figures[f"{name}_mean_ms"] = scale * figure["avg"]
        figures |= {f"{name}_p{p}_ms": scale * figure[f"p{p}"] for p in _PERCENTILES if f"p{p}" in figure}
    return figures


def _trtexec_times(rows: list[Mapping[str, float]]) -> dict[str, float]:
    """`--exportTimes`: a row for each call."""
    import numpy as np

    samples = np.array([float(row["latencyMs"]) for row in rows])
    if (below := np.flatnonzero(samples < 0.0)).size:
        raise ValueError(f"latencyMs of row {below[0] + 1} is {samples[below[0]]:g}, below 0")
    figures = {"requests": len(samples), "e2e_mean_ms": samples.mean()}
    return figures | {f"e2e_p{p}_ms": np.quantile(samples, int(p) / 100) for p in _PERCENTILES}


_TRTEXEC = re.compile(r"\[I\] (?P<name>Latency|Throughput): (?P<rest>.*)")


def _trtexec_text(text: str) -> dict[str, float]:
    lines = {match["name"]: match["rest"] for match in _TRTEXEC.finditer(text)}
    figures = {"throughput_per_s": float(lines["Throughput"].split()[0])}
    latency = lines["Latency"]
    figures["e2e_mean_ms"] = float(re.findall(r"mean = ([\d.]+) ms", latency)[0])
    figures["e2e_p50_ms"] = float(re.findall(r"median = ([\d.]+) ms", latency)[0])
    return figures | {
        f"e2e_p{p}_ms": float(value) for p, value in re.findall(r"percentile\((\d+)%\) = ([\d.]+) ms", latency)
    }


def _perf_analyzer(rows: list[Mapping[str, str]]) -> dict[str, float]:
    """`-f FILE`: the row of the greatest load; microseconds."""
    if any(value is None for csv_row in rows for value in csv_row.values()):
        raise ValueError("a row has fewer columns than the first line names")
    if any(None in csv_row for csv_row in rows):
        raise ValueError("a row has more columns than the first line names")
    row = max(rows, key=_load_of)
    figures = {"throughput_per_s": float(row["Inferences/Second"])}
    figures |= {f"e2e_p{p}_ms": float(row[f"p{p} latency"]) / 1e3 for p in _PERCENTILES if row.get(f"p{p} latency")}
    if row.get("Avg latency"):
        figures["e2e_mean_ms"] = float(row["Avg latency"]) / 1e3
    return figures


def _load_of(row: Mapping[str, str]) -> float:
    load = float(row.get("Concurrency") or row.get("Request Rate") or 0.0)
    if not math.isfinite(load):
        raise ValueError(f"a row is of the load {load}")
    return load


_LOADGEN_TIMES = (
    ("e2e", "latency (ns)", "latency (ns)"),
    ("ttft", "First Token latency (ns)", "first token latency (ns)"),
    ("tpot", "Time per Output Token (ns)", "time to output token (ns)"),
)


def _loadgen(text: str) -> dict[str, float]:
    """`mlperf_log_summary.txt`: nanoseconds."""
    lines = [line.partition(":") for line in text.splitlines()]
    values = {name.strip(): value.strip() for name, _, value in lines}
    figures = {"valid": float(values["Result is"] == "VALID")}
    rates = (
        "Completed samples per second",
        "Samples per second",
        "Scheduled samples per second",
        "QPS w/o loadgen overhead",
    )
    tokens = ("Completed tokens per second", "Tokens per second")
    for name, known in (("throughput_per_s", rates), ("tokens_per_s", tokens)):
        if (rate := next((key for key in known if key in values), None)) is not None:
            figures[name] = float(values[rate])
    for name, mean, percentile in _LOADGEN_TIMES:
        keys = {"mean": f"Mean {mean}"} | {f"p{p}": f"{p}.00 percentile {percentile}" for p in _PERCENTILES}
        figures |= {f"{name}_{part}_ms": float(values[key]) / 1e6 for part, key in keys.items() if key in values}
    return figures


def _rows_with(name: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and bool(value) and isinstance(value[0], Mapping) and name in value[0]


def _text_with(*parts: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and all(part in value for part in parts)


_CLOSED = "a closed loop: the next call waits for the last, and what waits in a queue is not in these times"
TOOLS: dict[str, tuple[Callable[[Any], bool], Callable[[Any], Mapping[str, Any]], str]] = {
    "vLLM bench": (
        _has("request_throughput", "completed"),
        _vllm,
        "times count from when a request was sent, not from when it was due",
    ),
    "GuideLLM": (_has("benchmarks"), _guidellm, "the first benchmark of the file is read"),
    "AIPerf": (
        lambda value: _has("request_throughput")(value) and isinstance(value["request_throughput"], Mapping),
        _aiperf,
        "",
    ),
    "trtexec --exportTimes": (_rows_with("latencyMs"), _trtexec_times, _CLOSED),
    "trtexec": (_text_with("[I] Latency:", "[I] Throughput:"), _trtexec_text, _CLOSED),
    "perf_analyzer": (_rows_with("Inferences/Second"), _perf_analyzer, "the row of the greatest load is read"),
    "LoadGen": (_text_with("MLPerf Results Summary"), _loadgen, ""),
}
"""By name: how its files are known, how they are read, and what they cannot prove."""
