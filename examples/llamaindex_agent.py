"""A LlamaIndex agent that searches the web and reads pages.

pip install "groundwire[llamaindex]" llama-index-llms-openai-like
OPENAI_API_KEY=... python llamaindex_agent.py "What is reciprocal rank fusion?"
"""

import asyncio
import os
import sys

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai_like import OpenAILike

from groundwire.integrations.llamaindex import web_tools


async def main() -> None:
    """Ask."""
    model = OpenAILike(
        model="gpt-6.1-terra",
        api_base=os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1"),
        is_chat_model=True,
        is_function_calling_model=True,
    )
    agent = FunctionAgent(tools=web_tools(), llm=model)
    print(await agent.run(sys.argv[1]))


asyncio.run(main())
