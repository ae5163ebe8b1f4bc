"""A measured engine is approved from its page, over HTTP, by somebody who signed in with an OpenID provider: the whole way, with the real
command and a provider that really signs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest

from assay.commands.baseline import audit_model, kept_baselines
from assay.web.actions import AUDIT
from command_line import run_assay
from openid_provider import CLIENT, SECRET, Provider, running
from small_models import linear_model

FLOW = "onnxruntime"
# What a shared machine does to a figure of speed is not what this is about.
POLICY = """
[speed]
min-slowdown-percent = 200.0
margin-percent = 400.0
wall-min-slowdown-percent = 5000.0
load-min-slowdown-percent = 5000.0
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a run whose engine is measured and kept, in ./h."""
    monkeypatch.chdir(tmp_path)
    linear_model(Path("m.onnx"))
    Path("policy.toml").write_text(POLICY)
    checked = ("m.onnx", "--flow", FLOW, "--history", "h", "--measure-seconds", "0.05")
    assert run_assay("baseline", "set", *checked, "--reason", "the first release").returncode == 0
    ended = run_assay("check", *checked, "--baseline", "--policy", "policy.toml")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return run_assay("runs", "--history", "h").stdout.split()[0]


@pytest.fixture
def provider() -> Iterator[Provider]:
    with running(Provider(claims={"email": "eve@example.org", "email_verified": True, "groups": ["release"]})) as made:
        yield made


@pytest.fixture
def site(run: str, provider: Provider) -> Iterator[str]:
    command = [sys.executable, "-m", "assay", "serve", "--history", "h", "--port", "0", "--oidc", provider.issuer]
    command += ["--oidc-client", CLIENT, "--approver", "group:release"]
    environment = {**os.environ, "ASSAY_OIDC_SECRET": SECRET}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None
        yield server.stdout.readline().split("/  (")[0]
        server.terminate()


def test_who_signs_in_approves_an_engine(site: str, run: str) -> None:
    cell = {"run": run, "case": "m", "flow": FLOW}
    page = f"/result?{urlencode(cell)}"
    with httpx.Client(follow_redirects=True, timeout=60) as browser:
        assert 'action="/approve"' not in browser.get(site + page).text
        shown = browser.get(f"{site}/sign-in", params={"to": page})
        assert (shown.status_code, str(shown.url)) == (200, site + page)
        form = re.search(r'action="/approve" method="post">(.*?)</form>', shown.text, re.S)
        assert form is not None, shown.text
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form[1]))
        approved = browser.post(f"{site}/approve", data={**fields, "reason": "the second release"})
        assert (approved.status_code, str(approved.url).startswith(f"{site}/result?")) == (200, True), approved.text
        browser.post(f"{site}/sign-out", data={"token": fields["token"]})
        assert browser.post(f"{site}/approve", data={**fields, "reason": "the third"}).status_code == 403
    (current,) = [kept.baseline for kept in kept_baselines("h") if kept.id == "current"]
    assert (current.case, current.flow.name) == ("m", FLOW)
    assert (current.who, current.reason) == ("eve@example.org", "the second release")
    assert [(approval.who, approval.reason) for approval in audit_model("m", "h")][-1] == (
        "eve@example.org",
        "the second release",
    )
    lines = [json.loads(line) for line in (Path("h") / AUDIT).read_text().splitlines()]
    assert [(line["who"], line["action"], line["about"]) for line in lines] == [
        ("eve@example.org", "sign-in", ""),
        ("eve@example.org", "approve", f"{run} m {FLOW}"),
        ("eve@example.org", "sign-out", ""),
    ]
