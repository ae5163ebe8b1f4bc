"""Whose a model is; names that are taken for another's; another's weights under a new name; claims without bounds."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from assay_zoo.artifacts.identity import check_identity
from assay_zoo.artifacts.meta import metadata_findings, read_metadata_text
from assay_zoo.check import GROUPS, CheckOutcome
from assay_zoo.check_order import waits_for
from assay_zoo.conflicts import look, ordered, same_title
from assay_zoo.facts import read_facts
from assay_zoo.intake import take_in
from assay_zoo.manifest import Accuracy, Entry, Manifest, Version, Withdrawal, write_manifest
from assay_zoo.metadata import Metadata
from assay_zoo.policy import ZooPolicy
from assay_zoo.submission import SubmissionContext
from zoo_submission import METADATA, matmul

pytestmark = pytest.mark.usefixtures("warm_readers")

MEMORY_BYTES = 2_000_000_000


def _version(number: str = "1.0", **more: str) -> Version:
    told = {
        "version": number, "digest": "d", "closure": "c", "title": "t", "license": "MIT", "scenario": "s",
        "promoted_at": "", "by": "b", "reason": "r", "decision": "promote", **more,
    }  # fmt: skip
    return Version(
        files=(), opset=17, inputs=(), outputs=(), tags=(), performance={},
        accuracy=Accuracy(metric="m", claimed=1.0), **told,
    )  # fmt: skip


def _zoo(root: Path, models: Mapping[str, Version]) -> Path:
    root.mkdir(exist_ok=True)
    entries = {name: Entry(current=model.version, versions=(model,)) for name, model in models.items()}
    write_manifest(root, Manifest(models=entries))
    return root


def _place(
    root: Path, name: str = "small", author: str = "", owners: Mapping[str, tuple[str, ...]] = {}
) -> SubmissionContext:
    told = tomllib.loads(METADATA)
    metadata = Metadata.model_validate({**told, "name": name})
    policy = ZooPolicy(name="z", owners=dict(owners))
    return SubmissionContext(folder=root, root=root, policy=policy, metadata=metadata, name=name, author=author)


def _outcomes(place: SubmissionContext) -> dict[str, CheckOutcome]:
    return {check.name.removeprefix("artifacts."): check.outcome for check in check_identity(place)}


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("digits_v1", CheckOutcome.FAILED), ("digits.v1", CheckOutcome.FAILED), ("dlglts-vl", CheckOutcome.FAILED),
        ("con", CheckOutcome.FAILED), ("nul.v2", CheckOutcome.FAILED), ("com7", CheckOutcome.FAILED),
        ("digits-v1", CheckOutcome.PASSED), ("digits-v2", CheckOutcome.PASSED), ("console", CheckOutcome.PASSED),
        ("digit-v1", CheckOutcome.UNDECIDED), ("d1git5-v1", CheckOutcome.UNDECIDED), ("digits1-v1", CheckOutcome.PASSED),
    ],
)  # fmt: skip
def test_a_name_that_is_taken_for_another(tmp_path: Path, name: str, outcome: CheckOutcome) -> None:
    assert _outcomes(_place(_zoo(tmp_path, {"digits-v1": _version()}), name))["name"] is outcome


@pytest.mark.parametrize(
    ("author", "approved", "listed", "outcome"),
    [
        ("tom", "", (), CheckOutcome.UNDECIDED), ("tom", "mira", (), CheckOutcome.PASSED),
        ("tom", "", ("tom",), CheckOutcome.PASSED), ("mira", "", (), CheckOutcome.PASSED),
        ("", "", (), None),
    ],
)  # fmt: skip
def test_nothing_of_an_unknown_author_is_run_before_an_approval(
    tmp_path: Path, author: str, approved: str, listed: tuple[str, ...], outcome: CheckOutcome | None
) -> None:
    place = _place(_zoo(tmp_path, {"digits-v1": _version(author="mira")}), author=author)
    place = replace(place, approved=approved, policy=place.policy.model_copy(update={"approved": listed}))
    found = check_identity(place)
    assert {check.name: check.outcome for check in found}.get("artifacts.author") is outcome
    waiting = {group for group in GROUPS if waits_for(group, found) == "artifacts.author"}
    assert waiting == ({"functionality", "accuracy", "performance"} if outcome is CheckOutcome.UNDECIDED else set())


def test_what_names_have_in_common() -> None:
    assert look("ResNet_50.v1") == look("resnet-5o-vl")
    assert look("resnet-50") != look("resnet-18")
    assert look("nυmber") == look("number") == look("ΝUΜBER")
    assert look("Ϲaг") == look("car")


@pytest.mark.parametrize(
    ("author", "first", "owners", "outcome"),
    [
        ("mira", "mira", {}, CheckOutcome.PASSED),
        ("tom", "mira", {}, CheckOutcome.UNDECIDED),
        ("tom", "", {}, CheckOutcome.UNDECIDED),
        ("", "mira", {}, CheckOutcome.SKIPPED),
        ("tom", "mira", {"small": ("tom",)}, CheckOutcome.PASSED),
        ("mira", "mira", {"small": ("tom",)}, CheckOutcome.UNDECIDED),
        ("Mira", "mira", {}, CheckOutcome.PASSED),
        ("m\u0131ra", "mIra", {}, CheckOutcome.UNDECIDED),
        ("kim", "", {"small": ("\u212aim",)}, CheckOutcome.UNDECIDED),
    ],
)
def test_a_model_is_changed_by_those_whose_it_is(
    tmp_path: Path, author: str, first: str, owners: dict[str, tuple[str, ...]], outcome: CheckOutcome
) -> None:
    root = _zoo(tmp_path, {"small": _version(author=first)})
    assert _outcomes(_place(root, author=author, owners=owners))["owner"] is outcome


def test_a_new_model_has_no_owner_yet(tmp_path: Path) -> None:
    assert _outcomes(_place(_zoo(tmp_path, {}), author="tom"))["owner"] is CheckOutcome.PASSED


@pytest.mark.heavy
def test_another_models_weights_under_a_new_name(tmp_path: Path) -> None:
    matmul(tmp_path / "model.onnx", 1, "first")
    facts = read_facts(tmp_path, "model.onnx", memory_bytes=MEMORY_BYTES)
    root = _zoo(tmp_path, {"other": _version(closure=facts.closure, weights=facts.weights)})
    matmul(tmp_path / "model.onnx", 1, "renamed")
    assert read_facts(tmp_path, "model.onnx", memory_bytes=MEMORY_BYTES).closure != facts.closure
    assert _outcomes(_place(root))["copy"] is CheckOutcome.UNDECIDED
    assert "copy" not in _outcomes(_place(root, "other"))  # a new version of itself may keep them
    matmul(tmp_path / "model.onnx", 2, "first")
    assert _outcomes(_place(root))["copy"] is CheckOutcome.PASSED


@pytest.mark.parametrize(
    ("seed", "change", "outcome"),
    [
        (1, lambda values: values * np.float32(1.0001), CheckOutcome.UNDECIDED),
        (1, lambda values: values.T.astype(np.float64), CheckOutcome.UNDECIDED),
        (1, lambda values: values.astype(np.float16).reshape(4, 64), CheckOutcome.UNDECIDED),
        (1, lambda values: values * np.geomspace(0.1, 9, 16, dtype=np.float32), CheckOutcome.UNDECIDED),
        (1, lambda values: (values * np.float32(3))[::-1], CheckOutcome.UNDECIDED),
        (1, lambda values: values * np.float32(1.05) + np.float32(0.05), CheckOutcome.PASSED),
        (2, np.asarray, CheckOutcome.PASSED),
    ],
)
def test_another_models_weights_turned_cast_or_with_noise(
    tmp_path: Path, seed: int, change: Callable[[np.ndarray], np.ndarray], outcome: CheckOutcome
) -> None:
    matmul(tmp_path / "model.onnx", 1, "first")
    facts = read_facts(tmp_path, "model.onnx", memory_bytes=MEMORY_BYTES)
    served = msgspec.structs.replace(
        _version(), closure=facts.closure, weights=facts.weights, largest=facts.largest, sketch=facts.sketch
    )
    matmul(tmp_path / "model.onnx", seed, "first", change)
    assert _outcomes(_place(_zoo(tmp_path, {"other": served})))["copy"] is outcome


def test_a_model_that_cannot_be_read_may_be_a_copy(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"no model")
    assert _outcomes(_place(_zoo(tmp_path, {"other": _version()})))["copy"] is CheckOutcome.UNDECIDED


def _metadata_sentences(root: Path, change: tuple[str, str], scenario: str) -> str:
    (root / "scenarios").mkdir(exist_ok=True)
    name = tomllib.loads(METADATA)["scenario"]
    metric = tomllib.loads(METADATA)["accuracy"]["metric"]
    (root / "scenarios" / "one.toml").write_text(f'name = "{name}"\ntitle = "t"\nmetric = "{metric}"\n{scenario}\n')
    folder = root / "submitted"
    folder.mkdir()
    text = METADATA.replace(*change)
    assert text != METADATA or change[0] == change[1]
    (folder / "metadata.toml").write_text(text)
    taken = take_in(folder, root / "taken")
    metadata = Metadata.model_validate(tomllib.loads(text))
    place = SubmissionContext(
        folder=taken.folder, root=root, policy=ZooPolicy(name="z"), metadata=metadata, intake=taken
    )
    return "\n".join(finding.sentence for finding in metadata_findings(place, read_metadata_text(taken.folder)))


@pytest.mark.parametrize(
    ("change", "scenario", "part"),
    [
        (("value = 1.0", "value = 1.2"), "", "lies between 0 and 1"),
        (("value = 1.0", "value = 31.5"), "range = [0.0, 200.0]", ""),
        (("value = 1.0", "value = 1.0\ntolerance = 0.5"), "", "allows 0.02"),
        (("value = 1.0", "value = 1.0\ntolerance = 0.5"), "largest_tolerance = 0.5", ""),
        (("value = 1.0", 'value = 1.0\ndirection = "lower"'), "", "lower is better, and for scenario"),
    ],
)
def test_claims_are_bounded_by_the_scenario(tmp_path: Path, change: tuple[str, str], scenario: str, part: str) -> None:
    told = _metadata_sentences(tmp_path, change, scenario)
    assert part in told
    assert bool(told) is bool(part), told


def test_an_older_version_never_follows_a_newer_one(tmp_path: Path) -> None:
    name, version = tomllib.loads(METADATA)["name"], tomllib.loads(METADATA)["version"]
    root = _zoo(tmp_path, {name: _version("9.9")})
    assert "has had 9.9: give it a higher one" in _metadata_sentences(
        root, (f'version = "{version}"', 'version = "9.8"'), ""
    )


def test_a_withdrawn_version_is_not_handed_in_again(tmp_path: Path) -> None:
    told = tomllib.loads(METADATA)
    name, version = told["name"], told["version"]
    withdrawal = Withdrawal(at="", by="b", reason="slow on phones")
    same = f'version = "{version}"', f'version = "{version}"'
    plain = _version(version, digest=_digest(tmp_path / "same"))
    assert _metadata_sentences(_zoo(tmp_path / "served", {name: plain}), same, "") == ""
    withdrawn = msgspec.structs.replace(plain, withdrawn=withdrawal)
    assert "was withdrawn (slow on phones): give it a higher one" in _metadata_sentences(
        _zoo(tmp_path / "withdrawn", {name: withdrawn}), same, ""
    )


def test_an_older_version_is_not_handed_in_again(tmp_path: Path) -> None:
    told = tomllib.loads(METADATA)
    name, version = told["name"], told["version"]
    same = f'version = "{version}"', f'version = "{version}"'
    older, newer = _version(version, digest=_digest(tmp_path / "same")), _version("1.1")
    root = _zoo(tmp_path / "newer", {})
    write_manifest(root, Manifest(models={name: Entry(current="1.1", versions=(older, newer))}))
    assert "and this zoo serves 1.1 by now: give it a higher one" in _metadata_sentences(root, same, "")
    back = _zoo(tmp_path / "back", {})
    gone = msgspec.structs.replace(newer, withdrawn=Withdrawal(at="", by="b", reason="slow"))
    write_manifest(back, Manifest(models={name: Entry(current=version, versions=(older, gone))}))
    assert _metadata_sentences(back, same, "") == ""  # it is what is served now


def _digest(folder: Path) -> str:
    """Of a submission that is METADATA alone."""
    folder.mkdir()
    (folder / "metadata.toml").write_text(METADATA)
    return take_in(folder, folder.with_name("taken-of-it")).digest


def test_versions_are_numbers() -> None:
    assert ordered("1.10") > ordered("1.9")
    assert ordered("2") == ordered("2.0.0")
    assert msgspec.json.encode(_version(author="mira"))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('inference = "validation.ipynb"', "they are two notebooks"),
        ('title = "A\\nB"', "more than one line in title"),
        ('version = "999999999.999999999"', "above which no other can be"),
        ('contributors = ["M\\u0456ra"]', "letters of another alphabet"),
    ],
)
def test_names_and_numbers_that_deceive(tmp_path: Path, line: str, words: str) -> None:
    key = line.partition(" = ")[0]
    kept = [each for each in METADATA.splitlines() if not each.startswith(f"{key} = ")]
    (tmp_path / "metadata.toml").write_text("\n".join([line, *kept]), encoding="utf-8")
    table = tomllib.loads((tmp_path / "metadata.toml").read_text(encoding="utf-8"))
    place = SubmissionContext(
        folder=tmp_path, root=tmp_path, policy=ZooPolicy(name="z"), metadata=Metadata.model_validate(table), name=""
    )
    assert any(words in finding.sentence for finding in metadata_findings(place, read_metadata_text(tmp_path)))


@pytest.mark.parametrize(("name", "is_taken"), [("a..b", False), ("a.lock", False), ("a.git", False), ("a.b", True)])
def test_a_name_that_git_cannot_hold(tmp_path: Path, name: str, is_taken: bool) -> None:
    outcome = _outcomes(_place(_zoo(tmp_path / "zoo", {}), name))["name"]
    assert (outcome is CheckOutcome.PASSED) is is_taken


def test_the_title_of_a_served_model_asks_a_person(tmp_path: Path) -> None:
    title = tomllib.loads(METADATA)["title"]
    served = _version(title=f" {title.upper()} ")
    assert _outcomes(_place(_zoo(tmp_path / "zoo", {"other": served}), "small"))["name"] is CheckOutcome.UNDECIDED
    assert _outcomes(_place(_zoo(tmp_path / "zoo", {"small": served}), "small"))["name"] is CheckOutcome.PASSED


@pytest.mark.parametrize(
    ("title", "is_alike"),
    [
        ("Smаll dіgіtѕ", True),
        ("ЅMALL DΙGΙTS", True),
        ("Ｓｍａｌｌ digits", True),
        ("Smáll digits", True),
        ("Smal\u0131 dıɡıts", True),
        ("Sm\u0251ll di\u200bgi\u00adts!", True),
        ("Sma\u0335ll (digits)", True),
        ("Small figures", False),
        ("Small digits+", False),
    ],
)
def test_a_title_that_looks_like_anothers_asks_a_person(title: str, is_alike: bool) -> None:
    entry = Entry(current="1.0", versions=(_version(title="Small digits"),))
    assert bool(list(same_title("new", title, {"other": entry}))) is is_alike
