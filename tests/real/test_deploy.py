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
from urllib.request import urlopen

import pytest
import yaml

from components.environment import deploy_tools
from components.needs import needed, system_program
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
    kustomization = _DEPLOY / "kubernetes" / "kustomization.yaml"
    files = sorted(set((_DEPLOY / "kubernetes").glob("*.yaml")) - {kustomization})
    done = subprocess.run(
        [tools / "kubernetes-validate", "--strict", *files], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert yaml.safe_load(kustomization.read_text("utf-8"))["resources"] == [file.name for file in files]
    things = [thing for file in files for thing in yaml.safe_load_all(file.read_text("utf-8"))]
    (scaled,) = [thing["spec"] for thing in things if thing["kind"] == "Deployment"]
    assert "replicas" not in scaled  # each `kubectl apply` would undo what the autoscaler did
    kinds = {thing["kind"] for thing in things}
    assert {
        "ConfigMap",
        "Deployment",
        "Service",
        "PodDisruptionBudget",
        "StatefulSet",
        "HorizontalPodAutoscaler",
    } <= kinds
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


_ALERT_TEST = """\
rule_files: ["{rules}"]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - {{series: 'up{{job="groundwire", instance="a"}}', values: "1 1 0x10"}}
      - {{series: 'groundwire_store_up{{instance="a"}}', values: "1x20"}}
      - {{series: 'groundwire_searches_total{{instance="a", outcome="ok"}}', values: "0+90x40"}}
      - {{series: 'groundwire_searches_total{{instance="a", outcome="failed"}}', values: "0+10x40"}}
      - {{series: 'groundwire_searches_total{{instance="a", outcome="refused"}}', values: "0+900x40"}}
    alert_rule_test:
      - {{eval_time: 1m, alertname: GroundwireDown, exp_alerts: []}}
      - eval_time: 5m
        alertname: GroundwireDown
        exp_alerts: [{{exp_labels: {{severity: page, job: groundwire, instance: a}}, exp_annotations: {down}}}]
      - {{eval_time: 15m, alertname: GroundwireStoreDown, exp_alerts: []}}
      - eval_time: 25m
        alertname: GroundwireSearchesFail
        exp_alerts: [{{exp_labels: {{severity: page, instance: a}}, exp_annotations: {fail}}}]
"""


@pytest.mark.req("B18")
def test_prometheus_takes_the_alerts_and_they_fire(tmp_path: Path) -> None:
    promtool = needed(lambda: system_program("prometheus")).with_name("promtool")
    rules = _DEPLOY / "prometheus" / "alerts.yaml"
    named = {rule["alert"]: rule["annotations"] for rule in yaml.safe_load(rules.read_text())["groups"][0]["rules"]}
    down, fail = (
        json.dumps({key: re.sub(r"\{\{.*?\}\}", value, text) for key, text in named[name].items()})
        for name, value in (("GroundwireDown", "a"), ("GroundwireSearchesFail", "\0"))
    )
    fail = fail.replace("\\u0000", "10%", 1).replace("\\u0000", "a")
    test = tmp_path / "test.yaml"
    test.write_text(_ALERT_TEST.format(rules=rules, down=down, fail=fail))
    for command in (["check", "rules", str(rules)], ["test", "rules", str(test)]):
        done = subprocess.run([promtool, *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.req("B18")
@pytest.mark.usefixtures("nobodys")
def test_what_alerts_and_dashboard_ask_for_is_measured(port_of_nobody: ReservedPort) -> None:
    with urlopen(f"http://127.0.0.1:{port_of_nobody.number}/metrics") as response:
        text = response.read().decode()
    known = set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE)) | {"up"}
    dashboard = json.loads((_DEPLOY / "grafana" / "groundwire.json").read_text())
    rules = yaml.safe_load((_DEPLOY / "prometheus" / "alerts.yaml").read_text())["groups"][0]["rules"]
    questions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    questions += [rule["expr"] for rule in rules]
    asked = {name for text in questions for name in re.findall(r"\b(?:groundwire|process)_\w+", text)}
    assert len(asked) > 15
    assert {re.sub(r"_(?:bucket|sum|count)$", "", name) for name in asked} <= known


def test_systemd_takes_the_unit_and_finds_it_confined() -> None:
    analyze = needed(lambda: system_program("systemd-analyze"))
    unit = _DEPLOY / "systemd" / "groundwire.service"
    done = subprocess.run([analyze, "verify", unit], capture_output=True, text=True, check=False)
    complaints = [line for line in done.stderr.splitlines() if "is not executable" not in line]
    assert [line for line in complaints if "groundwire.service" in line] == []
    done = subprocess.run(
        [analyze, "security", "--offline=true", "--threshold=20", unit], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-500:]


@pytest.mark.req("Y8")
def test_the_gateway_runs_as_nobody_in_a_tree_that_cannot_be_written(nobodys: Program, tmp_path: Path) -> None:
    status = Path(f"/proc/{nobodys.pid}/status").read_text("utf-8")
    assert re.search(rf"^Uid:\s+{_USER}\s+{_USER}\s+{_USER}", status, re.MULTILINE)
    assert re.search(r"^CapEff:\s+0+$", status, re.MULTILINE)
    assert re.search(r"^NoNewPrivs:\s+1$", status, re.MULTILINE)
    assert nobodys.end(100) == 128 + _SIGTERM
    log = (tmp_path / "log" / "gateway.log").read_text("utf-8")
    assert "WARNING" not in log


@pytest.fixture
def port_of_nobody() -> ReservedPort:
    return ReservedPort()


@pytest.fixture
def nobodys(tmp_path: Path, world: World, port_of_nobody: ReservedPort) -> Iterator[Program]:
    """A gateway that has no name, no home, no capability, and one folder to write to; it has searched and read."""
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody make a mount namespace")
    log, port = tmp_path / "log", port_of_nobody.number
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
