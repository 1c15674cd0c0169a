"""The Anthropic SDK's asynchronous tool runner with Groundwire's tools, in the program's own event loop.

pip install "groundwire[anthropic]"
ANTHROPIC_API_KEY=... python anthropic_async_runner.py "What is reciprocal rank fusion?"
"""

import asyncio
import sys

from anthropic import AsyncAnthropic

from groundwire import Web
from groundwire.integrations.anthropic import async_web_tools


async def main() -> None:
    """Ask."""
    async with AsyncAnthropic() as client, Web() as web:
        runner = client.beta.messages.tool_runner(
            model="claude-sonnet-5",
            max_tokens=1024,
            tools=async_web_tools(web),
            messages=[{"role": "user", "content": sys.argv[1]}],
        )
        message = await runner.until_done()
    print("".join(block.text for block in message.content if block.type == "text"))


asyncio.run(main())
