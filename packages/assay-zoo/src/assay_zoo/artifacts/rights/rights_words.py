"""Words by which a text speaks of who may use a thing. Nobody parses the sentence: a person reads it, also where it gives a use to all."""

from __future__ import annotations

import re

_OTHERS = (
    # trade, and what is forbidden, in as many languages as one line holds: how a word begins
    "kommersi", "kommerzi", "kommerci", "komerc", "komerč", "komerzi", "komersi", "komersj", "kaupalli", "ticari", "thương mại", "комерц",
    "комерці", "коммерч", "εμπορικ", "kereskedelmi", "comercia", "commerciale", "commerciaux", "commercialement", "utilisation commercial",
    "usage commercial", "commercië", "commerciee", "تجار", "व्यावसायिक", "वाणिज्यिक",
    "מסחרי", "เชิงพาณิชย์", "商用", "商业", "商業", "営利", "영리", "상업", "zakáz", "zabron", "zabranj", "forbud", "förbju", "kiellet",
    "yasak", "cấm ", "заборон", "забран", "запрещ", "απαγορ", "tilos ", "dilarang", "interzis", "verbod", "interdit", "vietat", "prohibid",
    "proibid", "ممنوع", "يمنع", "يحظر", "محظور", "निषिद्ध", "वर्जित", "אסור", "ห้าม", "禁止", "금지", "不得", "请勿", "untersagt", "verboten",
    # for whom, to whom, and whose the rights are
    "weitergabe", "weitergegeben", "weiterver", "verkauft werden", "vorbehalten", "nur für", "nur fuer", "ausschließlich für",
    "ausschliesslich für", "usage interne", "usage privé", "usage personnel", "usage académique", "réservé", "recherche uniquement",
    "recherche exclusivement", "recherche seulement", "droits réservés", "rediffus", "revend", "uso interno", "uso personal", "uso pessoal",
    "uso privado", "uso acad", "solo para", "sólo para", "somente para", "apenas para", "únicamente para", "solo per", "pueden vender",
    "puede vender", "reservados", "riservati", "voorbehouden", "intern gebruik", "внутренн", "только для", "распростран", "защищены",
    "外传", "仅供", "仅用于", "許諾", "授权", "使用条款", "社内", "内部使用", "内部利用", "研究目的", "学术研究", "限定されるもの",
    "再配布",     "転載", "版权所有", "版權所有", "权利", "연구 목적", "재배포", "내부 용도", "내부 사용",
)  # fmt: skip
_SOME = (
    r"(?:academics?|research(?:ers)?|evaluation|personal|private|education\w*|students?|teachers?|scientific|universit\w+|internal"
    r"|members?|employees?|companies|institutions?|(?:customers|people|users)(?= with\b))"
)
_USES = r"(?:use[ds]?|usage|purposes?|ends|gain|exploitation|licen\w+|terms|basis|research|applications?|projects?|products?|parties)"
_APART = r"(?! (?:\w+ ){0,3}?(?:evenly|over|across|among|between|within|memory|anything)\b)"
"""What is shared out so is work, and not given to others."""
NAMED = r"\bcc[- ]by(?:[- ]sa)?[- ]n[cd]\b"
"""Licences of Creative Commons that keep a use to some."""
KEPT = re.compile(
    rf"\bnon[- ]?commercial\b|\bcommercial(?:ly)?(?=\W*$|\W*[^\w\s-]| (?:and|or|but|only)\b|[- ](?:\w+[- ])?{_USES}\b)"
    r"|\bnon-?profit"
    r"|\bproprietary\b|\bconfidential\b"
    r"|\bre-?(?:sell|sold|sale)\w*|\bsub-?licen\w+|\bnot for (?:re)?(?:sale|distribution)\b(?! \w+(?:ions?|ed)\b)"
    rf"|\bredistribut\w+{_APART}|(?<!no )\broyalt(?:y|ies)\b(?!-free)|\ball rights reserved\b|\bpermission of\b"
    r"|\b(?:our|my|written|prior|explicit|authors?)\W+(?:\w+ )?(?:permission|consent|approval)\b"
    r"|\b(?:strictly|company|for|is) (?:company )?internal (?:use|usage|purposes?)(?! (?:by|of|in|as|within)\b)"
    r"|\binternal (?:use|usage) only\b"
    r"|\b(?:weights?|model|network) (?:is|are) strictly internal(?! to)|\bin-house use\b"
    rf"|\b{_SOME}(?: [a-z]+){{0,2}} only\b|\bonly (?:be used )?(?:for|by|to) (?:[a-z]+ ){{0,2}}{_SOME}\b"
    rf"|\b(?:restricted|limited) to (?:non-?\w+ )?{_SOME} (?:use|usage|users?|purposes?)"
    rf"|\bonly (?:[a-z]+ ){{0,2}}{_SOME}(?: [a-z]+){{0,4}} (?:may|can|are allowed(?: to)?)"
    r" (?:\w+ or )?(?:use|run|download|access|copy|get|obtain|apply)\b"
    r"|\byou (?:hereby )?(?:agree (?:not )?to|accept)\b"
    r"|\b(?:may|must|can|could|are|is|shall|do|please do|ca)(?:n['’]t|not| not| never| also not)(?: allowed| permitted)?(?: to)?(?: be)?"
    rf"(?: (?!normally|evenly)\w+,?){{0,2}}? (?:(?:re)?(?:sell|sold|distributed?|publish(?:ed)?|shared?|copy|copied))\b{_APART}"
    r"|\bsubscription\b|\b(?:paid|separate|patent) licen[cs]e\b(?! plates?)|\bpatent licen|\b(?:military|surveillance)(?: and \w+)? uses?\b"
    r"|\blicen[cs]e (?:will|shall|can|has to|must|may|expires|ends)\b|\bobtain an? licen[cs]e\b|\b(?:evaluation|trial) (?:copy|version)\b"
    r"|\b(?:selling|sharing|redistributing|distributing)[^.]{1,40} (?:is|are) (?:forbidden|prohibited|not (?:allowed|permitted))"
    rf"|commons clause|{NAMED}|\bmay not be used for\b|\bterms of use\b|\beula\b|{'|'.join(map(re.escape, _OTHERS))}",
    re.IGNORECASE,
)
WORDS = (
    *(word for word in _OTHERS if word != "cấm "), "cấm", "commerc", "profit", "proprietary", "confidential", "resell", "re-sell", "resold",
    "resale", "sublicen", "sub-licen", "for sale", "distribut", "royalt", "reserved", "permission", "consent", "approval", "internal",
    "in-house", "only", "restricted to", "limited to", "you agree", "you accept", "you hereby", "sell", "sold", "publish", "share", "copy",
    "copied", "subscription", "licen", "military", "surveillance", "trial", "commons clause", "cc-by", "cc by", "used for", "terms of use",
    "eula",
)  # fmt: skip
"""A line that speaks of it has one of these, in small letters."""
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_FEWEST = 4
"""Letters: fewer are an entry of a list of words."""


def is_said_without_spaces(line: str, *, alone: bool = False) -> bool:
    """Whether a line in Chinese, Japanese or Korean is a sentence, as no entry of a list of words is. One that stands `alone` may be
    short."""
    letters = len(_IDEOGRAPHS.findall(line))
    ends = line.rstrip().endswith(("。", "！", "!"))
    return letters >= 8 or (letters > 0 and ends) or (alone and letters >= _FEWEST and KEPT.search(line) is not None)
