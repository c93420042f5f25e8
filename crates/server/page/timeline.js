// Who evaluated what, and when.

import { get, of } from "./api.js";
import { card, h, link, table } from "./dom.js";
import { clock, count, duration } from "./format.js";
import { Plot, brush, drawBrush, faint, walk } from "./plot.js";

export function timeline(study, summary, go) {
  const view = { from: null, to: null };
  let data = null;
  let bars = [];
  let rows = { lane: [], first: [], count: 0 };
  let row = 22;
  const plot = new Plot({
    label: "Timeline of workers", height: 80, brush: true, margin: { left: 12, top: 4 },
    paint(context) {
      if (!data) return;
      const c = plot.colours;
      plot.margin.left = Math.min(190, 22 + Math.max(40, ...data.workers.map((name) => context.measureText(name.slice(0, 26)).width)));
      plot.area.left = plot.margin.left;
      plot.area.width = Math.max(10, plot.width - plot.margin.left - plot.margin.right);
      plot.x = data.x;
      const began = data.x.low;
      plot.axes(context, { yTicks: [], xText: (x) => `+${duration(x - began)}`, xTicks: spread(data.x) });
      const gap = row / 5.5;
      context.textAlign = "right";
      context.textBaseline = "middle";
      context.fillStyle = c.soft;
      data.workers.forEach((name, i) => {
        const text = name.length > 26 ? `${name.slice(0, 25)}…` : name;
        const [from, to] = [rows.first[i], rows.first[i + 1] ?? rows.count];
        context.fillText(text, plot.area.left - 10, plot.area.top + (from + to) / 2 * row, plot.margin.left - 14);
      });
      const colour = { complete: c.accent, failed: c.bad, infeasible: c.warn, violating: c.warn, running: c.good, queued: c.soft, stopped: c.soft };
      bars = [];
      plot.inside(context, () => {
        data.trial.forEach((trial, i) => {
          const x1 = plot.at(data.start[i]);
          const x2 = Math.max(x1 + 1.5, plot.at(data.end[i] ?? data.x.high));
          const y = plot.area.top + (rows.first[data.worker[i]] + rows.lane[i]) * row + gap;
          context.fillStyle = faint(colour[data.standing[i]] ?? c.soft, data.standing[i] === "running" ? 0.55 : 0.85);
          context.fillRect(x1, y, Math.max(1, x2 - x1 - 0.7), row - 2 * gap);
          if (data.lost[i]) {
            context.fillStyle = c.bad;
            context.fillRect(x1, y - gap / 2, 3, row - gap);
          }
          bars.push([x1, x2, y, i]);
        });
        drawBrush(context, plot);
      });
    },
    behind: () => table(["Trial", "Worker", "State", "Began", { number: "Took" }, { number: "Leases lost" }],
      data ? data.trial.map((trial, i) => [link(`/study/${encodeURIComponent(study)}/trial/${trial}`, `trial ${trial}`),
        data.workers[data.worker[i]], data.standing[i], clock(data.start[i]),
        { number: data.end[i] === null ? "running" : duration(data.end[i] - data.start[i]) }, { number: data.lost[i] }]).reverse().slice(0, 300) : [],
      "Evaluations, the latest first"),
  });
  const back = h("button", { type: "button", hidden: true, onclick: () => zoom(null, null) }, "Show all");
  const legend = h("div", { class: "legend" }, [["accent", "complete"], ["good", "running"], ["bad", "failed"], ["warn", "infeasible or violating"], ["soft", "stopped early or paused"], ["bad line", "a lease of it was lost before"]]
    .map(([k, name]) => h("span", {}, h("i", { class: `k-${k}` }), name)));
  const element = card("Workers", { tools: back }, plot.element, legend);

  function zoom(from, to) {
    Object.assign(view, { from, to });
    back.hidden = from === null;
    return load();
  }

  async function load() {
    data = await get(of(study, "timeline"), view);
    rows = lanes(data);
    row = rows.count > 24 ? 12 : 22;
    plot.height = Math.max(2, rows.count) * row + 34;
    plot.caption.textContent = [`${count(data.trial.length)} evaluations`, data.more_bars && `${count(data.more_bars)} earlier ones left out`,
      data.more_workers && `${data.more_workers} more workers`].filter(Boolean).join(" · ");
    plot.describe(`${data.trial.length} evaluations by ${data.workers.length} workers`);
    plot.draw();
  }
  const under = (x, y) => bars.findLast(([x1, x2, top]) => x >= x1 - 2 && x <= x2 + 2 && y >= top - row / 8 && y <= top + row * 0.8)?.[3];
  const say = (i) => {
    const took = data.end[i] === null ? "still running" : duration(data.end[i] - data.start[i]);
    return `trial ${data.trial[i]}, ${data.standing[i]}\n${data.workers[data.worker[i]]}\n${took}${data.lost[i] ? `\nlost ${data.lost[i]} times before` : ""}`;
  };
  const open = (i) => go(`/study/${encodeURIComponent(study)}/trial/${data.trial[i]}`);
  plot.hover((x, y) => {
    const i = x === undefined ? undefined : under(x, y);
    plot.hint(i === undefined ? undefined : say(i), x, y);
  });
  brush(plot, zoom, (x, y) => {
    const i = under(x, y);
    if (i !== undefined) open(i);
  });
  walk(plot, () => bars.map(([x1, x2, y, i]) => ({ x: (x1 + x2) / 2, y: y + row * 0.3, text: () => say(i), open: () => open(i) })));
  plot.canvas.addEventListener("keydown", (event) => event.key === "Escape" && zoom(null, null));
  return { element, load };
}

/** The most rows of one worker. */
const LANES = 12;

/** Evaluations of one worker at the same time stand below one another: the row of each among those of its worker, the first row of each worker. */
function lanes(data) {
  const ends = data.workers.map(() => []);
  const lane = [];
  for (const i of data.start.map((_, i) => i).sort((a, b) => data.start[a] - data.start[b])) {
    const mine = ends[data.worker[i]];
    const free = mine.findIndex((end) => end <= data.start[i]);
    lane[i] = free >= 0 ? free : Math.min(mine.length, LANES - 1);
    mine[lane[i]] = data.end[i] ?? Infinity;
  }
  const first = [];
  let count = 0;
  for (const mine of ends) {
    first.push(count);
    count += Math.max(1, mine.length);
  }
  return { lane, first, count };
}

/** Round durations after the beginning. */
function spread({ low, high }) {
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 72e5, 216e5, 432e5, 864e5, 1728e5, 6048e5];
  const step = steps.find((s) => (high - low) / s <= 7) ?? 864e5 * 30;
  const found = [];
  for (let at = 0; at <= high - low; at += step) found.push(low + at);
  return found;
}
