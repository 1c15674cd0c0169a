"""A LangChain agent (a LangGraph graph) that searches the web and reads pages.

pip install "groundwire[langchain]" langchain-openai
OPENAI_API_KEY=... python langchain_agent.py "What is reciprocal rank fusion?"
"""

import sys

from langchain.agents import create_agent

from groundwire.integrations.langchain import web_tools

agent = create_agent("openai:gpt-6.1-terra", tools=web_tools())
answer = agent.invoke({"messages": [("user", sys.argv[1])]})
print(answer["messages"][-1].text)
