"""Writes the data that bounds how many tokens a text has (`groundwire/reading/passages/token_budget.py`).

It is what two public vocabularies (cl100k_base and o200k_base, as `bpe-openai` carries them, MIT license) have in
common: runs of letters of alphabets that are one token in both, characters beyond ASCII that are, and the groups of 64
characters whose first bytes are. Also the tokens of either that begin or end within a character. No benchmark: it
writes the same bytes each time.

    python benchmarks/learn_tokens.py
"""

from __future__ import annotations

import gzip
import json
import re
import warnings
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "src" / "groundwire" / "reading" / "data" / "tokens.json.gz"
_LETTER = r"[^\W\d_\u0900-\u1dff\u2000-\U0010ffff]"
_LETTERS = re.compile(rf" ?{_LETTER}{{2,}}|[ !-/:-@\[-`{{-~]{_LETTER}+")
_MARKS = re.compile(rb" ?[!-/:-@\[-`{-~]{2,}\n{0,2}|[!-/:-@\[-`{-~]\n{1,2}")


def vocabularies() -> list[set[bytes]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how the tokenizer loads its own data
        import bpe_openai

        return [set(bpe_openai.get_encoding(name)._mergeable_ranks) for name in ("cl100k_base", "o200k_base")]


def _text(token: bytes) -> str:
    """Return a token as text, or an empty string if it begins or ends within a character."""
    try:
        return token.decode()
    except UnicodeDecodeError:
        return ""


def main() -> None:
    first, second = vocabularies()
    both = first & second
    characters, groups = [], []
    for code in range(0x80, 0x110000):
        if 0xD800 <= code < 0xE000:
            continue
        form = chr(code).encode()
        if form in both:
            characters.append(chr(code))
        if code % 64 == 0 and len(form) > 2 and form[:-1] in both:
            groups.append(code // 64)
    table = {
        "words": sorted(
            token.decode("latin-1")
            for token in both
            if _LETTERS.fullmatch(_text(token)) or (not token.isascii() and len(_text(token)) == 1)
        ),
        "marks": sorted(token.decode() for token in both if _MARKS.fullmatch(token)),
        "characters": "".join(characters),
        "groups": groups,
        "cut": sorted(token.decode("latin-1") for token in first | second if not _text(token)),
    }
    DATA.write_bytes(gzip.compress(json.dumps(table, separators=(",", ":")).encode(), 9, mtime=0))
    print({name: len(part) for name, part in table.items()}, f"{DATA.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
