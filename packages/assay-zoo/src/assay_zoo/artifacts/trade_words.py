"""Words for trade, for using, for "not", "and" and "forbidden" in many languages, and what they say together: not for trade is a limit,
not forbidden is none, and neither is trade beside what is no trade."""

from __future__ import annotations

import re

TRADE = (
    "kommersi", "kommerzi", "kommerci", "komerc", "komerč", "komerzi", "komersi", "komersj", "kaupalli", "ticari", "thương mại", "комерц",
    "комерці", "коммерч", "εμπορικ", "kereskedelmi", "comercial", "commercial", "commercië", "commerciee", "تجار", "व्यावसायिक", "वाणिज्यिक",
    "מסחרי", "เชิงพาณิชย์",
)  # fmt: skip
"""How a word for trade begins, in as many languages as one line holds."""
FORBIDDEN = (
    r"\bzakáz|\bzabron|\bzabranj|\bforbud|\bförbju|\bforbudt|\bkiellet|\byasak|\bcấm\b|\bзаборон|\bзабран|απαγορ|\btilos\b|\bdilarang|\binterzis"
    r"|\bverbod|\binterdit|\bvietat|\bprohibid|\bproibid|ممنوع|يمنع|يحظر|محظور|निषिद्ध|वर्जित|אסור|ห้าม"
)
_NOT = (
    r"(?:nicht|keine?[nrsm]?|pas|aucune?|no|non|não|sin|sem|senza|sans|niet|geen|ikke|inte|icke|ej|ei|nie|není|ne|nije|ni|nu|fără|не|нет|нельзя"
    r"|без|δεν|όχι|μη|nem|tidak|bukan|không|غير|ليس|لا|לא|नहीं|ไม่)"
)
_AND = (
    r"(?:and|und|sowie|oder|et|ou|y|e|o|en|of|og|och|eller|i|a|nebo|lub|oraz|și|şi|sau|и|или|та|і|й|або|ja|tai|ve|veya|và|hoặc|και|ή|és|vagy|dan|atau"
    r"|/|&|و)"
)
_USE = (
    r"(?:bruk|brug|anv|použ|účel|cel|uży|wyk|викор|корист|käyt|upor|svrh|licen|цел|изп|испол|примен|us[oie]\b|usage|utili[sz]|gebr|nutz"
    r"|verwend|zweck|doel|fins?\b|fines\b|fini\b|scop|tujuan|pengguna|mục đích|dùng|sử dụng|χρήσ|célra|haszn|amaç|kullan"
    r"|formål|syfte|ändamål)"
)
_ALLOWED = (
    r"(?:допус|разреш|позвол|дозвол|tillad|tillåt|tillat|dozwol|dovol|povol|permi|autori[sz]|consent|ammess|toegest|sallit|erlaubt"
    r"|gestattet|zulässig|diizin|diperbol|được phép|επιτρέπ|megenged)"
)
_ONLY = (
    r"(?:nur|s[oó]lo|seulement|uniquement|только|tylko|kun|bare|bara|endast|vain|chỉ|hanya|csak|apenas|só|somente|alleen"
    r"|лише|само|doar)\b"
)
_LIMIT = (
    r"(?!restri|einschr|beschr|limit|огран|обмеж|ogranic|omez|begr|rajoit|sınır|requi|richie|exig|neces|licen|lizenz|лиценз|permiso|cost"
    r"|kost|geb[üu]h|verbot|prohib|interdi|zak|problem|hind|hạn|batas|besch)"
)
"""That there is no limit, no licence or no fee for it."""
_TRADES = rf"(?:{'|'.join(TRADE)})\w*"
_WORD = rf" {_LIMIT}[^\W\d]+"
REFUSED = (
    rf"(?<![\w-]){_NOT}(?! {_ONLY})(?: (?:d|l)['’]|{_WORD}){{0,4}}?(?: | d['’]| l['’]){_USE}\w*(?:{_WORD}){{0,2}}? {_TRADES}"
    rf"|(?<![\w-]){_NOT}(?! {_ONLY})(?:{_WORD}){{0,3}}? {_TRADES} (?:\w+ )?(?!licen){_USE}"
    rf"|{_TRADES}(?: \w+){{0,3}} {_NOT} (?:\w{{1,5}} )?{_ALLOWED}"
    rf"|\b{_USE}\w* {_TRADES}(?: \w+){{0,1}} {_NOT} (?:\w{{1,5}} )?{_ALLOWED}"
    r"|\bticari(?: \w+){1,3}(?:maz|mez)\b"
    r"|勿[^。，,]{0,6}商[业業用]|不[可能得许許](?:以)?[^。，,]{0,6}商[业業用]"
    r"|(?:商[業用]|営利)[^。]{0,10}(?:認め(?:ません|られ\w{0,4}せん|ない)|不可|禁止|できません|お断り)"
    r"|(?:영리|상업)[^.]{0,16}(?:수 없|금지|불가|허용되지|안 됩니다)"
)
"""A use in trade that is not given."""
WORDS_OF_REFUSED = (*TRADE, "商", "営利", "영리", "상업")
_DENIED = re.compile(
    rf"(?<![\w-])(?:{_NOT}|not|never)(?: (?!{_AND} )\w{{1,5}}){{0,2}} "
    rf"(?:{FORBIDDEN}|\bverboten|\buntersagt|\bзапрещ|\bprohibited|\bforbidden)\w*|\byasak değil\w*|(?:निषिद्ध|वर्जित) नहीं"
    rf"|(?<![\w-]){_NOT} {_ONLY}"
    r"|\b(?:no|none|neither)(?: (?!and |or )\w+){0,3} uses are (?:prohibited|forbidden)\b"
    r"|不(?:被)?禁止|禁止(?:されていません|されていない|ではありません)|금지(?:되지 않|하지 않)"
    r"|\b(?:(?:do|does) not|don['’]t|doesn['’]t|never|nobody) (?:needs?|have|has) to (?:obtain|buy|purchase|acquire)\b"
    r"|\bneed(?: not|n['’]t) (?:obtain|buy|purchase|acquire)\b|\b(?:nobody|nothing|never) requires?\b",
    re.IGNORECASE,
)
_NO_TRADE = rf"(?:{_NOT}[- ]?|phi |epä|non-?){_TRADES}|{_TRADES} olmayan"
_BETWEEN = rf"(?: {_USE}\w*)? ?{_AND} ?(?:\w{{1,4}} )?"
_BOTH = re.compile(
    rf"(?<![\w-])(?:ال)?(?:{_NO_TRADE}){_BETWEEN}(?:ال)?(?:{_TRADES})"
    rf"|(?<![\w-])(?:ال)?{_TRADES}{_BETWEEN}(?:غير (?:ال)?{_TRADES}|{_NO_TRADE})"
    r"|非商[业業用](?:的)?(?:和|与|與|及|或|・|および|と|や|、)商[业業用]|商[业業用](?:的)?(?:和|与|與|及|或|・|および|と|や|、)非商[业業用]",
    re.IGNORECASE,
)
_ANY = re.compile(
    "|".join(
        [*TRADE, FORBIDDEN, rf"{_NOT} {_ONLY}", "verboten|untersagt|запрещ|forbidden|prohibited|licen|商|禁止|금지"]
    ),
    re.IGNORECASE,
)
_REFUSES = re.compile(rf"{FORBIDDEN}|(?<![\w-])(?:{_NOT}|not) (?:\w+ ){{0,2}}$", re.IGNORECASE)


def without_denials(clause: str) -> str:
    """Less what says that something is not forbidden, or names trade and what is none as one."""
    if not _ANY.search(clause):
        return clause
    left = _DENIED.sub(" ", clause)
    match = _BOTH.search(left)
    refused = match is not None and (
        _REFUSES.search(left[: match.start()]) or re.search(FORBIDDEN, left, re.IGNORECASE)
    )
    return left if refused else _BOTH.sub(" ", left)
