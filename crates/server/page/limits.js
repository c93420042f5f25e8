// The constraints: how many trials keep each of them.

import { get, of } from "./api.js";
import { card, fill, h, scrolling, table } from "./dom.js";
import { count, short } from "./format.js";

export function limits(study, summary) {
  if (!summary.goal?.constraints?.length) return null;
  const holder = scrolling("How many trials keep each constraint");
  const note = h("span", { class: "note" });
  const element = card("Constraints", { note }, holder);
  const bar = (share) => {
    const inner = h("i", { class: "share" });
    inner.style.width = `${100 * share}%`;
    return h("div", { class: "bar" }, inner);
  };
  async function load() {
    const data = await get(of(study, "constraints"));
    note.textContent = data.of ? `${count(data.feasible)} of ${count(data.of)} trials keep all of them` : "No trial was measured yet.";
    fill(holder, table(["Constraint", "Kept by", { number: "Trials" }, { number: "Best trial has" }], data.limits.map(({ name, bound, kept, best }) => [
      bound["at-most"] === undefined ? `${name} ≥ ${short(bound["at-least"])}` : `${name} ≤ ${short(bound["at-most"])}`,
      bar(data.of ? kept / data.of : 0), { number: data.of ? `${count(kept)} (${Math.round(100 * kept / data.of)} %)` : "–" }, { number: short(best) }]), "Constraints"));
  }
  return { element, load };
}
