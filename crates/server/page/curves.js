// Learning curves: of running trials, of the latest that were stopped or finished, and of the best.

import { get, of } from "./api.js";
import { card, h, link, table } from "./dom.js";
import { count, short } from "./format.js";
import { Plot, dot, faint, isSteep, powers } from "./plot.js";

/** The share of curves that the picture is made for: the others, which end worst, may leave it. */
const TOLD = 0.8;

/** The lowest and the highest value; their logarithms to base 10 where low values are good and far apart. */
function range(curves, direction) {
  const sign = direction === "maximise" ? -1 : 1;
  const told = curves.toSorted((a, b) => sign * (a.y.at(-1) - b.y.at(-1))).slice(0, Math.max(3, Math.ceil(curves.length * TOLD)));
  const all = told.flatMap((curve) => curve.y);
  const [low, high] = [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
  const log = direction !== "maximise" && isSteep(low, high);
  if (log) return { log, low: Math.log10(low) - 0.1, high: Math.log10(high) + 0.1 };
  const pad = (high - low) * 0.06 || Math.abs(low) * 0.1 || 1;
  return { log, low: low - pad, high: high + pad };
}

/** A plot of curves `{ trial, standing, best, x, y }`; `data()` gives them, and `fidelity()` the range of their steps. */
export function plotCurves({ label, height, study, name, direction, data, fidelity, go }) {
  let chosen = -1;
  const up = (value) => plot.up(plot.y.log ? Math.log10(value) : value);
  const base = `/study/${encodeURIComponent(study)}`;
  const plot = new Plot({
    label, height, margin: { top: 26, bottom: 44 },
    paint(context) {
      const curves = data();
      if (!curves?.length) return;
      const c = plot.colours;
      const { low, high } = fidelity() ?? {};
      plot.x = { low: low ?? Math.min(...curves.map((curve) => curve.x[0])), high: high ?? Math.max(...curves.map((curve) => curve.x.at(-1))) };
      if (!(plot.x.high > plot.x.low)) plot.x.high = plot.x.low + 1;
      plot.y = range(curves, direction);
      const { log } = plot.y;
      plot.axes(context, { yText: log ? (power) => short(10 ** power) : short, yTicks: log ? powers(plot.y, plot.area.height) : undefined,
        xName: fidelity()?.name ?? "step", yName: log ? `${name}, log scale` : name });
      const colour = { running: c.good, stopped: c.soft, complete: c.accent, violating: c.warn };
      const rank = (curve) => (curve.best ? 3 : { running: 2, complete: 1 }[curve.standing] ?? 0);
      plot.inside(context, () => curves.map((curve, i) => [curve, i]).sort(([a], [b]) => rank(a) - rank(b)).forEach(([curve, i]) => {
        const shade = curve.best ? c.warm : colour[curve.standing] ?? c.soft;
        const strong = curve.best || i === chosen || curve.standing === "running";
        context.strokeStyle = i === chosen ? c.ink : faint(shade, strong ? 0.95 : 0.5);
        context.lineWidth = strong ? 2.2 : 1.3;
        context.setLineDash(curve.standing === "stopped" && !curve.best ? [5, 4] : []);
        context.beginPath();
        curve.x.forEach((x, k) => context.lineTo(plot.at(x), up(curve.y[k])));
        context.stroke();
        context.setLineDash([]);
        // Where a curve ends before its time, it was stopped there, or has come so far.
        context.fillStyle = context.strokeStyle;
        if (curve.standing !== "complete" || curve.x.length === 1) dot(context, plot.at(curve.x.at(-1)), up(curve.y.at(-1)), strong ? 3.5 : 2.4);
      }));
    },
    behind: () => table(["Trial", "State", { number: "Steps shown" }, { number: "Up to" }, { number: "Last value" }],
      (data() ?? []).map((curve) => [link(`${base}/trial/${curve.trial}`, `trial ${curve.trial}`), curve.standing, { number: count(curve.x.length) },
        { number: short(curve.x.at(-1)) }, { number: short(curve.y.at(-1)) }]), label),
  });
  const under = (px, py) => {
    let [best, least] = [-1, 12];
    (data() ?? []).forEach((curve, i) => curve.x.forEach((x, k) => {
      const far = Math.hypot(plot.at(x) - px, up(curve.y[k]) - py);
      if (far < least) [best, least] = [i, far];
    }));
    return best;
  };
  const say = (i) => {
    const curve = data()[i];
    return `trial ${curve.trial}, ${curve.standing}\n${short(curve.y.at(-1))} at ${short(curve.x.at(-1))}`;
  };
  plot.hover((px, py) => {
    const i = px === undefined ? -1 : under(px, py);
    if (i !== chosen) { chosen = i; plot.draw(); }
    plot.hint(i < 0 ? undefined : say(i), px, py);
  });
  plot.canvas.addEventListener("click", (event) => {
    const box = plot.canvas.getBoundingClientRect();
    const i = under(event.clientX - box.left, event.clientY - box.top);
    if (i >= 0) go?.(`${base}/trial/${data()[i].trial}`);
  });
  plot.canvas.addEventListener("keydown", (event) => {
    const curves = data() ?? [];
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step && curves.length) {
      chosen = (chosen + step + curves.length) % curves.length;
      plot.said.textContent = say(chosen);
      plot.draw();
      plot.hint(say(chosen), plot.at(curves[chosen].x.at(-1)), up(curves[chosen].y.at(-1)));
    } else if (event.key === "Enter" && chosen >= 0) go?.(`${base}/trial/${curves[chosen].trial}`);
    else return;
    event.preventDefault();
  });
  return plot;
}

export function curves(study, summary, go) {
  const fidelity = summary.goal?.fidelity;
  if (!fidelity) return null;
  let data = null;
  const name = summary.goal.objectives?.[0]?.name ?? "value";
  const plot = plotCurves({ label: "Curves", height: 330, study, name, direction: summary.direction, data: () => data?.curves, fidelity: () => data?.fidelity, go });
  const legend = h("div", { class: "legend" }, [["good", "running"], ["warm", "best"], ["accent", "finished"], ["soft", "stopped early"]]
    .map(([colour, name]) => h("span", {}, h("i", { class: `line k-${colour}` }), name)));
  const element = card("Curves", { note: `${name} over ${fidelity.name}` }, plot.element, legend);
  async function load() {
    data = await get(of(study, "curves"));
    const running = data.curves.filter((curve) => curve.standing === "running").length;
    plot.caption.textContent = data.curves.length ? `${count(running)} running, and the latest ${count(data.curves.length - running)} others` : "No trial has reported a step yet.";
    plot.describe(plot.caption.textContent);
    plot.draw();
  }
  return { element, load };
}
