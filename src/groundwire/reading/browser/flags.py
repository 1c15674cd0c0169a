"""The switches that a Chromium of ours is started with, beside Playwright's own.

Source: Chromium's list of switches (https://peter.sh/experiments/chromium-command-line-switches, `--help` does not
show them) and what its processes were seen to send without them.
"""

from __future__ import annotations

from typing import Final

__all__ = ["NOWHERE", "flags"]

NOWHERE: Final = "http://127.0.0.1:9"
"""The proxy of everything that belongs to no page: the discard port (RFC 863), to which nobody listens."""

_ALWAYS: Final = (
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # it looks up nothing; the proxy does
    "--disable-quic",  # UDP would pass by the proxy
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--disable-sync",
    "--no-pings",
    "--no-first-run",
    "--mute-audio",
    "--disable-remote-fonts",
    "--disable-gpu",
    "--disable-3d-apis",
    "--js-flags=--max-old-space-size=512",  # megabytes for the scripts of a page
)
_NO_IMAGES: Final = "--blink-settings=imagesEnabled=false"


def flags(*, images: bool) -> list[str]:
    """Return the switches.

    Args:
        images: Whether pictures are loaded; they are not read.
    """
    return [*_ALWAYS, *(() if images else (_NO_IMAGES,))]
