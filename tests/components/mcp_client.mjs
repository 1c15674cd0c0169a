// A client of the official TypeScript SDK, of either major version, that signs in where it is told to and prints JSON.
// Run as `node mcp_client.mjs PACKAGE URL CALLS`, where CALLS is a JSON list of [method, arguments] pairs.

const [name, url, calls] = process.argv.slice(2);
const paths = name.endsWith("/sdk") ? ["/client/index.js", "/client/streamableHttp.js", "/client/auth.js"] : [""];
const sdk = Object.assign({}, ...(await Promise.all(paths.map((path) => import(name + path)))));

const kept = {};
const redirectUrl = "http://127.0.0.1:9/back";
const authProvider = {
  redirectUrl,
  clientMetadata: { client_name: "test", redirect_uris: [redirectUrl], token_endpoint_auth_method: "none" },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  async redirectToAuthorization(address) {
    const response = await fetch(address, { redirect: "manual" });
    kept.code = new URL(response.headers.get("location")).searchParams.get("code");
  },
};

const make = () => new sdk.StreamableHTTPClientTransport(new URL(url), { authProvider });
let client = new sdk.Client({ name: "test", version: "1" });
const first = make();
try {
  await client.connect(first);
} catch (error) {
  if (!(error instanceof sdk.UnauthorizedError)) throw error;
  await first.finishAuth(kept.code);
  client = new sdk.Client({ name: "test", version: "1" });
  await client.connect(make());
}
const answers = [];
for (const [method, argument] of JSON.parse(calls)) answers.push(await client[method](argument));
await client.close();
console.log(JSON.stringify(answers));
