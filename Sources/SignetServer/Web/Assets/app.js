// Improves the server's pages, which work without scripts too: polls during a wait without reloading the page, passes WebAuthn
// requests to the browser, sends a form that only passes a response on, prevents a form from being sent twice, copies and downloads
// codes, and counts down the time of a push message.
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

  // The first page of a login has the address that started it. With the address of the flow, a reload shows this page again.
  const flow = document.querySelector("form[data-page]");
  if (flow && !new URLSearchParams(location.search).has("flow")) history.replaceState(null, "", flow.action);

  for (const part of document.querySelectorAll("[data-scripted]")) part.hidden = false;

  // Codes and secrets: one on each line, without the spaces that make a secret readable.
  const lines = (selector) => [...document.querySelectorAll(selector)].map((part) => part.textContent.replaceAll(" ", "")).join("\n");
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(lines(button.dataset.copy));
        button.textContent = button.dataset.copied;
      } catch {
        button.textContent = button.dataset.refused;
      }
    });
  }
  for (const button of document.querySelectorAll("[data-download]")) {
    button.addEventListener("click", () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([lines(button.dataset.download), "\n"], { type: "text/plain" }));
      link.download = "recovery-codes.txt";
      link.click();
      URL.revokeObjectURL(link.href);
    });
  }

  // The time until a push message expires.
  const left = document.querySelector("[data-left]");
  if (left) {
    const end = Date.now() + Number(left.dataset.left) * 1000;
    const clock = setInterval(() => {
      const seconds = Math.max(0, Math.round((end - Date.now()) / 1000));
      left.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
      if (seconds === 0) clearInterval(clock);
    }, 1000);
  }

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

  // A passkey that the user chooses in the autofill of a field.
  let autofill = null;
  const offer = async () => {
    if (!await window.PublicKeyCredential?.isConditionalMediationAvailable?.()) return;
    autofill = new AbortController();
    const field = form.querySelector("[data-autofill]");
    field.hidden = false;
    field.querySelector("input").focus();
    try {
      send(answer(await navigator.credentials.get({ publicKey: question, mediation: "conditional", signal: autofill.signal })));
    } catch {
      // The user takes the button.
    }
  };
  if (options.mediation === "conditional") offer();

  const start = form.querySelector("[data-start]");
  start.addEventListener("click", async () => {
    if (!window.PublicKeyCredential) return send("unsupported");
    autofill?.abort();
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
})();
