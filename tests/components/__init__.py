"""Real programs and real wires for tests: SearXNG, Valkey, and the way ddgs takes to a search engine.

Everything runs on loopback and asks nobody outside. The fixtures are in `tests/real/conftest.py`.
"""
