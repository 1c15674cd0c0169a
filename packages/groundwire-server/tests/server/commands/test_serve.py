"""The first hour with a server: what it says of keys, and of a model server that is not there."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from groundwire.testing.model_apis import quoting
from world.model_apis import ModelServer

Terminal = Any  # see conftest.py


@contextmanager
def _served(terminal: Terminal, *arguments: str, **variables: str) -> Iterator[str]:
    """Run a server in a process of its own, yield its address, and stop it as Control-C does."""
    process = terminal.start(*arguments, "--port", "0", **variables)
    try:
        said = b""
        while b"http://127.0.0.1:" not in said:
            said = process.stderr.readline()
            assert said, "it did not start"
        yield "http://127.0.0.1:" + said.split(b"http://127.0.0.1:")[1].split()[0].split(b"/")[0].decode()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=100)
    assert process.returncode == 130


def _asked(url: str, body: object = None, **headers: str) -> tuple[int, dict[str, Any]]:
    """Return the status and the JSON of an answer."""
    data = None if body is None else json.dumps(body).encode()
    sent = {"Content-Type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with urlopen(Request(url, data, sent), timeout=100) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        return error.code, json.load(error)


@pytest.mark.parametrize("command", ["serve", "proxy", "mcp --http"])
def test_a_wrong_or_missing_key_names_the_header_for_it(terminal: Terminal, command: str) -> None:
    assert terminal.run("keys", "create", "ci").returncode == 0
    upstream = ("--upstream", "http://127.0.0.1:9/v1") if command == "proxy" else ()
    path = {"serve": "/v1/tools", "proxy": "/v1/models", "mcp --http": "/mcp"}[command]
    with _served(terminal, *command.split(), *upstream) as base:
        for headers in ({}, {"Authorization": "Bearer sk-of-the-model-server"}):
            status, body = _asked(base + path, **headers)
            assert (status, "`groundwire keys`" in body["error"]["message"]) == (401, True)
            named = body["error"]["message"].removeprefix("This key is not valid. ")
            if command == "proxy":
                assert named == "Send a key of `groundwire keys` as X-API-Key; Authorization goes to the model server."
            else:
                assert "as Authorization: Bearer KEY, or as X-API-Key: KEY" in named


QUESTION = {"model": "miniature", "messages": [{"role": "user", "content": "What is BM25?"}]}


def test_chat_completions_at_the_address_of_the_gateway(terminal: Terminal) -> None:
    models = terminal.world.add(ModelServer(quoting, listed=("miniature",)))
    with _served(terminal, "serve", "--upstream", f"{models.url}/v1") as base:
        status, body = _asked(f"{base}/openai/v1/chat/completions", QUESTION)
        (choice,) = body["choices"]
        assert (status, choice["message"]["annotations"][0]["type"]) == (200, "url_citation")
        for path in ("/v1/chat/completions", "/chat/completions"):
            status, body = _asked(base + path, QUESTION)
            assert (status, body["error"]["message"].endswith("are at /openai/v1.")) == (404, True)


def test_chat_completions_without_a_model_server_name_what_connects_one(terminal: Terminal) -> None:
    with _served(terminal, "serve") as base:
        for path in ("/v1/chat/completions", "/chat/completions", "/v1/responses", "/v1/messages"):
            status, body = _asked(base + path, QUESTION)
            assert status == 404
            assert "groundwire serve --upstream URL" in body["error"]["message"]
            assert "/openai/v1" in body["error"]["message"]
        assert "--upstream" not in _asked(f"{base}/v1/nothing", QUESTION)[1]["error"]["message"]


def test_a_file_where_a_folder_should_be_is_named(terminal: Terminal) -> None:
    file = terminal.home / ".config"
    file.write_text("mine")
    done = terminal.run("keys", "create", "ci")
    assert (done.returncode, f"{file} is a file, not a folder" in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("arguments", ["keys list", "serve", "proxy --upstream http://127.0.0.1:1/v1"])
@pytest.mark.parametrize("wrong", [b"[search]\nlimit = 'many'\n", b"\xff\xfe"], ids=["value", "bytes"])
def test_every_command_says_in_a_line_what_is_wrong_with_the_settings(
    arguments: str, wrong: bytes, terminal: Terminal
) -> None:
    (terminal.home / "groundwire.toml").write_bytes(wrong)
    done = terminal.here(*arguments.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Error: {terminal.home / 'groundwire.toml'}: ")
    assert done.stderr.count("\n") == 1
