"""Whether another release may be deployed: from the results of both, a word for each model and one way."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from assay.commands import upgrade
from assay.commands.upgrade import config_of, run_upgrade
from assay.core.outcome import Outcome
from assay.core.result import VerifyResult
from assay.core.speed import PairedRun, SpeedComparison
from assay.core.verdict import VerdictStatus
from assay.environments import releases
from assay.errors import UsageError
from assay.options.upgrade import UpgradeOptions
from assay.pipeline.request import Request
from assay.plugins import find_flow
from assay.testing.builders import make_comparison, make_result
from assay.triage.cause import Cause, Where
from assay.triage.passes import Cure
from assay.triage.speed import Speed
from assay.triage.symptom import Symptom
from assay.triage.upgrade import Answers, ModelChange, Upgrade, changed
from assay.triage.upgrade_text import lines, verdict

PASS, FAIL = VerdictStatus.PASS, VerdictStatus.FAIL


def verified(error: float = 1e-6, outcome: Outcome = Outcome.OK) -> VerifyResult:
    """One release's answers."""
    comparison = make_comparison()
    comparison = replace(comparison, metrics={**comparison.metrics, "rel_l2": error})
    result = make_result(kind="verify", outcome=outcome)
    assert isinstance(result, VerifyResult)
    return replace(result, comparisons=(comparison,))


@pytest.mark.parametrize(
    ("old", "new", "words", "answers"),
    [
        (verified(), verified(), (PASS, PASS), Answers.SAME),
        (verified(), verified(1.1e-6), (PASS, PASS), Answers.SAME),
        (verified(), verified(1e-7), (PASS, PASS), Answers.NEARER),
        (verified(), verified(1e-5), (PASS, PASS), Answers.FARTHER),
        (verified(), verified(0.5, Outcome.MISMATCH), (PASS, FAIL), Answers.WRONG),
        (verified(0.5, Outcome.MISMATCH), verified(), (FAIL, PASS), Answers.RIGHT_AGAIN),
        (verified(0.5, Outcome.MISMATCH), verified(0.5, Outcome.MISMATCH), (FAIL, FAIL), Answers.WRONG_BOTH),
        (verified(), verified(outcome=Outcome.UNSUPPORTED), (PASS, FAIL), Answers.NEWLY_REFUSED),
        (verified(outcome=Outcome.UNSUPPORTED), verified(), (FAIL, PASS), Answers.NEWLY_SUPPORTED),
        (verified(), verified(outcome=Outcome.UNAVAILABLE), (PASS, VerdictStatus.SKIP), Answers.UNKNOWN),
        (verified(), verified(outcome=Outcome.UNAVAILABLE), (PASS, VerdictStatus.ERROR), Answers.UNKNOWN),
        (verified(outcome=Outcome.INFRASTRUCTURE), verified(), (VerdictStatus.ERROR, PASS), Answers.UNKNOWN),
        (verified(), verified(), (PASS, VerdictStatus.INCONCLUSIVE), Answers.UNKNOWN),
    ],
)
def test_a_model_has_a_word(
    old: VerifyResult, new: VerifyResult, words: tuple[VerdictStatus, VerdictStatus], answers: Answers
) -> None:
    assert changed("m", [old], [new], words).answers is answers


def cause(model: str, option: str, whole: bool | None = True) -> Cause:
    """Made right by one option."""
    wrong = Symptom("values", "y", 0.5)
    cure = Cure("option", (option,), {option: "off"})
    return Cause("k", model, "f", "b", {}, Where.NODE, wrong, wrong, cures=(cure,), whole_cured=whole)


@pytest.mark.parametrize(
    ("models", "causes", "way"),
    [
        ([ModelChange("a", Answers.SAME), ModelChange("b", Answers.NEARER)], [], "go"),
        ([ModelChange("a", Answers.WRONG_BOTH)], [], "go"),
        ([ModelChange("a", Answers.SAME, speed=Speed.SLOWER, ratio=1.5)], [], "stay"),
        ([ModelChange("a", Answers.NEWLY_REFUSED)], [], "stay"),
        ([ModelChange("a", Answers.UNKNOWN)], [], "stay"),
        ([ModelChange("a", Answers.WRONG)], [], "stay"),
        ([ModelChange("a", Answers.WRONG)], [cause("a", "fuse")], "go with options"),
        ([ModelChange("a", Answers.WRONG)], [cause("a", "fuse", whole=False)], "stay"),
        ([ModelChange("a", Answers.WRONG), ModelChange("b", Answers.NEWLY_REFUSED)], [cause("a", "fuse")], "stay"),
    ],
)
def test_the_safe_way_follows_from_all_models(models: list[ModelChange], causes: list[Cause], way: str) -> None:
    found = Upgrade("b", "1", "2", tuple(models), tuple(causes))
    assert found.way == way
    assert verdict(found).startswith(f"upgrade b 1 -> 2: {way}: ")


def compared(slower: float, noise: float = 0.001, load: float = 0.0) -> SpeedComparison:
    """Twenty pairs of engines, apart by that share."""
    pairs = [
        PairedRun(math.log1p(slower) + noise * (-1) ** number, 0.0, math.log1p(load), 8, 1.0 + slower, 1.0)
        for number in range(20)
    ]
    return SpeedComparison("old", tuple(pairs), "thread", 1.0 + slower, 1.0)


def seen(comparison: SpeedComparison, **said: Any) -> ModelChange:
    """A model whose answers are the same, as the command decides it."""
    options = UpgradeOptions(backend="b", old="1", new="2", launches=20, **said)
    return upgrade.with_decision(ModelChange("m", Answers.SAME), comparison, upgrade.speed_rule(options))


@pytest.mark.parametrize(
    ("comparison", "said", "way", "message"),
    [
        (compared(0.02), {}, "go", "as fast (1.02 times as long)"),
        (compared(0.08), {}, "stay", "SLOWER by 8 % (5 % are allowed)"),
        (compared(0.02), {"max_slowdown": 1.0}, "stay", "SLOWER by 2 % (1 % are allowed)"),
        (compared(0.08), {"max_slowdown": 10.0}, "go", "as fast (1.08 times as long)"),
        (compared(-0.2), {}, "go", "faster (0.80 times as long)"),
        (compared(0.06, noise=0.2), {}, "go", "speed not decided (1.06 times as long so far)"),
        (compared(0.0, load=0.8), {}, "stay", "SLOWER to load by 80 % (50 % are allowed)"),
    ],
)
def test_a_model_may_lose_as_much_speed_as_the_user_says(
    comparison: SpeedComparison, said: dict[str, float], way: str, message: str
) -> None:
    found = Upgrade("b", "1", "2", (seen(comparison, **said),))
    assert (found.way, next(iter(lines(found)))) == (way, f"m  same answers, {message}")


def test_a_policy_says_what_may_be_lost(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text("[speed]\nmin-slowdown-percent = 1.0\n")
    assert seen(compared(0.02), policy=policy).speed is Speed.SLOWER
    assert seen(compared(0.02), policy=policy, max_slowdown=5.0).speed is Speed.SAME


def test_a_bot_reads_which_models_are_wrong_in_both() -> None:
    models = (ModelChange("a", Answers.SAME), ModelChange("b", Answers.WRONG_BOTH))
    assert verdict(Upgrade("b", "1", "2", models)).endswith(
        "models are as good as before; b is wrong or refused in both releases"
    )


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no ONNX file"):
        run_upgrade(UpgradeOptions(backend="onnxruntime", old="1.30.0", new="1.31.1", models=tmp_path))
    with pytest.raises(UsageError, match="there is no file or folder"):
        run_upgrade(UpgradeOptions(backend="onnxruntime", old="1.30.0", new="1.31.1", models=tmp_path / "none"))
    (tmp_path / "m.onnx").touch()
    with pytest.raises(UsageError, match="--golden: there is no folder"):
        run_upgrade(UpgradeOptions(backend="onnxruntime", old="1", new="2", models=tmp_path, golden=tmp_path / "none"))
    with pytest.raises(UsageError, match="given twice"):
        run_upgrade(UpgradeOptions(backend="onnxruntime", old="1.30.0", new="1.30.0", models=tmp_path))
    with pytest.raises(UsageError, match="packages of miscompiler are not known"):
        run_upgrade(UpgradeOptions(backend="miscompiler", old="1", new="2", models=tmp_path))
    with pytest.raises(UsageError, match="'latest' is no release"):
        run_upgrade(UpgradeOptions(backend="onnxruntime", old="1.30.0", new="latest", models=tmp_path))


def test_a_release_that_there_is_not_is_told_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.onnx").touch()
    monkeypatch.setattr(releases, "list_releases", lambda package, python="": ["1.30.0", "1.31.1"])
    monkeypatch.setattr(upgrade, "open_services", lambda *_, **__: pytest.fail("a run was begun"))
    with pytest.raises(UsageError, match=r"onnxruntime has no release 1\.31\.9 .* near: 1\.30\.0, 1\.31\.1"):
        run_upgrade(UpgradeOptions(backend="onnxruntime", old="1.30.0", new="1.31.9", models=tmp_path))


def test_any_name_of_a_file_is_a_model_and_a_release_may_have_any_version(tmp_path: Path) -> None:
    options = UpgradeOptions(backend="onnxruntime", old="1.30.0+cpu", new="1!1.31.1", models=tmp_path)
    models = [tmp_path / name for name in ('it\'s "a" model.onnx', "back\\slash.onnx")]
    made = tomllib.loads(config_of(find_flow("onnxruntime"), options, models))
    assert [entry["name"] for entry in made["model"]] == [model.stem for model in models]
    assert [entry["path"] for entry in made["model"]] == [str(model) for model in models]
    assert [environment["requires"] for environment in made["environments"].values()] == [
        ["onnxruntime==1.30.0+cpu"],
        ["onnxruntime==1!1.31.1"],
    ]


def test_a_file_that_cannot_be_read_is_told_and_does_not_hide_the_others() -> None:
    same = ModelChange("a", Answers.SAME)
    lost = ModelChange("b", Answers.UNREADABLE, detail="b.onnx is no ONNX model")
    found = Upgrade("onnxruntime", "1", "2", (same, lost))
    assert found.way == "stay"
    assert [*lines(found)][1] == "b  CANNOT BE READ: b.onnx is no ONNX model"
    assert verdict(found) == "upgrade onnxruntime 1 -> 2: stay: b cannot be read"


def test_one_unreadable_file_leaves_the_others_to_be_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    good, bad = (cast("Any", SimpleNamespace(path=Path(name))) for name in ("a.onnx", "b.onnx"))

    def checks(request: Request, services: object) -> str:
        if bad in request.models:
            raise UsageError("b.onnx is no ONNX model")
        return f"{len(request.models)} checked"

    monkeypatch.setattr(upgrade, "check", checks)
    monkeypatch.setattr(upgrade, "_unreadable", lambda model, *_: "no model" if model is bad else "")
    services = cast("Any", None)
    assert upgrade._checked(Request(models=(good, bad)), services) == ("1 checked", {bad.path: "no model"})
    with pytest.raises(UsageError, match="no ONNX model"):
        upgrade._checked(Request(models=(bad,)), services)
