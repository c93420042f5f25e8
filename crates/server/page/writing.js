// What people may change, where the server was started with --write and the browser has that token.

import { of, post } from "./api.js";
import { card, fill, h } from "./dom.js";
import { words } from "./scale.js";

export function writing(study, summary, changed) {
  const said = h("p", { class: "small", role: "status" });
  const attempt = async (work) => {
    said.className = "small soft";
    try {
      said.textContent = await work();
      changed();
    } catch (error) {
      said.className = "wrong";
      said.textContent = error.message;
    }
  };
  const budget = h("input", { type: "number", min: "1", value: String(summary.budget), "aria-label": "Trials that the study may have" });
  const fields = new Map(summary.parameters.map((parameter) => {
    const list = words(parameter);
    const best = summary.best?.configuration?.[parameter.name];
    return [parameter, list
      ? h("select", { "aria-label": parameter.name }, list.map((word, i) => h("option", { value: String(i), selected: String(best) === word }, word)))
      : h("input", { type: "number", step: "any", "aria-label": parameter.name, value: best === undefined ? "" : String(best) })];
  }));
  const enqueue = () => attempt(async () => {
    const params = {};
    for (const [parameter, field] of fields) {
      if (field.value === "") continue;
      const list = parameter.choices ?? parameter.levels ?? (parameter.type === "boolean" ? [false, true] : null);
      params[parameter.name] = list ? list[Number(field.value)] : Number(field.value);
    }
    const { trial } = await post(of(study, "trials"), { key: `page-${crypto.randomUUID?.() ?? Date.now()}`, params });
    return `Trial ${trial} waits at the head of the queue.`;
  });
  const form = h("dl", { class: "pairs" });
  fill(form, [...fields].map(([parameter, field]) => [h("dt", {}, parameter.name), h("dd", {}, field)]));
  const pause = h("button", { type: "button", onclick: () => attempt(async () => {
    const paused = !summary.paused;
    await post(of(study, "pause"), { paused });
    update(Object.assign(summary, { paused }));
    return paused ? "Paused: no worker begins a trial, and what runs is finished." : "The study goes on.";
  }) });
  const update = (now) => { pause.textContent = now.paused ? "Resume" : "Pause"; };
  update(summary);
  const element = card("Change the study", {},
    h("div", { class: "tools" }, pause, h("label", { class: "soft" }, "Trials it may have "), h("div", {}, budget),
      h("button", { type: "button", onclick: () => attempt(async () => {
        await post(of(study, "budget"), { budget: Number(budget.value) });
        return `The study may have ${budget.value} trials.`;
      }) }, "Change")),
    h("details", {}, h("summary", {}, "Enqueue a configuration"), form, h("div", { class: "tools" }, h("button", { type: "button", onclick: enqueue }, "Enqueue"))), said);
  return { element, update };
}
