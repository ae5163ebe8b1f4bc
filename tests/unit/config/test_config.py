"""assay.toml into frozen values."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from assay.config.assay_toml import (
    TEMPLATE,
    Config,
    load_config,
    load_policy,
)
from assay.config.model_entries import ModelEntry
from assay.config.value_types import Requirement
from assay.core.case import Contract, Inputs, Tolerance
from assay.core.flow import Flow
from assay.core.limits import Limits, Measuring
from assay.core.policy import Expectation, Goal, Policy
from assay.errors import BadPolicy

FULL = """
history = "records"
[[model]]
path = "models/classifier.onnx"
name = "classifier"
golden = "goldens/classifier"
task-metric = "classification"
flows = ["onnxruntime"]
seed = 3
samples = 5
batch = 2
[model.task-metric-options]
labels = "label"
top = 5
[model.tolerance."logits"]
rtol = 1e-4
atol = 1
[flows]
use = ["onnxruntime", "openvino-f32"]
[flow.my-ort]
backend = "onnxruntime"
options = { optimization = "basic", threads = 1, profile = false }
transforms = ["fp16"]
precision = "float16"
[limits]
timeout-s = 30
memory = "4GB"
[measure]
enabled = false
seconds = 1
batches = [1, 8]
threads = 2
warmup-s = 0
[policy]
budget-max = 2
fail-on = ["mismatch", "crash"]
minimum-cases = { "*" = 3 }
[[policy.goal]]
metric = "latency.median_ms"
percent-max-degradation = 20
against = "flow:onnxruntime"
flow = "openvino-*"
case = "class*"
[[policy.goal]]
metric = "logits.max_abs"
max = 1e-3
[[policy.expect]]
case = "x"
flow = "openvino-*"
outcome = "mismatch"
reason = "known"
issue = "https://example.org/1"
expires = 2027-01-31
kind = "verify"
"""


def write(folder: Path, text: str, *models: str) -> Path:
    for name in models:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"onnx")
    path = folder / "assay.toml"
    path.write_text(text, encoding="utf-8")
    return path


def refused(path: Path) -> str:
    with pytest.raises(BadPolicy) as error:
        load_config(path)
    return str(error.value)


def test_every_key_arrives(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, FULL, "models/classifier.onnx"))
    options = {"optimization": "basic", "threads": 1, "profile": False}
    goals = (
        Goal("latency.median_ms", percent_max_degradation=20.0, flow="openvino-*", case="class*", against="flow:onnxruntime"),
        Goal("logits.max_abs", max=1e-3),
    )  # fmt: skip
    known = Expectation("x", "openvino-*", "mismatch", "known", "https://example.org/1", "2027-01-31", "verify")
    contract = Contract(
        tolerances={"logits": Tolerance(1e-4, 1.0)},
        task_metric="classification",
        task_metric_options={"labels": "label", "top": 5},
    )
    inputs = Inputs(str(tmp_path / "goldens/classifier"), 3, 5, 2)
    assert config == Config(
        path=tmp_path / "assay.toml",
        history=str(tmp_path / "records"),
        models=(ModelEntry("classifier", tmp_path / "models/classifier.onnx", inputs, contract, ("onnxruntime",)),),
        use=("onnxruntime", "openvino-f32"),
        flows=(Flow("my-ort", "onnxruntime", options, ("fp16",), precision="float16"),),
        limits=Limits(30.0, 4_000_000_000),
        measure=False,
        measuring=Measuring(1.0, (1, 8), 2, 0.0),
        policy=Policy(goals, (known,), {"*": 3}, 2.0, ("mismatch", "crash")),
    )


def test_an_empty_file_is_the_defaults(tmp_path: Path) -> None:
    path = write(tmp_path, "")
    assert load_config(path) == Config(path=path, history=str(tmp_path / ".assay"))
    assert load_policy(path) == Policy()


def test_values_are_frozen_and_travel(tmp_path: Path) -> None:
    policy = load_config(write(tmp_path, FULL, "models/classifier.onnx")).policy
    assert msgspec.json.decode(msgspec.json.encode(policy), type=Policy) == policy
    with pytest.raises(AttributeError):
        policy.budget_max = 3.0  # type: ignore[misc]


def test_the_template_is_the_defaults_and_holds_every_key(tmp_path: Path) -> None:
    plain = load_config(write(tmp_path, TEMPLATE))
    assert plain == Config(path=plain.path, history=str(tmp_path / ".assay"), use=("onnxruntime",))
    uncommented = re.sub(r"^# (?=\[|[a-z-]+ = )", "", TEMPLATE, flags=re.MULTILINE)
    full = load_config(write(tmp_path, uncommented, "models/classifier.onnx"))
    assert (len(full.models), len(full.flows), len(full.policy.goals), len(full.policy.expectations)) == (1, 1, 1, 1)
    assert full.policy.fail_on == Policy().fail_on
    assert full.limits.memory_bytes == 4_000_000_000


def test_a_glob_stands_for_several_models(tmp_path: Path) -> None:
    path = write(tmp_path, '[[model]]\npath = "models/*.onnx"', "models/b.onnx", "models/a.onnx")
    assert [(model.name, model.path.name) for model in load_config(path).models] == [("a", "a.onnx"), ("b", "b.onnx")]


def test_a_file_without_an_end_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    endless = tmp_path / "endless.toml"
    with endless.open("wb") as file:
        file.truncate(2**24 + 1)
    with pytest.raises(BadPolicy, match=r"endless.toml is larger than 16 MiB; name the right file, or divide it$"):
        load_policy(endless)


def test_files_of_one_name_are_called_by_their_folders(tmp_path: Path) -> None:
    path = write(tmp_path, '[[model]]\npath = "zoo/**/model.onnx"', "zoo/resnet/model.onnx", "zoo/vgg/model.onnx")
    assert [model.name for model in load_config(path).models] == ["zoo/resnet/model", "zoo/vgg/model"]


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    path = write(tmp_path, '[[model]]\npath = "a[1].onnx"', "a[1].onnx", "a1.onnx")
    assert [model.path.name for model in load_config(path).models] == ["a[1].onnx"]


def test_a_golden_that_is_still_to_be_recorded_is_no_error(tmp_path: Path) -> None:
    path = write(tmp_path, '[[model]]\npath = "a.onnx"\ngolden = "later"', "a.onnx")
    assert load_config(path).models[0].inputs.golden == str(tmp_path / "later")


def test_a_policy_file_may_hold_the_policy_alone(tmp_path: Path) -> None:
    path = write(tmp_path, 'budget-max = 3.0\n[[goal]]\nmetric = "seconds"\nmax = 1')
    assert load_policy(path) == Policy(goals=(Goal("seconds", max=1.0),), budget_max=3.0)


def test_a_policy_of_a_whole_file_does_not_need_the_models(tmp_path: Path) -> None:
    assert load_policy(write(tmp_path, FULL)).budget_max == 2.0


def test_a_mistake_in_a_policy_alone_is_found_at_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, "\nbudget-maxx = 3.0")
    with pytest.raises(BadPolicy, match=r"line 2: 'budget-maxx' is no known key; the nearest is 'budget-max'"):
        load_policy(path)


@pytest.mark.parametrize(
    ("text", "count"),
    [('"4GB"', 4 * 10**9), ('"4 GiB"', 2**32), ('"1.5kb"', 1500), ('"512"', 512), ("512", 512), ('"0"', 0)],
)
def test_memory_has_units(tmp_path: Path, text: str, count: int) -> None:
    assert load_config(write(tmp_path, f"[limits]\nmemory = {text}")).limits.memory_bytes == count


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("limits.timeout-s", ["0", "-1", "nan", "inf", '"3"', "true", "[]"]),
        ("limits.memory", ["-1", '"4XB"', '""', "true", "1.5"]),
        ("measure.seconds", ["0", "nan", "-0.1"]),
        ("measure.batches", ["8", "[0]", "[1.5]", '["1"]']),
        ("measure.threads", ["0", "1.0"]),
        ("measure.warmup-s", ["-1", "inf"]),
        ("measure.enabled", ["1", '"yes"']),
        ("policy.budget-max", ["-0.1", "nan", "inf", '"1"']),
        ("policy.fail-on", ['"crash"', '["ok"]', '["infrastructure"]', '["Crash"]']),
        ("policy.minimum-cases", ['{ "*" = 0 }', '{ "*" = 1.0 }', "3"]),
        ("flows.use", ['["a|b"]', '[""]', "[1]"]),
        ("history", ['""', "1"]),
        ("store", ["1"]),
        ("flow.a", ["{}", '{ backend = "" }', '{ backend = "x", options = { y = [] } }']),
        ("flow.a", ['{ backend = "x", options = { y = nan } }', '{ backend = "x", precision = "float99" }']),
        ('flow."a|b"', ['{ backend = "x" }']),
    ],
)
def test_what_is_out_of_range_is_refused(tmp_path: Path, key: str, values: list[str]) -> None:
    for value in values:
        text = refused(write(tmp_path, f"# a line before\n{key} = {value}"))
        assert text.startswith(f"{tmp_path / 'assay.toml'}, line 2: '{key}"), value
        assert "\n" not in text, value


@pytest.mark.parametrize(
    "limits",
    ["", "max = 1\nmin = 0", "max = 1\npercent-max-degradation = 1", "max = nan", "max = inf", "max = true",
     "max-degradation = -1", "percent-max-degradation = -1", 'max = 1\nagainst = "run"',
     'max-degradation = 1\nagainst = "yesterday"', 'max-degradation = 1\nagainst = "flow:"'],
)  # fmt: skip
def test_a_goal_has_one_limit_that_can_be_met(tmp_path: Path, limits: str) -> None:
    assert "policy.goal[0]" in refused(write(tmp_path, f'[[policy.goal]]\nmetric = "seconds"\n{limits}'))


@pytest.mark.parametrize("outcome", ["ok", "infrastructure", "mismatched", ""])
def test_what_cannot_be_expected(tmp_path: Path, outcome: str) -> None:
    text = f'[[policy.expect]]\ncase = "x"\nflow = "y"\nreason = "z"\noutcome = "{outcome}"'
    assert "line 5: 'policy.expect[0].outcome' must be one of mismatch, " in refused(write(tmp_path, text))


def test_an_expiry_may_be_a_text_but_must_be_a_date(tmp_path: Path) -> None:
    known = '[[policy.expect]]\ncase = "x"\nflow = "y"\nreason = "z"\noutcome = "crash"\nexpires = '
    assert load_policy(write(tmp_path, known + '"2027-01-31"')).expectations[0].expires == "2027-01-31"
    assert "must be a date like 2027-01-31" in refused(write(tmp_path, known + "2027-01-31T10:00:00"))
    assert "must be a date like 2027-01-31" in refused(write(tmp_path, known + "20270131"))


def test_the_line_is_found_in_the_right_element_of_an_array(tmp_path: Path) -> None:
    text = '[[model]]\npath = "a.onnx"\n[[model]]\npath = "a.onnx"\n[model.tolerance."x"]\nrtol = 1\n[model.tolerance."y"]\nrtol = -1'
    message = refused(write(tmp_path, text, "a.onnx"))
    assert message == f"{tmp_path / 'assay.toml'}, line 8: 'model[1].tolerance.y.rtol' must be at least 0, not -1"


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = "[policy]\nbudget-max = -1\n[limits]\ntimeout-s = 0\nmemoryy = 1\n[measure]\nenabled = 3"
    lines = refused(write(tmp_path, text)).splitlines()
    assert [re.search(r"line (\d+)", line)[1] for line in lines] == ["2", "4", "5", "7"]  # type: ignore[index]


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60) | st.lists(st.sampled_from(FULL.splitlines()), max_size=8).map("\n".join))
def test_whatever_stands_in_the_file_it_is_read_or_refused_in_words(tmp_path: Path, text: str) -> None:
    path = tmp_path / "assay.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    text_before = ""
    try:
        assert isinstance(load_policy(path), Policy)
    except BadPolicy as error:
        text_before = str(error)
    assert all(line.startswith(str(path)) for line in text_before.splitlines())


@pytest.mark.parametrize(
    "line",
    ["a", "a==1.0", "a.b_c[x,y] >= 1, < 2", "a; python_version < '3.12'", "a @ https://example.org/a.whl", "a (>=1)"],
)
def test_a_requirement_is_what_pip_reads_of_a_package(line: str) -> None:
    assert TypeAdapter(Requirement).validate_python(line) == line


@pytest.mark.parametrize(
    "line",
    ["", "-r x", "--index-url https://x", "./a.whl", "dist/a.whl", "/a", "a==1 -r x", "a\n-r x", "https://x/a.whl"],
)
def test_an_option_or_a_file_is_no_requirement(line: str) -> None:
    with pytest.raises(ValidationError, match="no option and no file"):
        TypeAdapter(Requirement).validate_python(line)


def test_a_history_and_a_store_may_be_addresses_and_folders_lie_beside_the_file(tmp_path: Path) -> None:
    path = tmp_path / "assay.toml"
    path.write_text('history = "postgresql+psycopg://ci@db/assay"\nstore = "s3://bucket/prefix"\n')
    read = load_config(path)
    assert (read.history, read.store) == ("postgresql+psycopg://ci@db/assay", "s3://bucket/prefix")
    path.write_text('store = "shared"\n')
    assert load_config(path).store == str(tmp_path / "shared")
