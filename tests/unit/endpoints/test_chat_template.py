"""Chat templates mean what they mean to Hugging Face's transformers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.endpoints.chat_template import rendered
from assay.errors import UsageError

HELLO = [{"role": "user", "content": "<Hi> \u2603"}, {"role": "assistant", "content": "b"}]
TEMPLATES = {
    "lines of blocks leave nothing": (
        "{% for one in messages %}\n  {% if true %}\n{{ one.content }}\n  {% endif %}\n{% endfor %}\n",
        "<Hi> \u2603\nb\n",
    ),
    "loops end": ("{% for one in messages %}{{ one.content }}{% break %}{% endfor %}", "<Hi> \u2603"),
    "special tokens": ("{{ bos_token }}{{ eos_token }}|{{ pad_token }}", "<s></s>|"),
    "JSON is not escaped": ("{{ messages[0].content | tojson }}", '"<Hi> \u2603"'),
    "tools are none": ("{% if not tools and add_generation_prompt %}yes{% endif %}", "yes"),
}


def _rendered(folder: Path, template: str) -> str:
    config = {"bos_token": "<s>", "eos_token": {"content": "</s>"}, "add_bos_token": True, "pad_token": None}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    (folder / "template.jinja").write_text(template, "utf-8")
    return rendered(folder / "template.jinja", HELLO, folder / "tokenizer.json")


@pytest.mark.parametrize("what", TEMPLATES)
def test_a_template_is_rendered(what: str, tmp_path: Path) -> None:
    template, expected = TEMPLATES[what]
    assert _rendered(tmp_path, template) == expected


@pytest.mark.parametrize(
    ("template", "sentence"), [("{{ raise_exception('no system') }}", "no system"), ("{% if %}", "is broken: Expected")]
)
def test_a_template_that_refuses_is_one_sentence(template: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=sentence):
        _rendered(tmp_path, template)
