// Which parameters matter, and what a colleague would say.

import { get, of } from "./api.js";
import { card, fill, h, marked, table } from "./dom.js";

export function insights(study, summary) {
  const objectives = summary.goal?.objectives ?? [];
  const name = objectives.length > 1 ? objectives[0].name : "the value";
  const list = h("ul", { class: "advice" }, h("li", { class: "quiet" }, "Looking at the trials …"));
  const bars = h("div", {}, h("p", { class: "soft" }, "Fitting a model …"));
  const element = h("div", { class: "cards pair" },
    card("Advice", { size: "half" }, list), card("Importance of parameters", { size: "half", note: `Share of the variance of ${name}` }, bars));
  async function load() {
    const [{ advice, reason }, found] = await Promise.all([get(of(study, "advice")), get(of(study, "importance"))]);
    fill(list, advice.length ? advice.map((piece) => h("li", { "data-kind": piece.kind }, marked(piece.message))) : h("li", { class: "quiet" }, reason ?? "Nothing stands out so far."));
    const shares = found.importance?.shares?.toSorted((a, b) => b.total.mean - a.total.mean) ?? [];
    if (!shares.length) return fill(bars, h("p", { class: "soft" }, found.reason ?? "Not enough trials yet."));
    const percent = (share) => `${Math.round(100 * share)} %`;
    const bar = ({ mean, low, high }) => {
      const inner = h("i", { class: "share" });
      const range = h("i", { class: "range" });
      inner.style.width = `${100 * mean}%`;
      range.style.left = `${100 * low}%`;
      range.style.width = `${100 * Math.max(0, high - low)}%`;
      return h("div", { class: "bar", title: `90 % of refits: ${percent(low)} to ${percent(high)}` }, inner, range);
    };
    const few = found.importance.explained < 0.3;
    fill(bars, table(["Parameter", "Share", { number: "Total" }, { number: "Alone" }],
      shares.map((share) => [share.name, bar(share.total), { number: percent(share.total.mean) }, { number: percent(share.alone.mean) }]), "Importance of parameters"),
      h("p", { class: "soft small" }, `A model of ${found.importance.trials} trials predicts those it has not seen with R² = ${found.importance.explained.toFixed(2)}.${few ? " That is little: do not rely on these shares yet." : ""}`));
  }
  return { element, load };
}
