"""The Anthropic SDK's tool runner with Groundwire's tools.

pip install "groundwire[anthropic]"
ANTHROPIC_API_KEY=... python anthropic_runner.py "What is reciprocal rank fusion?"
"""

import sys

from anthropic import Anthropic

from groundwire.integrations.anthropic import web_tools

runner = Anthropic().beta.messages.tool_runner(
    model="claude-sonnet-5",
    max_tokens=1024,
    tools=web_tools(),
    messages=[{"role": "user", "content": sys.argv[1]}],
)
print("".join(block.text for block in runner.until_done().content if block.type == "text"))
