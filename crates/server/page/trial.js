// One trial.

import { get, of, post } from "./api.js";
import { plotCurves } from "./curves.js";
import { card, fill, h, link, scrolling, table } from "./dom.js";
import { clock, count, duration, short } from "./format.js";

// At most `count` of a list, the first and the last among them.
function spread(list, count) {
  return list.length <= count ? list : Array.from({ length: count }, (_, k) => list[Math.floor(k * (list.length - 1) / (count - 1))]);
}

/** What people noted on a trial; whoever may write can change it. */
function note(study, row, write) {
  if (!write) return row.note && card("Note", {}, h("p", { class: "noted" }, row.note));
  const said = h("span", { class: "small soft", role: "status" });
  const field = h("textarea", { rows: "3", maxlength: "5000", "aria-label": "Note on this trial", placeholder: "What somebody should know of this trial", value: row.note ?? "" });
  const save = h("button", { type: "button", onclick: async () => {
    try {
      const kept = await post(of(study, "note"), { trial: row.trial, text: field.value });
      said.className = "small soft";
      said.textContent = kept.note ? "Saved." : "Removed.";
    } catch (error) {
      said.className = "wrong";
      said.textContent = error.message;
    }
  } }, "Save");
  return card("Note", {}, field, h("div", { class: "tools below" }, save, said));
}

/** The curve of a trial, as a figure with the table of its steps behind it. */
function curve(study, row) {
  const value = (step) => step.value ?? Object.values(step.objectives ?? {}).map((one) => one.value ?? one)[0];
  const steps = spread((row.steps ?? []).filter((step) => Number.isFinite(value(step))), 300);
  const line = { trial: row.trial, standing: row.state, best: false, x: steps.map((step) => step.step), y: steps.map(value) };
  const plot = plotCurves({ label: "Curve of this trial", height: 250, study, name: Object.keys(row.objectives ?? {})[0] ?? "value", direction: "minimise", data: () => [line], fidelity: () => row.fidelities });
  plot.describe(`${row.steps.length} steps, the last ${short(line.y.at(-1))} at ${short(line.x.at(-1))}`);
  plot.caption.textContent = row.fidelities ? `${count(row.steps.length)} steps of at most ${short(row.fidelities.high)} ${row.fidelities.name}` : "";
  return plot.element;
}

export async function trial(main, study, number) {
  const [row, access] = await Promise.all([get(of(study, `trial/${number}`), { model: false }), get("/api/access")]);
  const base = `/study/${encodeURIComponent(study)}`;
  const pairs = (list) => h("dl", { class: "pairs" }, list.filter(([, value]) => value !== undefined && value !== null && value !== "")
    .map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
  const took = row.started && row.finished ? duration(Date.parse(row.finished) - Date.parse(row.started)) : null;
  // The model may have to be fitted first: what it expects comes later than the rest.
  const expected = h("div", { class: "cards pair", hidden: true });
  const expects = (forecast) => fill(expected, card("What the model expects here", {}, pairs([
    ["Value", forecast.mean === undefined ? null : `${short(forecast.mean)}${forecast.deviation === undefined ? "" : ` ± ${short(forecast.deviation)}`}`],
    ["Good with probability", forecast.good && `${forecast.good.probability.toFixed(4)}${forecast.good.upper_bound === undefined ? "" : `, at most ${forecast.good.upper_bound.toFixed(4)}`}`],
    ["Good means", forecast.good && `as good as ${short(forecast.good.threshold)}`],
    ["Succeeds with probability", forecast.success?.toFixed(4)],
  ])));
  get(of(study, `trial/${number}`)).then(({ model }) => {
    expected.hidden = !model;
    if (model) expects(model);
  }, () => {});
  const measured = (values) => Object.entries(values ?? {}).map(([name, one]) => [name, one.deviation === undefined ? String(one.value ?? one) : `${one.value} ± ${one.deviation}`]);
  fill(main,
    h("div", { class: "title" }, h("h1", {}, `Trial ${row.trial}`), h("span", { class: "chip", "data-state": row.state }, row.state), h("span", { class: "grow" }),
      h("span", { class: "pages" }, Number(number) > 0 && link(`${base}/trial/${number - 1}`, "← previous"), Number(number) < row.last && link(`${base}/trial/${Number(number) + 1}`, "next →"))),
    h("div", { class: "cards" },
      card("Parameters", { size: "half" }, pairs(Object.entries(row.params).map(([name, value]) => [name, String(value)]))),
      card("Result", { size: "half" }, pairs([
        ["Value", row.value === undefined ? null : `${row.value}${row.deviation === undefined ? "" : ` ± ${row.deviation}`}`],
        ...measured(row.objectives),
        ...measured(row.constraints),
        ["Stopped at", row.fidelity === undefined ? null : short(row.fidelity)],
        ["Reason", row.reason],
        ["Worker", row.worker],
        ["Proposed", row.proposed && clock(Date.parse(row.proposed))],
        ["Began", row.started && clock(Date.parse(row.started))],
        ["Finished", row.finished && `${clock(Date.parse(row.finished))}${took ? `, after ${took}` : ""}`],
        ["Leases lost", row.lost || null],
        ["Comes from", row.origin === "proposed" ? `the method${row.engine ? `, wimble ${row.engine}` : ""}` : row.origin],
      ])),
      expected,
      row.attributes && card("Attributes", { size: "half" }, pairs(Object.entries(row.attributes).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]))),
      row.steps?.length > 1 && card("Curve", { size: "half" }, curve(study, row)),
      row.steps?.length > 0 && card("Steps", { size: "half" }, scrolling("Table of steps", table(["Step", { number: "Values" }],
        spread(row.steps, 30).map((step) => [short(step.step), { number: step.value === undefined ? Object.values(step.objectives ?? {}).map((one) => short(one.value ?? one)).join(", ") : short(step.value) }]), "Steps")),
        row.steps.length > 30 && h("p", { class: "soft small" }, `30 of ${row.steps.length} steps`)),
      row.nearest?.length > 0 && card("Nearest trials", { size: "half" }, scrolling("Table of the nearest trials", table(["Trial", "State", { number: "Value" }, { number: "Distance" }],
        row.nearest.map((near) => [link(`${base}/trial/${near.trial}`, `trial ${near.trial}`), h("span", { class: "chip", "data-state": near.state }, near.state),
          { number: short(near.value) }, { number: `${(near.distance * 100).toFixed(1)} %` }]), "Nearest trials")), h("p", { class: "soft small" }, "Distance as a share of the diagonal of the space")),
      note(study, row, access.write),
      row.output && card("End of its output", {}, h("pre", { tabindex: 0 }, row.output))));
}
