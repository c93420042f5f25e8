// Which page an address means, and what stays from page to page.

import { fill, h, link } from "./dom.js";
import { redraw } from "./plot.js";
import { compare, studies } from "./studies.js";
import { study } from "./study.js";
import { theme } from "./theme.js";
import { trial } from "./trial.js";

const main = document.getElementById("main");
const crumbs = document.getElementById("crumbs");
const lamp = document.getElementById("live");
let leave = null;
let visit = 0;

function live(state, message) {
  lamp.dataset.state = state ?? "";
  lamp.textContent = state === "on" ? "live" : state === "off" ? "not connected" : "";
  lamp.title = message ?? "";
}

function go(address) {
  window.history.pushState(null, "", address);
  show();
}

async function show() {
  const mine = ++visit;
  leave?.();
  leave = null;
  live();
  const parts = location.pathname.split("/").filter(Boolean).map(decodeURIComponent);
  const [kind, name, , number] = parts;
  const home = link("/", "Studies");
  const base = name && `/study/${encodeURIComponent(name)}`;
  fill(crumbs, kind === "study" && [h("li", {}, home), h("li", {}, number === undefined ? name : link(base, name)), number !== undefined && h("li", {}, `trial ${number}`)],
    kind === "compare" && [h("li", {}, home), h("li", {}, "side by side")]);
  document.title = [number !== undefined && `trial ${number}`, name, "wimble"].filter(Boolean).join(" · ");
  scrollTo(0, 0);
  try {
    let left;
    if (kind === "study" && number !== undefined) left = await trial(main, name, number);
    else if (kind === "study" && name) left = await study(main, name, go, live);
    else if (kind === "compare") left = await compare(main);
    else left = await studies(main, go);
    // Somebody may have gone on meanwhile.
    if (mine === visit) leave = left ?? null;
    else left?.();
  } catch (error) {
    if (mine !== visit) return;
    fill(main, h("div", { class: "message", role: "alert" }, h("strong", {}, error.status === 404 ? "Not found" : "This did not work"), error.message,
      h("p", {}, link("/", "All studies"))));
  }
  main.focus({ preventScroll: true });
}

document.addEventListener("click", (event) => {
  const anchor = event.target.closest?.("a[data-link]");
  if (!anchor || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  go(anchor.getAttribute("href"));
});
addEventListener("popstate", show);
theme(document.getElementById("theme"), redraw);
show();
