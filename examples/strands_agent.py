"""A Strands agent that searches the web and reads pages.

pip install "groundwire[strands]" "strands-agents[openai]"
OPENAI_API_KEY=... python strands_agent.py "What is reciprocal rank fusion?"
"""

import sys

from strands import Agent
from strands.models.openai import OpenAIModel

from groundwire.integrations.strands import web_tools

agent = Agent(model=OpenAIModel(model_id="gpt-6.1-terra"), tools=web_tools(), callback_handler=None)
print(agent(sys.argv[1]))
