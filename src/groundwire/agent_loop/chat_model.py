"""The model that answers a question: the one of the settings, or one that a server on this machine offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from groundwire.deadline import Deadline
from groundwire.errors import ConfigurationError, GroundwireError, InvalidRequest, ProviderError
from groundwire.hosted.answers import AnswerStream, HostedAnswer
from groundwire.hosted.answers.types import items, parsed
from groundwire.hosted.answers.upstream_errors import error_of
from groundwire.tools.conversions import GUIDANCE
from groundwire.tools.definitions import CITING, UNTRUSTED
from groundwire.transport import Response
from groundwire.transport.clients import HttpClients
from groundwire.web import Web

_MAKERS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "openai_chat": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
        "anthropic": ("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
        "gemini": ("https://generativelanguage.googleapis.com", "GEMINI_API_KEY"),
    }
)
_PREFIXES: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("claude", "anthropic"), "anthropic"),
        **dict.fromkeys(("gemini", "google", "google-gla"), "gemini"),
        **dict.fromkeys(("gpt", "openai", "ollama", "lmstudio"), "openai_chat"),
    }
)
"""The API of a model by its maker, or by the first word of its name; those of a local server speak OpenAI's."""
_SYSTEM: Final = f"{GUIDANCE['answering']} {CITING} {UNTRUSTED}"
_MAX_ANSWER_BYTES: Final = 32_000_000  # bytes of an answer; a stream takes some hundred for each token
_OUTPUT_TOKENS: Final = 1_500  # tokens of an answer; Anthropic's API requires a number
_PROBE_SECONDS: Final = 2.0  # seconds to wait for a local server to list its models


class ChatModel:
    """A model behind an HTTP API, callable as `run_tools` expects.

    Args:
        clients: The HTTP clients.
        api: `openai_chat`, `anthropic` or `gemini`.
        base_url: The API's address.
        model: The model's name.
        key: The API key; empty for a local server.
        deadline: The deadline of the whole answer.
    """

    def __init__(
        self, clients: HttpClients, *, api: str, base_url: str, model: str, key: str = "", deadline: Deadline
    ) -> None:
        self.api = api
        self.model = model
        self._base = base_url.rstrip("/")
        self._transport = clients.operator(self._base)
        self._key = key
        self._deadline = deadline

    async def __call__(self, body: Mapping[str, Any]) -> Any:
        """Send a request and return the JSON of its answer.

        Raises:
            ProviderError: the model cannot be reached, or refuses; the text says why.
        """
        return _json(await self._send(body), self._base, self.api)

    async def stream(self, body: Mapping[str, Any], on_text: Callable[[str], None]) -> HostedAnswer:
        """Send a request and return its answer, which is read while it comes.

        Args:
            body: The request; that it is to be streamed is added to it.
            on_text: Called with each piece of the text. A server that does not stream sends it in one.

        Raises:
            ProviderError: the model cannot be reached, refuses, or ends the response before its first text.
        """
        answer = AnswerStream(self.api)
        has_text = False

        def tell(pieces: list[str]) -> None:
            nonlocal has_text
            for piece in pieces:
                has_text = True
                on_text(piece)

        reply = await self._send(body, lambda data: tell(answer.feed(data)))
        if reply.status != 200:
            _json(reply, self._base, self.api)
        tell(answer.close())
        if (error := answer.answer.error) is not None and answer.answer.finish == "failed" and not has_text:
            raise ProviderError("model", f"{self._base} failed: {error.message or error.code}", status=error.status)
        return answer.answer

    async def _send(self, body: Mapping[str, Any], on_data: Callable[[bytes], None] | None = None) -> Response:
        streams = on_data is not None
        gemini = "streamGenerateContent?alt=sse" if streams else "generateContent"
        path, headers = {
            "openai_chat": ("/chat/completions", {"Authorization": f"Bearer {self._key}"} if self._key else {}),
            "anthropic": ("/v1/messages", {"x-api-key": self._key, "anthropic-version": "2023-06-01"}),
            "gemini": (f"/v1beta/models/{self.model}:{gemini}", {"x-goog-api-key": self._key}),
        }[self.api]
        payload = dict(body)
        if self.api == "gemini":
            payload.pop("model", None)
        elif streams:
            payload["stream"] = True
        return await self._transport.call(
            "model",
            "POST",
            self._base + path,
            deadline=self._deadline,
            headers=headers,
            json_body=payload,
            cap=_MAX_ANSWER_BYTES,
            on_data=on_data,
        )

    def request(self, question: str, *, system: str = _SYSTEM, max_tokens: int | None = None) -> dict[str, Any]:
        """Return the first request of a conversation.

        Args:
            question: What the user says.
            system: The instructions of the model.
            max_tokens: The most tokens that it may write; by default the API's limit, or 1,500 where it has none.
        """
        if self.api == "gemini":
            config = {"generationConfig": {"maxOutputTokens": max_tokens}} if max_tokens else {}
            return {
                "model": self.model,
                "systemInstruction": {"parts": [{"text": system}]},
                "contents": [{"role": "user", "parts": [{"text": question}]}],
                **config,
            }
        user = {"role": "user", "content": question}
        if self.api == "anthropic":
            limit = max_tokens or _OUTPUT_TOKENS
            return {"model": self.model, "max_tokens": limit, "system": system, "messages": [user]}
        # OpenAI's newer models refuse max_tokens, and other servers know no other name
        name = "max_completion_tokens" if self._base == _MAKERS["openai_chat"][0] else "max_tokens"
        options = {name: max_tokens} if max_tokens else {}
        return {"model": self.model, "messages": [{"role": "system", "content": system}, user], **options}


def _json(reply: Response, base: str, api: str) -> Any:
    data = parsed(reply.body)
    if reply.status == 200 and isinstance(data, dict):
        return data
    error = error_of(next(items(data if isinstance(data, list) else [data]), {}), status=reply.status)
    reason = error.message if error and error.message else "no reason given"
    fix = "Check answer.base_url and answer.model"
    if reply.status in {401, 403} or "API key" in reason:  # which Gemini says with 400
        fix = f"Check {_MAKERS[api][1]}"
    elif reply.status == 429 or reply.status >= 500:  # neither is wrong
        fix = "Try again later"
    raise ProviderError("model", f"{base} answered with HTTP {reply.status}: {reason}", status=reply.status, fix=fix)


async def find_model(web: Web, deadline: Deadline, name: object) -> ChatModel | None:
    """Return the model with this name or of the settings, else one that a server on this machine offers, else None.

    Raises:
        ConfigurationError: a model is named, and it has neither an address nor a key, or the address is none.
    """
    settings, clients = web.settings.answer, web.clients
    model_name = str(name or settings.model)
    if model_name:
        api: str = settings.api
        if not settings.base_url and web.settings.origin("answer.api") == "default":
            api, model_name = _api_of(model_name)
        base, variable = _MAKERS[api]
        secret = web.settings.secret(variable)
        if not settings.base_url and secret is None:
            names = (str(name or settings.model), model_name, f"{model_name}:latest")  # LM Studio's have the maker's
            for address in settings.local_servers:
                if match := next((served for served in await _models(clients, address) if served in names), ""):
                    return ChatModel(clients, api="openai_chat", base_url=address, model=match, deadline=deadline)
            raise ConfigurationError(
                f"answer.model is {model_name!r}, and there is no key for it. Set {variable}, or answer.base_url to "
                "the address of another server."
            )
        key = secret.get_secret_value() if secret is not None else ""
        base = settings.base_url or base
        try:
            return ChatModel(clients, api=api, base_url=base, model=model_name, key=key, deadline=deadline)
        except InvalidRequest as error:
            raise ConfigurationError(f"answer.base_url = {base!r}: {error.problem}. {error.fix}") from error
    for base in (settings.base_url,) if settings.base_url else settings.local_servers:
        if models := await _models(clients, base):
            return ChatModel(clients, api="openai_chat", base_url=base, model=models[0], deadline=deadline)
    return None


def _api_of(model: str) -> tuple[str, str]:
    """Return the API of a model, which its maker's name before it or its own name tells, and the model's name there."""
    maker, _, model_name = model.replace(":", "/", 1).partition("/")
    if model_name and maker in _PREFIXES:
        return _PREFIXES[maker], model_name
    return next((api for word, api in _PREFIXES.items() if model.startswith(f"{word}-")), "openai_chat"), model


async def _models(clients: HttpClients, base: str) -> tuple[str, ...]:
    """Return the models that a server lists, without those for embeddings; none where nothing answers."""
    try:
        reply = await clients.operator(base).call(
            "model", "GET", f"{base.rstrip('/')}/models", deadline=Deadline.after(_PROBE_SECONDS)
        )
        rows = reply.json()["data"]
        return tuple(name for name in (str(row["id"]) for row in rows) if "embed" not in name)
    except (GroundwireError, ValueError, LookupError, TypeError):
        return ()
