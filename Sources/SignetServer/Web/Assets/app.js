// Improves the server's pages, which work without scripts too: polls during a wait without reloading the page, passes WebAuthn
// requests to the browser, sends a form that only passes a response on, and prevents a form from being sent twice.
"use strict";

(() => {
  // A form that was sent waits for its answer; coming back to the page makes it good again.
  for (const form of document.forms) {
    form.addEventListener("submit", (event) => {
      if (form.dataset.sent) event.preventDefault();
      form.dataset.sent = "yes";
    });
  }
  window.addEventListener("pageshow", () => {
    for (const form of document.forms) delete form.dataset.sent;
  });

  // A response for an app, or a step that asks only for what the browser sends in any case.
  document.querySelector("form[data-submit]")?.requestSubmit();

  // Waiting.
  const wait = document.querySelector("[data-poll]");
  if (wait) {
    const page = Number(wait.closest("form").dataset.page);
    const later = (milliseconds) => setTimeout(ask, Math.max(Number(milliseconds), 250));
    const ask = async () => {
      try {
        const answer = await fetch(wait.dataset.poll, { headers: { accept: "application/json" }, cache: "no-store" });
        const { page: present, wait: left } = await answer.json();
        if (present === page && left !== undefined) return later(left);
      } catch {
        // The server may come back; the page says so by staying.
        return later(3000);
      }
      location.replace(location.href);
    };
    later(wait.dataset.wait);
  }

  // Passkeys.
  const form = document.querySelector("form[data-passkey]");
  if (!form) return;
  const options = JSON.parse(form.dataset.passkey);
  const outcome = document.getElementById(form.dataset.outcome);
  const bytes = (numbers) => new Int8Array(numbers);
  const list = (buffer) => new Int8Array(buffer).toString();
  const text = (buffer) => new TextDecoder().decode(buffer);
  const known = (options.credentials || []).map((id) => ({ type: "public-key", id: bytes(id) }));

  const question = options.creates
    ? {
        challenge: bytes(options.challenge),
        rp: { id: options.relyingParty, name: options.relyingPartyName || options.relyingParty || "Signet" },
        user: {
          id: new TextEncoder().encode(options.userHandle),
          name: options.userName,
          displayName: options.displayName || options.userName,
        },
        pubKeyCredParams: options.algorithms.map((alg) => ({ type: "public-key", alg })),
        timeout: options.timeout,
        attestation: options.attestation || "none",
        authenticatorSelection: options.selection || {},
        excludeCredentials: known,
      }
    : {
        challenge: bytes(options.challenge),
        rpId: options.relyingParty,
        timeout: options.timeout,
        userVerification: options.userVerification,
        allowCredentials: known,
      };

  const answer = (credential) => {
    const { response } = credential;
    const parts = [text(response.clientDataJSON)];
    if (options.creates) {
      parts.push(list(response.attestationObject), credential.id);
    } else {
      parts.push(list(response.authenticatorData), list(response.signature), credential.id);
      if (response.userHandle?.byteLength) parts.push(text(response.userHandle));
    }
    const legacyData = parts.join("::");
    if (!options.wrapped) return legacyData;
    return JSON.stringify({ authenticatorAttachment: credential.authenticatorAttachment, legacyData });
  };

  const send = (value) => {
    outcome.name = form.dataset.outcome;
    outcome.value = value;
    form.requestSubmit();
  };

  const start = form.querySelector("[data-start]");
  start.addEventListener("click", async () => {
    if (!window.PublicKeyCredential) return send("unsupported");
    start.disabled = true;
    try {
      const request = { publicKey: question };
      send(answer(options.creates ? await navigator.credentials.create(request) : await navigator.credentials.get(request)));
    } catch (error) {
      // The address of the page is not one that passkeys work at: another one may be, so nothing is lost yet.
      if (error.name === "SecurityError") {
        form.querySelector("[data-problem]").hidden = false;
        start.disabled = false;
        return;
      }
      send(`ERROR::${error.name}:${error.message}`);
    }
  });
  form.querySelector("[data-skip]").addEventListener("click", () => send("unsupported"));
  for (const part of form.querySelectorAll("[data-scripted]")) part.hidden = false;
})();
