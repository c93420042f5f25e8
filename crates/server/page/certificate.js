// What the theorems promise of the study, what they assume, and their numbers as it went on.

import { get, of } from "./api.js";
import { card, fill, h, marked, table } from "./dom.js";
import { count, short } from "./format.js";
import { Plot, steps } from "./plot.js";

export function certificate(study) {
  let numbers = null;
  const words = h("div", { class: "certificate" }, h("p", { class: "soft" }, "Looking up the theorems …"));
  const figure = (key, label) => new Plot({
    label, height: 190, margin: { left: 52, bottom: 42, top: 6 },
    paint(context) {
      if (!numbers?.trial.length) return;
      const plot = plots[key];
      // The first random trials have no bound.
      const [x, values] = [[], []];
      numbers[key].forEach((value, i) => { if (value !== null) { x.push(i + 1); values.push(value); } });
      plot.x = { low: 1, high: Math.max(2, numbers.trial.length) };
      plot.y = { low: 0, high: Math.max(...values, 0) * 1.08 || 1 };
      plot.axes(context, { xText: count, xName: "trials" });
      plot.inside(context, () => steps(context, plot, x, values, key === "regret" ? plot.colours.warm : plot.colours.accent));
    },
    behind: () => table([{ number: "Trials" }, "Trial", { number: label }],
      numbers ? numbers.trial.map((trial, i) => [{ number: count(i + 1) }, `trial ${trial}`, { number: short(numbers[key][i]) }]).reverse().slice(0, 300) : [], `${label}, the latest first`),
  });
  const plots = { width: figure("width", "Confidence width β"), gain: figure("gain", "Information gain γ"), regret: figure("regret", "Bound on the regret of a trial") };
  const titles = { width: "Confidence width β", gain: "Information gain γ, in nats", regret: "Bound on the regret of each trial, in units of L" };
  const holder = h("div", { class: "multiples", hidden: true }, Object.entries(plots).map(([key, plot]) => h("div", {}, h("h3", {}, titles[key]), plot.element)));
  const element = card("What is guaranteed", {}, words, holder);
  const list = (title, lines) => lines.length > 0 && [h("h3", {}, title), h("ul", {}, lines.map((line) => h("li", {}, marked(line))))];
  async function load() {
    const { certificate: found, reason } = await get(of(study, "certificate"));
    numbers = found?.numbers ?? null;
    holder.hidden = !numbers?.trial.length;
    if (!found) return fill(words, h("p", { class: "soft" }, reason));
    fill(words,
      h("p", {}, h("span", { class: "chip", "data-state": found.promise ? "complete" : "idle" }, found.promise ? "guaranteed" : "no guarantee"), " ", found.promise && `${found.promise}.`),
      list(found.promise ? "Why no more" : "Because", found.because), list("Provided that", found.assumes),
      numbers && h("p", { class: "soft small" }, `With probability at least ${short(1 - numbers.failure_probability)}, the class probability lies within β deviations of its estimate at all points and in all rounds, if its norm is at most ${short(numbers.norm_bound)}. `
        + `L is how steep the inverse of the noise's distribution function is, which only you can know.${numbers.cut ? ` The first ${numbers.trial.length} trials are shown.` : ""}`),
      !numbers && found.reason && h("p", { class: "soft small" }, marked(`No numbers: ${found.reason}.`)));
    for (const [key, plot] of Object.entries(plots)) {
      plot.describe(numbers?.trial.length ? `${short(numbers[key].at(-1))} after ${numbers.trial.length} trials` : "none");
      plot.draw();
    }
  }
  return { element, load };
}
