"""The images of `deploy/` can be pinned to digests by one command, which asks whatever registry the operator uses."""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path

import pytest

from pin_images import main, pinned, unpinned

DEPLOY = Path(__file__).parents[2] / "deploy"
PRINTS = "import hashlib, sys; print('sha256:' + hashlib.sha256(sys.argv[1].encode()).hexdigest())"
INSPECT = f'{sys.executable} -c "{PRINTS}" {{}}'


def test_every_third_party_image_gets_the_digest_that_the_registry_gives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "deploy"
    shutil.copytree(DEPLOY, folder)
    assert main([str(folder), "--check"])
    assert main([str(folder), "--inspect", INSPECT]) == 0
    assert main([str(folder), "--check"]) == 0
    assert capsys.readouterr().out.endswith("Every image has its digest.\n")
    compose = (folder / "compose.yaml").read_text()
    digest = hashlib.sha256(b"valkey/valkey:9.1-alpine").hexdigest()
    assert f"image: valkey/valkey:9.1-alpine@sha256:{digest}\n" in compose
    assert "image: groundwire:latest" in compose
    base = hashlib.sha256(b"python:3.13-slim-bookworm").hexdigest()
    assert f"ARG PYTHON=3.13-slim-bookworm@sha256:{base}\n" in (folder / "Containerfile").read_text()


def test_a_newer_digest_takes_the_place_of_an_older_one() -> None:
    old, new = "sha256:" + "a" * 64, "sha256:" + "b" * 64
    once = pinned("    image: haproxy:2.6-alpine # as tested\n", lambda image: f"{old}\n")
    assert once == f"    image: haproxy:2.6-alpine@{old} # as tested\n"
    assert not unpinned(once)
    assert pinned(once, lambda image: new) == once.replace(old, new)


def test_what_is_no_digest_changes_nothing() -> None:
    with pytest.raises(ValueError, match="no digest of haproxy"):
        pinned("image: haproxy:2.6-alpine\n", lambda image: "manifest unknown")
