"""A zoo changes in one step: killed anywhere, it serves the old or the new, and the same call again finishes."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from adder_zoo import accepted, empty_zoo, inspected, submitted
from assay.errors import UsageError
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.decision import Answer, Decision, decide
from assay_zoo.index import index_trouble
from assay_zoo.inspect import Inspection
from assay_zoo.manifest import Entry, Sketch, current_folder, read_manifest, write_manifest
from assay_zoo.policy import Rules, Waiver, ZooPolicy
from assay_zoo.promote import promote, rollback
from assay_zoo.records import decide_again, read_record, write_record


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    return empty_zoo(tmp_path / "zoo")


def test_a_promotion_moves_the_submission_and_says_everything(zoo: Path) -> None:
    (change,) = accepted(zoo, "1.0")
    assert change.sentence == "adder 1.0 is served"
    assert not (zoo / "submissions" / "adder").exists()
    assert current_folder(zoo, "adder") == zoo / "models" / "adder" / "1.0"
    (version,) = read_manifest(zoo).models["adder"].versions
    assert version.accuracy.measured == 0.49
    assert version.performance == {"a CPU": {"latency_ms": 1.5}}
    assert (version.opset, version.by, version.files[0].path) == (17, "me", "model.onnx")
    assert version.closure == version.files[0].sha256
    index = (zoo / "README.md").read_text()
    assert index.startswith("# A zoo\n\nwords above\n")
    assert "Adds \\| \\<b\\>one\\</b\\>" in index
    assert "| m 0.49 |" in index
    assert index_trouble(zoo) == ""


def test_an_index_that_a_hand_changed_is_seen(zoo: Path) -> None:
    accepted(zoo, "1.0")
    readme = zoo / "README.md"
    readme.write_text(readme.read_text().replace("m 0.49", "m 0.99"))
    assert "assay zoo index" in index_trouble(zoo)


def test_a_rollback_serves_the_version_before_and_keeps_both(zoo: Path) -> None:
    accepted(zoo, "1.0", "1.1", "1.2")
    change = rollback(zoo, "adder", "you", reason="wrong on Mondays")
    assert change.sentence == "adder 1.1 is served again; 1.2 is withdrawn: wrong on Mondays"
    assert rollback(zoo, "adder", "you", reason="and this").current == "1.0"
    entry = read_manifest(zoo).models["adder"]
    assert entry.current == "1.0"
    assert [version.withdrawn is not None for version in entry.versions] == [False, True, True]
    assert {path.name for path in (zoo / "models" / "adder").iterdir()} == {"1.0", "1.1", "1.2"}
    assert "adder/1.0/" in (zoo / "README.md").read_text()
    with pytest.raises(UsageError, match=r"no version before 1\.0"):
        rollback(zoo, "adder", "you", reason="more")


def test_a_withdrawn_version_is_served_again_for_a_reason_alone(zoo: Path) -> None:
    accepted(zoo, "1.0", "1.1")
    rollback(zoo, "adder", "you", reason="slow on phones")
    inspection = submitted(zoo, "1.1")
    with pytest.raises(UsageError, match=r"--reason.*version 1\.1, which was withdrawn \(slow on phones\)"):
        promote(zoo, "adder", inspection, "me")
    entry = read_manifest(zoo).models["adder"]
    assert entry.current == "1.0"
    assert [path.name for path in (zoo / "models" / "adder").glob(".*")] == []

    again = promote(zoo, "adder", inspection, "me", reason="phones are faster now")
    assert again.sentence == "adder 1.1 is served; it was 1.0"
    rollback(zoo, "adder", "you", reason="not all of them")
    promote(zoo, "adder", submitted(zoo, "1.1"), "me", reason="they are replaced")
    version = read_manifest(zoo).models["adder"].version("1.1")
    assert version is not None
    assert version.withdrawn is None
    assert version.reason == "they are replaced"
    withdrawals = [(withdrawal.by, withdrawal.reason) for withdrawal in version.earlier_withdrawals]
    assert withdrawals == [("you", "slow on phones"), ("you", "not all of them")]


def test_an_older_version_is_served_again_for_a_reason_alone(zoo: Path) -> None:
    accepted(zoo, "1.0", "1.1")
    inspection = submitted(zoo, "1.0")
    with pytest.raises(
        UsageError,
        match=r"--reason.*artifacts\.metadata: metadata\.toml says version 1\.0, and this zoo serves 1\.1 by now",
    ):
        promote(zoo, "adder", inspection, "me")
    assert read_manifest(zoo).models["adder"].current == "1.1"
    assert [path.name for path in (zoo / "models" / "adder").glob(".*")] == []
    assert promote(zoo, "adder", inspection, "me", reason="1.1 is wrong on Mondays").current == "1.0"


def test_a_lower_version_that_was_checked_before_a_higher_one_was_served(zoo: Path) -> None:
    inspection = submitted(zoo, "1.0")
    (zoo / "submissions" / "adder").rename(zoo / "aside")
    accepted(zoo, "1.1")
    (zoo / "aside").rename(zoo / "submissions" / "adder")
    with pytest.raises(UsageError, match=r"version 1\.0, and this zoo has had 1\.1"):
        promote(zoo, "adder", inspection, "me")


def test_of_two_with_the_same_weights_that_were_checked_at_once_one_is_served(zoo: Path) -> None:
    first = submitted(zoo, "1.0")
    other = renamed(zoo, "plus")
    assert (first.decision.answer, other.decision.answer) == (Answer.PROMOTE, Answer.PROMOTE)
    promote(zoo, "adder", first, "me")
    with pytest.raises(UsageError, match=r"artifacts\.copy: its weights are those of adder 1\.0"):
        promote(zoo, "plus", other, "me")
    assert set(read_manifest(zoo).models) == {"adder"}
    assert (zoo / "submissions" / "plus").is_dir()
    waive(zoo, "plus", "artifacts.copy", "its weights are those of adder 1.0")
    promote(zoo, "plus", other, "me")
    assert set(read_manifest(zoo).models) == {"adder", "plus"}


def test_a_comparison_that_fails_stops_nobody_who_has_a_reason(zoo: Path) -> None:
    accepted(zoo, "1.0")
    manifest = read_manifest(zoo)
    (version,) = manifest.models["adder"].versions
    broken = msgspec.structs.replace(version, sketch=Sketch(elements=1, lines=b"cut"))
    models = {"adder": Entry(current="1.0", versions=(broken,))}
    write_manifest(zoo, msgspec.structs.replace(manifest, models=models))
    submitted(zoo, "1.1")
    other = renamed(zoo, "plus")
    with pytest.raises(UsageError, match=r"cannot be read"):
        promote(zoo, "plus", other, "me")
    assert promote(zoo, "plus", other, "me", reason="it is new").current == "1.0"


def test_of_two_authors_who_want_one_name_at_once_one_gets_it(zoo: Path) -> None:
    mira = msgspec.structs.replace(submitted(zoo, "1.0"), author="mira")
    (zoo / "submissions" / "adder").rename(zoo / "aside")
    tom = msgspec.structs.replace(submitted(zoo, "1.1"), author="tom")
    (zoo / "submissions" / "adder").rename(zoo / "of-tom")
    (zoo / "aside").rename(zoo / "submissions" / "adder")
    promote(zoo, "adder", mira, "me")
    (zoo / "of-tom").rename(zoo / "submissions" / "adder")
    with pytest.raises(UsageError, match=r"artifacts\.owner: adder belongs to mira, and tom submits it"):
        promote(zoo, "adder", tom, "me")
    assert read_manifest(zoo).models["adder"].current == "1.0"


def test_of_two_names_that_look_alike_and_were_checked_at_once_one_is_served(zoo: Path) -> None:
    first = submitted(zoo, "1.0")
    other = renamed(zoo, "add-er", "1.1")
    promote(zoo, "adder", first, "me")
    with pytest.raises(UsageError, match=r"artifacts\.name: 'add-er' is easily taken for 'adder'"):
        promote(zoo, "add-er", other, "me")


def waive(root: Path, model: str, check: str, match: str, expires: str = "2999-12-31") -> None:
    with (root / "zoo.toml").open("a") as policy:
        policy.write(f"[[waivers]]\nmodel = {model!r}\ncheck = {check!r}\nmatch = {match!r}\n")
        policy.write(f"reason = 'known'\nsigned = 'ada'\nexpires = {expires}\n")


def checked_before(root: Path, version: str, *served: str) -> Inspection:
    """A submission of a version that was checked before others were served; one of its findings was waived."""
    inspection = submitted(root, version)
    (root / "submissions" / "adder").rename(root / "aside")
    accepted(root, *served)
    (root / "aside").rename(root / "submissions" / "adder")
    sentence = "metadata.toml says a description that is short"
    waived = Check(name="artifacts.metadata", outcome=CheckOutcome.WAIVED, sentence=sentence)
    return msgspec.structs.replace(inspection, checks=(*inspection.checks, waived))


def test_a_waiver_for_one_sentence_lets_no_lower_version_pass(zoo: Path) -> None:
    inspection = checked_before(zoo, "1.5", "2.0")
    waive(zoo, "adder", "artifacts.metadata", "description that is short")
    waive(zoo, "other", "artifacts.metadata", "version 1.5")
    waive(zoo, "adder", "artifacts.name", "version 1.5")
    waive(zoo, "adder", "artifacts.metadata", "version 1.5", expires="2020-01-01")
    with pytest.raises(UsageError, match=r"artifacts\.metadata: metadata\.toml says version 1\.5.*has had 2\.0"):
        promote(zoo, "adder", inspection, "me")
    assert read_manifest(zoo).models["adder"].current == "2.0"
    waive(zoo, "adder", "artifacts.metadata", "metadata.toml says version 1.5, and this zoo has had 2.0")
    assert promote(zoo, "adder", inspection, "me").current == "1.5"


def test_a_waiver_for_one_name_lets_no_other_pass(zoo: Path) -> None:
    promote(zoo, "adder", submitted(zoo, "1.0"), "me")
    submitted(zoo, "1.1")
    other = renamed(zoo, "add-er", "1.2")
    shutil.rmtree(zoo / "submissions" / "adder")
    promote(zoo, "add-er", other, "me", reason="both are known")
    submitted(zoo, "1.3")
    third = renamed(zoo, "ad.der", "1.4")
    waived = Check(name="artifacts.name", outcome=CheckOutcome.WAIVED, sentence="'ad.der' is easily taken for 'add-er'")
    third = msgspec.structs.replace(third, checks=(*third.checks, waived))
    waive(zoo, "ad.der", "artifacts.name", "easily taken for 'add-er'")
    with pytest.raises(UsageError, match=r"artifacts\.name: 'ad\.der' is easily taken for 'adder'") as refused:
        promote(zoo, "ad.der", third, "me")
    assert "taken for 'add-er'" not in str(refused.value)
    waive(zoo, "ad.der", "artifacts.name", "easily taken for 'adder'")
    assert promote(zoo, "ad.der", third, "me").current == "1.4"


def test_a_title_that_another_model_got_meanwhile_needs_a_person(zoo: Path) -> None:
    inspection = submitted(zoo, "1.1")
    other = renamed(zoo, "small-sum", "1.2", title="ADDS | <b>one</b>")
    promote(zoo, "small-sum", other, "me", reason="it is another")
    with pytest.raises(
        UsageError, match=r"artifacts\.name: metadata\.toml has a title that is easily taken for that of small-sum"
    ):
        promote(zoo, "adder", inspection, "me")
    waive(zoo, "adder", "artifacts.name", "that of small-sum")
    waive(zoo, "adder", "artifacts.copy", "its weights are those of small-sum")
    assert promote(zoo, "adder", inspection, "me").current == "1.1"


def renamed(root: Path, name: str, version: str = "1.0", title: str = "") -> Inspection:
    """The same model under another name, and another title where none is given."""
    (root / "submissions" / "adder").rename(root / "aside")
    submitted(root, version)
    folder = root / "submissions" / name
    (root / "submissions" / "adder").rename(folder)
    (root / "aside").rename(root / "submissions" / "adder")
    text = (folder / "metadata.toml").read_text()
    text = text.replace("Adds | <b>one</b>", title or f"{version} of it")
    (folder / "metadata.toml").write_text(text.replace('name = "adder"', f'name = "{name}"'))
    return inspected(root, name)


def test_what_is_refused(zoo: Path) -> None:
    inspection = submitted(zoo, "1.0")
    declined = msgspec.structs.replace(
        inspection, decision=Decision(answer=Answer.DECLINE, reasons=("files.links: l",))
    )
    with pytest.raises(UsageError, match=r"decided 'decline' .files.links: l.*--reason"):
        promote(zoo, "adder", declined, "me")
    with pytest.raises(UsageError, match="--by"):
        promote(zoo, "adder", inspection, "")
    with pytest.raises(UsageError, match="not of 'other'"):
        promote(zoo, "other", inspection, "me")
    with pytest.raises(UsageError, match="give --by and --reason"):
        rollback(zoo, "adder", "me", reason="")
    (zoo / "submissions" / "adder" / "more.txt").write_text("added later")
    with pytest.raises(UsageError, match="not those that were inspected"):
        promote(zoo, "adder", inspection, "me")
    assert not (zoo / "manifest.json").exists()
    promote(zoo, "adder", inspected(zoo), "me")
    other = submitted(zoo, "1.0")
    with pytest.raises(UsageError, match="already with other contents: give it a higher one"):
        promote(zoo, "adder", other, "me")
    (zoo / "submissions" / "adder" / "link").symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match="never promoted"):
        promote(zoo, "adder", inspected(zoo), "me", reason="I said so")


def test_a_person_may_promote_for_a_reason_that_is_kept(zoo: Path) -> None:
    inspection = submitted(zoo, "1.0")
    asked = msgspec.structs.replace(inspection, decision=decide(inspection.checks, Rules(human=True)))
    promote(zoo, "adder", asked, "a person", reason="looked at it")
    (version,) = read_manifest(zoo).models["adder"].versions
    assert (version.by, version.reason, version.decision) == ("a person", "looked at it", "needs a person")


def test_a_record_is_judged_again_by_the_policy_of_today(zoo: Path, tmp_path: Path) -> None:
    inspection = submitted(zoo, "1.0")
    bad = Check(name="files.secrets", outcome=CheckOutcome.FAILED, sentence="a.py looks like a secret")
    record = msgspec.structs.replace(inspection, checks=(bad, *inspection.checks))
    path = write_record(tmp_path / "record.json", record)
    assert decide_again(read_record(path), ZooPolicy(name="z")).decision.answer is Answer.DECLINE
    assert (
        decide_again(read_record(path), ZooPolicy(name="z", decision=Rules(person=("files",)))).decision.answer
        is Answer.PERSON
    )
    waiver = {"model": "adder", "check": "files.secrets", "match": "a secret", "reason": "r", "signed": "s"}
    taken = ZooPolicy(name="z", waivers=(Waiver.model_validate({**waiver, "expires": "2999-01-01"}),))
    waived = decide_again(read_record(path), taken)
    assert waived.decision.answer is Answer.PROMOTE
    over = ZooPolicy(name="z", waivers=(Waiver.model_validate({**waiver, "expires": "2020-01-01"}),))
    assert decide_again(read_record(path), over).decision.answer is Answer.DECLINE
    figures = {"waived_until": "2020-01-01"}
    old = msgspec.structs.replace(bad, outcome=CheckOutcome.WAIVED, figures=figures)
    past = msgspec.structs.replace(inspection, checks=(old, *inspection.checks))
    assert decide_again(past, ZooPolicy(name="z")).decision.answer is Answer.DECLINE
