// Values over each parameter, with what the model expects there.

import { get, of } from "./api.js";
import { card, fill, h, table } from "./dom.js";
import { short, shown } from "./format.js";
import { Plot, clip, dot, faint, line, ticks, touch } from "./plot.js";
import { at, ticks as marks, words } from "./scale.js";

export function slices(study, summary, go) {
  const dimensions = summary.parameters;
  let scatters = [];
  let model = new Map();
  const several = summary.goal?.objectives?.length > 1;
  const name = several ? summary.goal.objectives[0].name : "value";
  const note = h("span", { class: "note" }, "Asking the model …");
  const holder = h("div", { class: "multiples" });
  const plots = dimensions.map((dimension, k) => {
    const plot = new Plot({
      label: `Values over ${dimension.name}`, height: 180, margin: { left: 52, bottom: 24, top: 6 },
      paint(context) {
        const data = scatters[k];
        if (!data) return;
        const c = plot.colours;
        const slice = model.get(dimension.name);
        plot.x = { low: 0, high: 1 };
        // A grid fills its range; dots need room at the edges.
        const pad = data.grid ? 0 : (data.y.high - data.y.low) * 0.05;
        plot.y = { low: data.y.low - pad, high: data.y.high + pad };
        const list = marks(dimension, plot.area.width / 60, short, ticks);
        plot.axes(context, { xTicks: list.map(([place]) => place), xText: (place) => {
          const text = list.find(([p]) => p === place)?.[1] ?? "";
          return words(dimension) ? clip(context, text, plot.area.width / list.length - 8) : text;
        }, yTicks: ticks(data.y.low, data.y.high, 4) });
        plot.inside(context, () => {
          if (data.grid) plot.grid(context, data.grid, c.accent);
          else {
            context.fillStyle = faint(c.accent, 0.4);
            data.place.forEach((place, i) => dot(context, plot.at(place + jitter(dimension, data.trial[i])), plot.up(data.value[i]), 2.2));
          }
          if (slice) drawSlice(context, plot, slice, dimension);
        });
      },
      behind: () => {
        const slice = model.get(dimension.name);
        return slice ? table([dimension.name, { number: "Expected" }, { number: "Deviation" }, { number: "Good with probability" }, { number: "At most" }],
          slice.at.map((value, i) => {
            const { mean, deviation, good } = slice.forecast[i];
            return [shown(value), { number: short(mean) }, { number: short(deviation) }, { number: good ? good.probability.toFixed(3) : "–" },
              { number: good?.upper_bound === undefined ? "–" : good.upper_bound.toFixed(3) }];
          }), `What the model expects along ${dimension.name}`) : h("p", { class: "soft" }, "There is no model to show.");
      },
    });
    touch(plot, () => (scatters[k]?.trial ?? []).map((trial, i) => {
      const [place, value] = [scatters[k].place[i], scatters[k].value[i]];
      return { x: plot.at(place + jitter(dimension, trial)), y: plot.up(value),
        text: () => `trial ${trial}\n${dimension.name} ${shown(at(dimension, place))}\n${short(value)}`,
        open: () => go(`/study/${encodeURIComponent(study)}/trial/${trial}`) };
    }), 8);
    return plot;
  });
  fill(holder, plots.map((plot, k) => h("div", {}, h("h3", {}, dimensions[k].name), plot.element)));
  const legend = h("div", { class: "legend" },
    h("span", {}, h("i", { class: "k-accent" }), "trial"),
    h("span", {}, h("i", { class: "line k-warm" }), "what the model expects, all else as in the best trial, with its bound"));
  const element = card(several ? `Values of ${name} over each parameter` : "Values over each parameter", { note }, holder, legend);

  function drawSlice(context, plot, slice, dimension) {
    const c = plot.colours;
    const means = slice.forecast.map((f) => f.mean ?? null);
    const values = means.some((mean) => mean !== null);
    // A classifier has no value: its probability is drawn from the bottom to the top.
    const up = values ? (y) => plot.up(y) : (p) => plot.area.top + (1 - p) * plot.area.height;
    const middle = values ? means : slice.forecast.map((f) => f.good?.probability ?? null);
    const upper = slice.forecast.map((f) => (values ? (f.deviation === undefined ? null : f.mean + 2 * f.deviation) : f.good?.upper_bound ?? null));
    const lower = slice.forecast.map((f) => (values && f.deviation !== undefined ? f.mean - 2 * f.deviation : null));
    const list = words(dimension);
    context.lineWidth = 2;
    if (list) {
      const half = plot.area.width / list.length / 3;
      slice.place.forEach((place, i) => {
        if (middle[i] === null) return;
        const x = plot.at(place);
        context.strokeStyle = c.warm;
        context.lineWidth = 2;
        line(context, x - half, up(middle[i]), x + half, up(middle[i]));
        if (upper[i] === null) return;
        // The bound as a thin line with an end, so that it does not look like a bar.
        context.lineWidth = 1;
        line(context, x, up(lower[i] ?? middle[i]), x, up(upper[i]));
        for (const end of [upper[i], lower[i]]) if (end !== null) line(context, x - 5, up(end), x + 5, up(end));
      });
      return;
    }
    if (values && upper.every((u) => u !== null)) {
      context.fillStyle = faint(c.warm, 0.16);
      context.beginPath();
      slice.place.forEach((place, i) => context.lineTo(plot.at(place), up(upper[i])));
      for (let i = slice.place.length - 1; i >= 0; i--) context.lineTo(plot.at(slice.place[i]), up(lower[i]));
      context.fill();
    }
    const curve = (ys, dash) => {
      context.setLineDash(dash);
      context.strokeStyle = c.warm;
      context.beginPath();
      slice.place.forEach((place, i) => ys[i] !== null && context.lineTo(plot.at(place), up(ys[i])));
      context.stroke();
      context.setLineDash([]);
    };
    curve(middle, []);
    if (!values && upper.some((u) => u !== null)) curve(upper, [4, 4]);
  }

  async function load() {
    scatters = (await get(of(study, "scatters"))).scatters;
    plots.forEach((plot, k) => {
      plot.describe(`${scatters[k].trial.length || "many"} values from ${short(scatters[k].y.low)} to ${short(scatters[k].y.high)}`);
      plot.draw();
    });
  }
  async function loadModel() {
    const got = await get(of(study, "slices"));
    model = new Map((got.slices ?? []).map((slice) => [slice.name, slice]));
    const probability = got.slices?.[0]?.forecast[0]?.mean === undefined;
    note.textContent = got.slices ? (probability ? "Curves: probability of a good value, from 0 at the bottom to 1 at the top" : "") : `No curves: ${got.reason}`;
    plots.forEach((plot) => plot.draw());
  }
  return { element, load, loadModel };
}

/** Trials of one choice side by side, the same for the same trial. */
function jitter(dimension, trial) {
  const list = words(dimension);
  return list ? (((trial * 0.61803) % 1) - 0.5) * 0.5 / list.length : 0;
}
