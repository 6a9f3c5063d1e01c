// The app under test: it gets tokens as an OpenID client does. Your tests use your own app instead.

import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Refused } from "./signet-am.mjs";

/** The claims of a JWT. An app must also verify its signature; a library for OpenID does. */
export function claims(token) {
  return JSON.parse(Buffer.from(token.split(".")[1], "base64url").toString());
}

export class App {
  constructor(am, redirectURI = "http://127.0.0.1/callback") {
    Object.assign(this, { am, redirectURI });
  }

  /** The path of a request for an authorization code, with a state, a nonce and PKCE, and with the journey to run. */
  authorization(journey) {
    const random = () => randomBytes(32).toString("base64url");
    Object.assign(this, { state: random(), nonce: random(), verifier: random() });
    const query = new URLSearchParams({
      response_type: "code", client_id: "app", redirect_uri: this.redirectURI, scope: "openid", state: this.state,
      nonce: this.nonce, code_challenge: createHash("sha256").update(this.verifier).digest("base64url"),
      code_challenge_method: "S256",
    });
    if (journey) query.set("acr_values", journey);
    return `/oauth2/authorize?${query}`;
  }

  /** Exchanges the code in an answer of `authorize` for tokens; waits and tries again when the server is not available. */
  async finish(location) {
    const answer = new URL(location).searchParams;
    if (answer.get("state") !== this.state) throw new Error("the state is not that of the request");
    const form = new URLSearchParams({
      grant_type: "authorization_code", client_id: "app", redirect_uri: this.redirectURI, code: answer.get("code"),
      code_verifier: this.verifier,
    });
    for (let attempt = 1; ; attempt++) {
      try {
        const tokens = await this.am.send("POST", "/oauth2/access_token", form);
        if (claims(tokens.id_token).nonce !== this.nonce) throw new Error("the nonce is not that of the request");
        return tokens;
      } catch (error) {
        if (!(error instanceof Refused) || error.status !== 503 || attempt === 3) throw error;
        await sleep(100);
      }
    }
  }

  /** Exchanges a session for tokens. */
  async signIn(session) {
    return this.finish(await this.am.send("GET", this.authorization(), undefined, { iPlanetDirectoryPro: session }));
  }

  /** Serves the app on a free port. Its page at `url` logs in with the journey that a test names: `?journey=OATHLogin`. */
  static async serve(am) {
    const server = createServer(async (request, response) => {
      const { pathname, searchParams } = new URL(request.url, app.url);
      if (pathname === "/callback") {
        const text = await app.finish(app.url + request.url).then(
          (tokens) => `Signed in as ${claims(tokens.id_token).sub}`,
          (error) => `Not signed in: ${error.message}`,
        );
        response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html><title>App</title><h1>${text}</h1>`);
      } else {
        response.writeHead(302, { location: am.url + app.authorization(searchParams.get("journey")) }).end();
      }
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${server.address().port}`;
    const app = Object.assign(new App(am, `${url}/callback`), { url, stop: () => server.close() });
    return app;
  }
}
