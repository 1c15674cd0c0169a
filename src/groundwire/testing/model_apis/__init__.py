"""A miniature model on loopback that speaks as the model APIs do.

    with World() as world:
        models = world.add(ModelServer(script(ScriptedCall("web_search", {"query": "rank fusion"}))))
        client = openai.OpenAI(base_url=models.url + "/v1", api_key="none")

It refuses what the services refuse (a hosted tool of another API, options that exclude each other), calls the tools of
its script, and where it was given hosted search it answers as if it had searched, with citations. Plain and streamed.
"""

from __future__ import annotations

from groundwire.testing.model_apis.scripted_turns import (
    Cite,
    Decide,
    Say,
    ScriptedCall,
    ScriptedRequest,
    Turn,
    quoting,
    script,
)
from groundwire.testing.model_apis.server import ModelServer

__all__ = ["Cite", "Decide", "ModelServer", "Say", "ScriptedCall", "ScriptedRequest", "Turn", "quoting", "script"]
