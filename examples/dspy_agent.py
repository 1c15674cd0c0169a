"""A DSPy agent that searches the web and reads pages.

pip install "groundwire[dspy]"
OPENAI_API_KEY=... python dspy_agent.py "What is reciprocal rank fusion?"
"""

import sys

import dspy

from groundwire.integrations.dspy import web_tools

dspy.configure(lm=dspy.LM("openai/gpt-6.1-terra"))
agent = dspy.ReAct("question -> answer", tools=web_tools(), max_iters=6)
print(agent(question=sys.argv[1]).answer)
