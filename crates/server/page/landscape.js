// The batch that was proposed last, over two parameters: where its points lie, which trials were pending, and what the model
// expected there.

import { get, of } from "./api.js";
import { card, fill, h, link, table } from "./dom.js";
import { ago, short, shown } from "./format.js";
import { Plot, channels, clip, dot, faint, ticks, touch } from "./plot.js";
import { at, ticks as marks, words } from "./scale.js";

/** Up to this many points have their probability beside them. */
const LABELLED = 16;

export function landscape(study, summary, go) {
  const dimensions = summary.parameters;
  if (dimensions.length < 2) return null;
  let [x, y] = [0, 1];
  let batch = null;
  let surface = null;
  let scatter = [];
  const plot = new Plot({
    label: "The last batch over two parameters", height: 400, margin: { left: 72, top: 26, bottom: 44 },
    paint(context) {
      const c = plot.colours;
      [plot.x, plot.y] = [part(x), part(y)];
      if (surface) plot.inside(context, () => paintSurface(context, c), 0);
      const [xs, ys] = [marks(dimensions[x], plot.area.width / 90, short, ticks, plot.x), marks(dimensions[y], plot.area.height / 55, short, ticks, plot.y)];
      const text = (list) => (place) => clip(context, list.find(([p]) => p === place)?.[1] ?? "", list === ys ? plot.margin.left - 10 : plot.area.width / list.length - 8);
      plot.axes(context, { xTicks: xs.map(([p]) => p), xText: text(xs), yTicks: ys.map(([p]) => p), yText: text(ys), xName: dimensions[x].name, yName: dimensions[y].name });
      if (!batch) return;
      plot.inside(context, () => {
        const [a, b] = [scatter[x], scatter[y]];
        if (a?.trial.length && b?.trial.length) {
          const heights = new Map(b.trial.map((trial, i) => [trial, b.place[i]]));
          context.fillStyle = faint(c.ink, 0.28);
          a.trial.forEach((trial, i) => heights.has(trial) && dot(context, plot.at(a.place[i]), plot.up(heights.get(trial)), 1.8));
        }
        const ring = (places, colour, radius, width) => {
          context.strokeStyle = colour;
          context.lineWidth = width;
          for (const place of places) {
            if (place[x] === null || place[y] === null) continue;
            context.beginPath();
            context.arc(plot.at(place[x]), plot.up(place[y]), radius, 0, 7);
            context.stroke();
          }
        };
        repulsion(context, c);
        ring(batch.pending_places, c.soft, 6, 2);
        ring(batch.places, c.card, 6.5, 5);
        ring(batch.places, c.warm, 6.5, 2.5);
        context.fillStyle = c.warm;
        batch.places.forEach((place) => place[x] !== null && place[y] !== null && dot(context, plot.at(place[x]), plot.up(place[y]), 2.2));
        if (batch.places.length <= LABELLED) probabilities(context, c);
      });
    },
    behind: () => table(["Trial", "State", { number: "Expected" }, { number: "Good with probability" }, ...dimensions.map((d) => d.name)],
      batch ? batch.trial.map((trial, i) => {
        const forecast = batch.forecast?.[i];
        return [link(`/study/${encodeURIComponent(study)}/trial/${trial}`, `trial ${trial}`), batch.standing[i],
          { number: short(forecast?.mean) }, { number: forecast?.good ? forecast.good.probability.toFixed(3) : "–" },
          ...dimensions.map((d) => shown(batch.params[i][d.name] ?? "–"))];
      }) : [], "The last batch"),
  });
  const pick = (label, chosen, set) => h("label", { class: "small soft" }, `${label} `, h("select", { onchange: (event) => { set(Number(event.target.value)); load(); } },
    dimensions.map((d, k) => h("option", { value: String(k), selected: k === chosen }, d.name))));
  const note = h("span", { class: "note" }, "Asking the model …");
  const other = (taken) => (taken === 0 ? 1 : 0);
  const pickers = h("div", { class: "tools" });
  let isClose = false;
  const closer = h("button", { type: "button", "aria-pressed": "false", onclick: () => {
    isClose = !isClose;
    closer.setAttribute("aria-pressed", String(isClose));
    load();
  } }, "Closer");
  const drawPickers = () => fill(pickers, closer,
    pick("Across", x, (k) => { x = k; if (y === x) y = other(x); drawPickers(); }),
    pick("Up", y, (k) => { y = k; if (x === y) x = other(y); drawPickers(); }));
  drawPickers();
  const legend = h("div", { class: "legend" },
    h("span", {}, h("i", { class: "ring k-warm" }), "proposed together last"),
    h("span", {}, h("i", { class: "ring k-soft" }), "pending before: it repelled them"),
    h("span", {}, h("i", { class: "dots" }), "the nearest point, which repels hardest"),
    h("span", {}, h("i", { class: "k-accent" }), "where the model expects good values"));
  const element = card("The last batch", { tools: pickers, note }, plot.element, legend);

  /** What is shown of a parameter: all of it, or where the batch and what was pending lie. */
  function part(k) {
    const places = isClose && batch && !words(dimensions[k]) ? [...batch.places, ...batch.pending_places].map((place) => place[k]).filter((place) => place !== null) : [];
    if (!places.length) return { low: 0, high: 1 };
    const [low, high] = [Math.min(...places), Math.max(...places)];
    const room = Math.max(0.01, (high - low) * 0.3);
    return { low: Math.max(0, low - room), high: Math.min(1, high + room) };
  }

  /** Each point of the batch with what lies nearest to it in all parameters: the point that pushed it away hardest. */
  function repulsion(context, c) {
    const others = [...batch.pending_places, ...batch.places];
    context.strokeStyle = faint(c.ink, 0.45);
    context.lineWidth = 1.2;
    context.setLineDash([2, 3]);
    batch.places.forEach((place, i) => {
      const far = (other) => Math.sqrt(place.reduce((sum, v, k) => sum + ((v ?? 0) - (other[k] ?? 0)) ** 2, 0));
      let [near, least] = [null, Infinity];
      others.forEach((other, j) => {
        if (j !== batch.pending_places.length + i && far(other) < least) [near, least] = [other, far(other)];
      });
      if (!near || [place[x], place[y], near[x], near[y]].includes(null)) return;
      context.beginPath();
      context.moveTo(plot.at(place[x]), plot.up(place[y]));
      context.lineTo(plot.at(near[x]), plot.up(near[y]));
      context.stroke();
    });
    context.setLineDash([]);
  }

  /** The probability of a good value beside each point of a small batch, where there is room for it. */
  function probabilities(context, c) {
    context.textBaseline = "middle";
    context.lineWidth = 3;
    const taken = batch.places.filter((place) => place[x] !== null && place[y] !== null)
      .map((place) => [plot.at(place[x]) - 7, plot.up(place[y]) - 7, plot.at(place[x]) + 7, plot.up(place[y]) + 7]);
    batch.places.forEach((place, i) => {
      const good = batch.forecast?.[i]?.good;
      if (!good || place[x] === null || place[y] === null) return;
      const left = plot.at(place[x]) > plot.area.left + plot.area.width - 60;
      context.textAlign = left ? "right" : "left";
      const text = good.probability < 0.005 ? "<0.01" : good.probability.toFixed(2);
      const at = [text, plot.at(place[x]) + (left ? -11 : 11), plot.up(place[y])];
      const wide = context.measureText(text).width;
      const box = [left ? at[1] - wide : at[1], at[2] - 7, left ? at[1] : at[1] + wide, at[2] + 7];
      if (taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) return;
      taken.push(box);
      context.strokeStyle = c.card;
      context.strokeText(...at);
      context.fillStyle = c.ink;
      context.fillText(...at);
    });
  }

  function paintSurface(context, c) {
    const { places: [xs, ys], forecast } = surface;
    const score = forecast.map((f) => (f === null ? null : f.mean === undefined ? f.good?.probability ?? null : summary.direction === "maximise" ? f.mean : -f.mean));
    const known = score.filter((s) => s !== null).sort((a, b) => a - b);
    if (!known.length) return;
    const colour = channels(c.accent);
    // By rank: a landscape of a few steep places is otherwise all one shade.
    const share = new Map(known.map((s, i) => [s, i / Math.max(1, known.length - 1)]));
    const edges = (list, { low, high }) => list.map((v, i) => [i ? (list[i - 1] + v) / 2 : low, i < list.length - 1 ? (v + list[i + 1]) / 2 : high]);
    const [ex, ey] = [edges(xs, plot.x), edges(ys, plot.y)];
    ys.forEach((_, j) => xs.forEach((_, i) => {
      const s = score[j * xs.length + i];
      if (s === null) return;
      context.fillStyle = `rgba(${colour}, ${0.62 * share.get(s) ** 2})`;
      // Whole pixels: cells neither overlap nor leave a gap.
      const [left, right] = ex[i].map((v) => Math.round(plot.at(v)));
      const [bottom, top] = ey[j].map((v) => Math.round(plot.up(v)));
      context.fillRect(left, top, right - left, bottom - top);
    }));
  }

  async function load() {
    [batch, { scatters: scatter }] = await Promise.all([get(of(study, "batch")), get(of(study, "scatters"))]);
    const [across, up] = [part(x), part(y)];
    const got = await get(of(study, "landscape"), { x: dimensions[x].name, y: dimensions[y].name,
      ...(isClose && { x_from: across.low, x_to: across.high, y_from: up.low, y_to: up.high }) });
    surface = got.landscape;
    const size = batch.trial.length;
    note.textContent = [batch.proposed && `${size} ${size === 1 ? "trial" : "trials"}, proposed ${ago(batch.proposed, Date.now())}`, !surface && `no landscape: ${got.reason}`].filter(Boolean).join("; ");
    plot.describe(`${size} trials proposed last, ${batch.pending.length} others pending`);
    plot.caption.textContent = surface ? ["Shade: the model, all other parameters as in the best trial", batch.forecast?.some((one) => one.good) && "numbers: the probability of a good value"].filter(Boolean).join(" · ") : "";
    plot.draw();
  }
  touch(plot, () => (batch?.trial ?? []).map((trial, i) => {
    const [place, forecast] = [batch.places[i], batch.forecast?.[i]];
    return { x: plot.at(place[x]), y: plot.up(place[y]),
      text: () => [`trial ${trial}, ${batch.standing[i]}`, forecast?.mean !== undefined && `expects ${short(forecast.mean)}`,
        forecast?.good && `good with probability ${forecast.good.probability.toFixed(3)}`].filter(Boolean).join("\n"),
      open: () => go(`/study/${encodeURIComponent(study)}/trial/${trial}`) };
  }));
  return { element, load };
}
