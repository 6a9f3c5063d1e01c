// An AM for tests: starts `signet serve`, and drives its logins, clock, faults, emails and request log.
// Copy this file beside your tests. It needs Node 18 and no package.

import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A response with an error status. */
export class Refused extends Error {
  constructor(status, body) {
    super(`${status}: ${body}`);
    this.status = status;
  }
}

/** A running `signet serve`. */
export class AM {
  /** Starts a server with a configuration file, and waits until it is ready. */
  static async start(config, { program = "signet" } = {}) {
    const am = new AM();
    am.folder = mkdtempSync(join(tmpdir(), "am-"));
    const ready = join(am.folder, "ready.json");
    const log = openSync(join(am.folder, "am.log"), "w");
    // The server also ends when its standard input does, so it never outlives the tests.
    am.process = spawn(
      program,
      ["serve", "--config", config, "--state", "memory", "--port", "0", "--admin", "--ready-file", ready, "--exit-on-stdin-eof"],
      { stdio: ["pipe", log, log] },
    );
    am.ended = new Promise((resolve) => am.process.once("close", resolve).once("error", resolve));
    let hasEnded = false;
    am.ended.then(() => (hasEnded = true));
    const end = Date.now() + 30_000;
    while (!existsSync(ready)) {
      if (hasEnded || Date.now() > end) {
        const text = am.log();
        await am.stop();
        throw new Error(`signet serve did not start:\n${text}`);
      }
      await sleep(20);
    }
    const facts = JSON.parse(readFileSync(ready, "utf8"));
    am.url = facts.url;
    am.token = readFileSync(facts.admin.tokenFile, "utf8").trim();
    return am;
  }

  /** What the server has printed. */
  log() {
    return readFileSync(join(this.folder, "am.log"), "utf8");
  }

  async stop() {
    this.process.stdin.end();
    const late = setTimeout(() => this.process.kill("SIGKILL"), 10_000);
    await this.ended;
    clearTimeout(late);
    rmSync(this.folder, { recursive: true });
  }

  // Requests

  /** Sends a request, with an object as JSON or URLSearchParams as a form, and returns its JSON, or `location` of a redirect. */
  async send(method, path, body, headers = {}) {
    const isForm = body instanceof URLSearchParams;
    const response = await fetch(path.includes("://") ? path : this.url + path, {
      method,
      redirect: "manual",
      headers: body && !isForm ? { "content-type": "application/json", ...headers } : headers,
      body: body && !isForm ? JSON.stringify(body) : body,
    });
    if (response.status >= 300 && response.status < 400) return response.headers.get("location");
    const text = await response.text();
    if (!response.ok) throw new Refused(response.status, text);
    return text ? JSON.parse(text) : null;
  }

  /** A request to the administration API, for example `admin("POST", "clock/advance", { seconds: 30 })`. */
  admin(method, path, body) {
    return this.send(method, `/admin/${path}`, body, { authorization: `Bearer ${this.token}` });
  }

  /** Begins anew: users, sessions, clock and faults as in the configuration, and an empty request log. */
  async reset() {
    await this.admin("POST", "reset", {});
    await this.admin("DELETE", "request-log");
  }

  /** The entries of the request log, for example `requests({ resource: "accessToken", status: 200 })`. */
  async requests(conditions = {}) {
    return (await this.admin("GET", `request-log?${new URLSearchParams(conditions)}`)).entries;
  }

  /** The emails to a user. */
  async emails(user) {
    return (await this.admin("GET", `emails?${new URLSearchParams({ user })}`)).emails;
  }

  // Logins

  /** Sends the answer to a step of a journey, or starts one, and returns the next step, or the end with its `tokenId`. */
  step(answer, query = {}) {
    const path = `/json/realms/root/authenticate?${new URLSearchParams(query)}`;
    return this.send("POST", path, answer ?? {}, { "accept-api-version": "resource=2.1" });
  }

  /** Starts a journey, and returns its first step. */
  start(journey) {
    return this.step(undefined, { authIndexType: "service", authIndexValue: journey });
  }

  /** Runs a journey with the answer to each prompt, and returns the session: `{ "User Name": "mira", Password: "..." }`. */
  async logIn(journey, answers) {
    let step = await this.start(journey);
    while (!step.tokenId) step = await this.step(fill(step, answers));
    return step.tokenId;
  }

  /** Continues the journey that an email was sent for, by the link in it, and returns the next step or the end. */
  resume(link) {
    return this.step(undefined, { suspendedId: new URL(link).searchParams.get("suspendedId") });
  }

  // One-time codes

  /** Registers a device for one-time codes with the journey OATHRegistration, and returns its secret in base32. */
  async enroll(user, password) {
    const shown = await this.step(fill(await this.start("OATHRegistration"), { "User Name": user, Password: password }));
    const values = shown.callbacks.flatMap((callback) => callback.output.map((output) => String(output.value)));
    const secret = new URL(values.find((value) => value.startsWith("otpauth:"))).searchParams.get("secret");
    await this.step(fill(await this.step(shown), { "Enter verification code": await this.code(secret) }));
    await this.admin("POST", "clock/advance", { seconds: 30 }); // the server accepts each code once
    return secret;
  }

  /** The one-time code (RFC 6238) of a secret, at the time of the server's clock. */
  async code(secret) {
    const { seconds } = await this.admin("GET", "clock");
    const counter = Buffer.alloc(8);
    counter.writeBigUInt64BE(BigInt(Math.floor(seconds / 30)));
    const digest = createHmac("sha1", base32(secret)).update(counter).digest();
    const number = digest.readUInt32BE(digest[19] & 15) & 0x7fffffff;
    return String(number % 1_000_000).padStart(6, "0");
  }
}

/** Answers each callback of a step that has a prompt, and returns the step. */
export function fill(step, answers) {
  const asked = (step.callbacks ?? []).filter((callback) => callback.input);
  if (asked.length === 0) throw new Error(`the journey waits for something else than an answer: ${JSON.stringify(step.callbacks)}`);
  for (const callback of asked) {
    const prompt = callback.output.find((output) => output.name === "prompt")?.value ?? "";
    if (prompt in answers) callback.input[0].value = answers[prompt];
    else if (prompt) throw new Error(`no answer for '${prompt}'`);
  }
  return step;
}

function base32(text) {
  let bits = "";
  for (const letter of text) bits += "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0");
  return Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
}
