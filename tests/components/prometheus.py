"""A real Prometheus that scrapes one URL."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

from components.needs import system_program
from components.processes import Program, ReservedPort

_CONFIGURATION = """\
scrape_configs:
  - job_name: groundwire
    scrape_interval: 200ms
    scrape_timeout: 200ms
    metrics_path: {path}
    static_configs:
      - targets: ["{target}"]
"""


class Prometheus:
    """The Prometheus installed on this machine.

    Args:
        url: What it scrapes, five times a second.
        folder: Where it keeps its files.

    Raises:
        Unavailable: There is none, or it does not start.
    """

    def __init__(self, url: str, folder: Path) -> None:
        program = str(system_program("prometheus"))
        parts = urlsplit(url)
        configuration = folder / "prometheus.yml"
        configuration.write_text(_CONFIGURATION.format(path=parts.path, target=parts.netloc))

        self._reserved = ReservedPort()
        self._url = f"http://127.0.0.1:{self._reserved.number}"
        places = (f"--config.file={configuration}", f"--storage.tsdb.path={folder / 'data'}")
        address = f"--web.listen-address=127.0.0.1:{self._reserved.number}"
        command = (program, *places, address, "--log.level=warn")
        self._program = Program("prometheus", command, env={"HOME": str(folder)}, log=folder / "prometheus.log")
        self._program.wait_until(self._is_ready, 100)

    def query(self, expression: str) -> dict[str, float]:
        """Return the current value of an expression: a number per set of labels, as JSON."""
        with urlopen(f"{self._url}/api/v1/query?{urlencode({'query': expression})}", timeout=60) as reply:
            answer = json.load(reply)
        assert answer["status"] == "success", answer
        return {json.dumps(row["metric"], sort_keys=True): float(row["value"][1]) for row in answer["data"]["result"]}

    def wait_for(self, expression: str, value: float) -> None:
        """Wait until an expression gives one number, which is `value`."""
        self._program.wait_until(lambda: list(self.query(expression).values()) == [value], 100)

    def stop(self) -> None:
        """End it."""
        self._program.stop()

    def _is_ready(self) -> bool:
        try:
            with urlopen(f"{self._url}/-/ready", timeout=60) as reply:
                return bool(reply.status == 200)
        except HTTPError as answer:  # 503 while it starts; the error holds the open answer
            answer.close()
            return False
