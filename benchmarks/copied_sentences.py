"""How often a figure, date, unit, quotation or negation that was changed in a copied sentence is found.

The sentences are copied from real pages and from the pages of `citations/cases`, in nine languages, each is an answer
with one marker, and one thing in it is changed by rule. Found is a change for which the sentence is `contradicted`; a
true copy, or a true quotation, must never be. Pages are tuned on or kept by their hash. Run from the root of the
repository:

    python -m benchmarks.copied_sentences FOLDER [--part kept] [--show number:missed]

FOLDER has `extraction` and `web_pages`, the developers' pages.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from benchmarks.extraction.pages import read_pages, read_web_pages
from groundwire.citations.segmentation import blank_markup, sentences
from groundwire.citations.verify import CitedPage, verify_answer
from groundwire.citations.verify.language_data import language_of
from groundwire.reading.extract import extract

CASES: Final = Path(__file__).parent / "citations" / "cases"
LANGUAGES: Final = ("en", "de", "fr", "es", "pt", "ru", "zh", "ja", "ar")
_EACH: Final = 6  # changes of a kind, and copies, of a page
_MONTHS: Final = {
    "en": "January February March April June July August September October November December",
    "de": "Januar Februar März April Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "ru": "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "ar": "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر",
}
_UNITS: Final = {
    "en": "kilometres|kilometers|km:miles miles:kilometres metres|meters:feet feet:metres percent|per cent:dollars "
    "million:billion billion:million hours:days days:weeks weeks:months months:years years:months "
    "minutes:hours kg:pounds",
    "de": "Kilometer|km:Meilen Meter:Kilometer Prozent:Euro Millionen:Milliarden Milliarden:Millionen Euro:Dollar "
    "Stunden:Tage Tage:Wochen Tagen:Wochen Wochen:Monate Monate:Jahre Jahre:Monate "
    "Jahren:Monaten Minuten:Stunden Tonnen:Gramm",
    "fr": "kilomètres|km:milles mètres:kilomètres millions:milliards milliards:millions euros:dollars heures:jours "
    "jours:semaines mois:ans ans:mois minutes:heures tonnes:grammes",
    "es": "kilómetros|km:millas metros:kilómetros millones:billones euros:dólares horas:días días:semanas "
    "meses:años años:meses minutos:horas toneladas:gramos",
    "pt": "quilómetros|quilômetros|km:milhas metros:quilómetros milhões:bilhões euros:dólares horas:dias dias:semanas "
    "meses:anos anos:meses minutos:horas toneladas:gramas",
    "ru": "километров|км:миль метров:километров миллионов:миллиардов часов:дней дней:недель месяцев:лет лет:месяцев "
    "минут:часов тонн:граммов процентов:рублей рублей:долларов",
    "zh": "公里:英里 米:公里 万:亿 小时:天 天:周 分钟:小时 吨:克 元:美元",
    "ja": "キロ:マイル メートル:キロ 万:億 時間:日間 分:時間 トン:グラム 円:ドル",
    "ar": "كيلومتر:ميل متر:كيلومتر مليون:مليار ساعة:يوم يوم:أسبوع سنة:شهر دقيقة:ساعة",
}
_DENIALS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "en": (
        (r"\b(is|are|was|were|can|will|has|had)\b (?!not\b|no\b|n't)", r"\1 not "),
        (r"\b(is|are|was|were|do|does|did|can|will) not\b", r"\1"),
    ),
    "de": (
        (r"\b(ist|sind|wurde|wurden|war|waren) (?=ein|der|die|das|in|im|am|auf|von)", r"\1 nicht "),
        (" nicht\\b", ""),
    ),
    "fr": ((r"(?<=\w )(est|était) ", r"n'\1 pas "), (r"\bn(?:e |['’])(\w+) pas\b", r"\1")),
    "es": ((r" (es|son|fue|era|está|tiene) ", r" no \1 "), (" no ", " ")),
    "pt": ((r" (é|são|foi|era|está|tem) ", r" não \1 "), (" não ", " ")),
    "ru": ((r" (был|была|было|были|может|является|имеет) ", r" не \1 "), (" не ", " ")),
    "zh": (("(?<!不)是", "不是"), ("不", "")),
    "ja": (
        ("でした。", "ではありませんでした。"),
        ("である。", "ではない。"),
        ("ました。", "ませんでした。"),
        ("した。", "しなかった。"),
        ("ます。", "ません。"),
    ),
    "ar": ((" (كان|كانت) ", " لم تكن "), (" (لا|لم|لن) ", " ")),
}
_TWICE: Final = (  # sentences in which a further negation changes nothing, or another thing
    r"nicht\b.*\bnicht\b|nicht (?:nur|mehr|immer)|\bn(?:e |['’]).*\bn(?:e |['’])|n['’]\w+ .*\bpas"
    r"|\bnot\b.*\bnot\b|not only"
)
Change = Callable[[str, str, random.Random], str | None]


def number(sentence: str, code: str, chance: random.Random) -> str | None:
    """Change a digit of a number that is no date."""
    months = _MONTHS.get(code, "").replace(" ", "|") or "(?!)"
    spans = [
        found
        for found in re.finditer(r"(?<![A-Za-z0-9.,:/-])\d[\d.,]*(?<=\d)(?![A-Za-z0-9:/]|[.-]\d)", sentence)
        if not re.fullmatch(r"1\d{3}|20\d\d", found[0])
        and not re.match(rf"\.? (?:de )?(?:{months})", sentence[found.end() :], re.IGNORECASE)
        and not re.search(rf"(?:{months}) $", sentence[: found.start()], re.IGNORECASE)
        and sentence[found.end() : found.end() + 1] not in {"年", "月", "日"}
    ]
    return _with_digit(sentence, chance.choice(spans), chance) if spans else None


def _with_digit(sentence: str, found: re.Match[str], chance: random.Random) -> str:
    places = [at for at in range(*found.span()) if sentence[at].isdecimal()]
    at = chance.choice(places[: max(1, len(places) - (len(places) > 1))] if "." in found[0] else places)
    digits = [one for one in "123456789" if one != sentence[at]]
    return f"{sentence[:at]}{chance.choice(digits)}{sentence[at + 1 :]}"


def date(sentence: str, code: str, chance: random.Random) -> str | None:
    """Change a year, or a month beside a number."""
    ways: list[str] = []
    for found in re.finditer(r"(?<![A-Za-z0-9.,:/-])(?:1[5-9]\d\d|20[0-4]\d)(?![A-Za-z0-9:/]|[.-]\d)", sentence):
        year = int(found[0]) + chance.choice([-9, -3, -2, -1, 1, 2, 3, 8])
        ways.append(f"{sentence[: found.start()]}{year}{sentence[found.end() :]}")
    months = _MONTHS.get(code, "").split()
    for found in (
        re.finditer(rf"(?<=\d )(?:de )?({'|'.join(months)})\b|\b({'|'.join(months)})(?= \d)", sentence)
        if months
        else ()
    ):
        said = found[1] or found[2]
        other = chance.choice([month for month in months if month != said])
        ways.append(sentence[: found.start()] + found[0].replace(said, other) + sentence[found.end() :])
    return chance.choice(ways) if ways else None


def unit(sentence: str, code: str, chance: random.Random) -> str | None:
    """Give a number another unit."""
    for pair in chance.sample(units := re.findall(r"(\S[^:]*):(\S+)", _UNITS[code]), len(units)):
        edge = "" if code in {"zh", "ja"} else r"(?!\w)"
        if found := re.search(rf"(?<=\d)([ \u00a0-]?)(?:{pair[0].strip()}){edge}", sentence):
            return f"{sentence[: found.start()]}{found[1]}{pair[1]}{sentence[found.end() :]}"
    return None


def negation(sentence: str, code: str, chance: random.Random) -> str | None:
    """Deny what a sentence says, or say what it denies."""
    for wanted, said in chance.sample(_DENIALS[code], len(_DENIALS[code])):
        changed = re.sub(wanted, said, sentence, count=1)
        if changed != sentence and not re.search(_TWICE, sentence):
            return changed
    return None


def quote(sentence: str, code: str, chance: random.Random) -> str | None:
    """Quote a sentence with another word in it."""
    words = sentence.strip(" .。").split(" ")
    if code in {"zh", "ja"}:
        at = chance.randrange(len(sentence) // 2)
        return _quoted(f"{sentence[:at]}{'山川' if sentence[at : at + 2] != '山川' else '花火'}{sentence[at + 2 :]}")
    long = [at for at, word in enumerate(words) if len(word) > 5 and word.isalpha()]
    if not long:
        return None
    at = chance.choice(long)
    return _quoted(
        " ".join([*words[:at], chance.choice([one for one in (*words, "other") if one != words[at]]), *words[at + 1 :]])
    )


def _quoted(sentence: str) -> str | None:
    bare = sentence.strip(" .。!?")
    return None if re.search(r"[\"“”„«»「」]", bare) else f"“{bare}”"


def copied(sentence: str, code: str, chance: random.Random) -> str | None:
    """Copy a sentence, sometimes without a part in brackets."""
    return re.sub(r" \([^()]{3,60}\)", "", sentence) if chance.random() < 0.5 else sentence


def quoted(sentence: str, code: str, chance: random.Random) -> str | None:
    """Quote a sentence as it is."""
    return _quoted(sentence)


CHANGES: Final[dict[str, Change]] = {"number": number, "date": date, "unit": unit, "quote": quote, "negation": negation}
COPIES: Final[dict[str, Change]] = {"copied": copied, "quoted": quoted}
"""The changes that leave a sentence true. Sentences are also joined with others of the page, without a change."""


def pages(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each page."""
    for page in (*read_pages(folder / "extraction"), *read_web_pages(folder / "web_pages")):
        yield page.url, extract(page.markup(), page.url).content
    for path in sorted(CASES.rglob("*.txt")):
        lines = path.read_text("utf-8").splitlines()
        texts = [re.sub(r"^=\d? ?", "", line).replace("\\n", "\n") for line in lines if line.startswith("=")]
        for at in range(0, len(texts), 5):
            yield f"{path.relative_to(CASES)}:{at}", "\n\n".join(texts[at : at + 5])


def copies(text: str, code: str) -> list[str]:
    """Return the sentences of a page that an answer might copy: of one line, in full, and said once."""
    found, plain = [], blank_markup(text)
    for span in sentences(text):
        said = " ".join(plain[span.start : span.end].split())
        dense = code in {"zh", "ja"}
        fits = 12 <= len(said) <= 120 if dense else 6 <= len(said.split()) <= 45
        if fits and said.endswith((".", "。", "!", "！")) and "[" not in said and text[span.start] not in "|#`":
            found.append(said)
    return [said for said in dict.fromkeys(found) if found.count(said) == 1]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--part", choices=("all", "tuned", "kept"), default="all")
    parser.add_argument("--pages", type=int, default=10_000, help="of each language")
    parser.add_argument("--show", default="", help="print cases, such as en:number:missed or en:copied:accused")
    arguments = parser.parse_args()
    counts: Counter[tuple[str, str, str]] = Counter()
    many: Counter[str] = Counter()
    for name, text in pages(arguments.data):
        digest = int(hashlib.md5(name.encode()).hexdigest(), 16)
        code = language_of(text)
        kept = "kept" if digest % 2 else "tuned"
        if code not in LANGUAGES or arguments.part not in {"all", kept} or many[code] >= arguments.pages:
            continue
        many[code] += 1
        _judge(text, code, random.Random(digest), counts, arguments.show)
    kinds = (*CHANGES, *COPIES, "joined")
    print(f"{'':4}" + "".join(f"{kind:>24}" for kind in kinds))
    for code in LANGUAGES:
        cells = []
        for kind in kinds:
            own = {verdict: count for (of, which, verdict), count in counts.items() if (of, which) == (code, kind)}
            total, accused = sum(own.values()), own.get("contradicted", 0)
            share = f"{accused / total:.1%}" if total else "-"
            cells.append(f"{accused:>9} of {total:>4} {share:>6}")
        print(f"{code:4}" + "".join(f"{cell:>24}" for cell in cells), many[code], "pages")


def _judge(text: str, code: str, chance: random.Random, counts: Counter[tuple[str, str, str]], show: str) -> None:
    page = CitedPage(number=1, url="", content=text)
    said = copies(text, code)
    chance.shuffle(said)
    for one, other in zip(said[:_EACH], said[_EACH : 2 * _EACH], strict=False):
        joined = f"{one[:-1]}，{other}" if code in {"zh", "ja"} else f"{one[:-1]}, and {other}"
        verdicts = {finding.verdict for finding in verify_answer(f"{joined} [1]", [page]).findings}
        counts[code, "joined", "contradicted" if "contradicted" in verdicts else "other"] += 1
        if show == f"{code}:joined" and "contradicted" in verdicts:
            print("-", joined, verify_answer(f"{joined} [1]", [page]).findings)
    for kind, change in {**CHANGES, **COPIES}.items():
        made = 0
        for sentence in said:
            changed = change(sentence, code, chance)
            if changed is None or (
                kind in CHANGES and (changed == sentence or changed.strip("“”") in " ".join(text.split()))
            ):
                continue
            answer = f"{changed} [1]" if code in {"zh", "ja"} else f"{changed.rstrip('.')} [1]."
            findings = [one for one in verify_answer(answer, [page]).findings if one.sources]
            verdicts = {one.verdict for one in findings}
            verdict = "contradicted" if "contradicted" in verdicts else "other"
            counts[code, kind, verdict] += 1
            wrong = (verdict == "contradicted") != (kind in CHANGES)
            if show and wrong and show == f"{code}:{kind}":
                print("-", changed, "|", sentence, [(one.verdict, one.disagreements) for one in findings])
            made += 1
            if made == _EACH:
                break


if __name__ == "__main__":
    main()
