"""Pages that try to reach a local server in every way that a browser offers."""

from __future__ import annotations

_HOSTS = ("127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "rebinding.test")

NAVIGATIONS = {
    "location": '<script>location = "{there}"</script>',
    "refresh": '<meta http-equiv="refresh" content="0;url={there}">',
    "form": '<form id="f" method="post" action="{there}"></form><script>f.submit()</script>',
    "history": '<script>history.replaceState(0, "", "/x"); location.replace("{there}")</script>',
}
"""Pages that navigate the browser to `there`."""


def worker_script(port: int) -> str:
    """Return a worker that requests forbidden URLs."""
    return f"""const base = "http://127.0.0.1:{port}";
fetch(base + "/worker-fetch").catch(() => 0);
try {{ new WebSocket("ws://127.0.0.1:{port}/worker-socket") }} catch (e) {{}}
try {{ importScripts(base + "/worker-import") }} catch (e) {{}}
self.addEventListener("install", () => fetch(base + "/service-worker"));
"""


def attacking_page(port: int) -> str:
    """Return a page that attacks in all ways at once and then prints DONE, with everything it could read."""
    base = f"http://127.0.0.1:{port}"
    fetches = [f"http://{host}:{port}/fetch-{number}" for number, host in enumerate(_HOSTS)]
    return f"""<!doctype html><html><head><meta charset="utf-8"><title>Attack</title>
<link rel="preconnect" href="{base}"><link rel="dns-prefetch" href="//rebinding.test:{port}">
<link rel="prefetch" href="{base}/prefetch"><link rel="preload" as="script" href="{base}/preload">
<link rel="modulepreload" href="{base}/modulepreload"><link rel="manifest" href="{base}/manifest">
<link rel="icon" href="{base}/icon"><link rel="stylesheet" href="{base}/css">
<script type="speculationrules">{{"prerender": [{{"source": "list", "urls": ["{base}/prerender"]}}],
"prefetch": [{{"source": "list", "urls": ["{base}/speculated"]}}]}}</script>
<style>@import "{base}/import"; @font-face {{ font-family: f; src: url("{base}/font") }}
p {{ font-family: f; background: url("{base}/background") }}</style></head>
<body><h1>Attack</h1><p>{"Words of the page that stand there from the beginning. " * 6}</p><p id="out">waiting</p>
<img src="{base}/img" srcset="{base}/srcset 2x" alt=""><picture><source srcset="{base}/source"><img alt=""></picture>
<iframe src="{base}/iframe"></iframe><iframe srcdoc="&lt;img src='{base}/srcdoc'&gt;"></iframe>
<iframe src="data:text/html,<script>fetch('{base}/data')</script>"></iframe>
<object data="{base}/object"></object><embed src="{base}/embed"><video src="{base}/video" autoplay muted></video>
<audio src="{base}/audio" autoplay></audio><track src="{base}/track"><script src="{base}/script"></script>
<script type="module" src="{base}/module"></script><svg><image href="{base}/svg" /><use href="{base}/use#a" /></svg>
<iframe name="into"></iframe><form id="form" method="post" target="into" action="{base}/form"></form>
<a id="ping" href="#there" ping="{base}/ping">ping</a>
<script>
(async () => {{
  const read = [];
  const tries = [
    () => navigator.sendBeacon("{base}/beacon", "x"),
    () => new WebSocket("ws://127.0.0.1:{port}/socket"),
    () => new WebSocket("ws://localhost:{port}/socket-name"),
    () => new EventSource("{base}/events"),
    () => new Worker("/worker.js"),
    () => new SharedWorker("/worker.js"),
    () => navigator.serviceWorker.register("/worker.js"),
    () => window.open("{base}/popup"),
    () => form.submit(),
    () => ping.click(),
    () => import("{base}/dynamic").catch(() => 0),
    () => fetch("{base}/keepalive", {{method: "POST", body: "x", keepalive: true}}).catch(() => 0),
    () => {{ const r = new XMLHttpRequest(); r.open("PUT", "{base}/xhr"); r.send("x") }},
    () => {{ new Image().src = "{base}/new-image" }},
    () => new WebTransport("https://127.0.0.1:{port}/transport"),
    () => {{ const c = new RTCPeerConnection({{iceServers: [{{urls: "stun:127.0.0.1:{port}"}},
        {{urls: "turn:127.0.0.1:{port}?transport=tcp", username: "u", credential: "c"}},
        {{urls: "turn:127.0.0.1:{port}?transport=udp", username: "u", credential: "c"}}]}});
      c.createDataChannel("d"); c.createOffer().then(o => c.setLocalDescription(o)) }},
    () => {{ const f = document.createElement("iframe"); document.body.append(f);
      f.contentWindow.fetch("{base}/inner").catch(() => 0) }},
    () => new PresentationRequest("{base}/presentation").getAvailability(),
    () => new Notification("x", {{icon: "{base}/notification"}}),
    () => fetchLater("{base}/later"),
    () => navigator.credentials.get({{identity: {{providers: [{{configURL: "{base}/fedcm", clientId: "1"}}]}}}}),
    () => caches.open("x").then(c => c.add("{base}/cache")).catch(() => 0),
  ];
  for (const one of tries) try {{ const p = one(); if (p && p.catch) p.catch(() => 0) }} catch (e) {{}}
  for (const url of {fetches})
    try {{ read.push(await (await fetch(url)).text()) }} catch (e) {{}}
  await new Promise(done => setTimeout(done, 500));
  document.getElementById("out").textContent = "DONE " + read.join(" ");
}})();
</script></body></html>"""
