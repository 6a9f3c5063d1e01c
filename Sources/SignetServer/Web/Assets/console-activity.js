// The tabs that show what happens: journeys with their logins, emails, requests, and faults.
import {
  List, act, ask, badge, button, change, confirmed, consolePath, copyButton, el, encoded, facts, field, get, milliseconds,
  picture, section, select, send, serverPath, state, time,
} from "./console-parts.js";

// MARK: Journeys

const stateWords = {
  success: "signed in", failure: "failed", lockedOut: "locked out", timeout: "timed out", refused: "refused",
  waiting: "waits for the client", expired: "abandoned",
};

function loginBadge(login) {
  const kind = login.state === "success" ? "good" : ["waiting", "expired"].includes(login.state) ? "" : "bad";
  return badge(stateWords[login.state] ?? login.state, kind);
}

/** The columns of a list of logins. */
export const loginColumns = [
  ["Login", (login) => `#${login.number}`],
  ["User", (login) => login.user ?? ""],
  ["Journey", (login) => login.journey],
  ["Result", loginBadge],
  ["Reason", (login) => login.reason ?? (login.node && login.state !== "success" ? `at ${login.node.id}` : "")],
  ["Time", (login) => time(login.startedAt)],
  ["Nodes took", (login) => milliseconds(login.milliseconds)],
];

/** The address at which a browser starts a journey. */
export function journeyAddress(name, realm = "/") {
  return `${serverPath}/XUI/?realm=${encoded(realm)}&authIndexType=service&authIndexValue=${encoded(name)}&ForceAuth=true`;
}

/** Draws a journey, and marks the nodes and outcomes of a login. */
async function graph(journey, visits = []) {
  const drawing = await picture(`journeys/${encoded(journey.name)}/graph`);
  const own = visits.filter((visit) => visit.journey === journey.name);
  for (const visit of own) {
    const node = [...drawing.querySelectorAll("[data-node]")].find((other) => other.dataset.node === visit.id);
    node?.classList.add("visited");
    const target = journey.nodes.find((other) => other.id === visit.id)?.outcomes[visit.outcome];
    if (!target) continue;
    const to = ["success", "failure"].includes(target) ? `${target} ${visit.id}` : target;
    for (const line of drawing.querySelectorAll("[data-from]")) {
      if (line.dataset.from === visit.id && line.dataset.to === to) line.classList.add("visited");
    }
    [...drawing.querySelectorAll("[data-node]")].find((other) => other.dataset.node === to)?.classList.add("visited");
  }
  return el("div", { class: "scroll graph", tabindex: "0", role: "group", "aria-label": `Graph of ${journey.name}` }, drawing);
}

function visitRow(visit, index) {
  return el("tr", {},
    el("td", {}, String(index + 1)),
    el("td", {}, el("strong", {}, visit.id), el("br"), el("span", { class: "quiet" }, visit.type)),
    el("td", {}, visit.outcome ? badge(visit.outcome) : visit.asked ? "asked the client" : ""),
    el("td", {}, visit.reason ?? "", visit.reason && visit.kept ? el("br") : null,
      visit.kept ? el("span", { class: "quiet" }, `kept ${visit.kept.join(", ")}`) : null,
      visit.asked ? el("span", { class: "quiet" }, visit.asked.join(", ")) : null),
    el("td", {}, time(visit.at)),
    el("td", {}, milliseconds(visit.milliseconds), visit.count ? ` in ${visit.count} visits` : ""));
}

async function loginDetail(login) {
  const { journeys: all } = await get("journeys");
  const names = [...new Set([login.journey, ...login.visits.map((visit) => visit.journey)])];
  const drawn = names.map((name) => all.find((journey) => journey.name === name)).filter(Boolean);
  const heads = ["Visit", "Node", "Outcome", "Why", "Time", "Took"];
  return [
    facts([
      ["Result", loginBadge(login)], ["Reason", login.reason], ["User", login.user], ["Journey", login.journey],
      ["Realm", login.realm], ["Started", time(login.startedAt)], ["Last request", time(login.lastAt)],
      ["Client", [login.client.userAgent, login.client.address].filter(Boolean).join(" · ")],
    ]),
    el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `Nodes of login ${login.number}` },
      el("table", {}, el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
        el("tbody", {}, login.visits.map(visitRow)))),
    login.omitted ? el("p", { class: "quiet" }, `${login.omitted} visits in the middle are not kept.`) : null,
    ...(await Promise.all(drawn.map(async (journey) => [
      drawn.length > 1 ? el("h4", {}, journey.name) : null, await graph(journey, login.visits),
    ]))).flat(),
  ].filter(Boolean);
}

export function journeys() {
  const choice = select("journey", [["", "all journeys"]]);
  const result = select("state", [["", "all results"], ...Object.entries(stateWords)]);
  const drawing = el("div", { class: "journey-picture" });
  const clear = button("Forget the logins", () => confirmed(
    "Forget the logins?", "The traces of all logins are removed. Sessions stay.", "Forget", "The traces are gone.",
    () => send("DELETE", "logins")));
  const list = new List("Logins", {
    columns: loginColumns, key: (login) => login.number, empty: "No login yet.",
    matches: (login) => [login.user ?? "", login.journey, login.reason ?? "", login.realm, login.client.userAgent ?? ""],
    more: [field("Result", result), clear],
    detail: {
      title: (login) => `Login ${login.number} of ${login.user ?? "an unknown user"}`,
      load: (_, key) => get(`logins/${key}`).catch(() => null),
      draw: loginDetail,
    },
  });
  let drawn = null;

  async function showJourney(all) {
    const journey = all.find((other) => other.name === choice.value);
    const text = journey ? JSON.stringify(journey) : "";
    if (text === drawn) return;
    drawn = text;
    if (!journey) return drawing.replaceChildren();
    const realms = state.overview.realms.filter((realm) => !journey.realms || journey.realms.includes(realm));
    drawing.replaceChildren(
      journey.innerTreeOnly ? el("p", { class: "quiet" }, "Only other journeys run it.")
        : el("p", { class: "actions" }, realms.map((realm) => el("a",
          { href: journeyAddress(journey.name, realm), target: "_blank", rel: "noreferrer", class: "button plain" },
          realms.length > 1 ? `Run it in ${realm}` : "Run it"))),
      await graph(journey),
      el("details", {}, el("summary", {}, "As text"), el("ul", {}, journey.nodes.map((node) => el("li", {},
        el("strong", {}, node.id), ` ${node.type}: `,
        Object.entries(node.outcomes).map(([outcome, target]) => `${outcome} to ${target}`).join(", "))))));
  }
  choice.addEventListener("change", () => { drawn = null; state.refresh(); });
  result.addEventListener("change", () => state.refresh());

  return {
    element: [section("Journeys", el("div", { class: "controls" }, field("Journey", choice)), drawing), list.element],
    async update() {
      const [{ journeys: all }, { logins }] = await Promise.all([
        get("journeys"), get("logins", { journey: choice.value, state: result.value, limit: 1000 }),
      ]);
      const names = all.map((journey) => journey.name);
      if (names.join("\n") !== [...choice.options].slice(1).map((option) => option.value).join("\n")) {
        const value = choice.value;
        choice.replaceChildren(el("option", { value: "" }, "all journeys"), ...names.map((name) => el("option", { value: name }, name)));
        choice.value = names.includes(value) ? value : "";
      }
      await showJourney(all);
      list.update([...logins].reverse());
      await list.drawDetail();
    },
    async open([key]) { if (key) await list.open(key); },
  };
}

// MARK: Emails

export function emails() {
  const list = new List("Emails", {
    columns: [
      ["To", (email) => email.to ?? email.user],
      ["Subject", (email) => email.subject ?? "a link"],
      ["User", (email) => (email.userExists ? email.user : "not registered yet")],
      ["Delivery", (email) => (email.delivery ? badge(email.delivery, email.delivery === "failed" ? "bad" : "") : "kept here")],
      ["Time", (email) => time(email.sentAt)],
    ],
    key: (email) => email.id, empty: "No email was sent.",
    matches: (email) => [email.to ?? "", email.user, email.subject ?? "", email.text ?? ""],
    more: [button("Delete all", () => confirmed("Delete all emails?", "Links that were sent stay valid.", "Delete",
      "The emails are deleted.", () => send("DELETE", "emails")))],
    detail: {
      title: (email) => email.subject ?? "An email",
      load: (email) => email,
      draw: (email) => [
        facts([
          ["To", email.to], ["User", email.user], ["Realm", email.realm], ["Sent", time(email.sentAt)],
          ["Delivery", email.delivery], ["Reason", email.reason],
          ["Code", email.code ? [el("code", {}, email.code), " ", copyButton(email.code, "the code")] : null],
        ]),
        el("p", { class: "actions" },
          email.link ? el("a", { href: email.link, target: "_blank", rel: "noreferrer", class: "button" }, "Follow the link") : null,
          email.link ? copyButton(email.link, "the link") : null,
          button("Delete", () => act("The email is deleted.", () => send("DELETE", `emails/${encoded(email.id)}`)))),
        email.html ? el("iframe", { src: `${consolePath}/email/${encoded(email.id)}`, title: "The email", sandbox: "" }) : null,
        email.text ? el("details", { open: !email.html }, el("summary", {}, "Text"), el("pre", {}, email.text)) : null,
      ].filter(Boolean),
    },
  });
  return {
    element: list.element,
    async update() {
      const { emails: all } = await get("emails");
      list.update([...all].reverse());
      await list.drawDetail();
    },
    async open([key]) { if (key) await list.open(key); },
  };
}

// MARK: Requests

const kinds = { request: "requests", push: "push messages", email: "emails", sns: "requests to SNS", logout: "logout tokens" };

function what(entry) {
  switch (entry.kind) {
    case "request": return el("code", {}, `${entry.method} ${entry.path}`);
    case "push": return `push message ${entry.step}`;
    case "email": return `email to ${entry.user}`;
    case "sns": return `SNS ${entry.action}`;
    default: return `logout token to ${entry.client?.oauth ?? ""}`;
  }
}

function statusBadge(entry) {
  if (entry.status === undefined) return "";
  if (entry.status === 0) return badge(entry.kind === "request" ? "cut" : "no answer", "bad");
  return badge(String(entry.status), entry.status < 400 ? "" : "bad");
}

export function requests() {
  const kind = select("kind", [["", "everything"], ...Object.entries(kinds)]);
  const status = select("status", [["", "every status"], ["2", "200 to 299"], ["3", "300 to 399"], ["4", "400 to 499"], ["5", "500 to 599"]]);
  const list = new List("Requests", {
    columns: [
      ["Number", (entry) => String(entry.number)],
      ["What", what],
      ["Status", statusBadge],
      ["Problem or fault", (entry) => [entry.problem ?? entry.reason ?? "", ...entry.faults.map((fault) => badge(fault, "bad"))]],
      ["Client", (entry) => entry.client?.oauth ?? ""],
      ["Time", (entry) => time(entry.at)],
      ["Took", (entry) => milliseconds(entry.milliseconds)],
    ],
    key: (entry) => entry.number, empty: "No request yet.",
    matches: (entry) => [entry.method ?? "", entry.path ?? "", entry.problem ?? "", entry.client?.oauth ?? "", entry.user ?? "",
      entry.resource ?? "", ...entry.faults],
    more: [field("Kind", kind), field("Status", status), button("Clear", () => confirmed(
      "Clear the request log?", "Its entries are removed.", "Clear", "The request log is empty.",
      () => send("DELETE", "request-log")))],
    detail: {
      title: (entry) => `Entry ${entry.number}`,
      load: (entry) => entry,
      draw: (entry) => facts([
        ["What", what(entry)], ["Status", entry.status?.toString()], ["Problem", entry.problem], ["Resource", entry.resource],
        ["Reason", entry.reason], ["Message", entry.messageId], ["Device", entry.device], ["Realm", entry.realm],
        ["Faults", entry.faults.join(", ")], ["OAuth client", entry.client?.oauth], ["User agent", entry.client?.userAgent],
        ["Address", entry.client?.address], ["Time", time(entry.at)], ["Took", milliseconds(entry.milliseconds)],
        ["Parameters", entry.parameters && Object.keys(entry.parameters).length
          ? el("ul", { class: "plain" }, Object.entries(entry.parameters).map(([name, value]) => el("li", {},
            el("code", {}, name), value === null ? " (value not logged)" : ` = ${value}`))) : null],
      ]),
    },
  });
  let entries = [];
  let last = 0;
  const shown = () => entries.filter((entry) => (!kind.value || entry.kind === kind.value)
    && (!status.value || String(entry.status ?? "")[0] === status.value));
  for (const control of [kind, status]) control.addEventListener("change", () => list.update(shown()));
  return {
    element: list.element,
    async update() {
      const reply = await get("request-log", last ? { after: last } : {});
      // The log was cleared.
      if (reply.count === 0 && (await get("request-log", { limit: 1 })).count === 0) entries = [];
      entries = [...[...reply.entries].reverse(), ...entries].slice(0, 2000);
      last = reply.last;
      list.update(shown());
      await list.drawDetail();
    },
  };
}

// MARK: Faults

/** The member of a fault that a kind needs or permits, with its label. */
const faultMembers = {
  latency: ["milliseconds", "Milliseconds", true], "slow-body": ["milliseconds", "Milliseconds", true],
  status: ["status", "Status", false], cut: ["bytes", "After how many bytes", false],
  truncated: ["bytes", "To how many bytes", false],
};

function faultForm(kindList, routeList, onDone) {
  const kind = select("kind", kindList);
  const route = select("route", [["", "every route"], ...routeList]);
  const value = el("input", { name: "value", inputmode: "numeric" });
  const times = el("input", { name: "times", inputmode: "numeric" });
  const client = el("input", { name: "client", autocomplete: "off" });
  const valueField = field("Value", value);
  const adapt = () => {
    const member = faultMembers[kind.value];
    valueField.hidden = !member;
    if (!member) value.value = "";
    valueField.querySelector("label").textContent = member?.[1] ?? "Value";
    value.required = Boolean(member?.[2]);
  };
  kind.addEventListener("change", adapt);
  const form = el("form", { class: "controls", "aria-label": "Enable a fault", submit: (event) => {
    event.preventDefault();
    const fault = { kind: kind.value };
    if (route.value) fault.route = route.value;
    if (value.value) fault[faultMembers[kind.value][0]] = Number(value.value);
    if (times.value) fault.times = Number(times.value);
    if (client.value.trim()) fault.client = { oauth: client.value.trim() };
    fault.name = onDone(fault);
    act(`The fault ${fault.name} is enabled.`, () => send("POST", "faults", fault));
  } }, field("Kind", kind), field("Route", route), valueField, field("Times", times), field("OAuth client", client),
  el("button", { type: "submit" }, "Enable"));
  adapt();
  return form;
}

export function faults() {
  let enabled = [];
  /** A name that no other fault has, because a fault with the same name is replaced. */
  const freeName = (fault) => {
    const base = /^[A-Za-z]+$/.test(fault.route ?? "") ? `${fault.kind}-${fault.route}` : fault.kind;
    const used = new Set(enabled.map((other) => other.name));
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? base : `${base}-${number}`;
      if (!used.has(name)) return name;
    }
  };
  const list = new List("Faults", {
    columns: [
      ["Name", (fault) => el("code", {}, fault.name)],
      ["Kind", (fault) => [fault.kind, fault.status, fault.milliseconds && `${fault.milliseconds} ms`,
        fault.bytes !== undefined && `${fault.bytes} bytes`].filter(Boolean).join(" ")],
      ["Route", (fault) => fault.route ?? "every route"],
      ["Client", (fault) => (fault.client ? Object.entries(fault.client).map(([key, value]) => `${key} ${value}`).join() : "every client")],
      ["Applied", (fault) => `${fault.applied}${fault.remaining === undefined ? "" : `, ${fault.remaining} left`}`],
      ["Until", (fault) => time(fault.until)],
      ["Action", (fault) => button("Disable", () => act(`The fault ${fault.name} is disabled.`,
        () => send("DELETE", `faults/${encoded(fault.name)}`)), { "aria-label": `Disable ${fault.name}`, "data-focus": fault.name })],
    ],
    key: (fault) => fault.name, empty: "No fault is enabled: the server behaves normally.",
  });
  const place = el("div");
  const all = button("Disable all", () => confirmed("Disable all faults?", "", "Disable", "All faults are disabled.",
    () => send("DELETE", "faults")));
  return {
    element: [section("Enable a fault", place, el("p", { class: "quiet" },
      "Without times, a fault stays until it is disabled. Requests of the console never fail by a fault.")), list.element,
    el("p", { class: "actions" }, all)],
    async update() {
      const reply = await get("faults");
      enabled = reply.faults;
      if (!place.firstChild) place.append(faultForm(reply.kinds, reply.routes, freeName));
      list.update(enabled);
      all.hidden = enabled.length === 0;
    },
  };
}

// MARK: Another browser

/** Makes a link that opens the console in another browser, and shows it. */
export async function otherBrowser() {
  const { link } = await change("POST", `${consolePath}/link`);
  const text = el("code", {}, link);
  await ask("Another browser", "This link opens the console once, in a browser on this machine:", {
    confirm: "Done", fields: [el("p", {}, text), copyButton(link, "the link")],
  });
}
