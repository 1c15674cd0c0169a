"""A deep agent (LangChain's DeepAgents) with a sub-agent that searches the web and reads pages.

pip install "groundwire[langchain]" deepagents langchain-openai
OPENAI_API_KEY=... python deepagents_agent.py "What is reciprocal rank fusion?"
"""

import sys

from deepagents import create_deep_agent

from groundwire.integrations.langchain import web_tools

tools = web_tools()
researcher = {
    "name": "researcher",
    "description": "Answers one question from the web, with the URLs of its sources.",
    "system_prompt": "Search, read the best pages, and answer in a paragraph with numbered sources.",
    "tools": tools,
}
agent = create_deep_agent("openai:gpt-6.1-terra", tools=tools, subagents=[researcher])
answer = agent.invoke({"messages": [("user", sys.argv[1])]})
print(answer["messages"][-1].text)
