"""What is deployed is well-formed, holds what a hardened service should, and runs with as little as that."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.environment import deploy_tools
from components.needs import needed
from components.processes import Program, ReservedPort
from world import World

_ROOT = Path(__file__).resolve().parents[2]
_DEPLOY = _ROOT / "deploy"
_UNPRIVILEGED = Path(__file__).resolve().parents[1] / "components" / "unprivileged.sh"
_USER = 10_001
_STATE = "/srv"  # a folder that everybody may enter; only in its own namespace is something in it
_SIGTERM = 15


@pytest.fixture(scope="module")
def tools(say: Callable[[str], None]) -> Path:
    """The folder of docker-compose, hadolint and kubernetes-validate."""
    return needed(lambda: deploy_tools(_ROOT / ".venv-deploy", say))


@pytest.mark.req("Y8")
def test_compose_takes_its_file_and_every_service_is_hardened(tools: Path) -> None:
    services = _json(tools / "docker-compose", "-f", _DEPLOY / "compose.yaml", "config", "--format", "json")["services"]
    assert {"gateway-1", "gateway-2", "gateway-3", "balancer", "valkey"} == set(services)
    containerfile = (_DEPLOY / "Containerfile").read_text("utf-8")
    for name, service in services.items():
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert {"cpus", "memory", "pids"} <= set(service["deploy"]["resources"]["limits"]), name
        assert "healthcheck" in service or (service.get("build") and "\nHEALTHCHECK " in containerfile), name
        assert not service.get("privileged"), name
        assert not service.get("environment"), name  # secrets are files
        assert re.fullmatch(r"[a-z]+(/[a-z]+)?:[a-z0-9.-]+(@sha256:[0-9a-f]{64})?", service["image"]), name
    assert [port["host_ip"] for port in services["balancer"]["ports"]] == ["127.0.0.1"]


@pytest.mark.req("Y8")
def test_the_container_file_has_no_fault_that_is_known_and_its_user_is_a_number(tools: Path) -> None:
    done = subprocess.run([tools / "hadolint", _DEPLOY / "Containerfile"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    lines = (_DEPLOY / "Containerfile").read_text("utf-8").splitlines()
    assert [line for line in lines if line.startswith("USER")] == [f"USER {_USER}:{_USER}"]
    assert all(":" in line for line in lines if line.startswith("FROM"))


@pytest.mark.req("Y8")
def test_kubernetes_takes_the_manifests_and_every_pod_is_restricted(tools: Path) -> None:
    files = sorted((_DEPLOY / "kubernetes").glob("*.yaml"))
    done = subprocess.run(
        [tools / "kubernetes-validate", "--strict", *files], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    things = [thing for file in files for thing in yaml.safe_load_all(file.read_text("utf-8"))]
    kinds = {thing["kind"] for thing in things}
    assert {"ConfigMap", "Deployment", "Service", "PodDisruptionBudget", "StatefulSet"} <= kinds
    assert "Secret" not in kinds
    for pod in [
        thing["spec"]["template"]["spec"]
        for thing in things
        if "template" in thing["spec" if "spec" in thing else "data"]
    ]:
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "readOnlyRootFilesystem": True,
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
            }
            assert {"readinessProbe", "livenessProbe", "resources"} <= set(container)


def test_what_the_files_say_of_time_fits_together() -> None:
    gateway = next(yaml.safe_load_all((_DEPLOY / "kubernetes" / "gateway.yaml").read_text("utf-8")))
    assert gateway["kind"] == "ConfigMap"
    pods = [
        thing["spec"]["template"]["spec"]
        for thing in yaml.safe_load_all((_DEPLOY / "kubernetes" / "gateway.yaml").read_text("utf-8"))
        if thing["kind"] == "Deployment"
    ]
    arguments = pods[0]["containers"][0]["args"]
    assert pods[0]["terminationGracePeriodSeconds"] > float(arguments[arguments.index("--notice") + 1]) + 30
    balancer = (_DEPLOY / "haproxy.cfg").read_text("utf-8")
    every, fall = re.findall(r"inter \"\$\{CHECK-(\d+)s\}\" fall (\d+)", balancer)[0]
    notice = re.findall(r'"--notice", "(\d+)"', (_DEPLOY / "Containerfile").read_text("utf-8"))[0]
    assert int(notice) > int(every) * int(fall)


@pytest.mark.req("Y8")
def test_the_gateway_runs_as_nobody_in_a_tree_that_cannot_be_written(nobodys: Program, tmp_path: Path) -> None:
    status = Path(f"/proc/{nobodys.pid}/status").read_text("utf-8")
    assert re.search(rf"^Uid:\s+{_USER}\s+{_USER}\s+{_USER}", status, re.MULTILINE)
    assert re.search(r"^CapEff:\s+0+$", status, re.MULTILINE)
    assert re.search(r"^NoNewPrivs:\s+1$", status, re.MULTILINE)
    assert nobodys.end(20) == 128 + _SIGTERM
    log = (tmp_path / "log" / "gateway.log").read_text("utf-8")
    assert "WARNING" not in log


@pytest.fixture
def nobodys(tmp_path: Path, world: World) -> Iterator[Program]:
    """A gateway that has no name, no home, no capability, and one folder to write to; it has searched and read."""
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody make a mount namespace")
    log, reserved = tmp_path / "log", ReservedPort()
    port = reserved.number
    log.mkdir()
    hidden, kept = _hidden((Path(sys.base_prefix), Path(sys.prefix), _ROOT))
    site = world.site("articles")
    variables = {
        "GROUNDWIRE_SEARCH_PROVIDERS": "searxng",
        "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": world.searxng.url,
        "GROUNDWIRE_POLICY_ALLOWED_ORIGINS": site.url,
        "XDG_CACHE_HOME": _STATE,
        "XDG_CONFIG_HOME": "/etc",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PATH": os.environ["PATH"],
    }
    inside = [sys.executable, "-m", "groundwire", "-v", "serve", "--port", str(port)]
    command = ["unshare", "-m", "sh", str(_UNPRIVILEGED), str(_USER), _STATE, hidden, *kept, "--", *inside]
    program = Program("gateway", command, env=variables, log=log / "gateway.log")
    try:
        program.wait_until(lambda: _post(port, "/v1/search", {"query": "bm25"})["results"] != [], 100)
        page = _post(port, "/v1/pages", {"url": site.page("bm25")})["pages"][0]
        assert page["status"] == "success"
        yield program
    finally:
        program.stop()


def _hidden(needed: tuple[Path, ...]) -> tuple[str, list[str]]:
    """Return a folder that only root may enter, and what is needed inside it."""
    for place in needed:
        for parent in reversed(place.parents):
            if not parent.stat().st_mode & 0o001:
                return str(parent), [str(one) for one in needed if one.is_relative_to(parent)]
    return "", []


def _post(port: int, path: str, body: object) -> dict[str, Any]:
    from http.client import HTTPConnection

    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer: dict[str, Any] = json.loads(connection.getresponse().read())
        return answer
    finally:
        connection.close()


def _json(program: Path, *arguments: object) -> dict[str, Any]:
    home = shutil.which("true") or "/"
    done = subprocess.run(
        [program, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.defpath, "HOME": home},
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
