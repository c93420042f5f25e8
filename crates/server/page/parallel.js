// Trials as lines across all parameters. Marking a part of an axis keeps the lines that go through it.

import { get, of } from "./api.js";
import { card, h, link, table } from "./dom.js";
import { count, short, shown } from "./format.js";
import { Plot, channels, clip, faint, line } from "./plot.js";
import { at as valueAt, ticks, words } from "./scale.js";

export function parallel(study, summary, go) {
  const dimensions = summary.parameters;
  let data = null;
  let marks = dimensions.map(() => null);
  let drag = null;
  // The line under the pointer, or that the keyboard has come to.
  let chosen = -1;
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
      if (chosen >= 0 && chosen < data.trial.length) {
        context.strokeStyle = c.ink;
        context.lineWidth = 2.5;
        path(context, chosen);
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
  const say = (i) => [`trial ${data.trial[i]}: ${short(data.value[i])}`,
    ...dimensions.map((d, k) => data.places[k][i] !== null && `${d.name} ${shown(valueAt(d, data.places[k][i]))}`).filter(Boolean).slice(0, 12)].join("\n");
  const choose = (i, x, y) => {
    if (i !== chosen) {
      chosen = i;
      plot.draw();
    }
    plot.hint(i < 0 ? undefined : say(i), x, y);
  };
  /** The line nearest to a pixel among those that are kept. */
  const under = (x, y) => {
    const k = Math.min(dimensions.length - 2, Math.floor((x - plot.area.left) / plot.area.width * (dimensions.length - 1)));
    if (!data || k < 0) return -1;
    const share = (x - axis(k)) / (axis(k + 1) - axis(k));
    let [best, least] = [-1, 6];
    for (const i of meant()) {
      const [a, b] = [data.places[k][i], data.places[k + 1][i]];
      const far = a === null || b === null ? Infinity : Math.abs(plot.area.top + (1 - a - (b - a) * share) * plot.area.height - y);
      // The best are drawn last, and on top.
      if (far <= least) [best, least] = [i, far];
    }
    return best;
  };
  const open = (i) => go(`/study/${encodeURIComponent(study)}/trial/${data.trial[i]}`);
  plot.hover((x, y) => !drag && choose(x === undefined ? -1 : under(x, y), x, y));
  plot.canvas.addEventListener("click", (event) => {
    if (chosen >= 0 && !place(event).near) open(chosen);
  });
  plot.canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: -1, ArrowLeft: 1 }[event.key];
    const kept = data ? [...meant()] : [];
    if (step && kept.length) {
      // From the best, which is the last, to the worse.
      const at = kept.indexOf(chosen);
      const next = kept[at < 0 ? kept.length - 1 : Math.min(kept.length - 1, Math.max(0, at + step))];
      choose(next, axis(0), plot.area.top + 40);
      plot.said.textContent = say(next).replaceAll("\n", ", ");
    } else if (event.key === "Enter" && chosen >= 0) open(chosen);
    else if (event.key === "Escape") { marks = dimensions.map(() => null); chosen = -1; plot.hint(); update(); }
    else return;
    event.preventDefault();
  });
  plot.canvas.addEventListener("blur", () => choose(-1));
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
