"""Neutralizes chat template tokens (roles, turns, tool calls) in the text of pages.

Such a token in a page is ordinary text, but a tokenizer or a parser downstream may treat it as a real one. It stays
readable but is no longer the exact token: a backslash is inserted after its first character. Sources are the published
chat templates or tokenizer configurations: ChatML and Harmony (OpenAI), Llama 2 to 4 (Meta), Gemma (Google), Mistral's
control tokens, EXAONE, MiniMax, Seed, DeepSeek (full-width bars), Qwen, Phi, Command R (Cohere), GLM, Granite, T5, and
the function-call markup of Anthropic.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

__all__ = ["break_marks", "break_reserved"]

_BAR: Final = "[|\uff5c\u00a6\u01c0\u2223\u2502\u2758\u4e28\uffe8]"
_LESS: Final = "[<\uff1c\ufe64\u2039]"
_GREATER: Final = "[>\uff1e\ufe65\u203a]"

_TAGS: Final = (
    # Anthropic, and tool markup of the same shape (Qwen, Hermes, GLM, Granite)
    "function_calls?", "function_results?", "function", "invoke", "parameter", "tool_calls?", "tool_use",
    "tool_results?", "tool_responses?", "tool_outputs?", "tool_name", "tools", "system", "system_prompt",
    "system-reminder", "assistant", "human", "thinking", "think", "scratchpad", "arg_key", "arg_value",
    # Gemma
    "(?:start|end)_of_(?:turn|image)", "(?:start|end)_function_(?:call|response|declaration)",
    # Llama 2, Mistral, T5 and similar tokenizers
    "s", "bos", "eos", "pad", "unk", "sop", "eop", "extra_id_[0-9]+", "fim_(?:prefix|middle|suffix)", "endoftext",
    "BOS_TOKEN", "EOS_TOKEN", "PAD_TOKEN", "UNK_TOKEN", "MASK_TOKEN", "(?:unused|reserved_|ctrl|SPECIAL_)[0-9]+",
    "(?:seed|minimax):[a-z_]+", "repo_?name", "gh_stars", "file_sep", "fim_(?:pad|sep)", "end_of_utterance",
    "fake_token_around_image", "image_soft_token",
    # Groundwire's own fence
    "web_content(?:_[0-9a-f]+)?",
)  # fmt: skip
_BRACKETED: Final = (
    "INST", "SYSTEM_PROMPT", "AVAILABLE_TOOLS", "TOOL_CALLS", "TOOL_RESULTS", "TOOL_CONTENT", "ARGS", "CALL_ID",
    "MODEL_SETTINGS", "THINK", "AUDIO", "BEGIN_AUDIO", "TRANSCRIBE", "control_[0-9]+", "BOS", "EOS",
    "IMG", "IMG_BREAK", "IMG_END", "gMASK", "sMASK",
)  # fmt: skip

_SHAPES: Final = (
    rf"{_LESS}(?={_BAR}[^<>\n]{{1,80}}{_BAR}{_GREATER})",
    rf"{_LESS}(?={_BAR}[/\uff0f]?[\w\"-]{{1,40}}{_GREATER}|[/\uff0f]?\w{{1,40}}{_BAR}{_GREATER})",
    rf"[\[\uff3b](?={_BAR}[^\[\]\n]{{1,40}}{_BAR}[\]\uff3d])",
    rf"{_LESS}(?=[/\uff0f]?\s{{0,3}}(?:antml:|(?:{'|'.join(_TAGS)})(?:[\s/=:][^<>\n]{{0,200}})?{_GREATER}))",
    rf"{_LESS}(?={_LESS}[/\uff0f]?SYS{_GREATER}{{2}})",
    rf"[\[\uff3b](?=[/\uff0f]?(?:{'|'.join(_BRACKETED)})[\]\uff3d])",
)
_START: Final = re.compile(
    r"[<\uff1c\ufe64\u2039\[\uff3b](?:(?<![\[\uff3b])|(?=[/\uff0f]?[^\s\[\]\uff3b\uff3d]{3,20}[\]\uff3d]))"
)
"""The first characters of each token; searched first, as a single character class is much faster. A bracket is
followed by one word, unlike in most links."""
_TURN: Final = re.compile(r"(?:Human|Assistant)(?=:)")
_LINE_START: Final = re.compile(r"(?:\A|\n)[ \t>*_#-]{0,8}\Z")


def break_marks(text: str) -> str:
    r"""Insert a backslash into each reserved token, as in `<\|im_start|>`."""
    if text.isascii() and "<" not in text and "[" not in text:
        return text
    return _START.sub(_broken, text)


def break_reserved(text: str) -> tuple[str, int]:
    """Neutralize all reserved tokens; return the text and their number.

    A line that starts with `Human:` or `Assistant:` counts too: it gets a space before the colon.
    """
    before = len(text)
    text = break_marks(text)
    if "Human:" in text or "Assistant:" in text:
        text = _TURN.sub(_turn, text)
    return text, len(text) - before


@cache
def _reserved() -> re.Pattern[str]:
    """Return the pattern of all marks; to compile it takes milliseconds, and most texts hold nothing like one."""
    return re.compile("|".join(_SHAPES), re.IGNORECASE)


def _broken(match: re.Match[str]) -> str:
    return match[0] + "\\" if _reserved().match(match.string, match.start()) else match[0]


def _turn(match: re.Match[str]) -> str:
    start = match.start()
    begins_line = _LINE_START.search(match.string, max(0, start - 10), start)
    return match[0] + " " if begins_line else match[0]
