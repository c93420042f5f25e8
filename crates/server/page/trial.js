// One trial.

import { get, of } from "./api.js";
import { card, fill, h, link, table } from "./dom.js";
import { clock, duration, short } from "./format.js";

// At most `count` of a list, the first and the last among them.
function spread(list, count) {
  return list.length <= count ? list : Array.from({ length: count }, (_, k) => list[Math.floor(k * (list.length - 1) / (count - 1))]);
}

export async function trial(main, study, number) {
  const row = await get(of(study, `trial/${number}`));
  const base = `/study/${encodeURIComponent(study)}`;
  const pairs = (list) => h("dl", { class: "pairs" }, list.filter(([, value]) => value !== undefined && value !== null && value !== "")
    .map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
  const took = row.started && row.finished ? duration(Date.parse(row.finished) - Date.parse(row.started)) : null;
  const forecast = row.model;
  const result = typeof row.outcome === "object" ? row.outcome?.measured : null;
  fill(main,
    h("div", { class: "title" }, h("h1", {}, `Trial ${row.trial}`), h("span", { class: "chip", "data-state": row.state }, row.state), h("span", { class: "grow" }),
      Number(number) > 0 && link(`${base}/trial/${number - 1}`, "← previous"), Number(number) < row.last && link(`${base}/trial/${Number(number) + 1}`, "next →")),
    h("div", { class: "cards" },
      card("Parameters", { size: "half" }, pairs(Object.entries(row.params).map(([name, value]) => [name, String(value)]))),
      card("Result", { size: "half" }, pairs([
        ["Value", row.value === undefined ? null : `${row.value}${row.deviation === undefined ? "" : ` ± ${row.deviation}`}`],
        ...(result?.objectives?.slice(1).map((measured, i) => [`Objective ${i + 2}`, short(measured.value)]) ?? []),
        ...(result?.constraints?.map((measured, i) => [`Constraint ${i + 1}`, short(measured.value)]) ?? []),
        ["Stopped at", row.fidelity === undefined ? null : short(row.fidelity)],
        ["Reason", row.reason],
        ["Worker", row.worker],
        ["Proposed", row.proposed && clock(Date.parse(row.proposed))],
        ["Began", row.started && clock(Date.parse(row.started))],
        ["Finished", row.finished && `${clock(Date.parse(row.finished))}${took ? `, after ${took}` : ""}`],
        ["Leases lost", row.lost || null],
        ["Comes from", row.origin === "proposed" ? `the method${row.engine ? `, wimble ${row.engine}` : ""}` : row.origin],
      ])),
      forecast && card("What the model expects here", { size: "half" }, pairs([
        ["Value", forecast.mean === undefined ? null : `${short(forecast.mean)}${forecast.deviation === undefined ? "" : ` ± ${short(forecast.deviation)}`}`],
        ["Good with probability", forecast.good && `${forecast.good.probability.toFixed(4)}${forecast.good.upper_bound === undefined ? "" : `, at most ${forecast.good.upper_bound.toFixed(4)}`}`],
        ["Good means", forecast.good && `as good as ${short(forecast.good.threshold)}`],
        ["Succeeds with probability", forecast.success?.toFixed(4)],
      ])),
      row.attributes && card("Attributes", { size: "half" }, pairs(Object.entries(row.attributes).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]))),
      row.steps?.length > 0 && card("Steps", { size: "half" }, table(["Step", { number: "Values" }],
        spread(row.steps, 30).map((step) => [short(step.step), { number: step.value === undefined ? Object.values(step.objectives ?? {}).map((one) => short(one.value ?? one)).join(", ") : short(step.value) }]), "Steps"),
        row.steps.length > 30 && h("p", { class: "soft small" }, `30 of ${row.steps.length} steps`)),
      row.nearest?.length > 0 && card("Nearest trials", { size: "half" }, table(["Trial", "State", { number: "Value" }, { number: "Distance" }],
        row.nearest.map((near) => [link(`${base}/trial/${near.trial}`, `trial ${near.trial}`), h("span", { class: "chip", "data-state": near.state }, near.state),
          { number: short(near.value) }, { number: `${(near.distance * 100).toFixed(1)} %` }]), "Nearest trials"), h("p", { class: "soft small" }, "Distance as a share of the diagonal of the space")),
      row.output && card("End of its output", {}, h("pre", { tabindex: 0 }, row.output))));
}
