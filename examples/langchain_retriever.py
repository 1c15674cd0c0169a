"""Web search as a LangChain retriever: a query in, documents out.

pip install "groundwire[langchain]"
python langchain_retriever.py "reciprocal rank fusion"
"""

import sys

from groundwire.integrations.langchain import web_retriever

for document in web_retriever(limit=3).invoke(sys.argv[1]):
    print(document.metadata["citation_id"], document.metadata["title"], document.metadata["source"])
