"""Result files of other load generators, in the shapes in which each tool writes them."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path

import pytest

from assay.commands.load import run_load
from assay.core.verdict import VerdictStatus
from assay.errors import UsageError
from assay.options.load import LoadOptions
from assay.serving.result_files import read_results

_SPREAD = {"mean": 20.0, "percentiles": {"p50": 19.0, "p99": 40.0}}
FILES = {
    "vLLM bench": (
        "result.json",
        json.dumps(
            {
                "num_prompts": 100,
                "completed": 98,
                "request_throughput": 9.5,
                "output_throughput": 300.0,
                "mean_ttft_ms": 21.0,
                "median_ttft_ms": 20.0,
                "p99_ttft_ms": 50.0,
            }
        ),
        {"errors": 2.0, "throughput_per_s": 9.5, "ttft_p50_ms": 20.0, "ttft_p99_ms": 50.0},
    ),
    "GuideLLM": (
        "benchmarks.json",
        json.dumps(
            {
                "benchmarks": [
                    {
                        "metrics": {
                            "request_totals": {"successful": 9, "errored": 1, "incomplete": 0, "total": 10},
                            "requests_per_second": {"successful": {"mean": 4.0}},
                            "time_to_first_token_ms": {"successful": _SPREAD},
                            "request_latency": {"successful": {"mean": 1.5, "percentiles": {"p50": 1.4}}},
                        }
                    }
                ]
            }
        ),
        {"requests": 10.0, "errors": 1.0, "ttft_p50_ms": 19.0, "e2e_mean_ms": 1500.0, "e2e_p50_ms": 1400.0},
    ),
    "AIPerf": (
        "profile_export_aiperf.json",
        json.dumps(
            {
                "request_throughput": {"unit": "requests/sec", "avg": 7.0},
                "request_count": {"unit": "requests", "avg": 50.0},
                "time_to_first_token": {"unit": "ms", "avg": 11.0, "p50": 10.0, "p99": 30.0},
                "request_latency": {"unit": "s", "avg": 0.2, "p99": 0.4},
            }
        ),
        {"requests": 50.0, "throughput_per_s": 7.0, "ttft_p99_ms": 30.0, "e2e_mean_ms": 200.0, "e2e_p99_ms": 400.0},
    ),
    "trtexec --exportTimes": (
        "times.json",
        json.dumps([{"startInMs": 0.0, "latencyMs": 1.0 + at / 100, "computeMs": 1.0} for at in range(101)]),
        {"requests": 101.0, "e2e_p50_ms": 1.5, "e2e_mean_ms": 1.5},
    ),
    "trtexec": (
        "trtexec.log",
        "[11/26/2026-10:00:00] [I] Throughput: 812.5 qps\n[11/26/2026-10:00:00] [I] Latency: min = 1.1 ms, max = 2.5 ms, "
        "mean = 1.25 ms, median = 1.24 ms, percentile(90%) = 1.3 ms, percentile(99%) = 1.9 ms\n",
        {"throughput_per_s": 812.5, "e2e_p50_ms": 1.24, "e2e_p99_ms": 1.9},
    ),
    "perf_analyzer": (
        "perf.csv",
        "Concurrency,Inferences/Second,Client Send,p50 latency,p90 latency,p95 latency,p99 latency\n10,150,10,1800,1900,1950,2000\n"
        "9,100,10,900,950,980,1000\n",
        {"throughput_per_s": 150.0, "e2e_p50_ms": 1.8, "e2e_p99_ms": 2.0},
    ),
    "LoadGen": (
        "mlperf_log_summary.txt",
        "MLPerf Results Summary\nSUT name : PySUT\nScenario : Server\nCompleted tokens per second: 640.5\n"
        "Scheduled samples per second : 99.5\nResult is : VALID\n"
        "Mean latency (ns)                : 2500000\n50.00 percentile latency (ns)   : 2400000\n"
        "99.00 percentile latency (ns)   : 5000000\nMean First Token latency (ns)               : 1500000\n"
        "99.00 percentile first token latency (ns)   : 1900000\n50.00 percentile time to output token (ns)   : 61000\n",
        {
            "ttft_mean_ms": 1.5,
            "ttft_p99_ms": 1.9,
            "tpot_p50_ms": 0.061,
            "tokens_per_s": 640.5,
            "valid": 1.0,
            "throughput_per_s": 99.5,
            "e2e_mean_ms": 2.5,
            "e2e_p50_ms": 2.4,
            "e2e_p99_ms": 5.0,
        },
    ),
}


@pytest.mark.parametrize("tool", FILES)
def test_a_file_is_read(tool: str, tmp_path: Path) -> None:
    name, content, expected = FILES[tool]
    (tmp_path / name).write_text(content)
    summary = read_results(tmp_path / name)
    assert summary.source == tool
    assert {key: pytest.approx(summary.metrics[key]) for key in expected} == expected
    assert any("without an interval" in note for note in summary.notes)


def test_it_is_judged_by_limits(tmp_path: Path) -> None:
    name, content, _ = FILES["vLLM bench"]
    (tmp_path / name).write_text(content)

    def verdict(*limits: str) -> VerdictStatus:
        return run_load(LoadOptions(results=tmp_path / name, require=limits, history=str(tmp_path / ".assay"))).word

    some = "errors <= 2"
    assert verdict("ttft_p50_ms <= 20", "throughput_per_s >= 9") is VerdictStatus.FAIL  # two requests failed
    assert verdict("ttft_p50_ms <= 20", "throughput_per_s >= 9", some) is VerdictStatus.PASS
    assert verdict("ttft_p99_ms <= 49", some) is VerdictStatus.FAIL
    assert verdict("itl_p99_ms <= 49", some) is VerdictStatus.INCONCLUSIVE  # the file does not say


_VLLM = {"num_prompts": 9, "completed": 9, "request_throughput": 9.5, "mean_ttft_ms": 21.0}
_CSV = "Concurrency,Inferences/Second,p50 latency\n10,150,1800\n"
BAD = {
    "not there": ("file.json", None, "cannot be read"),
    "empty": ("file.json", " \n", "is empty"),
    "no text": ("file.log", b"\xff\xfe\x00", "cannot be read"),
    "another file": ("file.json", "{}", "is a result file of none of these: vLLM bench"),
    "deep": ("file.txt", "[" * 100_000, "is a result file of none of these"),
    "cut off": ("file.json", json.dumps(_VLLM)[:-9], "is not one whole JSON value"),
    "a value on each line": ("file.jsonl", f"{json.dumps(_VLLM)}\n" * 2, "has a value on each line"),
    "another version": ("file.json", '{"benchmarks": [{}]}', "looks like a result of GuideLLM, and lacks 'metrics'"),
    "an empty list": ("file.json", '{"benchmarks": []}', "a figure in it cannot be read"),
    "a list for a table": ("file.json", '{"benchmarks": [{"metrics": []}]}', "a figure in it cannot be read"),
    "a text for a number": ("file.json", json.dumps(_VLLM | {"mean_ttft_ms": "fast"}), "a figure in it cannot be read"),
    "below 0": ("file.json", json.dumps(_VLLM | {"mean_ttft_ms": -1.0}), "ttft_mean_ms is -1, below 0"),
    "a row cut off": ("perf.csv", f"{_CSV}11,14", "has fewer columns than the first line names"),
    "a row with more": ("perf.csv", f"{_CSV}11,140,,1800", "has more columns than the first line names"),
    "a load that is no number": ("perf.csv", f"{_CSV.replace('10,', 'nan,')}11,140,1800\n", "is of the load nan"),
    "a load without an end": ("perf.csv", f"{_CSV}inf,140,1800\n", "is of the load inf"),
    "a field without an end": ("perf.csv", f"{_CSV}11,{'1' * 140_000},1800\n", "is no table of figures"),
    "a time below 0": (
        "times.json",
        json.dumps([{"latencyMs": 1.0}, {"latencyMs": -1.0}, {"latencyMs": 3.0}]),
        "latencyMs of row 2 is -1, below 0",
    ),
    "a log cut off": (
        "t.log",
        "[I] Throughput: 8.5 qps\n[I] Latency: min = 1.1 ms, ma",
        "a figure in it cannot be read",
    ),
    "a summary cut off": ("s.txt", "MLPerf Results Summary\nSUT name : PySUT\n", "lacks 'Result is'"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_none_is_one_sentence(what: str, tmp_path: Path) -> None:
    name, content, sentence = BAD[what]
    if content is not None:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UsageError) as error:
        read_results(tmp_path / name)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_a_long_line_of_a_summary_is_read_in_time(tmp_path: Path) -> None:
    name, content, _ = FILES["LoadGen"]
    (tmp_path / name).write_text(f"{content}a{' ' * 100_000}b{' ' * 100_000}:{' ' * 100_000}c d\n")
    began = time.process_time()
    assert read_results(tmp_path / name).metrics["e2e_mean_ms"] == 2.5
    assert time.process_time() - began < 1.0


def test_what_is_no_number_is_not_known(tmp_path: Path) -> None:
    """Python writes NaN and Infinity into JSON: a limit on them is neither kept nor broken."""
    file = tmp_path / "file.json"
    file.write_text(json.dumps(_VLLM | {"mean_ttft_ms": math.nan, "p99_ttft_ms": math.inf}))
    summary = read_results(file)
    assert summary.metrics.keys() == {"requests", "errors", "throughput_per_s"}
    assert "no number in the file: ttft_mean_ms, ttft_p99_ms" in summary.notes
    options = LoadOptions(results=file, require=("ttft_mean_ms <= 20",), history=str(tmp_path / ".assay"))
    assert run_load(options).word is VerdictStatus.INCONCLUSIVE


def test_a_run_that_was_ended_decides_no_limit(tmp_path: Path) -> None:
    file = tmp_path / "file.json"
    file.write_text(json.dumps({"request_throughput": {"avg": 7.0}, "was_cancelled": True}))
    options = LoadOptions(results=file, require=("throughput_per_s >= 5",), history=str(tmp_path / ".assay"))
    assert run_load(options).word is VerdictStatus.INCONCLUSIVE


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (LoadOptions(), "which service?"),
        (LoadOptions(address="http://127.0.0.1:9/v1", require=("fast",)), "is not FIGURE <= NUMBER"),
        (LoadOptions(address="http://127.0.0.1:9/v1", objectives=("ttft",)), "is not NAME=MS"),
        (LoadOptions(against="old"), "two services are compared"),
    ],
)
def test_wrong_usage_is_one_sentence(options: LoadOptions, sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        run_load(options)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)
