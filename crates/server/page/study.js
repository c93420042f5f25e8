// One study, live.

import { get, listen, of } from "./api.js";
import { certificate } from "./certificate.js";
import { curves } from "./curves.js";
import { fill, h, link } from "./dom.js";
import { ago, clock, count, duration, short } from "./format.js";
import { front } from "./front.js";
import { history } from "./history.js";
import { insights } from "./insights.js";
import { landscape } from "./landscape.js";
import { limits } from "./limits.js";
import { parallel } from "./parallel.js";
import { slices } from "./slices.js";
import { timeline } from "./timeline.js";
import { trials } from "./trials.js";
import { volume } from "./volume.js";
import { writing } from "./writing.js";

/** Figures are drawn again this often at most: those of the store, and those of the model. */
const SOON = 700;
const LATER = 5000;
/** What is not on the screen is drawn once too, after this time, so that the whole page can be printed. */
const REST = 2500;
/** Up to this many finished trials, that holds for what asks the model as well. */
const SMALL = 2000;

/** Runs `work` one at a time: who calls meanwhile makes it run once more. */
function lane(work) {
  let [running, again] = [false, false];
  return async () => {
    again = true;
    if (running) return;
    running = true;
    try {
      while (again) {
        again = false;
        await work();
      }
    } finally {
      running = false;
    }
  };
}

export async function study(main, name, go, live) {
  let [summary, access] = await Promise.all([get(of(name, "summary")), get("/api/access")]);
  const base = `/study/${encodeURIComponent(name)}`;
  const tiles = h("dl", { class: "tiles" });
  const chip = h("span", { class: "chip" });
  const bar = h("div", { class: "loading", hidden: true, role: "progressbar", "aria-label": "Reading the study" });
  const slice = slices(name, summary, go);
  const batch = landscape(name, summary, go);
  const insight = insights(name, summary);
  const certain = certificate(name);
  const slow = new Map([[batch, 0], [certain, 0], [insight, 0]]);
  const parts = [history(name, summary, go), front(name, summary, go), volume(name, summary), limits(name, summary), curves(name, summary, go), insight, slice, parallel(name, summary, go), batch, certain,
    timeline(name, summary, go), trials(name, summary, go)].filter(Boolean);
  // What a part asks the model for, beside the rest of it: when it was last asked, and whether that is out of date.
  const models = new Map(parts.filter((part) => part.loadModel).map((part) => [part, { at: 0, stale: true }]));
  const change = access.write ? writing(name, summary, () => refreshSummary()) : null;
  fill(main,
    h("div", { class: "title" }, h("h1", {}, name), chip,
      h("span", { class: "soft small" }, `${(summary.goal?.objectives ?? []).map((o) => `${o.direction} ${o.name}`).join(", ") || `${summary.direction} value`} with ${summary.method}`)),
    bar, tiles, h("div", { class: "cards" }, change?.element, parts.map((part) => part.element)));

  function drawTiles() {
    const { counts, best, budget, rate, alive, now } = summary;
    const finished = counts.valued + counts.failed + counts.infeasible;
    const own = finished - counts.imported;
    const left = rate && budget > own ? (budget - own) / rate * 60000 : null;
    const state = summary.paused ? ["paused", "paused"] : alive ? ["alive", "running"] : own >= budget ? ["complete", "done"] : ["idle", "idle"];
    [chip.dataset.state, chip.textContent] = state;
    change?.update(summary);
    const tile = (title, value, note, extra) => h("div", { class: "tile" }, h("dt", {}, title), h("dd", {}, value, note && h("small", {}, note), extra));
    fill(tiles,
      tile(summary.goal?.objectives?.length > 1 ? `Best ${summary.goal.objectives[0].name}` : "Best value", best ? short(best.value) : "–", best && link(`${base}/trial/${best.trial}`, `trial ${best.trial}`)),
      tile("Finished", count(finished), `of ${count(budget)}${counts.imported ? `, ${count(counts.imported)} imported` : ""}`,
        h("progress", { max: "1", value: String(Math.min(1, own / budget)), "aria-label": "Progress" })),
      tile("Running", count(counts.running), counts.queued ? `${count(counts.queued)} queued` : "none queued"),
      tile("Failed", count(counts.failed), counts.infeasible ? `${count(counts.infeasible)} infeasible` : finished ? `${short(Number((100 * counts.failed / finished).toPrecision(2)))} %` : null),
      tile("Rate", rate ? `${short(Number(rate.toPrecision(3)))} / min` : "–", alive && left ? `about ${duration(left)} left` : null),
      tile("Last sign of life", ago(summary.last_sign, now), summary.last_sign && clock(summary.last_sign)));
  }
  async function refreshSummary() {
    summary = Object.assign(summary, await get(of(name, "summary")));
    drawTiles();
  }
  drawTiles();

  // Only what is on the screen is asked for; the rest is when it comes into view.
  const visible = new Set();
  const stale = new Set(parts);
  // What was never drawn, although it is not on the screen: see REST.
  const unseen = new Set();
  let again;
  const failed = (error) => live("off", error.message);
  const loadPart = async (part) => {
    stale.delete(part);
    unseen.delete(part);
    await part.load().catch((error) => {
      stale.add(part);
      failed(error);
    });
  };
  const isWanted = (part) => stale.has(part) && part.element.isConnected && (visible.has(part) || unseen.has(part));
  // Two lanes: what asks the model, which may have to be fitted first, does not hold up the rest.
  const drawStored = lane(async () => {
    for (const part of parts) if (!slow.has(part) && isWanted(part)) await loadPart(part);
  });
  const drawModelled = lane(async () => {
    for (const [part, asked] of models) {
      if (!visible.has(part) || !asked.stale || Date.now() - asked.at < LATER) continue;
      asked.stale = false;
      await part.loadModel().catch(failed);
      asked.at = Date.now();
    }
    for (const [part, at] of slow) {
      if (!part || !isWanted(part) || Date.now() - at < LATER) continue;
      await loadPart(part);
      slow.set(part, Date.now());
    }
  });
  function refresh() {
    drawStored();
    drawModelled();
  }
  const sight = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const part = parts.find((other) => other.element === target);
      if (isIntersecting) visible.add(part);
      else visible.delete(part);
    }
    refresh();
  }, { rootMargin: "200px" });
  parts.forEach((part) => sight.observe(part.element));
  const rest = setTimeout(() => {
    const { valued, failed, infeasible } = summary.counts;
    parts.filter((part) => stale.has(part) && (!slow.has(part) || valued + failed + infeasible <= SMALL)).forEach((part) => unseen.add(part));
    refresh();
  }, REST);
  let first = true;
  const end = listen(name, (event) => {
    bar.hidden = event.loaded >= 1;
    bar.style.width = `${Math.round(event.loaded * 100)}%`;
    if (first && event.loaded >= 1) {
      first = false;
      if (event.sequence === summary.sequence && !summary.goal?.fidelity) return;
    }
    parts.forEach((part) => stale.add(part));
    models.forEach((asked) => { asked.stale = true; });
    again ??= setTimeout(() => {
      again = undefined;
      refreshSummary().catch(failed);
      refresh();
    }, Math.min(SOON, 150));
  }, live);
  const pulse = setInterval(() => { refreshSummary().catch(failed); refresh(); }, 5000);
  return () => {
    end();
    sight.disconnect();
    clearInterval(pulse);
    clearTimeout(rest);
    clearTimeout(again);
  };
}
