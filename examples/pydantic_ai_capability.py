"""A PydanticAI agent that uses its model's hosted search if available, and Groundwire otherwise.

pip install "groundwire[pydantic-ai]" "pydantic-ai-slim[openai]"
OPENAI_API_KEY=... MODEL=openai-responses:gpt-6.1-terra python pydantic_ai_capability.py "What is rank fusion?"
"""

import os
import sys

from pydantic_ai import Agent

from groundwire.integrations.pydantic_ai import web_capability

agent = Agent(os.environ.get("MODEL", "openai-chat:gpt-6.1-terra"), capabilities=[web_capability()])
print(agent.run_sync(sys.argv[1]).output)
