// The hypervolume of the front over trials or time: what several objectives have instead of a best value so far.

import { get, of } from "./api.js";
import { card, choice, h, table } from "./dom.js";
import { count, duration, short } from "./format.js";
import { Plot, steps } from "./plot.js";

export function volume(study, summary) {
  const names = summary.goal?.objectives?.map((objective) => objective.name) ?? [];
  if (names.length < 2) return null;
  let data = null;
  let by = "trial";
  const xs = () => (by === "time" ? data.at.map((at) => at - data.at[0]) : data.finished);
  const text = (x) => (by === "time" ? duration(x) : count(x));
  const plot = new Plot({
    label: "Hypervolume", height: 240, margin: { bottom: 44 },
    paint(context) {
      if (!data?.volume.length) return;
      const x = xs();
      const top = Math.max(...data.volume) || 1;
      plot.x = { low: by === "time" ? 0 : Math.min(1, x[0]), high: Math.max(x.at(-1), x[0] + 1) };
      plot.y = { low: 0, high: top * 1.06 };
      plot.axes(context, { xText: text, xName: by === "time" ? "since the first of them" : "trials finished" });
      plot.inside(context, () => steps(context, plot, x, data.volume, plot.colours.warm));
    },
    behind: () => table([{ number: "Trials finished" }, { number: "Trials on the front" }, { number: "Hypervolume" }],
      data ? data.finished.map((finished, i) => [{ number: count(finished) }, { number: count(data.front[i]) }, { number: short(data.volume[i]) }]).reverse() : [],
      "Hypervolume, the latest first"),
  });
  const element = card("Hypervolume of the front", { tools: h("div", { class: "tools" }, choice("Over", [["trial", "Trials"], ["time", "Time"]], "trial", (now) => { by = now; plot.draw(); })) }, plot.element);
  async function load() {
    data = await get(of(study, "volume"));
    plot.caption.textContent = data.volume.length
      ? `Up to the reference point ${names.map((name, k) => `${name} ${short(data.reference[k])}`).join(", ")}: that of the front as it is now`
      : "No trial keeps all constraints yet.";
    plot.describe(data.volume.length ? `${short(data.volume.at(-1))} after ${data.finished.at(-1)} trials` : "none yet");
    plot.draw();
  }
  plot.hover((px) => {
    if (px === undefined || !data?.volume.length) return plot.hint();
    const i = xs().findLastIndex((x) => plot.at(x) <= px);
    plot.hint(i < 0 ? undefined : `${count(data.finished[i])} trials finished\nhypervolume ${short(data.volume[i])}\n${count(data.front[i])} on the front`, px, plot.up(data.volume[Math.max(0, i)]));
  });
  return { element, load };
}
