"""Real programs for tests: SearXNG, Valkey, and the connections of ddgs to search engines.

Everything runs on loopback and asks nobody outside. The fixtures are in `tests/real/conftest.py`.

Compiled modules are kept even if this machine writes none: the tests start hundreds of interpreters. It is said here
because `conftest.py` imports this before it imports anything large.
"""

import os
import sys

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
