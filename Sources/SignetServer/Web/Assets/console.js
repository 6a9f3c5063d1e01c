// The console: its tabs, and the requests that keep the chosen one up to date.
import { el, get, say, state, time } from "./console-parts.js";
import { emails, faults, journeys, requests } from "./console-activity.js";
import { clock, overview, push, sessions, users } from "./console-state.js";

const tabs = { overview, journeys, users, sessions, push, emails, requests, faults, clock };
const main = document.getElementById("main");
const live = document.getElementById("live");
const links = [...document.querySelectorAll("nav a")];
const interval = 1500;

let current = null;
let timer = null;
let isRunning = false;
let hasFailed = false;

/** Shows the tab that the address names: #journeys, or #journeys/12 with something chosen in it. */
function choose() {
  const [name, ...rest] = location.hash.slice(1).split("/").map(decodeURIComponent);
  const id = tabs[name] ? name : "overview";
  if (current?.id !== id) {
    const tab = tabs[id]();
    current = { id, tab };
    const title = links.find((link) => link.hash === `#${id}`)?.textContent ?? "";
    document.title = `${title} · Console`;
    main.replaceChildren(...[tab.element].flat());
    for (const link of links) {
      const isCurrent = link.hash === `#${id}`;
      if (isCurrent) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
      if (isCurrent) link.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  }
  refresh().then(() => current.tab.open?.(rest));
}

/** Asks for the state of the server, and shows it. */
async function refresh() {
  if (isRunning) return;
  isRunning = true;
  const shown = current;
  try {
    state.overview = await get("");
    state.today = state.overview.clock.now.split("T")[0];
    showClock(state.overview.clock);
    await shown.tab.update();
    if (hasFailed) say("The server answers again.");
    hasFailed = false;
  } catch (error) {
    if (!hasFailed) say(error instanceof TypeError ? "The server does not answer." : error.message, true);
    hasFailed = true;
  } finally {
    isRunning = false;
  }
  // The tab was changed meanwhile.
  if (shown !== current) await refresh();
}
state.refresh = refresh;

function showClock({ now, offset, stopped }) {
  const parts = [time(now)];
  if (Math.abs(offset) >= 0.001) parts.push(" · moved");
  if (stopped) parts.push(" · stopped");
  document.getElementById("clock").replaceChildren("Clock ", ...parts);
}

function schedule() {
  clearTimeout(timer);
  const isOn = live.getAttribute("aria-pressed") === "true" && document.visibilityState === "visible";
  if (isOn) timer = setTimeout(() => refresh().then(schedule), interval);
}

live.addEventListener("click", () => {
  const isOn = live.getAttribute("aria-pressed") !== "true";
  live.setAttribute("aria-pressed", String(isOn));
  if (isOn) refresh();
  schedule();
});
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") refresh();
  schedule();
});
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
window.addEventListener("hashchange", choose);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const isTyping = event.target.closest("input, select, textarea");
  if (event.key === "Escape") {
    if (isTyping) event.target.blur();
    else document.querySelector(".detail:not([hidden]) .detail-head button")?.click();
  } else if (isTyping) {
    return;
  } else if (event.key === "/") {
    event.preventDefault();
    main.querySelector("input[type=search]")?.focus();
  } else if (/^[1-9]$/.test(event.key)) {
    links[Number(event.key) - 1]?.click();
  }
});

main.append(el("p", { class: "quiet" }, "Loading"));
choose();
schedule();
