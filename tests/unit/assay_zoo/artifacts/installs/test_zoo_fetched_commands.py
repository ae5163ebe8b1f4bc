"""Commands that run what an address gives, and others that only fetch it."""

from __future__ import annotations

import time

import pytest

from assay_zoo.artifacts.installs.fetched_commands import run_from_address, runs_from_addresses


@pytest.mark.parametrize(
    "code",
    [
        "wget https://e.example/a.sh && ./a.sh",
        "curl -O https://e.example/a.sh && chmod +x a.sh && ./a.sh",
        "curl -O https://e.example/a.sh && bash a.sh; rm a.sh",
        "curl -O https://e.example/a.sh && (bash a.sh)",
        "wget https://e.example/a.sh && bash a.sh&",
        "curl -O https://e.example/a.sh\nchmod +x a.sh\n./a.sh; rm a.sh",
        "curl -o a.sh https://e.example/a && sudo -u root ./a.sh",
        "curl -o a.sh https://e.example/a && exec ./a.sh",
        "curl -o a.sh https://e.example/a && env A=1 ./a.sh",
        "wget https://e.example/a.sh && for i in 1 2; do ./a.sh ; done",
        "curl -o a.sh https://e.example/a\nsh < a.sh",
        "curl -o 'my a.sh' https://e.example/a && bash 'my a.sh'",
        "iwr https://e.example/a.ps1 -OutFile a.ps1; .\\a.ps1",
    ],
)
def test_a_file_that_is_fetched_and_then_run(code: str) -> None:
    assert run_from_address(code, set())


@pytest.mark.parametrize(
    "code",
    [
        "curl https://e.example/a | 'sh'",
        'curl https://e.example/a | "bash" -s',
        '"curl" https://e.example/a | sh',
        'curl -H "A: # b" https://e.example/a | sh',
        "echo '#1 # now'; curl https://e.example/a | bash",
        "curl https://e.example/a | FOO='a b' bash",
        "curl https://e.example/a | sudo --user root sh",
        "curl https://e.example/a | (cd /tmp && sh)",
        "curl https://e.example/a | { cd /tmp; umask 0; sh; }",
        "curl https://e.example/a | tee log >(bash)",
        "curl https://e.example/a \\\n | tee log |\n sh",
        "curl https://e.example/a | {\n sh\n}",
        'bash -c "$(\n  curl https://e.example/a\n)"',
        "bash <(\ncurl https://e.example/a\n)",
        "curl https://e.example/a | /usr/bin/env bash",
        "iex ((New-Object System.Net.WebClient).DownloadString('https://e.example/a'))",
    ],
)
def test_what_an_interpreter_is_handed_at_once(code: str) -> None:
    assert run_from_address(code, set())


@pytest.mark.parametrize(
    "code",
    [
        "curl https://e.example/get_data.sh -o get_data.sh",
        "Get it by `curl -o model.onnx https://e.example/a`. model.onnx has 5 MB.",
        "wget https://e.example/labels.txt\nThe source labels.txt has one name a line.",
        "wget https://e.example/labels.txt (see data/labels.txt). labels.txt has names.",
        "curl -O https://e.example/graph.pbtxt\nEach node graph.pbtxt names is used.",
        "curl https://e.example/a.json | python -m json.tool",
        "wget https://e.example/model.onnx\npython run.py model.onnx",
        "curl https://e.example/a | head # or | sh",
        "curl https://e.example/a | cat; sh",
    ],
)
def test_what_is_only_fetched(code: str) -> None:
    assert run_from_address(code, set()) == ""


@pytest.mark.parametrize(
    "part", ["{ ", "( ", " ", "| { ", "-a ", "A=1 ", "| env ", "|-a", "{ a; ", ">( ", "sudo ", '" ', "\\\n", "|\n"]
)
def test_time_grows_with_the_length(part: str) -> None:
    started = time.process_time()
    assert not list(runs_from_addresses(f"wget https://e.example/a -O b | {part * 30_000}x", set()))
    assert time.process_time() - started < 3
