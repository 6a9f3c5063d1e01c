// The tabs that show what the server has: the overview, users, sessions and tokens, push messages, and the clock.
import { journeyAddress, loginColumns, otherBrowser } from "./console-activity.js";
import {
  List, act, ask, badge, button, confirmed, el, encoded, facts, field, get, inRealm, say, section, select, send, state, time,
} from "./console-parts.js";

// MARK: Overview

export function overview() {
  const place = el("div");
  const logins = new List("Newest logins", {
    columns: [["Login", (login) => el("a", { href: `#journeys/${login.number}` }, `#${login.number}`)], ...loginColumns.slice(1)],
    key: (login) => login.number, empty: "No login yet.",
  });
  const problems = new List("Rows that cannot be read", {
    columns: [["Kind", (row) => row.kind], ["Name", (row) => row.name], ["Reason", (row) => row.reason]],
    key: (row) => `${row.kind} ${row.name}`,
  });
  const reset = () => confirmed("Reset the server?",
    "Users, devices, sessions, tokens and messages become what the configuration has, the clock shows the machine's time, and all faults are disabled. This cannot be undone.",
    "Reset", "The server is reset.", () => send("POST", "reset"));
  const actions = el("p", { class: "actions" },
    button("Link for another browser", () => otherBrowser().catch((error) => say(error.message, true))),
    button("Reset the server", reset));
  return {
    element: [section("Server", place, actions), logins.element, problems.element],
    async update() {
      const [{ logins: newest }, { faults }] = await Promise.all([get("logins", { limit: 10 }), get("faults")]);
      const { url, realms, counts, defaultJourney, unreadableRows } = state.overview;
      const content = JSON.stringify([url, realms, counts, defaultJourney, faults.length]);
      if (place.dataset.content !== content) {
        place.dataset.content = content;
        place.replaceChildren(facts([
          ["Address", el("code", {}, url)], ["Realms", realms.join(", ")],
          ["Default journey", el("a", { href: journeyAddress(defaultJourney), target: "_blank", rel: "noreferrer" }, defaultJourney)],
          ["Users", el("a", { href: "#users" }, String(counts.users))],
          ["Sessions", el("a", { href: "#sessions" }, String(counts.sessions))],
          ["Tokens", `${counts.accessTokens} access, ${counts.refreshTokens} refresh`],
          ["Faults", faults.length ? el("a", { href: "#faults" }, `${faults.length} enabled`) : "none"],
        ]));
      }
      logins.update([...newest].reverse());
      problems.element.hidden = unreadableRows.length === 0;
      problems.update(unreadableRows);
    },
  };
}

// MARK: Users

const address = (user) => `users/${encoded(user.name)}`;

function userState(user) {
  if (user.locked) return badge("locked", "bad");
  if (user.lockedOut) return badge("too many wrong passwords", "bad");
  if (user.lockedFactors.length) return badge(`too many wrong answers: ${user.lockedFactors.join(", ")}`, "bad");
  return badge("active", "good");
}

const deviceName = (device) => device.deviceName ?? device.alias ?? device.name ?? device.uuid ?? "a device";

async function setPassword(user) {
  const input = el("input", { name: "password", type: "password", autocomplete: "new-password", required: true });
  const values = await ask(`New password for ${user.name}`, "It ends the user's sessions and tokens.", {
    confirm: "Set it", fields: [field("Password", input)],
  });
  if (values) await act("The password is set.", () => send("PATCH", address(user) + inRealm(user.realm), { password: values.password }));
}

async function addUser() {
  const name = el("input", { name: "name", autocomplete: "off", required: true });
  const password = el("input", { name: "password", type: "password", autocomplete: "new-password", required: true });
  const mail = el("input", { name: "email", type: "email", autocomplete: "off" });
  const realm = select("realm", state.overview.realms, "/");
  const values = await ask("Add a user", "", {
    confirm: "Add", fields: [field("Name", name), field("Password", password), field("Email", mail), field("Realm", realm)],
  });
  if (!values) return;
  const claims = values.email ? { claims: { email: values.email } } : {};
  await act(`${values.name} is added.`,
    () => send("POST", "users", { name: values.name, password: values.password, realm: values.realm, ...claims }));
}

function deviceList(user) {
  if (!user.devices.length) return el("p", { class: "quiet" }, "No devices.");
  return el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `Devices of ${user.name}` }, el("table", {},
    el("thead", {}, el("tr", {}, ["Kind", "Name", "Added", "Action"].map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, user.devices.map((device) => {
      const id = device._id ?? device.uuid ?? "";
      const resource = `${address(user)}/devices/${encoded(device.kind)}/${encoded(id)}${inRealm(user.realm)}`;
      const added = device.createdDate ?? device.lastAccessDate;
      return el("tr", {}, el("td", {}, device.kind), el("td", {}, deviceName(device)),
        el("td", {}, Number.isFinite(added) ? time(new Date(added).toISOString()) : ""),
        el("td", {}, id ? button("Remove", () => confirmed(`Remove ${deviceName(device)}?`,
          `${user.name} can no longer sign in with it.`, "Remove", "The device is removed.", () => send("DELETE", resource)),
        { "aria-label": `Remove ${deviceName(device)}` }) : null));
    }))));
}

function userDetail(user) {
  const own = address(user) + inRealm(user.realm);
  const isHeld = user.locked || user.lockedOut || user.lockedFactors.length > 0;
  const sessionQuery = new URLSearchParams({ user: user.name, realm: user.realm });
  return [
    facts([["State", userState(user)], ["Realm", user.realm], ["Sessions", String(user.sessions)]]),
    el("p", { class: "actions" },
      isHeld
        ? button("Unlock", () => act(`${user.name} is unlocked.`, () => send("PATCH", own, { locked: false })))
        : button("Lock", () => confirmed(`Lock ${user.name}?`, "The user cannot sign in, and no session is valid until you unlock the account.",
          "Lock", `${user.name} is locked.`, () => send("PATCH", own, { locked: true }))),
      button("Set a password", () => setPassword(user)),
      button("Sign this browser in", () => act(`This browser is signed in as ${user.name}.`,
        () => send("POST", "sessions", { user: user.name, realm: user.realm }))),
      user.sessions ? button("End all sessions", () => confirmed(`End all sessions of ${user.name}?`, "", "End them",
        ({ ended }) => `${ended} sessions ended.`, () => send("DELETE", `sessions?${sessionQuery}`))) : null,
      user.devices.length ? button("Remove all devices", () => confirmed(`Remove all devices of ${user.name}?`,
        "The user can no longer sign in with them.", "Remove", "The devices are removed.",
        () => send("DELETE", `${address(user)}/devices${inRealm(user.realm)}`))) : null),
    deviceList(user),
  ];
}

export function users() {
  const list = new List("Users", {
    columns: [
      ["Name", (user) => user.name], ["State", userState], ["Realm", (user) => user.realm],
      ["Devices", (user) => user.devices.map((device) => `${device.kind}: ${deviceName(device)}`).join(", ")],
      ["Sessions", (user) => String(user.sessions)],
    ],
    key: (user) => `${user.realm} ${user.name}`,
    matches: (user) => [user.name, user.realm, ...user.devices.map((device) => `${device.kind} ${deviceName(device)}`)],
    more: [button("Add a user", addUser)],
    detail: { title: (user) => user.name, load: (user) => user, draw: userDetail },
  });
  return {
    element: list.element,
    async update() {
      list.update((await get("users")).users);
      await list.drawDetail();
    },
  };
}

// MARK: Sessions and tokens

export function sessions() {
  const open = new List("Sessions", {
    columns: [
      ["User", (session) => session.user], ["Realm", (session) => session.realm],
      ["Journeys", (session) => session.journeys.join(", ")], ["Signed in", (session) => time(session.startedAt)],
      ["Ends unused", (session) => time(session.idleEnd)], ["Ends", (session) => time(session.end)],
      ["Action", (session) => button("End", () => confirmed(`End the session of ${session.user}?`, "It works as a logout.", "End it",
        "The session is ended.", () => send("DELETE", `sessions/${encoded(session.key)}`)),
      { "aria-label": `End the session of ${session.user}`, "data-focus": session.key })],
    ],
    key: (session) => session.key, empty: "No session is open.",
    matches: (session) => [session.user, session.realm, ...session.journeys],
    more: [button("End all", () => confirmed("End all sessions?", "All users are signed out.", "End them",
      ({ ended }) => `${ended} sessions ended.`, () => send("DELETE", "sessions")))],
  });
  const tokens = new List("Tokens", {
    columns: [
      ["Kind", (token) => [token.kind, token.spentAt ? badge("exchanged") : ""]], ["Client", (token) => token.client],
      ["User", (token) => token.user], ["Scopes", (token) => token.scopes.join(" ")],
      ["Issued", (token) => time(token.issuedAt)], ["Expires", (token) => time(token.expiresAt)],
      ["Action", (token) => button("Revoke", () => confirmed(`Revoke the tokens of ${token.user} at ${token.client}?`,
        "All access and refresh tokens of this login become invalid.", "Revoke", "The tokens are revoked.",
        () => send("DELETE", `tokens/${encoded(token.grant)}`)),
      { "aria-label": `Revoke the tokens of ${token.user} at ${token.client}`, "data-focus": `${token.grant}${token.kind}` })],
    ],
    key: (token) => `${token.grant} ${token.kind} ${token.issuedAt}`, empty: "No token is valid.",
    matches: (token) => [token.kind, token.client, token.user, ...token.scopes],
  });
  return {
    element: [open.element, tokens.element],
    async update() {
      const [{ sessions: all }, { tokens: issued }] = await Promise.all([get("sessions"), get("tokens")]);
      open.update([...all].reverse());
      tokens.update(issued);
    },
  };
}

// MARK: Push

const deliveries = { stream: "push stream", queued: "waits for SNS", sent: "sent to SNS", undeliverable: "not delivered" };

function pushState(push) {
  return badge(push.state, { approved: "good", denied: "bad" }[push.state]);
}

export function push() {
  const answer = (message, approve) => send("POST", `pushes/${encoded(message.messageId)}/answer`, { approve });
  const list = new List("Push messages", {
    columns: [
      ["User", (message) => message.user ?? "a device that is gone"], ["State", pushState],
      ["Number", (message) => (message.number === undefined ? "" : String(message.number))],
      ["Delivery", (message) => deliveries[message.delivery] + (message.reason ? `: ${message.reason}` : "")],
      ["Open streams", (message) => String(message.streams)], ["Sent", (message) => time(message.sentAt)],
      ["Expires", (message) => time(message.deadline)],
    ],
    key: (message) => message.messageId, empty: "No push message was sent.",
    matches: (message) => [message.user ?? "", message.state, message.realm, message.messageId],
    detail: {
      title: (message) => `Message to ${message.user ?? "a device that is gone"}`,
      load: (message) => message,
      draw: (message) => [
        facts([
          ["State", pushState(message)], ["Number", message.number?.toString()], ["Realm", message.realm],
          ["Delivery", deliveries[message.delivery]], ["Reason", message.reason], ["Open streams", String(message.streams)],
          ["Message", el("code", {}, message.messageId)], ["Device", el("code", {}, message.device)],
        ]),
        message.state === "waiting" ? el("p", { class: "actions" },
          button("Approve for the device", () => confirmed("Approve this login?",
            `The login of ${message.user} continues as if the device had approved it.`, "Approve", "The message is approved.",
            () => answer(message, true))),
          button("Deny for the device", () => confirmed("Deny this login?", `The login of ${message.user} is denied.`, "Deny",
            "The message is denied.", () => answer(message, false)))) : null,
      ].filter(Boolean),
    },
  });
  return {
    element: list.element,
    async update() {
      list.update((await get("pushes")).pushes);
      await list.drawDetail();
    },
  };
}

// MARK: Clock

export function clock() {
  const now = el("div", { id: "clock-facts" });
  const moves = [["30 seconds", 30], ["1 minute", 60], ["5 minutes", 300], ["1 hour", 3600], ["1 day", 86_400]];
  const move = (seconds) => act("The clock is moved.", () => send("POST", "clock/advance", { seconds }));
  const seconds = el("input", { name: "seconds", inputmode: "decimal", required: true });
  const day = el("input", { name: "time", type: "datetime-local", step: "1", required: true });
  const stop = button("Stop", () => act("The clock is changed.",
    () => (state.overview.clock.stopped ? send("POST", "clock/resume") : send("PUT", "clock", { stopped: true }))));
  const reset = button("Use the machine's time", () => act("The clock shows the machine's time.", () => send("DELETE", "clock")));
  const onSubmit = (action) => (event) => { event.preventDefault(); action(); };
  return {
    element: section("Clock", now,
      el("p", { class: "quiet" }, "Every timeout, code and signature of the server uses this clock. Times are in UTC."),
      el("p", { class: "actions" }, moves.map(([label, value]) => button(`Forward ${label}`, () => move(value)))),
      el("form", { class: "controls", "aria-label": "Move the clock", submit: onSubmit(() => move(Number(seconds.value))) },
        field("Seconds, negative for back", seconds), el("button", { type: "submit", class: "plain" }, "Move")),
      el("form", { class: "controls", "aria-label": "Set the clock",
        submit: onSubmit(() => act("The clock is set.", () => send("PUT", "clock", { now: `${day.value.padEnd(19, ":00")}Z` }))) },
      field("Time", day), el("button", { type: "submit", class: "plain" }, "Set")),
      el("p", { class: "actions" }, stop, reset)),
    async update() {
      const { now: present, offset, stopped } = state.overview.clock;
      const distance = Math.abs(offset) < 0.001 ? "the machine's time" : `moved by ${offset > 0 ? "+" : ""}${Math.round(offset)} s`;
      now.replaceChildren(facts([["Now", present.replace("T", " ").replace("Z", "")], ["Compared", distance],
        ["State", stopped ? "stopped" : "runs"]]));
      stop.textContent = stopped ? "Resume" : "Stop";
    },
  };
}
