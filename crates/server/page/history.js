// The best value so far, and all values.

import { get, of } from "./api.js";
import { card, choice, h, link, table } from "./dom.js";
import { count, duration, short } from "./format.js";
import { Plot, brush, dot, drawBrush, faint, isSteep, nearest, powers, ring, steps } from "./plot.js";

export function history(study, summary, go) {
  const view = { by: "trial", from: null, to: null, whole: false, log: false, objective: 0 };
  const direction = () => summary.goal?.objectives?.[view.objective]?.direction ?? summary.direction;
  let data = null;
  let band = null;
  let chosen = -1;
  let request = 0;

  const up = (value) => plot.up(view.log ? Math.log10(value) : value);
  const x = (value) => (view.by === "time" ? duration(value) : count(value));
  const plot = new Plot({
    label: "History", height: 320, brush: true, margin: { top: 26, bottom: 44 },
    paint(context) {
      if (!data) return;
      plot.x = data.x;
      const pad = (data.y.high - data.y.low) * 0.04 || 1;
      plot.y = { low: data.y.low - pad, high: data.y.high + pad };
      const c = plot.colours;
      plot.axes(context, { xText: x, yText: view.log ? (power) => short(10 ** power) : short, yTicks: view.log ? powers(plot.y, plot.area.height) : undefined,
        xName: view.by === "time" ? "since the study began" : "trial", yName: `${objectives[view.objective]?.name ?? "value"}${view.log ? ", log scale" : ""}` });
      plot.inside(context, () => {
        if (data.grid) {
          plot.y = data.y;
          plot.grid(context, data.grid, c.accent);
        } else {
          context.fillStyle = faint(c.accent, data.points.x.length > 400 ? 0.45 : 0.7);
          const radius = data.points.x.length > 400 ? 2.2 : 3;
          data.points.x.forEach((at, i) => dot(context, plot.at(at), up(data.points.y[i]), radius));
        }
        drawBand(context, c.good);
        steps(context, plot, data.best.x, data.best.y, c.warm, up);
        const most = Math.max(...data.failed, 1);
        const width = plot.area.width / data.failed.length;
        context.fillStyle = faint(c.bad, 0.8);
        data.failed.forEach((failed, i) => {
          if (!failed) return;
          const tall = 4 + 10 * (failed / most);
          const wide = Math.min(6, Math.max(2, width - 1));
          context.fillRect(plot.area.left + (i + 0.5) * width - wide / 2, plot.area.top + plot.area.height - tall, wide, tall);
        });
        if (chosen >= 0 && data.points && chosen < data.points.x.length) {
          ring(context, plot.at(data.points.x[chosen]), up(data.points.y[chosen]), c.ink);
        }
        drawBrush(context, plot);
      });
    },
    behind: () => {
      const expected = (trial) => {
        const i = band?.trial.indexOf(trial) ?? -1;
        return i < 0 ? "–" : `${short(band.mean[i])} (${short(band.low[i])} to ${short(band.high[i])})`;
      };
      return table(["Trial", { number: view.by === "time" ? "After" : "Number" }, { number: "Best value" }, { number: "The model expects" }],
        data ? data.best.trial.map((trial, i) => [link(`/study/${encodeURIComponent(study)}/trial/${trial}`, `trial ${trial}`),
          { number: x(data.best.x[i]) }, { number: short(data.best.y[i]) }, { number: expected(trial) }]).reverse() : [], "Improvements, the latest first");
    },
  });

  /** What the model expects of the best so far, and two deviations on both sides: each holds until the next best. */
  function drawBand(context, colour) {
    if (!band?.x.length) return;
    const y = (value) => up(view.log ? Math.max(value, 1e-300) : value);
    context.fillStyle = faint(colour, 0.16);
    band.x.forEach((from, i) => {
      const [left, right] = [plot.at(from), plot.at(band.x[i + 1] ?? plot.x.high)];
      const [top, bottom] = [y(band.high[i]), y(band.low[i])];
      context.fillRect(left, Math.min(top, plot.area.top + plot.area.height), right - left, Math.max(1, Math.min(bottom, plot.area.top + plot.area.height) - top));
    });
    context.setLineDash([4, 3]);
    steps(context, plot, band.x, band.mean, colour, y, 1.5);
    context.setLineDash([]);
  }

  const back = h("button", { type: "button", hidden: true, onclick: () => zoom(null, null) }, "Show all");
  const whole = h("button", { type: "button", hidden: true, "aria-pressed": "false", onclick: () => {
    view.whole = !view.whole;
    whole.setAttribute("aria-pressed", String(view.whole));
    load();
  } }, "Worst values too");
  const log = h("button", { type: "button", hidden: true, "aria-pressed": "false", onclick: () => {
    view.log = !view.log;
    log.setAttribute("aria-pressed", String(view.log));
    load();
  } }, "Log scale");
  const legend = h("div", { class: "legend" },
    h("span", {}, h("i", { class: "k-accent" }), "value of a trial"),
    h("span", {}, h("i", { class: "line k-warm" }), "best so far"),
    h("span", {}, h("i", { class: "k-bad" }), "failed, infeasible or violating a constraint"));
  const expects = h("span", { hidden: true }, h("i", { class: "k-good" }), "what the model expects of the best so far, ± 2 deviations");
  legend.append(expects);
  const objectives = summary.goal?.objectives ?? [];
  const tools = h("div", { class: "tools" },
    objectives.length > 1 && choice("Objective", objectives.map((o, i) => [i, o.name]), 0, (i) => {
      Object.assign(view, { objective: i, log: false });
      log.setAttribute("aria-pressed", "false");
      data = null;
      load();
    }),
    choice("Over", [["trial", "Trials"], ["time", "Time"]], "trial", (by) => { view.by = by; zoom(null, null); }), log, whole, back);
  const element = card("Best so far", { tools }, plot.element, legend);

  function zoom(from, to) {
    if (from !== null && data) [from, to] = [Math.max(from, data.all.low), Math.min(to, data.all.high)];
    Object.assign(view, { from, to });
    chosen = -1;
    band = null;
    back.hidden = from === null;
    return load().then(loadModel);
  }

  async function load() {
    const mine = ++request;
    const width = Math.min(420, Math.max(80, Math.round((plot.canvas.clientWidth || 800) / 3)));
    const got = await get(of(study, "history"), { ...view, whole: view.whole || undefined, log: view.log || undefined, width, height: 100 });
    if (mine !== request) return;
    // The first look shows the scale on which progress is seen; people may change it.
    if (!data && got.positive && direction() === "minimise" && isSteep(got.best.y.at(-1), got.best.y[0])) {
      log.setAttribute("aria-pressed", "true");
      data = got;
      // A picture of many trials took its time: it is shown until the better one comes.
      if (data.grid) plot.draw();
      view.log = true;
      return load();
    }
    data = got;
    whole.hidden = !view.whole && !data.beyond;
    log.hidden = !view.log && !data.positive;
    const best = data.best.y.at(-1);
    plot.caption.textContent = [
      data.grid ? `${count(data.shown)} values; darker means more of them` : `${count(data.shown)} values`,
      stopped() && `${count(stopped())} stopped early have none`,
      data.beyond && `${count(data.beyond)} too ${direction() === "maximise" ? "low" : "high"} for this picture`,
      "drag to zoom, arrow keys to walk",
    ].filter(Boolean).join(" · ");
    plot.describe(best === undefined ? "no values yet" : `${data.shown} values, best so far ${short(best)} of trial ${data.best.trial.at(-1)}`);
    plot.draw();
  }

  /** How many trials of the whole study were stopped before they had a value. */
  function stopped() {
    const { valued, failed, infeasible } = summary.counts;
    const known = data.shown + data.failed.reduce((sum, n) => sum + n, 0);
    return summary.goal?.fidelity && view.from === null ? Math.max(0, valued + failed + infeasible - known) : 0;
  }

  /** The band asks the model, and comes later than the rest. */
  async function loadModel() {
    if (objectives.length > 1) return;
    const { by, from, to } = view;
    const got = await get(of(study, "band"), { by, from, to });
    if (by !== view.by || from !== view.from || to !== view.to) return;
    band = got.band;
    expects.hidden = !band;
    plot.draw();
  }

  const open = (i) => go(`/study/${encodeURIComponent(study)}/trial/${data.points.trial[i]}`);
  const under = (px, py) => data?.points ? nearest(data.points.x.map((v) => plot.at(v)), data.points.y.map(up), px, py) : -1;
  plot.hover((px, py) => {
    const i = px === undefined ? -1 : under(px, py);
    if (i < 0) return plot.hint();
    plot.hint(`trial ${data.points.trial[i]}\n${short(data.points.y[i])}${view.by === "time" ? `\nafter ${duration(data.points.x[i])}` : ""}`, px, py);
  });
  brush(plot, zoom, (px, py) => {
    const i = under(px, py);
    if (i >= 0) open(i);
  });
  plot.canvas.addEventListener("dblclick", () => zoom(null, null));
  plot.canvas.addEventListener("keydown", (event) => {
    if (!data) return;
    const span = data.x.high - data.x.low;
    const middle = (data.x.low + data.x.high) / 2;
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step && data.points?.x.length) {
      const last = data.points.x.length - 1;
      chosen = chosen < 0 ? (step > 0 ? 0 : last) : Math.min(last, Math.max(0, chosen + step));
      plot.said.textContent = `trial ${data.points.trial[chosen]}, ${short(data.points.y[chosen])}`;
      plot.draw();
      plot.hint(`trial ${data.points.trial[chosen]}\n${short(data.points.y[chosen])}`, plot.at(data.points.x[chosen]), up(data.points.y[chosen]));
    } else if (event.key === "Enter" && chosen >= 0) open(chosen);
    else if (event.key === "+") zoom(middle - span / 4, middle + span / 4);
    else if (event.key === "-") zoom(Math.max(data.all.low, middle - span), Math.min(data.all.high, middle + span));
    else if (event.key === "Escape") zoom(null, null);
    else return;
    event.preventDefault();
  });
  return { element, load, loadModel };
}
