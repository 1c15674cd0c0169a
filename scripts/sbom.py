"""Writes the bill of materials (CycloneDX) of a wheel: `python scripts/sbom.py dist/groundwire-0.1.0-py3-none-any.whl`.

The wheel is installed into an environment of its own, with the extras that are named after it, and what is there is
listed: each package with its version and license, and what needs what. The bill is checked against CycloneDX's schema
and stands beside the wheel. The versions are those of `requirements/dev.txt` where it pins them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from release_notes import SERVER

_ROOT = Path(__file__).resolve().parents[1]
_LICENSES = (
    "import json; from importlib.metadata import distributions;"
    "print(json.dumps({one.metadata['Name']: one.metadata['License'] for one in distributions()}))"
)


def write_sbom(wheel: Path, target: Path, extras: tuple[str, ...] = ()) -> None:
    """Write the bill of materials of a wheel.

    Args:
        wheel: The file.
        target: Where it is written, as JSON.
        extras: The extras with which the wheel is installed.

    Raises:
        subprocess.CalledProcessError: it cannot be installed, or what is there cannot be listed.
        ValueError: the bill is not valid.
    """
    from cyclonedx.schema import SchemaVersion  # here: they take seconds, also when only --help is asked for
    from cyclonedx.validation.json import JsonStrictValidator

    specification = SchemaVersion.V1_6
    uv = (sys.executable, "-m", "uv", "--quiet", "--system-certs")
    file, version = wheel.name.split("-")[:2]
    name = file.replace("_", "-")
    project = _ROOT if name == "groundwire" else _ROOT / SERVER
    wanted = f"{name}[{','.join(extras)}] @ {wheel.resolve().as_uri()}"
    links = ("--find-links", str(wheel.resolve().parent))  # the server needs the library of the same release
    with tempfile.TemporaryDirectory() as folder:
        environment = Path(folder) / "environment"
        _run(*uv, "venv", "--python", sys.executable, str(environment))
        python = str(environment / "bin" / "python")
        pins = ("--constraint", str(_ROOT / "requirements" / "dev.txt"))
        _run(*uv, "pip", "install", "--python", python, *pins, *links, wanted)
        _run(
            *(sys.executable, "-m", "cyclonedx_py", "environment", python),
            *("--pyproject", str(project / "pyproject.toml"), "--mc-type", "library"),
            *("--spec-version", specification.to_version(), "--output-format", "JSON", "--no-validate"),
            *("--output-reproducible", "--output-file", str(target.resolve())),
        )
        licenses = json.loads(subprocess.check_output([python, "-I", "-c", _LICENSES]))
    bill = json.loads(target.read_text(encoding="utf-8"))
    bill["metadata"]["component"] |= {
        "version": version,  # that of the library is dynamic: pyproject.toml does not say it
        "purl": f"pkg:pypi/{name}@{version}",
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(wheel.read_bytes()).hexdigest()}],
    }
    for part in bill["components"]:  # those that tell it in words only, which the tool passes over
        if "licenses" not in part and (words := licenses.get(part["name"])):
            part["licenses"] = [{"license": {"name": words, "acknowledgement": "declared"}}]
    text = json.dumps(bill, indent=2, ensure_ascii=False) + "\n"
    if (wrong := JsonStrictValidator(specification).validate_str(text)) is not None:
        raise ValueError(f"The bill of materials is not valid: {wrong}")
    target.write_text(text, encoding="utf-8")


def _run(*command: str) -> None:
    subprocess.run(command, check=True, cwd=_ROOT)


def main() -> None:
    """Write the bill of the wheel that was named."""
    parser = argparse.ArgumentParser(description="Write the bill of materials of a wheel.")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("extras", nargs="*", metavar="EXTRA")
    given = parser.parse_args()
    target = given.wheel.with_name("-".join(given.wheel.name.split("-")[:2]) + ".cdx.json")
    try:
        write_sbom(given.wheel, target, tuple(given.extras))
    except subprocess.CalledProcessError as error:
        sys.exit(f"{' '.join(error.cmd[:4])} ... failed with {error.returncode}.")
    except ValueError as error:
        sys.exit(str(error))
    print(target)


if __name__ == "__main__":
    main()
