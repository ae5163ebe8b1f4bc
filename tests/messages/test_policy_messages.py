"""The texts a user meets who writes an assay.toml, and the words of the policy reference."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from assay.config.assay_toml import load_config
from assay.config.toml_schema import ConfigFile
from assay.core.outcome import Outcome
from assay.core.verdict import VerdictStatus
from assay.errors import BadPolicy
from assay.judge.metric_registry import METRICS, RECORDED, TASK_FIGURES, metric_reference
from assay.judge.outcome_table import outcome_reference
from assay.task_metrics.registry import task_reference

REFERENCE = Path(__file__).parents[2] / "docs" / "policy.md"
OUTCOMES = (
    "mismatch, unsupported, undelegated, other_precision, error, crash, timeout, out_of_memory, unavailable, lowered, nondeterministic, "
    "mistrusted"
)
GOAL = '[[policy.goal]]\nmetric = "seconds"\n'
EXPECT = '[[policy.expect]]\ncase = "x"\nflow = "y"\n'

MESSAGES = [
    ("modle = 1", "assay.toml, line 1: 'modle' is no known key; the nearest is 'model'"),
    (
        "[limits]\nzzz = 1",
        "assay.toml, line 2: 'limits.zzz' is no known key; known here are timeout-s, derive-timeout-s, memory, repeat-share",
    ),
    (
        GOAL + "percent-max = 20",
        "assay.toml, line 3: 'policy.goal[0].percent-max' is no known key; the nearest is 'percent-max-degradation'",
    ),
    (
        GOAL + "max = 1\npercent-max-degradation = 2",
        "assay.toml, line 1: 'policy.goal[0]' has both max and percent-max-degradation: "
        "give exactly one of max, min, equal, max-degradation, percent-max-degradation",
    ),
    (
        GOAL,
        "assay.toml, line 1: 'policy.goal[0]' has no limit: "
        "give exactly one of max, min, equal, max-degradation, percent-max-degradation",
    ),
    (
        GOAL + 'max = 1\nagainst = "run"',
        "assay.toml, line 1: 'policy.goal[0]' max is absolute, against has no effect on it: "
        "remove against, or limit a degradation",
    ),
    (GOAL + "max = nan", "assay.toml, line 3: 'policy.goal[0].max' must be a finite number, not nan"),
    (GOAL + 'max = "fast"', "assay.toml, line 3: 'policy.goal[0].max' must be a number, not 'fast'"),
    (
        GOAL + 'max-degradation = 1\nagainst = "old"',
        """assay.toml, line 4: 'policy.goal[0].against' must be "run" or "flow:NAME", not 'old'""",
    ),
    (
        '[[policy.goal]]\nmetric = "latency.medain_ms"\nmax = 1',
        "assay.toml, line 2: 'policy.goal[0].metric' 'latency.medain_ms' is no metric that is ever recorded; "
        "the nearest is 'latency.median_ms'",
    ),
    (
        EXPECT + 'reason = " "\noutcome = "crash"',
        "assay.toml, line 4: 'policy.expect[0].reason' must not be empty: whoever reads it next year needs to know why",
    ),
    (EXPECT + 'outcome = "crash"', "assay.toml, line 1: 'policy.expect[0].reason' is missing: it has no default"),
    (
        EXPECT + 'reason = "r"\noutcome = "mismach"',
        f"assay.toml, line 5: 'policy.expect[0].outcome' must be one of {OUTCOMES}, not 'mismach'; "
        "the nearest is 'mismatch'",
    ),
    (
        EXPECT + 'reason = "r"\noutcome = "crash"\nexpires = "soon"',
        "assay.toml, line 6: 'policy.expect[0].expires' must be a date like 2027-01-31, not 'soon'",
    ),
    ("[policy]\nbudget-max = -1", "assay.toml, line 2: 'policy.budget-max' must be at least 0, not -1"),
    (
        '[environments.x]\nrequires = ["-r robot.toml"]',
        "assay.toml, line 2: 'environments.x.requires[0]' must be one requirement such as \"onnxruntime==1.30.0\" or "
        "\"name @ https://...\", no option and no file, not '-r robot.toml'",
    ),
    ("[limits]\ntimeout-s = 0", "assay.toml, line 2: 'limits.timeout-s' must be at least 0.1, not 0"),
    (
        '[limits]\nmemory = "4XB"',
        """assay.toml, line 2: 'limits.memory' must be a number of bytes or a text like "4GB" or "512MiB", not '4XB'""",
    ),
    ("[measure]\nenabled = 1", "assay.toml, line 2: 'measure.enabled' must be true or false, not 1"),
    ("[measure]\nbatches = 8", "assay.toml, line 2: 'measure.batches' must be a list, not 8"),
    ("[measure]\nthreads = true", "assay.toml, line 2: 'measure.threads' must be a whole number, not true"),
    ("policy = 1", "assay.toml, line 1: 'policy' must be a table, not 1"),
    (
        '[flow."a|b"]\nbackend = "x"',
        """assay.toml, line 1: 'flow."a|b"' must not be empty, and must not hold '|', which separates case, flow and kind""",
    ),
    ('history = "a\\u0000b"', "assay.toml, line 1: 'history' must not hold the character U+0000, which no file's name can have"),
    (
        "[flow." + "x" * 201 + ']\nbackend = "onnxruntime"',
        "assay.toml, line 1: 'flow." + "x" * 201 + "' must not be longer than 200 characters, and has 201: it stands in every report",
    ),
    ('[[model]]\npath = "no.onnx"', "assay.toml, line 2: 'model[0].path' 'no.onnx' matches no file: "
     "correct the path, it is relative to the file"),
    ('[[model]]\npath = "no/*.onnx"', "assay.toml, line 2: 'model[0].path' 'no/*.onnx' matches no file: "
     "correct the pattern"),
    ('[[model]]\npath = "*.onnx"\ngolden = "g"', "assay.toml, line 3: 'model[0].golden' one golden for the 2 models that "
     "'*.onnx' matches: list them one by one"),
    ('[[model]]\npath = "a.onnx"\n[[model]]\npath = "b.onnx"\nname = "a"', "assay.toml, line 5: 'model[1].name' two models "
     "are called 'a': give one of them another name"),
    (
        "[policy\nx = 1",
        "assay.toml, line 1: this is not valid TOML at column 8: Expected ']' at the end of a table declaration; "
        "correct the syntax",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("toml", "message"), MESSAGES, ids=[message[:60] for _, message in MESSAGES])
def test_the_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toml: str, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.onnx", "b.onnx"):
        Path(name).write_bytes(b"onnx")
    Path("assay.toml").write_text(toml)
    with pytest.raises(BadPolicy) as error:
        load_config(Path("assay.toml"))
    assert str(error.value) == message


def test_a_file_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("latin.toml").write_bytes(b"history = '\xe9'")
    messages = {
        "none.toml": "none.toml: there is no such file; write one with `assay init`",
        "latn.toml": "latn.toml: there is no such file; perhaps you mean latin.toml",
        "folder": "folder is a folder; name the file in it, such as folder/assay.toml",
        "latin.toml": "latin.toml: byte 11 is not UTF-8; TOML must be saved as UTF-8",
    }
    for name, message in messages.items():
        with pytest.raises(BadPolicy) as error:
            load_config(Path(name))
        assert str(error.value) == message


def _keys(table: type[BaseModel]) -> set[str]:
    """Every key of a table and of the tables in it."""
    keys: set[str] = set()
    for field in table.model_fields.values():
        keys.add(str(field.alias))
        waiting = [field.annotation]
        while waiting:
            part = waiting.pop()
            waiting += getattr(part, "__args__", ())
            if isinstance(part, type) and issubclass(part, BaseModel):
                keys |= _keys(part)
    return keys


def test_the_reference_names_every_key_figure_outcome_and_word() -> None:
    text = REFERENCE.read_text(encoding="utf-8")
    keys = _keys(ConfigFile)
    assert {"percent-max-degradation", "budget-max", "warmup-s", "task-metric-options", "rtol"} <= keys
    figures = {row.pattern for row in (*RECORDED, *METRICS, *TASK_FIGURES)}
    tables = outcome_reference() + task_reference() + metric_reference((*RECORDED, *METRICS))
    named = {*keys, *figures, *(outcome.value for outcome in Outcome), *(status.value for status in VerdictStatus)}
    assert "_generated/outcomes.inc" in text
    assert sorted(name for name in named if f"`{name}`" not in text + tables) == []


def test_the_reference_has_the_tables_of_figures() -> None:
    text = REFERENCE.read_text(encoding="utf-8")
    assert "_generated/metrics-of-jobs.inc" in text
    assert "_generated/metrics-of-outputs.inc" in text
    assert "| `sqnr_db` | dB | higher | signal to error ratio |" in metric_reference(METRICS)
    assert "| `norm_ratio` | - | 1 | norm of the output over norm of the reference; 1 is best |" in metric_reference(
        METRICS
    )
