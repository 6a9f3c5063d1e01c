/// The page of an app at another origin, which sends what the vendors' JavaScript SDKs send and reads what they read.
enum AppPageScript {
    /// The HTML of the page, with the object `sdk`.
    static let page = "<!doctype html><h1>The app</h1><script>\(script)</script>"

    private static let script = #"""
        const call = async (url, method, version, body) => {
          const headers = { "Accept-API-Version": version, "Content-Type": "application/json",
            "X-Requested-With": "forgerock-sdk", "X-Requested-Platform": "javascript" };
          const reply = await fetch(url, { method, headers, credentials: "include", body: body && JSON.stringify(body) });
          return { httpStatus: reply.status, ...await reply.json() };
        };
        const output = (callback, name) => callback.output.find((item) => item.name === name)?.value;
        const buffers = (text) => [...(text ?? "").matchAll(/new Int8Array\((\[[^\]]*\])\)/g)]
          .map((match) => new Int8Array(JSON.parse(match[1])));
        const decode = (buffer) => new TextDecoder().decode(buffer);
        const list = (buffer) => new Int8Array(buffer).toString();

        const sdk = {
          next: (am, journey, step) => call(`${am}/json/realms/root/authenticate`
            + (step ? "" : `?authIndexType=service&authIndexValue=${journey}`),
            "POST", "protocol=1.0,resource=2.1", step ?? {}),
          fill(step, type, value) {
            step.callbacks.find((callback) => callback.type === type).input[0].value = value;
          },
          async login(am, journey, password) {
            const step = await sdk.next(am, journey);
            sdk.fill(step, "NameCallback", "demo");
            sdk.fill(step, "PasswordCallback", password);
            return sdk.next(am, journey, step);
          },
          async poll(am, step) {
            for (;;) {
              const wait = step.callbacks?.find((callback) => callback.type === "PollingWaitCallback");
              if (!wait) return step;
              await new Promise((resolve) => setTimeout(resolve, Number(output(wait, "waitTime"))));
              step = await sdk.next(am, "", step);
            }
          },
          session: (am) => call(`${am}/json/realms/root/sessions?_action=getSessionInfo`, "POST", "protocol=1.0,resource=2.1", {}),
          devices: (am, path, method, body) => call(`${am}/json/realms/root/users/demo/devices/profile${path}`, method,
            "resource=1.0", body),
          recoveryCodes(step) {
            const text = step.callbacks.filter((callback) => callback.type === "TextOutputCallback")
              .map((callback) => output(callback, "message")).find((message) => /[Rr]ecovery [Cc]odes/.test(message));
            const codes = (text.match(/\s[\w\W]"([\w]*)\\/g) ?? []).map((part) => part.match(/"([\w]*)\\/)[1]);
            return { codes, name: text.match(/<em\s*.*>\s*.*<\/em>/)[0].replace("<em>", "").replace("</em>", "") };
          },
          check: async (address) => (await fetch(address, { credentials: "include" })).status,
          authorize: (address) => new Promise((resolve) => {
            const frame = document.createElement("iframe");
            frame.style.display = "none";
            frame.src = address;
            frame.onload = () => { resolve(frame.contentWindow.location.href); frame.remove(); };
            document.body.append(frame);
          }),
          async exchange(am, address, verifier, redirect) {
            const code = new URL(address).searchParams.get("code");
            const body = new URLSearchParams({ client_id: "app", code, grant_type: "authorization_code",
              redirect_uri: redirect, code_verifier: verifier });
            const reply = await fetch(`${am}/oauth2/access_token`, { method: "POST", body, credentials: "include" });
            return reply.json();
          },
          async renew(am, refresh) {
            const body = new URLSearchParams({ client_id: "app", grant_type: "refresh_token", refresh_token: refresh });
            const reply = await fetch(`${am}/oauth2/access_token`, { method: "POST", body, credentials: "include" });
            return reply.json();
          },
          async user(am, token) {
            const reply = await fetch(`${am}/oauth2/userinfo`, { headers: { Authorization: `Bearer ${token}` } });
            return { httpStatus: reply.status, ...await reply.json() };
          },
          async logout(am, { access_token, id_token }) {
            const statuses = [];
            const post = async (path, body) =>
              statuses.push((await fetch(`${am}${path}`, { method: "POST", body, credentials: "include" })).status);
            await post("/oauth2/token/revoke", new URLSearchParams({ client_id: "app", token: access_token }));
            const end = `${am}/oauth2/connect/endSession?id_token_hint=${id_token}`;
            statuses.push((await fetch(end, { credentials: "include" })).status);
            return statuses;
          },
          async passkey(step) {
            const data = output(step.callbacks.find((callback) => callback.type === "MetadataCallback") ?? { output: [] }, "data");
            const script = step.callbacks.filter((callback) => callback.type === "TextOutputCallback")
              .map((callback) => output(callback, "message")).find((message) => message.includes("webAuthnOutcome"));
            const read = (pattern) => script.match(pattern)?.[1];
            const challenge = data ? Uint8Array.from(atob(data.challenge), (c) => c.charCodeAt(0))
              : buffers(read(/challenge: (new Int8Array\([^)]+\))/))[0];
            let parts;
            if (data ? data.pubKeyCredParams : script.includes("pubKeyCredParams")) {
              const id = data ? data.relyingPartyId.replace(/id: "(.+)",/, "$1") : read(/rp: {\s*id: "([^"]+)"/);
              const user = data ? data.userId : read(/Uint8Array\.from\("([^"]+)"/);
              const keys = data ? data.pubKeyCredParams : `[${read(/pubKeyCredParams: \[([^\]]+)\]/)}]`;
              const credential = await navigator.credentials.create({ publicKey: { challenge, rp: { id, name: "Signet" },
                user: { id: new TextEncoder().encode(user), name: "demo", displayName: "demo" },
                pubKeyCredParams: JSON.parse(keys),
                authenticatorSelection: data ? JSON.parse(data.authenticatorSelection) : undefined } });
              parts = [decode(credential.response.clientDataJSON), list(credential.response.attestationObject), credential.id];
            } else {
              const rpId = data ? data.relyingPartyId.replace(/rpId: "(.+)",/, "$1") : read(/rpId: "([^"]+)"/);
              const known = data ? data.allowCredentials : read(/acceptableCredentials = (\[[^;]*);/);
              const allowCredentials = buffers(known).map((id) => ({ type: "public-key", id }));
              const credential = await navigator.credentials.get({ publicKey: { challenge, rpId, allowCredentials } });
              const answer = credential.response;
              parts = [decode(answer.clientDataJSON), list(answer.authenticatorData), list(answer.signature), credential.id];
              if (answer.userHandle) parts.push(decode(answer.userHandle));
            }
            const legacyData = parts.join("::");
            const outcome = data?.supportsJsonResponse ? JSON.stringify({ authenticatorAttachment: "platform", legacyData })
              : legacyData;
            sdk.fill(step, "HiddenValueCallback", outcome);
          },
        };
        """#
}
