"""A Google ADK agent that searches the web and reads pages.

pip install "groundwire[google-adk]"
GOOGLE_API_KEY=... python google_adk_agent.py "What is reciprocal rank fusion?"
"""

import asyncio
import sys

from google.adk.agents import Agent
from google.adk.runners import InMemoryRunner

from groundwire.integrations.google_adk import web_tools


async def main() -> None:
    """Ask."""
    agent = Agent(name="researcher", model="gemini-3.8-flash", tools=web_tools())
    for event in await InMemoryRunner(agent=agent, app_name="research").run_debug(sys.argv[1], quiet=True):
        if event.is_final_response() and event.content:
            print("".join(part.text or "" for part in event.content.parts or ()))


asyncio.run(main())
