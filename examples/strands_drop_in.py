"""The search chain with a fixed signature as a Strands tool: DuckDuckGo, then Brave, then Tavily, counted per session.

pip install "groundwire[strands]" "strands-agents[openai]"
OPENAI_API_KEY=... python strands_drop_in.py "What is reciprocal rank fusion?"
"""

import sys

from strands import Agent
from strands.models.openai import OpenAIModel

from groundwire.integrations.strands import get_session_stats, reset_session_counter, web_search

reset_session_counter("workflow-1")
agent = Agent(model=OpenAIModel(model_id="gpt-6.1-terra"), tools=[web_search], callback_handler=None)
print(agent(sys.argv[1]))
print(get_session_stats())
