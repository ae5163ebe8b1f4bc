"""Models that are named by where they come from become files, or one sentence."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from named_source_servers import Files, GitServer, run_git, to_file

from assay.commands.sources import with_files
from assay.core.digest import sha256_bytes
from assay.errors import BadModel, UsageError
from assay.models.named_sources import git_revision, is_named, tokens, wanted
from assay.models.named_sources import to_file as fetched
from assay.pipeline.references.originals import OriginalRequest
from assay.pipeline.request import ModelRequest, Request
from http_server import serving

pytestmark = pytest.mark.heavy  # each starts git several times

OLD = b"old, with weights/net.data"


@pytest.mark.usefixtures("repository")
def test_a_revision_is_a_file_with_the_weights_that_it_names(repository: Path) -> None:
    named_file = fetched("git:base:net.onnx")
    folder = Path(named_file.path).parent
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*")) == [
        "net.onnx",
        "weights/net.data",
    ]
    assert (named_file.named, named_file.sha256, len(named_file.commit)) == ("git:base:net.onnx", sha256_bytes(OLD), 40)
    assert to_file("git:HEAD:../nets/net.onnx") == folder / "net.onnx", "the same bytes are one file"
    (folder / "net.onnx").write_bytes(b"changed by somebody")
    assert to_file("git:base:net.onnx").read_bytes() == OLD


def _request(*models: str) -> Request:
    return Request(models=tuple(ModelRequest(path=Path(model), flows=()) for model in models))


@pytest.mark.usefixtures("repository")
def test_a_revision_of_a_file_that_is_given_is_what_it_is_compared_with() -> None:
    request = with_files(_request("git:base:net.onnx", "net.onnx", "git:base:other.onnx"))
    rows = [(model.path.name, model.original and model.original.path.read_bytes()) for model in request.models]
    assert rows == [("net.onnx", OLD), ("other.onnx", None)]
    assert [source.named for source in request.sources] == ["git:base:net.onnx", "git:base:other.onnx"]
    with pytest.raises(UsageError, match=r"two revisions of net\.onnx are given"):
        with_files(_request("git:base:net.onnx", "git:HEAD:net.onnx", "net.onnx"))
    other = OriginalRequest(path=Path("git:base:other.onnx"))
    given, plain = _request("git:base:net.onnx", "net.onnx").models
    with pytest.raises(UsageError, match=r"net\.onnx has a reference already"):
        with_files(Request(models=(given, replace(plain, original=other))))


def test_another_repository_by_its_address(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_git(repository, "config", "uploadpack.allowFilter", "true")
    handler = type("Handler", (GitServer,), {"folder": repository})
    with serving(handler) as address:
        monkeypatch.delenv(tokens.TOKENS, raising=False)
        source = Path(f"git+{address}/.git@base:nets/net.onnx")
        with pytest.raises(BadModel, match=r"could not read Username|Authentication failed|terminal prompts disabled"):
            to_file(source)
        monkeypatch.setenv(tokens.TOKENS, "other=none 127.0.0.1=secret")
        monkeypatch.setenv("GIT_DIR", "/nowhere")  # as inside of a hook
        named_file = fetched(source)
        assert Path(named_file.path).read_bytes() == OLD
        assert named_file.named == f"git+{address}/.git@base:nets/net.onnx"
        with pytest.raises(BadModel, match="couldn't find remote ref nowhere"):
            to_file(f"git+{address}/.git@nowhere:nets/net.onnx")


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("git:nowhere:net.onnx", "git:nowhere:net.onnx: there is no such revision"),
        ("git:base:none.onnx", "there is no file nets/none.onnx in the commit"),
        ("git:base", "names no file of a revision: write git:REF:path"),
        ("git:--output=x:net.onnx", "names no file of a revision"),
        ("git:base:../../net.onnx", r"\.\./net\.onnx lies outside of the repository"),
        ("git:base:weights", "there is no file nets/weights in the commit"),
        ("git+file:///tmp/x@base:net.onnx", r"git\+file:// is no source of models: give a file"),
        ("file:///etc/passwd", "file:// is no source of models: give a file"),
        ("git+https://user:word@host/x@base:net.onnx", "an address of host holds a user or a password"),
        ("git+https://host/x", "names no file of a revision"),
        ("git+http://host/x@base:m.onnx", "http://host is read and changed by everybody on the way"),
        ("s3://bucket", "s3:// is no source of models"),
        ("https://host/m.onnx#sha256=12", "#sha256=12 is no digest"),
        ("https://host/m.onnx", "may change at any time: say which file is meant"),
        ("http://host/m.onnx#sha256=" + "0" * 64, "is read and changed by everybody on the way: use https://"),
        ("hf:owner/name@main:m.onnx", "is not in the cache .*: `hf download owner/name m.onnx --revision main`"),
        ("hf:owner/name@../../..:m.onnx", "names no file: write hf:owner/name@revision:file"),
        ("hf:name", "names no file: write hf:owner/name@revision:file"),
    ],
)
def test_what_is_wrong_is_one_sentence(source: str, sentence: str) -> None:
    assert is_named(source)
    with pytest.raises(BadModel, match=sentence) as refused:
        to_file(source)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "source",
    [
        "https://host/m.onnx?X-Amz-Signature=hidden#sha256=" + "0" * 64,
        "https://host/m.onnx?token=hidden",
        "https://host/m.onnx?sig=hidden#sha256=12",
        "git+https://host/repository?token=hidden@main:m.onnx",
        "git+https://host/repository?token=hidden",
        "git+https://host/repository@main?token=hidden",
    ],
)
def test_an_address_with_a_query_is_refused_and_not_repeated(source: str) -> None:
    with pytest.raises(
        BadModel, match=r"has a query .* give ASSAY_SOURCE_TOKENS=host=TOKEN in the environment"
    ) as refused:
        to_file(source)
    assert "hidden" not in str(refused.value)


@pytest.mark.usefixtures("repository")
def test_a_pointer_of_git_lfs_is_not_taken_for_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_revision.shutil, "which", lambda _: None)
    with pytest.raises(BadModel, match="is a Git LFS pointer, and git lfs is not here"):
        to_file("git:base:large.onnx")


def test_git_shows_no_token_to_the_host_of_a_redirect(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str | None] = []

    class Other(Files):
        def do_GET(self) -> None:
            seen.append(self.headers.get("Authorization"))
            self.send_error(404)

    with serving(Other) as other:

        class Moved(Files):
            def do_GET(self) -> None:
                self._redirect(other.replace("127.0.0.1", "localhost") + self.path)

        with serving(Moved) as address:
            for given in ("127.0.0.1=secret", ""):
                monkeypatch.setenv(tokens.TOKENS, given)
                with pytest.raises(
                    BadModel, match=r"sends git to another address \(HTTP 302\), which is not followed: give"
                ):
                    to_file(f"git+{address}/.git@main:net.onnx")
    assert not seen


def test_settings_of_git_in_the_environment_stay(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_git(repository, "config", "uploadpack.allowFilter", "true")
    with serving(type("Handler", (GitServer,), {"folder": repository})) as address:
        monkeypatch.setenv(tokens.TOKENS, "127.0.0.1=secret")
        monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
        monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{address}/.insteadOf")
        monkeypatch.setenv("GIT_CONFIG_VALUE_0", f"{address}/mirror/")
        assert to_file(f"git+{address}/mirror/.git@base:nets/net.onnx").read_bytes() == OLD


def _commit_of(repository: Path, files: dict[bytes, bytes]) -> None:
    """The branch `evil`: a tree as no command of git writes it."""

    def written(kind: str, content: bytes) -> bytes:
        command = ["git", "hash-object", "-w", "--literally", "-t", kind, "--stdin"]
        return subprocess.run(command, cwd=repository, input=content, check=True, capture_output=True).stdout.strip()

    def tree(entries: dict[bytes, bytes]) -> bytes:
        made = b""
        for name, content in sorted(entries.items()):
            above, _, last = name.partition(b">")
            mode, below = (b"40000", tree({last: content})) if last else (b"100644", written("blob", content))
            made += mode + b" " + above + b"\0" + bytes.fromhex(below.decode())
        return written("tree", made)

    identity = b"a <a@b.c> 1700000000 +0000"
    commit = b"tree %s\nauthor %s\ncommitter %s\n\nx\n" % (tree(files), identity, identity)
    run_git(repository, "update-ref", "refs/heads/evil", written("commit", commit).decode())


@pytest.mark.parametrize(
    "name", ["..>..>out.data", "/out.data", ".git>config", "a>.GIT>config", ".>x", "a>..>..>out.data"]
)
def test_a_tree_that_leads_out_of_its_folder_is_refused(repository: Path, name: str) -> None:
    before = {path for path in repository.parent.rglob("*") if ".git/" not in str(path)}
    _commit_of(
        repository, {b"net.onnx": f"keeps its weights in {name.replace('>', '/')}".encode(), name.encode(): b"evil"}
    )
    with pytest.raises(BadModel, match=r"has a file .*, which would lie outside of its folder: no file of it is used"):
        to_file("git:evil:../net.onnx")
    left = {path for path in repository.parent.rglob("*") if ".git/" not in str(path)} - before
    assert {path.name for path in left} == {"cache", "sources"}


def test_a_server_cannot_send_such_a_tree(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_git(repository, "config", "uploadpack.allowFilter", "true")
    (repository / ".gitmodules").write_text('[submodule "a"]\n\tpath = a\n\turl = https://host.invalid/a\n')
    run_git(repository, "add", ".")
    run_git(repository, "commit", "--quiet", "-m", "with modules")
    _commit_of(repository, {b"net.onnx": b"a net", b"other": b"x", b".git>config": b"evil"})
    monkeypatch.setenv(tokens.TOKENS, "127.0.0.1=secret")
    with serving(type("Handler", (GitServer,), {"folder": repository})) as address:
        assert to_file(f"git+{address}/.git@main:nets/net.onnx").read_bytes() == b"new"
        with pytest.raises(BadModel, match=r"contains '\.git'"):
            to_file(f"git+{address}/.git@evil:net.onnx")


def test_names_that_are_not_ascii_bring_their_weights(repository: Path) -> None:
    folder = repository / "nets" / "größe"
    folder.mkdir()
    weights = 'gewichte\tü "x".data'
    (folder / "netz.onnx").write_bytes(b"keeps them in " + weights.encode() + b" and raw\xff.data")
    (folder / weights).write_bytes(b"weights")
    (folder / os.fsdecode(b"raw\xff.data")).write_bytes(b"more")
    run_git(repository, "add", ".")
    run_git(repository, "commit", "--quiet", "-m", "names")
    file = to_file("git:HEAD:größe/netz.onnx")
    assert (file.parent / weights).read_bytes() == b"weights"
    assert (file.parent / os.fsdecode(b"raw\xff.data")).read_bytes() == b"more"


@pytest.mark.usefixtures("repository")
def test_too_many_files_beside_a_model_are_refused_and_not_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wanted, "MOST_NAMES", 3)
    assert to_file("git:base:net.onnx").read_bytes() == OLD
    monkeypatch.setattr(wanted, "MOST_NAMES", 2)
    with pytest.raises(BadModel, match=r"more than 2 files lie beside net\.onnx"):
        to_file("git:base:net.onnx")


def test_weights_that_are_a_pointer_of_git_lfs_are_refused_too(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pointer = (repository / "nets" / "large.onnx").read_bytes()
    (repository / "nets" / "weights" / "net.data").write_bytes(pointer)
    run_git(repository, "add", ".")
    run_git(repository, "commit", "--quiet", "-m", "pointer")
    (repository / "nets" / "net.onnx").write_bytes(OLD)
    run_git(repository, "commit", "--quiet", "-a", "-m", "old net")
    monkeypatch.setattr(git_revision.shutil, "which", lambda _: None)
    with pytest.raises(BadModel, match=r"its file weights/net\.data is a Git LFS pointer"):
        to_file("git:HEAD:net.onnx")
