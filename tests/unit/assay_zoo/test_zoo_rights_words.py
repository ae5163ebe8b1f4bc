"""Words of rights are heard where they are of the thing itself, and not where they are of what a model separates."""

from __future__ import annotations

import pytest

from assay_zoo.artifacts.restricted_use import less_allowed, rights_in_page


@pytest.mark.parametrize(
    "text",
    [
        "Houses that are not for sale are labelled 0.", "In the data only customers with a contract may churn.",
        "The labels are limited to personal users of the bank.", "Only teachers can be distilled.", "We do not share.",
        "The function _pad is for internal use only.", "It tells commercial from non-commercial vehicles.",
        "The model finds non-commercial vehicles.",
        "Nicht-kommerzielle Fahrzeuge werden als 0 gekennzeichnet.", "Il compte aussi les véhicules non commerciaux de la ville.",
        "El modelo es para uso comercial y no comercial.", "It does not require prior consent.",
        "Use doesn’t require our permission.", "No uses are prohibited.", "None of these commercial uses are forbidden.",
        "このモデルは研究目的のみならず商用にも使えます。", "模型判断是否禁止出售的商品。",
        "Il modello conta i veicoli non commerciali.", "Niet-commerciële voertuigen krijgen het label 0.",
        "Модель считает некоммерческие машины на дороге.", "模型识别非商业车辆和商业车辆。", "비상업 차량은 0으로 표시됩니다.",
    ],
)  # fmt: skip
def test_rights_words_that_are_of_something_else(text: str) -> None:
    assert not list(rights_in_page(f"# Model\n\n{text}\n"))


@pytest.mark.parametrize(
    "text",
    [
        "The houses in the weights file are not for sale, and the weights are not for sale.", "Not for sale.", "It is not for sale.",
        "Only customers with a contract may use the model.", "The model is limited to personal users.",
        "Please use it, but do not share.", "Do not share.", "It requires our permission.",
        "There are no warranties and military uses are prohibited.",
        "No uses of others are known; commercial uses are forbidden.", "The function is free; these weights: internal use only.",
        "This notebook is for internal use only.", "Strictly internal use only.", "The weights are non-commercial.",
        "It is for non-commercial research.", "Only non-commercial applications are allowed.",
        "Nur zu nicht-kommerziellen Zwecken.", "Nicht-kommerzielle Nutzung.", "À usage non commercial.", "Los pesos son no comerciales.",
        "Para fines no comerciales.", "研究目的のみに使えます。", "禁止出售模型。", "Solo per scopi non commerciali.",
        "Voor niet-commercieel gebruik.", "Для некоммерческих целей.", "模型仅用于非商业目的。", "비상업적 용도로 사용하십시오.",
    ],
)  # fmt: skip
def test_rights_words_of_the_thing_itself(text: str) -> None:
    assert any(less for *_, less in rights_in_page(f"# Model\n\n{text}\n"))
    assert less_allowed(text)


@pytest.mark.parametrize(
    ("text", "is_of_the_thing"),
    [
        ("# nur für interne Verwendung", False), ("# 仅供内部使用的辅助函数", False),
        ('"""Private helper. Internal use only; use pad() instead."""', False),
        ("# Die Gewichte sind nur für interne Verwendung", True), ("# 模型权重仅供内部使用", True),
        ("# Not for commercial use.", True), ('"""These weights: internal use only."""', True),
    ],
)  # fmt: skip
def test_what_is_internal_in_code(text: str, is_of_the_thing: bool) -> None:
    assert any(less for *_, less in rights_in_page(f"x = 1\n\n\n{text}\n\n\ny = 2\n", code=True)) is is_of_the_thing
