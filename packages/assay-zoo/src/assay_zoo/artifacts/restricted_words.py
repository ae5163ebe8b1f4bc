"""Words that keep a use to some, in English."""

from __future__ import annotations

from assay_zoo.artifacts.license import NONCOMMERCIAL

_NOT = r"(?: ?not| never)"
THING = r"\b(?:weights?|models?|networks?|checkpoints?|parameters|files?|data(?:sets?)?|software|code|copies|work|it|them|they|these)\b"
_GIVE = r"(?:re)?(?:distribute|sell|sublicen[cs]e|publish)"
_SHARED = r"(?! (?:over|across|among|between|within|evenly|unevenly|uniformly|normally))"
"""What is shared out so, is work, and not given to others."""
_PLACE = r"(?: (?:in|of|from)(?: [^ .;:,]+){1,3})?"
_FOR_SOME = r"(?:evaluation|research|academic|educational|personal)"
_FOR_INTERNAL = r"(?:(?:only|strictly|company|for|restricted to|limited to)[ -])*"
_THIS = r"\bthis (?!function|method|class|helper|module|field|argument|variable|attribute|flag|layer|block|option|constant|parameter)\w+"
_SOME = r"(?:students?|employees|members|researchers|academics|universities|institutions|teachers|partners|customers|subscribers|staff)"
_FEW = rf"(?:{_SOME}|organi[sz]ations|companies)"
_TRIAL = r"\b(?:evaluation copy|trial licen[cs]e)\b(?! plates?| numbers?)"
_THE_LICENSE = (
    r"(?:^\W*|[.;:!?] |\b(?:this|the|your|our|its|such|a|any)(?: (?:granted|software|model|evaluation|trial|free|temporary"
    r"|limited))? )licen[cs]e"
)
_PAID = r"(?:paid|commercial|patent|separate|written)"
RULES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("commercial",), NONCOMMERCIAL),
    (
        ("only",),
        rf"\b{_FOR_SOME} only\b(?! [a-z])|\b{_FOR_SOME} (?:use|purposes?) only\b|\bonly for {_FOR_SOME}\b",
    ),
    (("commercial",), r"\b(?:no|not for|without) commercial use\b|\bcommercial use (?:is )?(?:prohibited|forbidden|not )"),
    (
        ("commercial",),
        r"\bnot\b[^.;]{0,60}\bfor (?:any )?commercial (?:use|usage|purposes?|ends|gain|exploitation)\b"
        rf"|\b(?:may|must|can|shall|do){_NOT} (?:be )?used?\b[^.;]{{0,60}}\bfor (?:any )?commercial\b",
    ),
    (("licen", "subscription"), rf"\brequires? an? {_PAID} (?:licen[cs]e|subscription)"
        rf"|(?<!\bno ){_PAID} (?:licen[cs]e|subscription) is (?:required|needed)\b"),
    (
        ("obtain", "buy", "purchas", "acquir"),
        r"\b(?:obtain|buy|purchase|acquire) (?:an?|the|our) (?:[a-z]+ ){0,2}licen[cs]e\b[^.;]{0,40}"
        r"\b(?:deploy|distribute|redistribute|use|run|ship)\b(?! an? (?!model|network|copy)\w)",
    ),
    (("licen", "evaluation cop"), rf"{_THE_LICENSE} (?:expires|terminates|ends|is revocable|(?:will|shall) (?:expire|end|terminate)"
        r"|(?:may|can) be revoked)\b"
     rf"(?! (?:at|on|in) (?:lines?|pages?)\b)|{_TRIAL}"),
    (
        ("distribut", "sell", "sublicen", "publish"),
        rf"(?:\b(?:may|must|can|shall){_NOT}|\bnot (?:allowed|permitted) to|\bplease do not|(?<![a-z] )\bdo not)"
        rf" (?:[a-z]+,? (?:or )?){{0,2}}{_GIVE}\b"
        rf"(?:(?:,|,? or|,? and|/) ?[a-z]+)*[^.;:,]{{0,30}}?{THING}{_SHARED}",
    ),
    (
        ("distribut", "sold", "sublicen", "publish"),
        rf"{THING}[^.;:,]{{0,30}}\b(?:(?:may|must|can|shall){_NOT}|(?:is|are) not to) be"
        rf" (?:re)?(?:distributed|sold|sublicen[cs]ed|published)\b{_SHARED}",
    ),
    (
        ("distribution", "sale"),
        r"\b(?:redistribution|distribution|sale|resale)(?: of [^.;:,]{1,40})? is"
        r" (?:not (?:allowed|permitted)|prohibited|forbidden)\b|\bno redistribution\b",
    ),
    (("uses are",), r"\buses are (?:strictly )?(?:not (?:allowed|permitted)|prohibited|forbidden)\b"),
    (
        ("selling", "distributing", "sublicensing", "sharing", "publishing"),
        rf"\b(?:re)?(?:selling|distributing|sublicen[cs]ing|sharing"
        rf"|publishing)(?: [a-z]+){{0,3}} {THING}(?: (?!between|across|among)[a-z]+){{0,3}}"
        r" (?:is|are) (?:strictly )?(?:forbidden|prohibited|not (?:allowed|permitted))",
    ),
    (
        ("distribut", "sale", "share", "release"),
        r"(?<!\bwe )(?<!\bthey )(?<!\bwhich )(?<!\bthat )(?<![a-rt-z]s )\bdo not (?:re)?(?:distribute|share|sell)\W*$"
        rf"|(?:\bnot for (?:re)?(?:distribution|public release)|(?:^|[.;:!?,(] ?|\bis |{THING}{_PLACE} are )not for sale)\b"
        r"(?! (?:over|across|among|between|within|predict\w*|forecast\w*|data|prices?))",
    ),
    (
        ("internal",),
        rf"(?:\bonly|{THING}[^.;:]{{0,40}}) for (?:company[- ]|strictly )?internal (?:use|purposes?|usage)\b"
        r"(?! (?:by|of|in|as|inside|within|between) )"
        rf"|(?:(?:^|[.;:!?,(] ?)\W*{_FOR_INTERNAL}|(?:{THING}|\blicen\w+|{_THIS})[^.;:]{{0,40}})\binternal (?:use|purposes?|usage) only\b"
        r"|(?:^|[.;:!?,(] ?)\W*(?:strictly|only|solely|exclusively) (?:for )?internal (?:use|purposes?|usage)(?=\W*$|[.;:!?,)])"
        r"|\b(?:restricted|limited) to internal (?:use|purposes?)\b",
    ),
    (
        ("strictly internal", "in-house"),
        r"\b(?:weights?|model|network|checkpoint) (?:is|are) strictly internal\b(?! to\b)"
        r"|\b(?:strictly|only|solely|exclusively) for in-house use\b"
        r"|\bin-house use only\b",
    ),
    (
        ("restricted to", "limited to"),
        rf"\b(?:restricted|limited) to (?:non-?commercial|private|{_FOR_SOME}) (?:use|usage|purposes?|users?)\b"
        r"(?! (?:of|in|from|with|who|that)\b)",
    ),
    (
        ("only",),
        rf"\bonly (?:[a-z]+ ){{0,2}}{_SOME}(?: [a-z]+){{0,4}} (?:may|can|are (?:allowed|permitted)(?: to)?)"
        rf" (?:\w+ or )?(?:use|run|download|access|copy|share|have|get|obtain|apply|modify|work with|{_GIVE})\b",
    ),
    (
        ("only",),
        rf"\b(?:for|to|by) (?:[a-z]+ ){{0,2}}{_FEW} only\b|\bonly (?:be [a-z]+ )?"
        rf"(?:for|to|by) (?:(?!of |in |with |from )[a-z]+ ){{0,2}}{_FEW}\b(?!['’])",
    ),
    (("you agree", "you accept"), r"\byou (?:hereby )?(?:agree (?:not )?to|accept (?:that|the|these|our))\b"),
    (
        ("permission", "consent", "approval"),
        r"(?<!no )(?<!no further )(?<!no special )\b(?:permission|consent|approval)\b[^.;]{0,60}"
        r"\b(?:is|are|must be|has to be|needs to be) (?:first )?(?:required|obtained|asked|needed)\b"
        r"|(?<!\bnot )(?<!n['’]t )(?<!\bnever )\b(?:requires?|needs?)"
        r" (?:(?:our|my|their|prior|written|explicit|express) ){1,3}(?:permission|consent|approval)\b",
    ),
    (("royalt",), r"(?<!no )\broyalt(?:y|ies)\b[^.;]{0,40}\b(?:due|paid|payable|required|owed|apply|applies)\b"),
    (("licen", "subscription"),
     r"\b(?:licen[cs]e|subscription) (?:has to|must|needs to) be (?:bought|purchased|obtained|acquired|paid)\b"),
    (("proprietary", "confidential"), r"\bproprietary\b|\bconfidential\b"),
    (("reserved",), r"\ball rights reserved\b"),
)  # fmt: skip
"""What keeps a use to some, each with the words of which it has one: lines of a page are looked for by these alone."""
