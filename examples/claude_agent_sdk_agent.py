"""A Claude Agent SDK agent that searches the web and reads pages, with the tools in this process.

pip install groundwire claude-agent-sdk
ANTHROPIC_API_KEY=... python claude_agent_sdk_agent.py "What is reciprocal rank fusion?"
"""

import asyncio
import sys
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, SdkMcpTool, create_sdk_mcp_server, query, tool

from groundwire import Web
from groundwire.tools import Tool, web_tools


def as_tool(web_tool: Tool) -> SdkMcpTool[Any]:
    """Return one of our tools as a tool of the SDK."""

    @tool(web_tool.name, web_tool.description, web_tool.definition()["parameters"])
    async def call(arguments: dict[str, Any]) -> dict[str, Any]:
        result = await web_tool.call(arguments)
        return {"content": [{"type": "text", "text": str(result)}], "is_error": result.status == "error"}

    return call


async def main(question: str) -> None:
    """Print the answer to a question."""
    async with Web() as web:
        server = create_sdk_mcp_server("web", tools=[as_tool(web_tool) for web_tool in web_tools(web)])
        options = ClaudeAgentOptions(
            mcp_servers={"web": server},
            allowed_tools=["mcp__web__web_search", "mcp__web__open_page"],
            tools=[],  # none of Claude Code's own; WebSearch is among them
            setting_sources=[],
        )
        async for message in query(prompt=question, options=options):
            if isinstance(message, ResultMessage):
                print(message.result)


asyncio.run(main(sys.argv[1]))
