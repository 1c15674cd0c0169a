"""A language model of 1 MB that llama.cpp serves: it calls `web_search` when it is offered tools, and then cites.

Its weights are made here. Each token determines the next one (a bigram model): the embedding of a token is a unit
vector, the only layer adds nothing, and the output matrix has an entry for each pair. The chat template decides which
of two tokens begins an answer. The file format is GGUF 3 (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path

ANSWER = " Rank fusion merges lists [1]."
QUERY = "reciprocal rank fusion"

_CALL = f'<tool_call>\n{{"name": "web_search", "arguments": {{"query": "{QUERY}"}}}}\n</tool_call>'
_TEMPLATE = """
{%- if tools %}<tools>{% for tool in tools %}{{ tool | tojson }}
{% endfor %}</tools>
{% endif %}{% for message in messages %}{% if message.role == 'tool' -%}
<tool_response>{{ message.content }}</tool_response><|end|>
{%- else %}{{ message.role }}: {{ message.content }}{% for call in message.tool_calls or [] %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|end|>{% endif %}{% endfor -%}
{% if add_generation_prompt %}{% if tools and messages[-1].role == 'user' %}<|call|>{% else %}<|answer|>{% endif %}
{%- endif %}"""
_HEAD = 32  # the width of the attention, which adds nothing
_ALIGNED = 32  # bytes

Value = str | int | float | bool | Sequence[str] | Sequence[int] | Sequence[float]


def write_model(path: Path) -> None:
    """Write the model."""
    spoken = [f"▁{word}" for word in ANSWER.split()]
    said = [*spoken, _CALL.replace(" ", "▁")]
    letters = [chr(code).replace(" ", "▁") for code in range(32, 127)]
    special = ["<|end|>", "<|answer|>", "<|call|>"]
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *letters, *said, *special]
    kinds = [2, 3, 3, *[6] * 256, *[1] * (len(letters) + len(said)), *[3] * len(special)]
    place = {token: index for index, token in enumerate(tokens)}
    width = -(-len(tokens) // _ALIGNED) * _ALIGNED
    follows = [*zip(["<|answer|>", *spoken], [*spoken, "</s>"], strict=True)]
    follows += [("<|call|>", said[-1]), (said[-1], "</s>")]
    embedding, output = (array("f", bytes(4 * len(tokens) * width)) for _ in range(2))
    for index in range(len(tokens)):
        embedding[index * width + index] = 1.0
    for before, after in follows:
        output[place[after] * width + place[before]] = 2.0
    ones, layer = array("f", [1.0]) * width, "blk.0."
    tensors = {
        "token_embd.weight": ((width, len(tokens)), embedding),
        "output.weight": ((width, len(tokens)), output),
        "output_norm.weight": ((width,), ones),
        f"{layer}attn_norm.weight": ((width,), ones),
        f"{layer}ffn_norm.weight": ((width,), ones),
        **{f"{layer}{name}.weight": _zeros(width, _HEAD) for name in ("attn_q", "attn_k", "attn_v")},
        **{f"{layer}{name}.weight": _zeros(width, _HEAD) for name in ("ffn_gate", "ffn_up")},
        **{f"{layer}{name}.weight": _zeros(_HEAD, width) for name in ("attn_output", "ffn_down")},
    }
    values: dict[str, Value] = {
        "general.architecture": "llama",
        "general.name": "tiny",
        "llama.context_length": 32_768,
        "llama.embedding_length": width,
        "llama.block_count": 1,
        "llama.feed_forward_length": _HEAD,
        "llama.attention.head_count": 1,
        "llama.attention.head_count_kv": 1,
        "llama.attention.key_length": _HEAD,
        "llama.attention.value_length": _HEAD,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": _HEAD,
        "llama.vocab_size": len(tokens),
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": [-float(index) for index in range(len(tokens))],
        "tokenizer.ggml.token_type": kinds,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.ggml.add_space_prefix": False,
        "tokenizer.chat_template": _TEMPLATE,
    }
    path.write_bytes(_file(values, tensors))


Tensor = tuple[tuple[int, ...], "array[float]"]


def _zeros(*shape: int) -> Tensor:
    return shape, array("f", bytes(4 * shape[0] * shape[1]))


def _file(values: Mapping[str, Value], tensors: Mapping[str, Tensor]) -> bytes:
    made = bytearray(struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(values)))
    for name, value in values.items():
        made += _text(name) + _value(value)
    offset = 0
    for name, (shape, data) in tensors.items():
        made += _text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, offset)  # 0: 32-bit floats
        offset += _padded(4 * len(data))
    made += bytes(_padded(len(made)) - len(made))
    for _, data in tensors.values():
        made += data.tobytes() + bytes(_padded(4 * len(data)) - 4 * len(data))
    return bytes(made)


def _padded(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: Value) -> bytes:
    """Return a value with its type."""
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    items = [struct.pack("<Ii", 5, item) if isinstance(item, int) else _value(item) for item in value]
    return struct.pack("<I4sQ", 9, items[0][:4], len(items)) + b"".join(item[4:] for item in items)
