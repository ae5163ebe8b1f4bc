"""`assay zoo` as a user has it: make a zoo, begin a submission, check, decide, promote, take back."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import msgspec
import pytest

from assay.cli.main import main
from assay_zoo.decision import Answer
from assay_zoo.inspect import Inspection
from assay_zoo.manifest import read_manifest
from assay_zoo.records import read_record
from zoo_submission import make_zoo

pytestmark = pytest.mark.usefixtures("warm_readers")

FAST = ("--groups", "files,artifacts")


def assay(*words: str | Path) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["zoo", *map(str, words)])
    return int(ended.value.code or 0)


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "zoo"
    make_zoo(root)
    monkeypatch.chdir(root)
    return root


def records(root: Path) -> list[Path]:
    return sorted((root / ".assay" / "zoo").glob("*.json"))


def test_some_groups_are_not_enough_to_promote(zoo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert assay("check", "submissions/adder", *FAST, "--json", "out.json") == 3
    printed = capsys.readouterr().out
    assert "needs a person\n  compliance: nothing was executed" in printed
    assert "exit 3 = a person decides" in printed
    (record,) = records(zoo)
    found = read_record(Path("out.json"))
    assert found == read_record(record)
    assert found.version == "1.0"
    assert record.name == f"adder-{found.digest[:16]}.json"


def test_a_check_of_some_groups_leaves_the_record_of_more(zoo: Path) -> None:
    assert assay("check", "submissions/adder", *FAST) == 3
    (whole,) = records(zoo)
    before = whole.read_bytes()
    assert assay("check", "submissions/adder", "--groups", "artifacts") == 3
    (part,) = set(records(zoo)) - {whole}
    assert whole.read_bytes() == before
    assert {check.group for check in read_record(part).checks} == {"artifacts"}
    assert assay("check", "submissions/adder", *FAST) == 3
    assert whole.read_bytes() != before
    whole.write_text("no record")
    assert assay("check", "submissions/adder", "--groups", "artifacts") == 3
    assert read_record(whole).name == "adder"


def test_a_failure_declines_and_the_place_is_one_that_can_be_opened(
    zoo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = zoo / "submissions" / "adder" / "README.md"
    readme.write_text(readme.read_text().replace("MIT", "BSD-3-Clause"))
    assert assay("check", "submissions/adder", *FAST) == 1
    printed = capsys.readouterr().out
    (place,) = {word for word in printed.split() if word.startswith("submissions/adder/README.md:") and "4" in word}
    path, _, line = place.partition(":")
    assert Path(path).read_text().splitlines()[int(line) - 1] == "## License"


def test_a_model_that_was_not_taken_is_not_opened(zoo: Path) -> None:
    model = zoo / "submissions" / "adder" / "model.onnx"
    model.unlink()
    model.symlink_to("/etc/passwd")
    assert assay("check", "submissions/adder") == 1
    record = read_record(records(zoo)[0])
    assert {
        check.name: check.outcome.value for check in record.checks if check.group not in ("files", "artifacts")
    } == {f"{group}.all": "skipped" for group in ("compliance", "functionality", "accuracy", "performance")}
    assert record.decision.answer is Answer.DECLINE
    assert all(reason.startswith("files.links: ") for reason in record.decision.reasons)


def test_an_accepted_version_carries_the_name_of_its_model(
    zoo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = zoo / "models" / "adder" / "1.0"
    accepted.parent.mkdir(parents=True)
    (zoo / "submissions" / "adder").rename(accepted)
    assert assay("check", "models/adder/1.0", "--groups", "artifacts") == 3, capsys.readouterr().out
    monkeypatch.chdir(accepted)
    assert assay("check", "../1.0/", "--zoo", "../../../", "--groups", "artifacts") == 3
    (record,) = records(zoo)
    assert record.name.startswith("adder-")
    assert read_record(record).name == "adder"


def test_the_scratch_folder_is_gone_afterwards(zoo: Path) -> None:
    assay("check", "submissions/adder", *FAST)
    assert not [path for path in (zoo / ".assay").iterdir() if path.name.startswith("zoo-")]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("check", "nothing"), "nothing is no folder"),
        (("check",), "which submission?"),
        (("check", "submissions/adder", "--groups", "filez"), "no group of checks 'filez'; the nearest is 'files'"),
        (("check", "submissions/adder", "--zoo", "submissions"), "is no zoo: it has no zoo.toml"),
        (("check", "--since", "-x"), "is no commit"),
        (("decide", "zoo.toml"), "is no record"),
        (("decide", "gone.json"), "cannot be read"),
        (("promote", "adder", "--by", "me"), "was not checked as it is now"),
        (("promote", "addr", "--by", "me"), "the nearest is 'adder'"),
        (("rollback", "adder", "--by", "me", "--reason", "r"), "the zoo has no model 'adder'"),
        (("new", "Bad Name"), "is no name of a model"),
        (("new", "fresh"), "templates/submission is not there"),
        (("readme", "submissions/adder"), "exists already"),
    ],
)
def test_a_mistake_is_one_sentence(
    zoo: Path, words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert assay(*words) == 2
    printed = capsys.readouterr()
    assert says in printed.err
    assert printed.err.startswith("assay: ")
    assert printed.err.count("\n") == 1


def test_a_zoo_toml_that_is_wrong_is_told_with_its_line(zoo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (zoo / "zoo.toml").write_text('name = "z"\n[run]\nsecond = 3\n')
    assert assay("check", "submissions/adder", *FAST) == 2
    assert "zoo.toml, line 3: 'run.second' is no known key; the nearest is 'seconds'" in capsys.readouterr().err


def test_a_record_is_promoted_by_a_person_and_taken_back(zoo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert assay("check", "submissions/adder", *FAST) == 3
    assert assay("promote", "adder", "--by", "me") == 2
    assert "give --reason" in capsys.readouterr().err
    assert assay("promote", "adder", "--by", "me", "--reason", "a test") == 0
    assert assay("promote", "adder", "--by", "me", "--reason", "a test") == 0
    assert capsys.readouterr().out == "adder 1.0 is served\nadder 1.0 is served already\n"
    assert read_manifest(zoo).models["adder"].current == "1.0"
    assert assay("rollback", "adder", "--by", "me", "--reason", "a test") == 2
    (zoo / "README.md").unlink()
    assert assay("index") == 0
    assert "models/adder/1.0/" in (zoo / "README.md").read_text()


def test_a_record_is_decided_again_by_the_policy_of_now(zoo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assay("check", "submissions/adder", *FAST)
    (record,) = records(zoo)
    (zoo / "zoo.toml").write_text('name = "z"\n[decision]\nrequired = []\n')
    before = record.read_bytes()
    capsys.readouterr()
    assert assay("decide", record) == 0
    assert "it was decided 'needs a person'" in capsys.readouterr().out
    assert record.read_bytes() == before


def test_what_changed_since_a_commit_is_checked_by_another_zoo(zoo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As the workflow does it: the target branch judges, whatever the branch says of its own policy."""
    judge = zoo.parent / "judge"
    subprocess.run(["git", "init", "-q", "-b", "main", "."], check=True)
    commit(zoo)
    subprocess.run(["git", "worktree", "add", "-q", str(judge)], check=True)
    assert assay("check", "--since", "main", "--zoo", judge, *FAST) == 0
    assert capsys.readouterr().out == "no submission changed since main\n"
    subprocess.run(["git", "checkout", "-q", "-b", "mine"], check=True)
    for name in ("one", "two words"):
        (zoo / "submissions" / name).mkdir()
        (zoo / "submissions" / name / "README.md").write_text("nothing")
    (zoo / "submissions" / "link").symlink_to("/etc")
    (zoo / "zoo.toml").write_text('name = "z"\n[decision]\nrequired = []\nperson = ["files", "artifacts"]\n')
    commit(zoo)
    assert assay("check", "--since", "main", "--zoo", judge, *FAST) == 1
    printed = capsys.readouterr().out
    assert "submissions/one/metadata.toml" in printed
    assert "submissions/two words/metadata.toml" in printed
    assert "adder" not in printed
    assert "link is a link: hand in the file itself (it points to /etc)" in " ".join(printed.split())
    assert len(records(judge)) == 3
    assert "the same change touches zoo.toml: nothing here judges that" in printed


def commit(root: Path) -> None:
    (root / ".gitignore").write_text(".assay/\n")
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
    name = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    subprocess.run(["git", "add", "-A"], check=True, cwd=root, env=environment)
    subprocess.run(["git", *name, "commit", "-q", "-m", "x"], check=True, cwd=root, env=environment)


def test_init_writes_a_zoo_and_never_over_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "made"
    root.mkdir()
    (root / "README.md").write_text("mine")
    assert assay("init", root) == 0
    printed = capsys.readouterr().out
    assert f"kept  {root}/README.md" in printed
    assert (root / "README.md").read_text() == "mine"
    for path in ("zoo.toml", ".github/workflows/zoo.yml", ".gitlab-ci.yml", "scenarios/image-classification.toml"):
        assert (root / path).is_file()
    assert json.loads((root / "templates" / "metadata.schema.json").read_text())["type"] == "object"
    monkeypatch.chdir(root)
    assert assay("new", "digits") == 0
    assert 'name = "digits"' in (root / "submissions" / "digits" / "metadata.toml").read_text()
    assert assay("readme", "submissions/digits") == 2
    printed = capsys.readouterr().err
    assert "still has the template's words in title, description" in printed
    assert not (root / "submissions/digits/README.md").exists(), "placeholders are not frozen"
    assert assay("check", "submissions/digits", *FAST) == 1
    inspection: Inspection = read_record(records(root)[0])
    assert {check.name for check in inspection.checks if check.outcome.value == "failed"} == {
        "artifacts.parts",
        "artifacts.samples",
        "artifacts.template",
    }
    assert assay("init", root) == 0


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    for what in ("metadata", "zoo", "scenario"):
        assert assay("schema", what) == 0
        assert msgspec.json.decode(capsys.readouterr().out)["type"] == "object"
