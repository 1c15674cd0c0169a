"""A CrewAI agent that searches the web and reads pages.

pip install "groundwire[crewai]"
OPENAI_API_KEY=... python crewai_agent.py "What is reciprocal rank fusion?"
"""

import sys

from crewai import LLM, Agent

from groundwire.integrations.crewai import web_tools

agent = Agent(
    role="researcher",
    goal="Answer with sources.",
    backstory="You search the web and read what you find.",
    tools=web_tools(),
    llm=LLM(model="openai/gpt-6.1-terra"),
)
print(agent.kickoff(sys.argv[1]).raw)
