"""The work of the server's functions of text grows with the text, as that of the library's does."""

from __future__ import annotations

import pytest

from components.text_calls import ADDRESS, ALL, MARKDOWN
from components.text_functions import Growing
from gate.test_growth import grows
from groundwire_server.openai.conversations import History
from groundwire_server.openai.prompts import utterances_in
from groundwire_server.ui.login_sessions import local_path
from groundwire_server.ui.page_view import inert_html

pytestmark = pytest.mark.req("B23")


def said(text: str) -> object:
    history = History()
    for one in utterances_in([{"role": "assistant", "content": text}]):
        history.add(one)
    return history.names()


GROWING = {
    "local_path": Growing(local_path, ADDRESS),
    "utterances_in": Growing(said, MARKDOWN),
    "inert_html": Growing(inert_html, ALL, heavy=True),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if GROWING[name].heavy else name for name in GROWING]
)
def test_work_grows_with_the_text(name: str) -> None:
    assert not [unit for unit in GROWING[name].units if grows(GROWING[name].call, unit)]
