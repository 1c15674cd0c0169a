"""An OpenAI Agents SDK agent that searches the web and reads pages.

pip install "groundwire[openai-agents]"
OPENAI_API_KEY=... python openai_agents_agent.py "What is reciprocal rank fusion?"
"""

import sys

from agents import Agent, Runner, set_tracing_disabled

from groundwire.integrations.openai_agents import web_tools

set_tracing_disabled(True)
agent = Agent(name="researcher", model="gpt-6.1-terra", tools=web_tools())
print(Runner.run_sync(agent, sys.argv[1]).final_output)
