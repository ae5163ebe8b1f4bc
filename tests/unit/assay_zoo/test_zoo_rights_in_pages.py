"""What pages and scripts say of licences: of the data, of others' code, or of the model itself."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from assay_zoo.artifacts.alike import odd_word, rare_word
from assay_zoo.artifacts.lines_with import lines_with
from assay_zoo.artifacts.published import inspect_published
from assay_zoo.artifacts.restricted_use import (
    _OF_LICENSES,
    _TERMS,
    is_of_license,
    less_allowed,
    notice_restriction,
    rights_in_page,
)
from assay_zoo.artifacts.restricted_words import RULES
from assay_zoo.artifacts.shown_text import shown_text
from assay_zoo.license_families import families_of


def _branches(pattern: str) -> list[str]:
    """What stands between bars outside brackets."""
    parts, depth = [""], 0
    for letter in pattern:
        depth += (letter in "([") - (letter in ")]")
        if letter == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


@pytest.mark.parametrize(
    ("text", "less"),
    [
        ("This model may be used for non-commercial purposes only.", "non-commercial"),
        ("You may not use it for commercial purposes.", "may not use it for commercial"),
        ("You must not redistribute the weights.", "must not redistribute the weights"),
        ("Use requires a paid subscription.", "requires a paid subscription"),
        ("Weights under CC-BY-NC-4.0 license.", "CC-BY-NC"),
        ("Commercial and non-commercial use are welcome.", ""),
        ("It should not be used for medical decisions.", ""),
        ("[UNK]\nnoncommercial\nproprietary\nlicense", ""),
        ("It reads digits only.", ""),
    ],
)
def test_words_that_keep_a_use_to_some(text: str, less: str) -> None:
    assert [words for _, words, is_less in rights_in_page(text) if is_less] == ([less] if less else [])


_LESS_ALLOWED = (
    "Non-commercial only.", "Non-commercial use.", "For evaluation only.", "The weights are for academic use only.",
    "Only for research.", "Not for commercial use.", "Commercial use is prohibited.",
    "The files are not licensed for commercial purposes.", "You may not use these for commercial products.",
    "Use requires a paid subscription.", "It requires a commercial licence.",
    "You must not distribute or sell the weights.", "You may not sell this model.", "Please do not redistribute the files.",
    "Do not sublicense it.", "You may never publish the parameters.", "You are not allowed to sell the weights.",
    "You cannot copy, distribute, or sell the model.",
    "The weights may not be sold.", "The files are not to be redistributed.", "It must not be sublicensed.",
    "Redistribution of the weights is not permitted.", "No redistribution of anything.", "Resale is forbidden.",
    "The weights are proprietary and confidential.", "This file is confidential.", "All rights reserved.",
    "For internal use only.", "This network is for internal use.",
    "The files are only for company internal purposes.", "Internal use only.",
    "This model is limited to internal use.", "Only students may use the weights.",
    "Only registered members of the club are allowed to run it.", "Selling the weights is forbidden.",
    "Redistributing this model in any form is not permitted.", "Please do not redistribute.", "Not for redistribution.",
    "The network is restricted to academic users.", "Use is limited to research purposes.",
    "All weights are CC BY-NC-SA 4.0.", "Weights are available under CC BY-NC 4.0.", "Weights: CC-BY-ND-4.0",
    "Strictly for internal use.", "Please obtain a licence before you deploy this model.", "This is an evaluation copy of it.",
    "The licence expires on 31 December.", "Use in products requires a patent licence.",
    "A separate license is required.", "The weights are strictly internal.", "Strictly for in-house use.", "In-house use only.",
    "Free for academic institutions only.", "The weights may only be used by students.", "You agree not to use it for surveillance.",
    "Redistribution of the weights requires our written consent.", "Military and surveillance uses are not permitted.",
    "Written permission of the authors must be obtained before any use.", "A royalty is due for each deployment.",
    "After 30 days a licence has to be bought.",
)  # fmt: skip


@pytest.mark.parametrize("text", _LESS_ALLOWED)
def test_each_way_to_keep_a_use_to_some_is_heard(text: str) -> None:
    assert any(is_less for *_, is_less in rights_in_page(f"# Model\n\nIt reads digits.\n\n{text}\n"))


_ABROAD = (
    "Nur für den internen Gebrauch.", "Die Gewichte sind nicht für kommerzielle Zwecke.", "Die Weitergabe der Gewichte ist untersagt.",
    "Das Modell darf nicht verkauft werden.", "Alle Rechte vorbehalten.",
    "Usage interne uniquement.", "Les poids sont réservés à un usage académique.", "La redistribution des poids est interdite.",
    "Licence non commerciale pour les poids.", "À des fins de recherche uniquement.", "Tous droits réservés.",
    "Solo para uso interno.", "Queda prohibida la redistribución de los pesos.", "Los pesos son de uso no comercial.",
    "Apenas para fins de pesquisa.", "É proibido revender ou redistribuir o modelo.", "Los pesos no se pueden vender.",
    "Solo per uso interno.", "Niet-commercieel gebruik van dit model.", "Alleen voor intern gebruik.",
    "Только для внутреннего использования.", "Распространение весов запрещено.",
    "本模型的权重仅供学术研究使用。", "未经许可，不得将权重分发给他人。", "模型禁止商用，请勿外传。",
    "このモデルの重みは商用利用を禁止します。", "重みの再配布は禁止されています。", "研究目的での利用に限定されるものとします。",
    "이 모델의 가중치는 상업적 이용 금지입니다.", "연구 목적으로만 사용할 수 있습니다.",
    "Usage réservé à la recherche.", "Toute utilisation commerciale est interdite.", "Endast för icke-kommersiellt bruk.",
    "Ticari kullanım yasaktır.", "Wyłącznie do użytku niekomercyjnego.", "Pro nekomerční použití.", "Заборонено комерційне використання.",
    "Cấm sử dụng cho mục đích thương mại.", "ويمنع الاستخدام التجاري.", "व्यावसायिक उपयोग निषिद्ध है।", "Kun til ikke-kommersiell bruk.",
)  # fmt: skip


@pytest.mark.parametrize("text", _ABROAD)
def test_a_use_is_kept_to_some_in_other_languages_too(text: str) -> None:
    assert any(is_less for *_, is_less in rights_in_page(f"# Model\n\nIt reads digits.\n\n{text}\n"))
    assert less_allowed(text)


@pytest.mark.parametrize(
    "text",
    [
        "Das Modell erkennt Ziffern und ist nicht groß.", "Der Datensatz enthält kommerzielle Flugzeuge und private Wagen.",
        "Le modèle lit des chiffres; l'usage est décrit plus bas.", "El modelo lee números y no se puede entrenar más.",
        "O modelo lê números para uso pessoal ou comercial.", "本模型识别手写数字，研究与商业用途均可，请引用原论文。",
        "このモデルは手書きの数字を読み取ります。商用利用も可能です。", "Модель читает цифры на картинках.",
        "이 모델은 손글씨 숫자를 읽고 상업적 이용도 가능합니다.", "La vente est prévue par le modèle, mois par mois.",
        "Ticari kullanım serbesttir ve izin gerekmez.", "Można jej używać także komercyjnie.", "Det får användas fritt, även kommersiellt.",
        "Sieć liczy niekomercyjne pojazdy na drodze.", "الاستخدام التجاري مسموح للجميع.",
    ],
)  # fmt: skip
def test_ordinary_sentences_in_other_languages(text: str) -> None:
    assert not list(rights_in_page(f"# Model\n\n{text}\n"))


@pytest.mark.parametrize("pattern", [*(alone for _, pattern in RULES for alone in _branches(pattern)), _TERMS.pattern])
def test_what_judges_a_line_also_finds_it(pattern: str) -> None:
    judged = [text for text in _LESS_ALLOWED if re.search(pattern, text, re.IGNORECASE)]
    assert judged
    assert all(list(lines_with(text, _OF_LICENSES)) for text in judged)


@pytest.mark.parametrize(
    "text",
    [
        "The weights are AGPL-3.0.",
        "This model is GPL v3.",
        "All code is under the GNU GPL.",
        "License: GPL-3.0",
        "Everything is **LGPL-2.1**.",
        "The weights are MIT.",
        "This model is `MIT`, and free for all.",
    ],
)
def test_a_licence_by_its_name_alone(text: str) -> None:
    ((_, words, is_less),) = rights_in_page(text)
    assert families_of(words) in ({"gnu"}, {"lgpl"}, {"mit"})
    assert not is_less


@pytest.mark.parametrize(
    "text",
    [
        "The inputs are not normalised for commercial scanners.",
        "Scores do not distribute evenly, and only the largest is kept.",
        "Do not redistribute memory: weights are loaded only once.",
        "The test split is for evaluation only.",
        "Another 200 pictures were held out and used only for evaluation.",
        "Evaluation only covers scans of good quality.",
        "The data must not be distributed evenly over the classes.",
        "Do not distribute the data over several threads.",
        "Errors may not be normally distributed, and the model does not know.",
        "The code is not tuned for commercial compilers; it runs on any.",
        "A record is sold or not sold: the model tells only which.",
        "The graph is a GNU plot of the losses, made at MIT.",
        "The first block is for internal use by the decoder.",
        "The documentation of the operator says *for internal use*, and it has no arithmetic.",
        "Sharing weights between the two branches is not allowed by the exporter.",
        "Only the largest of the members of a cluster may be used.",
        "The range of the inputs is limited to research that has been done on chest scans.",
        "Samples are not distributed evenly; the model was not for sale predictions.",
        "It can not sell anything to you.",
        "This agreement between two parties is confidential: such sentences are class 2.",
        "The scanner runs in commercial use at ten places.",
        "The plate is read only where the licence has been renewed.",
    ],
)
def test_ordinary_sentences_of_a_readme(text: str) -> None:
    assert not list(rights_in_page(f"# Model\n\n{text}\n"))


_DRESSED = (
    "Non\u2011commercial use of the weights.", "Non\u2010commercial use of the weights.", "Non\u2013commercial use of the weights.",
    "Non-com\u00admercial use of the weights.", "N\u043en-c\u043emmercial use of the weights.", "**Non**-commercial use of the weights.",
    "The weights may *not* be redistributed.", "The weights may _not_ be redistributed.", "The weights may not<br>be redistributed.",
    "The weights may&nbsp;not be redistributed.", "The weights may n&#111;t be redistributed.", "<b>Non</b>-commercial use of the weights.",
    "\uff2eon-commercial use of the weights.", "Non\\-commercial use of the weights.",
    "\u4ec5\u4f9b\u7814\u7a76\u4f7f\u7528", "\u4ec5\u4f9b\u7814\u7a76\u3002", "\u5546\u7528\u4e0d\u53ef",
    "\u5546\u7528\u7981\u6b62\u3002",
)  # fmt: skip


@pytest.mark.parametrize("text", _DRESSED)
def test_words_are_read_as_they_are_shown(text: str) -> None:
    assert [less for *_, less in rights_in_page(f"# Model\n\nIt reads digits.\n\n{text}\n")] == [True]


@pytest.mark.parametrize("text", [text for text in _DRESSED if text.isascii() or text[0] in "N\uff2e"])
def test_words_of_data_and_notices_are_read_as_they_are_shown(text: str) -> None:
    assert less_allowed(text)
    assert notice_restriction(text)


def test_what_is_shown_stands_where_it_was() -> None:
    text = "a &#10; b <i\n>c</i>\u2029d <https://x.y/z> x_1 * 2\ne"
    assert len(shown_text(text).splitlines()) == len(text.splitlines())
    assert "<https://x.y/z> x_1" in shown_text(text)


def test_entries_of_a_list_of_words_in_chinese_say_nothing() -> None:
    assert not list(rights_in_page("\u7814\u7a76\n\u7981\u6b62\u5546\u7528\n\u5b66\u4e60\n"))


@pytest.mark.parametrize(
    ("words", "license", "is_its_own"),
    [
        ("CC BY-NC", "CC-BY-NC-4.0", True),
        ("non-commercial", "CC-BY-NC-4.0", True),
        ("must not redistribute the weights", "CC-BY-NC-4.0", False),
        ("CC-BY-ND", "CC-BY-ND-4.0", True),
        ("CC-BY-ND", "CC-BY-NC-4.0", False),
        ("CC BY-NC", "CC-BY-4.0", False),
        ("non-commercial", "Apache-2.0", False),
    ],
)
def test_words_that_the_licence_says_itself(words: str, license: str, is_its_own: bool) -> None:
    assert is_of_license(words, license) is is_its_own


def test_words_behind_those_of_the_licence_are_heard_too() -> None:
    text = "The weights are CC BY-NC 4.0. You must not sell the weights."
    assert [words for _, words, _ in rights_in_page(text)][:2] == ["CC BY-NC", "must not sell the weights"]


def test_rights_that_are_reserved_above_free_code_are_no_restriction() -> None:
    header = "# Copyright (c) 2026 The Authors. All rights reserved.\n# Licensed under the MIT license.\n"
    assert [less for *_, less in rights_in_page(header, code=True)] == [False]
    assert [less for *_, less in rights_in_page("Copyright 2026 Example Ltd. All rights reserved.")] == [True]


def test_a_function_for_internal_use_is_no_model_for_internal_use() -> None:
    assert not list(rights_in_page("# A helper, for internal use only.\ndef _f(): ...\n", code=True))
    assert list(rights_in_page("# These weights are for internal use only.\nx = 1\n", code=True))


@pytest.mark.parametrize("kind", ["markdown", "raw", "code"])
def test_each_cell_of_a_notebook_is_read(kind: str, tmp_path: Path) -> None:
    source = ["x = 1\n", "# You must not sell the weights.\n", 'TERMS = "The weights are AGPL-3.0."\n']
    notebook = tmp_path / "n.ipynb"
    notebook.write_text(json.dumps({"cells": [{"cell_type": kind, "source": source}]}))
    rights = inspect_published({"kind": "notebook", "path": "n.ipynb", "copy": str(notebook)})["rights"]
    assert [less for *_, less in rights] == [True, False]
    assert rights[0][1] == "must not sell the weights"


@pytest.mark.parametrize(
    ("word", "is_odd", "is_rare"),
    [
        ("\ua4e2mall", True, True),
        ("\ua4e2\ua4f2", False, True),
        ("\u0441at", True, False),
        ("\u043a\u043e\u0442", False, False),
        ("AI\u6a21\u578b", False, False),
        ("10\u00b5m", False, False),
        ("caf\u00e9", False, False),
        ("\u03b2VAE", True, False),
    ],
)
def test_letters_that_few_know(word: str, is_odd: bool, is_rare: bool) -> None:
    assert (bool(odd_word(word)), bool(rare_word(word))) == (is_odd, is_rare)
