// Trials as lines across all parameters. Marking a part of an axis keeps the lines that go through it.

import { get, of } from "./api.js";
import { card, h, link, table } from "./dom.js";
import { count, short, shown } from "./format.js";
import { Plot, channels, clip, faint, line } from "./plot.js";
import { at as valueAt, ticks, words } from "./scale.js";

export function parallel(study, summary) {
  const dimensions = summary.parameters;
  let data = null;
  let marks = dimensions.map(() => null);
  let drag = null;
  const several = summary.goal?.objectives?.length > 1;
  const name = several ? summary.goal.objectives[0].name : "value";
  const plot = new Plot({
    label: "Parallel coordinates", height: 320, brush: true, margin: { left: 40, right: 40, top: 30, bottom: 12 },
    paint(context) {
      if (!data) return;
      const c = plot.colours;
      const { top, height } = plot.area;
      const good = channels(c.warm);
      const plain = channels(c.accent);
      const kept = meant();
      plot.describe(`${kept.length} of ${data.trial.length} lines across ${dimensions.length} parameters`);
      for (const pass of [false, true]) {
        data.trial.forEach((_, i) => {
          if (kept.has(i) !== pass) return;
          // By rank, the best last: a few terrible values would otherwise make all others look the same.
          const share = data.share[i];
          const colour = plain.map((channel, k) => Math.round(channel + (good[k] - channel) * share ** 3));
          context.strokeStyle = pass ? `rgba(${colour}, ${0.16 + 0.6 * share ** 4})` : faint(c.soft, 0.06);
          context.lineWidth = pass && share > 0.97 ? 2 : 1;
          path(context, i);
        });
      }
      context.textAlign = "center";
      dimensions.forEach((dimension, k) => {
        const x = axis(k);
        context.strokeStyle = c.soft;
        context.lineWidth = 1;
        line(context, x, top, x, top + height);
        context.fillStyle = c.ink;
        context.textBaseline = "bottom";
        const room = plot.area.width / Math.max(1, dimensions.length - 1) - 8;
        context.fillText(clip(context, dimension.name, Math.min(room, 2 * Math.min(x, plot.width - x))), x, top - 9);
        context.textBaseline = "middle";
        context.textAlign = k === dimensions.length - 1 ? "right" : "left";
        context.lineWidth = 3;
        context.strokeStyle = c.card;
        for (const [share, text] of labels(dimension)) {
          const at = [clip(context, text, room / 2), x + (k === dimensions.length - 1 ? -6 : 6), top + (1 - share) * height];
          context.strokeText(...at);
          context.fillStyle = c.soft;
          context.fillText(...at);
        }
        context.textAlign = "center";
        if (marks[k]) {
          const [a, b] = marks[k].map((share) => top + (1 - share) * height);
          context.fillStyle = faint(c.warm, 0.3);
          context.fillRect(x - 7, b, 14, a - b);
          context.strokeStyle = c.warm;
          context.strokeRect(x - 7, b, 14, a - b);
        }
      });
    },
    behind: () => table(["Trial", { number: name }, ...dimensions.map((d) => d.name)],
      data ? data.trial.map((trial, i) => [link(`/study/${encodeURIComponent(study)}/trial/${trial}`, `trial ${trial}`), { number: short(data.value[i]) },
        ...dimensions.map((d, k) => (data.places[k][i] === null ? "–" : shown(valueAt(d, data.places[k][i]))))]).reverse().slice(0, 200) : [],
      "Trials, the best first"),
  });
  const clear = h("button", { type: "button", hidden: true, onclick: () => { marks = dimensions.map(() => null); update(); } }, "Clear marks");
  // Where there is no room for all axes, the figure scrolls.
  plot.canvas.style.minWidth = `${64 * dimensions.length}px`;
  plot.element.classList.add("scroll");
  const legend = h("div", { class: "legend" },
    h("span", {}, h("i", { class: "line k-warm" }), several ? `best in ${name}` : "best trials"),
    h("span", {}, h("i", { class: "line k-accent" }), "others"));
  const element = card("Parameters of the best trials", { tools: clear, note: "Drag along an axis to keep the lines that go through it" }, plot.element, legend);

  const axis = (k) => plot.area.left + (dimensions.length === 1 ? 0.5 : k / (dimensions.length - 1)) * plot.area.width;
  /** Texts along an axis: all words of a few, or both ends. */
  function labels(dimension) {
    const list = words(dimension);
    const all = list && ticks(dimension);
    if (list) return list.length <= 10 ? all : [all[0], all.at(-1)];
    return [[0, shown(dimension.low)], [1, shown(dimension.high)]];
  }
  function meant() {
    const kept = new Set();
    data.trial.forEach((_, i) => {
      const through = marks.every((mark, k) => !mark || (data.places[k][i] !== null && data.places[k][i] >= mark[0] && data.places[k][i] <= mark[1]));
      if (through) kept.add(i);
    });
    kept.length = kept.size;
    return kept;
  }
  function path(context, i) {
    context.beginPath();
    let drawing = false;
    dimensions.forEach((_, k) => {
      const share = data.places[k][i];
      // An inactive parameter interrupts the line.
      if (share === null) {
        drawing = false;
        return;
      }
      const y = plot.area.top + (1 - share) * plot.area.height;
      if (drawing) context.lineTo(axis(k), y);
      else context.moveTo(axis(k), y);
      drawing = true;
    });
    context.stroke();
  }
  function update() {
    clear.hidden = marks.every((mark) => !mark);
    plot.draw();
  }
  const place = (event) => {
    const box = plot.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const share = 1 - (event.clientY - box.top - plot.area.top) / plot.area.height;
    let k = 0;
    dimensions.forEach((_, other) => { if (Math.abs(axis(other) - x) < Math.abs(axis(k) - x)) k = other; });
    return { k, share: Math.min(1, Math.max(0, share)), near: Math.abs(axis(k) - x) < 30 };
  };
  plot.canvas.addEventListener("pointerdown", (event) => {
    const { k, share, near } = place(event);
    if (!near) return;
    drag = { k, from: share };
    plot.canvas.setPointerCapture(event.pointerId);
  });
  plot.canvas.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const { share } = place(event);
    marks[drag.k] = Math.abs(share - drag.from) < 0.02 ? null : [Math.min(share, drag.from), Math.max(share, drag.from)];
    update();
  });
  plot.canvas.addEventListener("pointerup", (event) => {
    if (drag && Math.abs(place(event).share - drag.from) < 0.02) marks[drag.k] = null;
    drag = null;
    update();
  });
  plot.canvas.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { marks = dimensions.map(() => null); update(); }
  });
  async function load() {
    data = await get(of(study, "parallel"));
    const sign = summary.direction === "maximise" ? 1 : -1;
    const order = data.value.map((_, i) => i).sort((a, b) => sign * (data.value[a] - data.value[b]));
    data.share = [];
    order.forEach((i, place) => { data.share[i] = order.length > 1 ? place / (order.length - 1) : 1; });
    plot.caption.textContent = data.of > data.trial.length ? `${count(data.trial.length)} of ${count(data.of)} trials: the best, and some others` : `${count(data.of)} trials`;
    plot.draw();
  }
  return { element, load };
}
