"""A PydanticAI agent that searches the web and reads pages.

pip install "groundwire[pydantic-ai]" "pydantic-ai-slim[openai]"
OPENAI_API_KEY=... python pydantic_ai_agent.py "What is reciprocal rank fusion?"
"""

import sys

from pydantic_ai import Agent

from groundwire.integrations.pydantic_ai import web_tools

agent = Agent("openai-chat:gpt-6.1-terra", tools=web_tools())
print(agent.run_sync(sys.argv[1]).output)
