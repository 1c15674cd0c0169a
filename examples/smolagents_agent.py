"""A smolagents agent that searches the web and reads pages.

pip install "groundwire[smolagents]" "smolagents[openai]"
OPENAI_API_KEY=... python smolagents_agent.py "What is reciprocal rank fusion?"
"""

import sys

from smolagents import LogLevel, OpenAIModel, ToolCallingAgent

from groundwire.integrations.smolagents import web_tools

agent = ToolCallingAgent(
    tools=web_tools(), model=OpenAIModel("gpt-6.1-terra"), max_steps=6, verbosity_level=LogLevel.OFF
)
print(agent.run(sys.argv[1]))
