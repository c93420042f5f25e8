// The front: trials that no other trial beats in every objective.

import { get, of } from "./api.js";
import { card, fill, h, link, table } from "./dom.js";
import { count, short } from "./format.js";
import { Plot, dot, faint, touch } from "./plot.js";

export function front(study, summary, go) {
  const names = summary.goal?.objectives?.map((objective) => objective.name) ?? [];
  const limits = summary.goal?.constraints?.length ?? 0;
  if (names.length < 2) return null;
  let [x, y] = [0, 1];
  // The third objective is the size of the dots.
  let z = names.length > 2 ? 2 : null;
  let data = null;
  const named = (k) => `${names[k]} (${summary.goal.objectives[k].direction})`;
  const plot = new Plot({
    label: "Front", height: 380, margin: { top: 26, bottom: 44 },
    paint(context) {
      if (!data) return;
      const c = plot.colours;
      const range = (k) => {
        const all = [...data.values[k], ...data.other_values[k]];
        const [low, high] = [all.reduce((a, b) => Math.min(a, b), Infinity), all.reduce((a, b) => Math.max(a, b), -Infinity)];
        const pad = (high - low) * 0.05 || Math.abs(low) * 0.1 || 1;
        return all.length ? { low: low - pad, high: high + pad } : { low: 0, high: 1 };
      };
      plot.x = range(x);
      plot.y = range(y);
      plot.axes(context, { xName: named(x), yName: named(y) });
      plot.inside(context, () => {
        context.fillStyle = faint(c.soft, 0.4);
        data.other_trial.forEach((_, i) => dot(context, plot.at(data.other_values[x][i]), plot.up(data.other_values[y][i]), 2.2));
        const order = data.trial.map((_, i) => i).sort((a, b) => data.values[x][a] - data.values[x][b]);
        if (names.length === 2) {
          context.strokeStyle = faint(c.warm, 0.7);
          context.lineWidth = 1.5;
          context.beginPath();
          order.forEach((i, k) => {
            const [px, py] = [plot.at(data.values[x][i]), plot.up(data.values[y][i])];
            // Between two trials of a front, nothing better than the worse of both is known.
            if (k) {
              const before = plot.up(data.values[y][order[k - 1]]);
              if (summary.goal.objectives[x].direction === "maximise") context.lineTo(plot.at(data.values[x][order[k - 1]]), py);
              else context.lineTo(px, before);
            }
            context.lineTo(px, py);
          });
          context.stroke();
        }
        context.fillStyle = z === null ? c.warm : faint(c.warm, 0.75);
        order.forEach((i) => dot(context, plot.at(data.values[x][i]), plot.up(data.values[y][i]), size(i)));
      });
    },
    behind: () => table(["Trial", ...names.map((name) => ({ number: name }))], data ? data.trial.map((trial, i) =>
      [link(`/study/${encodeURIComponent(study)}/trial/${trial}`, `trial ${trial}`), ...names.map((_, k) => ({ number: short(data.values[k][i]) }))]) : [], "The front"),
  });
  /** Larger dots are better in the third objective. */
  function size(i) {
    if (z === null || z === x || z === y) return 4;
    const all = data.values[z];
    const [low, high] = [all.reduce((a, b) => Math.min(a, b), Infinity), all.reduce((a, b) => Math.max(a, b), -Infinity)];
    const share = (all[i] - low) / (high - low || 1);
    return 3 + 7 * (summary.goal.objectives[z].direction === "maximise" ? share : 1 - share);
  }
  const pick = (label, chosen, set) => h("label", { class: "small soft" }, `${label} `, h("select", { onchange: (event) => { set(Number(event.target.value)); plot.draw(); } },
    names.map((name, k) => h("option", { value: String(k), selected: k === chosen }, name))));
  const tools = h("div", { class: "tools" });
  fill(tools, pick("Across", x, (k) => { x = k; }), pick("Up", y, (k) => { y = k; }), z !== null && pick("Size", z, (k) => { z = k; }));
  const legend = h("div", { class: "legend" },
    h("span", {}, h("i", { class: "k-warm" }), "on the front: no other trial is better in every objective"),
    h("span", {}, h("i", { class: "k-soft" }), "others"));
  const element = card("Front", { tools }, plot.element, legend);
  async function load() {
    data = await get(of(study, "front"));
    plot.caption.textContent = [`${count(data.trial.length)} trials on the front`, z !== null && "larger dots are better in what their size stands for", limits && `${count(data.feasible)} of ${count(data.of)} keep all constraints`].filter(Boolean).join(" · ");
    plot.describe(plot.caption.textContent);
    plot.draw();
  }
  touch(plot, () => (data?.trial ?? []).map((trial, i) => ({ x: plot.at(data.values[x][i]), y: plot.up(data.values[y][i]),
    text: () => [`trial ${trial}`, ...names.map((name, k) => `${name} ${short(data.values[k][i])}`)].join("\n"),
    open: () => go(`/study/${encodeURIComponent(study)}/trial/${trial}`) })));
  return { element, load };
}
