"""Words that keep a use to some, in languages beside English: German, French, Spanish, Portuguese, Italian, Dutch, Russian, Chinese,
Japanese, Korean, and that trade is forbidden in many more. Each with words of which a line that says so has one."""

from __future__ import annotations

import re

from assay_zoo.artifacts.trade_words import FORBIDDEN as _FORBIDDEN
from assay_zoo.artifacts.trade_words import REFUSED, WORDS_OF_REFUSED
from assay_zoo.artifacts.trade_words import TRADE as _TRADE

_NOT_BOTH = r"(?! (?:y|e|o|ou|et|und|oder|and|or) (?:comer|commer|kommer))"
_FEW = r"[^.;。；]{0,40}"
_USE = r"(?:bruk|brug|anv|použ|účel|cel|uży|wyk|викор|корист|käyt|upor|svrh|licen|цел|изп)"
"""How a word for using begins."""
RULES: tuple[tuple[tuple[str, ...], str], ...] = (
    # German
    (
        ("kommerziell",),
        r"\b(?:(?:nicht|keine) für kommerziell|keine kommerziell)\w*|\bnur nicht[- ]?kommerziell\w*"
        r"|\bnicht[- ]?kommerziell\w*(?=\W*$|[.;:!?,)]| (?:\w+e[nrs]? )?(?:(?:forschungs|lehr)?zweck|nutz"
        r"|gebrauch|verwendung|einsatz|lizenz"
        r"|forschung))|\bkommerzielle\w* \w+ (?:ist |sind )?(?:untersagt|verboten"
        r"|nicht (?:erlaubt|gestattet))",
    ),
    (
        ("nur für", "nur fuer", "ausschließlich für", "ausschliesslich für"),
        r"\b(?:nur|ausschlie(?:ß|ss)lich) f(?:ü|ue)r (?:den |die |das )?(?:interne\w*|private\w*|pers(?:ö"
        r"|oe)nliche\w*|wissenschaftliche\w*|akademische\w*|eigene\w*|forschung\w*|lehre)\b",
    ),
    (
        ("weitergabe", "weitergegeben", "weiterverbreit", "weiterverkauf", "verkauft werden"),
        rf"\b(?:weitergabe|weiterverbreitung|weiterverkauf)\b{_FEW}\b(?:untersagt|verboten|nicht (?:erlaubt"
        rf"|gestattet))"
        rf"|\b(?:darf|dürfen|duerfen)\b{_FEW}\bnicht\b{_FEW}\b(?:weitergegeben|weiterverbreitet|weiterverkauft"
        rf"|verkauft)\b",
    ),
    # French
    (
        ("commercia",),
        r"\b(?:usages?|utilisations?|licences?|fins|buts?|titre|exclusivement|uniquement|est"
        r"|sont) (?:\w+ )?non[- ]commercia(?:l|les?|ux)\b"
        rf"{_NOT_BOTH}|^\W*non[- ]commercia(?:les?|ux)\b|\b(?:usage|utilisation) commercia(?:l"
        rf"|le)\b[^.;]{0, 20}\binterdit",
    ),
    (
        ("usage", "utilisation", "fins de recherche"),
        r"\b(?:usage|utilisation) (?:purement |strictement )?(?:interne|personnelle?|privée?"
        r"|académique)(?: uniquement| exclusivement| seulement)\b"
        r"|\b(?:uniquement|exclusivement|seulement|réservée?s?)\b[^.;]{0,20}\b(?:usage|utilisation) (?:interne"
        r"|personnelle?|privée?|académique)"
        r"|\bfins de recherche (?:uniquement|exclusivement|seulement)\b",
    ),
    (
        ("interdit", "redistribu", "rediffus", "vendu", "revendr"),
        rf"\b(?:vente|revente|redistribution|diffusion|distribution)\b{_FEW}\binterdite?s?\b"
        rf"|\binterdit\b{_FEW}\b(?:redistribuer|revendre|vendre)"
        r"|\bne (?:peu(?:t|vent)|doi(?:t|vent)) pas être (?:re)?(?:distribu|vendu|diffus)\w*|\bne pas (?:redistribuer"
        r"|rediffuser|revendre)\b",
    ),
    (
        ("recherche",),
        r"\bréservée?s? (?:à|aux) (?:la |des )?(?:fins de )?recherche\b",
    ),
    # Any: a word for trade beside one that forbids it, or with one for "not" in front
    (
        _TRADE,
        rf"(?:{'|'.join(_TRADE)})\w*[^.;:。]{{0,30}}?(?:{_FORBIDDEN})|(?:{_FORBIDDEN})[^.;:。]{{0,40}}?(?:{'|'.join(_TRADE)})"
        rf"|\b(?:ni?e|ei|не|icke|ikke|ej)[- ]?(?:{'|'.join(_TRADE)})\w*(?=\W*$|[.;:!?,)]| (?:\w+ )?{_USE})"
        r"|\bticari olmayan\b|\bphi thương mại|غير (?:ال)?تجاري",
    ),
    (WORDS_OF_REFUSED, REFUSED),
    # Spanish and Portuguese
    (
        ("comercia",),
        r"\b(?:usos?|fines|fins|licen(?:cia|ça)s?|propósitos?|finalidade?s?|s[oó]lo|apenas|somente|es|son|é"
        r"|são) (?:(?!comer)\w+ )?"
        rf"(?:no|não)[- ]comercia(?:l|les|is)\b{_NOT_BOTH}|^\W*(?:no|não)[- ]comercia(?:l|les|is)\b{_NOT_BOTH}"
        rf"|\buso comercial\b[^.;]{0, 20}\b(?:prohibido|proibido)|\b(?:prohibido"
        r"|proibido)\b[^.;]{0,20}\buso comercial",
    ),
    (
        ("uso ", "para fines", "para fins", "para investigaci", "para pesquisa"),
        r"\buso (?:interno|personal|pessoal|privado|académico|acadêmico)(?: únicamente| exclusivamente"
        r"| solamente| apenas| somente)\b"
        r"|\b(?:s[oó]lo|solamente|únicamente|exclusivamente|apenas|somente) para (?:el |o )?(?:uso (?:interno"
        r"|personal|pessoal|privado|acad[eéê]mico)"
        r"|(?:fines|fins) (?:de )?(?:investigación|pesquisa|académicos|acadêmicos|educativos)|investigación"
        r"|pesquisa)\b",
    ),
    (
        ("prohib", "proib", "redistribu", "vender"),
        rf"\b(?:redistribución|redistribuição|reventa|revenda|venta|venda)\b{_FEW}\b(?:prohibid|proibid)[ao]s?\b"
        rf"|\b(?:prohibid|proibid)[ao]s?\b{_FEW}\b(?:redistribu\w+|reventa|revenda|vender)"
        r"|\b(?:no|não) (?:se )?(?:puede|pueden|debe|deben|pode|podem|deve|devem) (?:ser )?(?:redistribu|revend"
        r"|vend)\w+",
    ),
    # Italian and Dutch
    (
        ("commercial", "solo per", "esclusivamente per", "vietat"),
        rf"\b(?:us[oi]|scopi|fini|licenza|finalità|solo|è|sono) (?:\w+ )?non commercial[ei]\b"
        rf"|^\W*non commercial[ei]\b|\b(?:solo|esclusivamente) per (?:uso (?:interno|personale|accademico)"
        rf"|(?:la )?ricerca)\b"
        rf"|\b(?:redistribuzione|vendita|rivendita|uso commerciale)\b{_FEW}\bvietat[oa]",
    ),
    (
        ("commerciee", "commercië", "alleen voor"),
        r"\bniet[- ]commerci(?:eel|ele|ële)(?=\W*$|[.;:!?,)]| (?:gebruik|doel|licentie|onderzoek))"
        r"|\balleen voor (?:intern|persoonlijk|academisch|onderzoek)\w*",
    ),
    # Russian
    (
        ("некоммерч", "только для", "запрещ"),
        rf"\bнекоммерческ\w+(?=\W*$|[.;:!?,)]| (?:использ|цел|лиценз|исследов|примен))|\bтолько для (?:внутренн"
        rf"|личн|исследовательск|научн|учебн)\w+"
        rf"|\b(?:распространение|продажа|коммерческое использование)\b{_FEW}\bзапрещ\w+"
        rf"|\bзапрещ\w+{_FEW}\b(?:распростран|прода)\w+",
    ),
    # Chinese
    (
        ("非商", "商用", "商业", "商業", "不得", "禁止", "仅", "僅"),
        r"非商(?:业|用|業)(?:性)?(?:的)?(?:使用|用途|利用|目的|许可|許可|研究|$|[。，,；;)）])|[于於](?:任何)?非商|禁止商(?:用|业|業)|不得用于商业|不得用於商業"
        r"|(?<!是否)(?:不得|禁止|严禁|嚴禁)[^。；,，]{0,8}(?:转载|轉載|转售|分发|分發|传播|傳播|出售|售卖)(?!的)"
        r"|[仅僅](?:限|供|可?用于|用於)[^。；,，]{0,6}(?:内部|內部|个人|個人|研究|学术|學術|教育|学习|學習|教学)",
    ),
    # Japanese
    (
        ("商用", "配布", "無断", "のみ", "限定"),
        r"非商用(?:利用|目的|使用|ライセンス|用途|に限|のみ|$|[。、])|商用(?:利用|目的)?(?:は|を|での)?[^。]{0,8}(?:不可|禁止|禁じ|できません)"
        r"|再配布[^。]{0,8}(?:不可|禁止|禁じ|できません|しないで)"
        r"|無断(?:転載|使用|複製|配布)|(?:社内|研究|学術|個人|教育)(?:利用|用途|使用|目的)?(?:での利用)?(?:に限定(?!されず|されな|しな)|に限り|のみ(?!ならず|でな))",
    ),
    # Korean
    (
        ("비상업", "상업", "재배포", "무단", "용도", "목적"),
        r"비상업(?:적|용)?(?:$|[.,]| ?(?:용도|목적|이용|사용|라이선스|연구|으로))|상업(?:적|용)?[^.]{0,12}(?:금지|불가)"
        r"|재배포[^.]{0,12}(?:금지"
        r"|불가)|무단 ?(?:전재|배포|복제)"
        r"|(?:연구|내부|개인|교육) ?(?:용도?|목적)(?:으로)?만",
    ),
)
RESERVED = (
    r"alle rechte vorbehalten|tous droits réservés|todos (?:los derechos reservados|os direitos reservados)"
    r"|tutti i diritti riservati"
    r"|alle rechten voorbehouden|все права защищены|保留所有权利|版权所有|版權所有|無断転載を禁ず"
)
"""As "all rights reserved"."""
WORDS_OF_RESERVED = (
    "vorbehalten", "réservés", "reservados", "riservati", "voorbehouden", "защищены", "权利", "权所有", "權所有",
)  # fmt: skip
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


_WHOLE = re.compile("|".join(pattern for _, pattern in RULES))
_FEWEST = 4
"""Letters: fewer are an entry of a list of words."""


def is_said_without_spaces(line: str, *, alone: bool = False) -> bool:
    """Whether a line in Chinese, Japanese or Korean is a sentence, as no entry of a list of words is. One that stands `alone` may be
    short."""
    letters = len(_IDEOGRAPHS.findall(line))
    if letters >= 8 or (letters and line.rstrip().endswith(("。", "！", "!"))):
        return True
    match = _WHOLE.search(line) if alone and letters >= _FEWEST else None
    return match is not None and 2 * len(_IDEOGRAPHS.findall(match[0])) > letters
