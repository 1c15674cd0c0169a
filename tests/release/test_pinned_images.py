"""The images of `deploy/` are pinned by digest; one command updates them, from whatever registry the operator uses."""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
from pathlib import Path

import pytest

from pin_images import main, pinned, unpinned

DEPLOY = Path(__file__).parents[2] / "deploy"
PRINTS = "import hashlib, sys; print('sha256:' + hashlib.sha256(sys.argv[1].encode()).hexdigest())"
INSPECT = f'{sys.executable} -c "{PRINTS}" {{}}'


def test_every_third_party_image_has_a_digest_and_gets_a_new_one_from_the_registry(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "deploy"
    shutil.copytree(DEPLOY, folder)
    assert main([str(folder), "--check"]) == 0
    for file in (folder / "compose.yaml", folder / "Containerfile"):
        file.write_text(re.sub(r"@sha256:\w+", "", file.read_text()))
    assert main([str(folder), "--check"])
    assert main([str(folder), "--inspect", INSPECT]) == 0
    assert main([str(folder), "--check"]) == 0
    assert capsys.readouterr().out.endswith("Every image has its digest.\n")
    compose = (folder / "compose.yaml").read_text()
    digest = hashlib.sha256(b"valkey/valkey:9.1.2-alpine").hexdigest()
    assert f"image: valkey/valkey:9.1.2-alpine@sha256:{digest}\n" in compose
    assert "image: groundwire:latest" in compose
    base = hashlib.sha256(b"python:3.13.15-slim-trixie").hexdigest()
    assert f"ARG PYTHON=3.13.15-slim-trixie@sha256:{base}\n" in (folder / "Containerfile").read_text()


def test_a_newer_digest_takes_the_place_of_an_older_one() -> None:
    old, new = "sha256:" + "a" * 64, "sha256:" + "b" * 64
    once = pinned("    image: haproxy:2.6-alpine # as tested\n", lambda image: f"{old}\n")
    assert once == f"    image: haproxy:2.6-alpine@{old} # as tested\n"
    assert not unpinned(once)
    assert pinned(once, lambda image: new) == once.replace(old, new)


def test_what_is_no_digest_changes_nothing() -> None:
    with pytest.raises(ValueError, match="no digest of haproxy"):
        pinned("image: haproxy:2.6-alpine\n", lambda image: "manifest unknown")
