"""Controls go from a text, and looking for them quickly overlooks none."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.reading.text.sanitize import strip_controls

pytestmark = pytest.mark.req("B11")


def test_every_control_goes_and_everything_else_stays() -> None:
    for code in range(0x11000):
        char = chr(code)
        stripped = strip_controls(f"a{char}b")
        if char in "\r\x0b\x0c\x85\u2028\u2029":
            assert stripped in {"a\nb", "ab"}, hex(code)
        elif unicodedata.category(char) in {"Cc", "Cs"} and char not in "\t\n":
            assert char not in stripped, hex(code)
        elif 0xFDD0 <= code <= 0xFDEF or code in {0xFFFE, 0xFFFF}:
            assert stripped == "ab", hex(code)
        else:
            assert stripped == f"a{char}b", hex(code)


@given(st.text(st.sampled_from("a\t\n\x00\x1b[31m]0;\x07\\\x85\x9b\xa0é\u2028\ufffe\ud800\U0001f600")))
def test_what_is_stripped_does_not_depend_on_what_else_is_there(text: str) -> None:
    """A surrogate at the end, which goes itself, has every character looked at."""
    assert strip_controls(text + "\n") == strip_controls(text + "\n\udfff")
