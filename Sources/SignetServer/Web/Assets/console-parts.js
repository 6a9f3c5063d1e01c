// The parts of the console that all tabs use: elements, requests, tables, dialogs and messages.

// MARK: Elements

/** Creates an element. Attributes are set as text; functions become event listeners; null and false leave an attribute out. */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(key, value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Creates a button that is not the main one of a form. */
export function button(label, click, attributes = {}) {
  return el("button", { type: "button", class: "plain", click, ...attributes }, label);
}

/** Creates a field with its label. */
export function field(label, control) {
  control.id ||= `field-${++fieldCount}`;
  return el("div", { class: "control" }, el("label", { for: control.id }, label), control);
}
let fieldCount = 0;

/** Creates a selection. Options are values, or pairs of a value and its text. */
export function select(name, options, value = "") {
  const choices = options.map((option) => (Array.isArray(option) ? option : [option, option]));
  const list = el("select", { name }, choices.map(([key, text]) => el("option", { value: key }, text)));
  if (value) list.value = value;
  return list;
}

/** Creates a list of names and values, without those that have no value. */
export function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return el("dl", {}, shown.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

/** Creates a section with a heading. */
export function section(title, ...children) {
  return el("section", { "aria-label": title }, el("h2", {}, title), ...children);
}

/** Shows a state in words, with a color for good and bad ones. */
export function badge(text, kind) { return el("span", { class: `badge ${kind ?? ""}` }, text); }

/** Shows a time of the server, without its date on the current day of the server's clock. */
export function time(text) {
  if (!text) return "";
  const [day, clock] = text.replace("Z", "").split("T");
  const shown = clock.split(".")[0];
  return el("time", { datetime: text, title: text }, day === state.today ? shown : `${day} ${shown}`);
}

export function milliseconds(value) {
  if (value === undefined) return "";
  return value < 1 ? "<\u{A0}1\u{A0}ms" : `${Math.round(value).toLocaleString("en")}\u{A0}ms`;
}

/** What the tabs know of each other. */
export const state = { today: "", overview: null, refresh: () => {} };

// MARK: Requests

const path = document.body.dataset.path;
const csrf = document.querySelector("meta[name=signet-console]").content;
const known = new Map();

export const consolePath = `${path}/console`;
export const serverPath = path;

/** The error of a request, with the server's message. */
export class Refusal extends Error {}

async function read(response) {
  const text = await response.text();
  let body = {};
  try { body = text ? JSON.parse(text) : {}; } catch { /* An error page of a proxy. */ }
  if (!response.ok) throw new Refusal(body.message ?? `The server answered with status ${response.status}.`);
  return body;
}

/** Reads a resource of the administration API; the same object again while it has not changed. */
export async function get(resource, query = {}) {
  const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== "" && value !== undefined));
  const address = `${consolePath}/admin${resource ? `/${resource}` : ""}${parameters.size ? `?${parameters}` : ""}`;
  const last = known.get(address);
  const headers = last ? { "If-None-Match": last.tag } : {};
  const response = await fetch(address, { headers, cache: "no-store" });
  if (response.status === 304 && last) return last.body;
  const body = await read(response);
  const tag = response.headers.get("etag");
  if (known.size > 100) known.clear();
  if (tag) known.set(address, { tag, body });
  return body;
}

/** Reads a picture of the administration API as an element. */
export async function picture(resource) {
  const response = await fetch(`${consolePath}/admin/${resource}`, { cache: "no-store" });
  if (!response.ok) await read(response);
  const parsed = new DOMParser().parseFromString(await response.text(), "image/svg+xml");
  return document.importNode(parsed.documentElement, true);
}

/** Changes a resource of the administration API. */
export async function send(method, resource, body) {
  return change(method, `${consolePath}/admin/${resource}`, body);
}

/** Sends a request that changes something to an address of the console. */
export async function change(method, address, body) {
  const headers = { "Signet-Console": csrf };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  return read(await fetch(address, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) }));
}

export const encoded = encodeURIComponent;

/** Names the realm of a user in a query, if it is not the top-level realm. */
export function inRealm(realm) { return realm && realm !== "/" ? `?realm=${encoded(realm)}` : ""; }

// MARK: Messages and dialogs

/** Shows a message for a while; an error stays until the next one. */
export function say(text, isError = false) {
  const place = document.getElementById("messages");
  const message = el("div", { class: isError ? "note error" : "note", role: isError ? "alert" : null }, el("p", {}, text));
  place.replaceChildren(message);
  if (!isError) setTimeout(() => message.remove(), 4000);
}

/** Runs an action, says what happened, and shows the new state. */
export async function act(done, action) {
  try {
    const result = await action();
    say(typeof done === "function" ? done(result) : done);
  } catch (error) {
    say(error.message, true);
  }
  await state.refresh();
}

/** Asks in a dialog. Returns the values of its fields by name, or null when the user cancels. */
export function ask(title, text, { confirm = "Continue", fields = [] } = {}) {
  return new Promise((resolve) => {
    const form = el("form", { method: "dialog" }, el("h2", { id: "dialog-title" }, title), text ? el("p", {}, text) : null,
      fields,
      el("div", { class: "buttons" }, el("button", { value: "yes" }, confirm),
        el("button", { value: "no", class: "plain", formnovalidate: true }, "Cancel")));
    const dialog = el("dialog", { "aria-labelledby": "dialog-title" }, form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes" ? Object.fromEntries(new FormData(form)) : null);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Asks before an action that cannot be undone. */
export async function confirmed(title, text, confirm, done, action) {
  if (await ask(title, text, { confirm })) await act(done, action);
}

/** Copies a text, and says so. */
export function copyButton(text, label) {
  return button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(text);
      say("Copied.");
    } catch {
      say("The browser does not allow copying. Select the text instead.", true);
    }
  }, { "aria-label": `Copy ${label}` });
}

// MARK: Lists

/**
 * A table that changes in place: rows that stay the same keep their elements, and the focus.
 *
 * columns: title and a function that returns the content of a row's cell. key: the key of a row. detail: shows a chosen row.
 */
export class List {
  constructor(title, { columns, key, detail = null, empty = "None.", matches = null, more = [] }) {
    Object.assign(this, { title, columns, key, detail, empty, matches });
    this.rows = [];
    this.shown = new Map();
    this.limit = 100;
    this.count = el("p", { class: "quiet", role: "status" });
    this.body = el("tbody");
    this.table = el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": title }, el("table", {},
      el("thead", {}, el("tr", {}, columns.map(([name]) => el("th", { scope: "col" }, name)))), this.body));
    this.none = el("p", { class: "quiet" }, empty);
    this.next = button("Show more", () => { this.limit += 200; this.draw(); });
    this.panel = el("div", { class: "detail", hidden: true });
    this.filter = matches
      ? el("input", { type: "search", autocomplete: "off", input: () => { this.limit = 100; this.draw(); } }) : null;
    const controls = [this.filter ? field("Filter", this.filter) : null, ...more];
    this.element = section(title, controls.some(Boolean) ? el("div", { class: "controls" }, controls) : null, this.count,
      this.none, this.table, this.next, this.panel);
  }

  /** Shows other rows. */
  update(rows) {
    this.rows = rows;
    this.draw();
  }

  draw() {
    const text = this.filter?.value.trim().toLowerCase() ?? "";
    const found = text ? this.rows.filter((row) => this.matches(row).join(" ").toLowerCase().includes(text)) : this.rows;
    const rows = found.slice(0, this.limit);
    const focused = document.activeElement;
    const next = new Map();
    for (const row of rows) {
      const key = String(this.key(row));
      const content = JSON.stringify(row) + (this.chosen === key) + state.today;
      const old = this.shown.get(key);
      next.set(key, old?.content === content ? old : { content, element: this.line(row, key) });
    }
    const isSame = next.size === this.body.children.length
      && [...next.values()].every((entry, index) => entry.element === this.body.children[index]);
    if (!isSame) this.body.replaceChildren(...[...next.values()].map((entry) => entry.element));
    this.restoreFocus(focused);
    this.shown = next;
    this.none.hidden = rows.length > 0;
    this.none.textContent = text && this.rows.length ? "Nothing matches the filter." : this.empty;
    this.table.hidden = rows.length === 0;
    this.next.hidden = found.length <= rows.length;
    this.count.textContent = text || found.length > rows.length ? `${rows.length} of ${this.rows.length}` : "";
    this.count.hidden = !this.count.textContent;
  }

  /** Gives the focus back to the element that had it, or to the one that took its place. */
  restoreFocus(focused) {
    if (!focused || focused === document.activeElement) return;
    if (this.body.contains(focused)) return focused.focus({ preventScroll: true });
    const label = focused.dataset?.focus;
    const same = label && [...this.body.querySelectorAll("[data-focus]")].find((other) => other.dataset.focus === label);
    same?.focus({ preventScroll: true });
  }

  line(row, key) {
    const cells = this.columns.map(([, cell], index) => {
      const content = [cell(row)].flat();
      if (index > 0 || !this.detail) return el("td", {}, content);
      const isOpen = this.chosen === key;
      return el("td", {}, el("button", {
        type: "button", class: "link", "aria-expanded": String(isOpen), "data-focus": `row ${key}`,
        click: () => (isOpen ? this.close() : this.open(key)),
      }, content));
    });
    return el("tr", { class: this.chosen === key ? "chosen" : null }, cells);
  }

  /** Shows the details of a row below the table. */
  async open(key) {
    this.chosen = key;
    this.panelText = "";
    this.draw();
    await this.drawDetail();
    this.panel.scrollIntoView({ block: "nearest" });
  }

  close() {
    this.chosen = null;
    this.panel.hidden = true;
    this.panel.replaceChildren();
    this.draw();
  }

  /** Shows the details again, if what they show has changed. */
  async drawDetail() {
    const key = this.chosen;
    if (!key || !this.detail) return;
    const row = this.rows.find((row) => String(this.key(row)) === key);
    const content = await this.detail.load(row, key);
    if (this.chosen !== key) return;
    if (!content) return this.close();
    const text = JSON.stringify(content);
    if (text === this.panelText) return;
    this.panelText = text;
    this.panel.replaceChildren(
      el("div", { class: "detail-head" }, el("h3", {}, this.detail.title(content)),
        button("Close", () => this.close(), { "aria-label": "Close the details" })),
      ...[await this.detail.draw(content)].flat());
    this.panel.hidden = false;
  }
}
