"""In any language: not for trade is a limit, not forbidden is none, and neither are both uses at once."""

from __future__ import annotations

import pytest

from assay_zoo.artifacts.restricted_use import less_allowed, rights_in_page


@pytest.mark.parametrize(
    "text",
    [
        "L'usage commercial n'est pas interdit.", "El uso comercial no está prohibido.", "O uso comercial não é proibido.",
        "Kommerzielle Nutzung ist nicht verboten.", "L'uso commerciale non è vietato.", "Commercieel gebruik is niet verboten.",
        "Kommerciel brug er ikke forbudt.", "Komerční použití není zakázáno.", "Komercyjne użycie nie jest zabronione.",
        "Ticari kullanım yasak değildir.", "Kaupallinen käyttö ei ole kielletty.", "Utilizarea comercială nu este interzisă.",
        "Комерційне використання не заборонено.", "Penggunaan komersial tidak dilarang.", "الاستخدام التجاري غير ممنوع",
        "Die Weitergabe ist nicht untersagt.", "To run on a GPU you need CUDA; you do not need to obtain a license to use it.",
        "Nobody requires a separate license for this.", "It never requires a separate licence.",
        "This model requires no commercial license.", "No separate license is required.",
        "Keine Einschränkungen für kommerzielle Nutzung.", "Nicht nur für Forschung, sondern für alle.",
        "No solo para uso interno: cualquiera puede usarlo.", "No hay restricciones para uso comercial.",
    ],
)  # fmt: skip
def test_what_is_not_forbidden_is_free(text: str) -> None:
    assert not _asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "Zu kommerziellen und nicht-kommerziellen Zwecken frei.", "Non-commercial and commercial use are both allowed.",
        "Для коммерческого и некоммерческого использования.", "За комерсиални и некомерсиални цели.",
        "Nekomerční i komerční použití je povoleno.", "Til både kommerciel og ikke-kommerciel brug.", "非商业和商业用途均可。",
        "Ücretsizdir; ticari ve ticari olmayan kullanım serbesttir.", "sử dụng thương mại và phi thương mại",
        "للاستخدام التجاري وغير التجاري", "Open for kommersiell og ikke-kommersiell bruk.",
        "niekomercyjne i komercyjne użycie dozwolone.", "Usage commercial et non commercial.",
    ],
)  # fmt: skip
def test_both_uses_at_once_are_free(text: str) -> None:
    assert not _asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "A fishing licence expires after a year, which the model predicts.", "Trial license plates are one of the classes.",
        "The driver must obtain a license to use a vehicle: the model reads its number.",
        "The licence ends at line 20 of the file.", "Il modello non riconosce veicoli commerciali.",
        "The weights are strictly internal to the graph.",
    ],
)  # fmt: skip
def test_what_is_said_of_another_subject_is_no_term(text: str) -> None:
    assert not _asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "Не для коммерческого использования.", "Коммерческое использование не допускается.", "Nie do użytku komercyjnego.",
        "Nie wolno używać komercyjnie.", "Ikke til kommerciel brug.", "Inte för kommersiellt bruk.", "Ei kaupalliseen käyttöön.",
        "Ticari amaçla kullanılamaz.", "Không dùng cho mục đích thương mại.", "Nem kereskedelmi célra használható.",
        "Tidak untuk tujuan komersial.", "Pas d'utilisation commerciale.", "Não é permitido o uso comercial do modelo.",
        "No se permite el uso comercial del modelo.", "Non è consentito l'uso commerciale del modello.", "请勿用于商业用途。",
        "商業利用は認めません。", "영리 목적으로 사용할 수 없습니다.", "Kommerciel brug er forbudt.",
        "The licence will expire on 31 December 2026.", "The license shall end next year.", "This licence can be revoked at any time.",
        "A separate license is required for production.", "The weights are strictly internal.", "Strictly for in-house use.",
        "Not for commercial use, and non-commercial use is forbidden.", "Kommerzielle Nutzung ist nicht gestattet und verboten.",
    ],
)  # fmt: skip
def test_what_is_not_given_asks_a_person(text: str) -> None:
    assert _asks(text)
    assert less_allowed(text)


def _asks(text: str) -> bool:
    return any(less for *_, less in rights_in_page(f"# Model\n\nSmall digits. {text}\n"))
