// The table of trials: filter, sort, columns, pages, and the same as a file.

import { Refused, get, of } from "./api.js";
import { card, fill, h, link, scrolling } from "./dom.js";
import { clock, count, duration, short, shown } from "./format.js";

const PAGE = 50;

export function trials(study, summary, go) {
  const query = new URLSearchParams(location.search);
  const view = {
    filter: query.get("filter") ?? "", sort: query.get("sort") ?? "trial", descending: (query.get("descending") ?? "true") === "true",
    offset: Number(query.get("offset") ?? 0), limit: PAGE,
  };
  const time = (text) => (text ? Date.parse(text) : NaN);
  const objectives = summary.goal?.objectives ?? [];
  // A limit may be one of an objective, or the second of a quantity.
  const constraints = [...new Set((summary.goal?.constraints ?? []).map((constraint) => constraint.name))].filter((name) => !objectives.some((o) => o.name === name));
  const named = (values, name) => short(values?.[name]?.value ?? values?.[name]);
  const all = [
    { id: "trial", name: "Trial", cell: (row) => link(`/study/${encodeURIComponent(study)}/trial/${row.trial}`, String(row.trial)) },
    { id: "state", name: "State", cell: (row) => h("span", { class: "chip", "data-state": row.state, title: row.reason }, row.state) },
    { id: "value", sort: objectives[0]?.name ?? "value", name: objectives[0]?.name ?? "value", number: true,
      cell: (row) => (objectives.length > 1 ? named(row.objectives, objectives[0].name) : row.value === undefined ? "" : row.deviation === undefined ? short(row.value) : `${short(row.value)} ± ${short(row.deviation)}`) },
    ...objectives.slice(1).map((objective) => ({ id: `o:${objective.name}`, sort: objective.name, name: objective.name, number: true,
      cell: (row) => named(row.objectives, objective.name) })),
    ...constraints.map((name) => ({ id: `c:${name}`, sort: name, name, number: true, cell: (row) => named(row.constraints, name) })),
    ...summary.parameters.map((parameter) => ({ id: `p:${parameter.name}`, sort: parameter.name, name: parameter.name, number: ["real", "integer"].includes(parameter.type),
      cell: (row) => (row.params[parameter.name] === undefined ? "–" : shown(row.params[parameter.name])) })),
    { id: "seconds", name: "Took", number: true, cell: (row) => (row.finished && row.started ? duration(time(row.finished) - time(row.started)) : "") },
    { id: "worker", name: "Worker", cell: (row) => row.worker ?? "" },
    { id: "finished", name: "Finished", hide: true, cell: (row) => (row.finished ? clock(time(row.finished)) : "") },
    { id: "reason", name: "Reason", hide: true, fixed: true, cell: (row) => row.reason ?? "" },
    { id: "attributes", name: "Attributes", hide: true, fixed: true, cell: (row) => (row.attributes ? JSON.stringify(row.attributes) : "") },
  ];
  const place = `wimble-columns-${study}`;
  const kept = JSON.parse(localStorage.getItem(place) ?? "null");
  const visible = new Set(kept ?? all.filter((column) => !column.hide).slice(0, 14).map((column) => column.id));
  let seen = new Set();
  let request = 0;

  const wrong = h("p", { class: "wrong", role: "alert", hidden: true });
  const input = h("input", { type: "search", value: view.filter, "aria-label": "Filter", placeholder: `Filter: value < 0.5 and state = complete`,
    spellcheck: "false", autocomplete: "off", oninput: () => later(() => change({ filter: input.value.trim(), offset: 0 })) });
  let timer;
  const later = (work) => { clearTimeout(timer); timer = setTimeout(work, 250); };
  const file = h("a", { class: "button", download: true }, "CSV");
  const columns = h("details", { class: "menu" }, h("summary", {}, "Columns"), h("div", {}, all.map((column) => h("label", {},
    h("input", { type: "checkbox", checked: visible.has(column.id), onchange: (event) => {
      if (event.target.checked) visible.add(column.id);
      else visible.delete(column.id);
      localStorage.setItem(place, JSON.stringify([...visible]));
      load();
    } }), column.name))));
  columns.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { columns.open = false; columns.querySelector("summary").focus(); }
  });
  document.addEventListener("click", (event) => { if (!columns.contains(event.target)) columns.open = false; });
  const head = h("thead");
  const body = h("tbody");
  const said = h("span", { class: "soft small grow", role: "status" });
  const previous = h("button", { type: "button", onclick: () => change({ offset: Math.max(0, view.offset - PAGE) }) }, "Previous");
  const next = h("button", { type: "button", onclick: () => change({ offset: view.offset + PAGE }) }, "Next");
  const element = card("Trials", {},
    h("div", { class: "tools" }, h("div", { class: "filter" }, input), columns, file), wrong,
    scrolling("Table of trials", h("table", {}, head, body)),
    h("div", { class: "tools" }, said, previous, next));
  element.id = "trials";

  function change(what) {
    Object.assign(view, what);
    const address = new URLSearchParams();
    if (view.filter) address.set("filter", view.filter);
    if (view.sort !== "trial" || !view.descending) { address.set("sort", view.sort); address.set("descending", view.descending); }
    if (view.offset) address.set("offset", view.offset);
    const text = address.toString();
    window.history.replaceState(null, "", text ? `?${text}` : location.pathname);
    seen = new Set();
    return load();
  }

  async function load() {
    const mine = ++request;
    let got;
    try {
      got = await get(of(study, "trials"), { ...view, descending: view.descending || undefined });
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 400 || mine !== request) throw error;
      wrong.textContent = error.message;
      wrong.hidden = false;
      input.setAttribute("aria-invalid", "true");
      return;
    }
    if (mine !== request) return;
    wrong.hidden = true;
    input.removeAttribute("aria-invalid");
    const shownColumns = all.filter((column) => visible.has(column.id));
    fill(head, h("tr", {}, shownColumns.map((column) => {
      const sort = column.sort ?? column.id;
      const sorted = sort === view.sort;
      const state = sorted ? (view.descending ? "descending" : "ascending") : undefined;
      return h("th", { scope: "col", class: column.number ? "number" : undefined, "aria-sort": state }, column.fixed ? column.name : h("button", { type: "button",
        onclick: () => change({ sort, descending: sorted ? !view.descending : false, offset: 0 }) }, `${column.name}${sorted ? (view.descending ? " ↓" : " ↑") : ""}`));
    })));
    const fresh = (row) => seen.size > 0 && !seen.has(`${row.trial}${row.state}`);
    fill(body, got.trials.map((row) => h("tr", { class: fresh(row) ? "fresh" : undefined },
      shownColumns.map((column) => h("td", { class: column.number ? "number" : undefined }, column.cell(row))))));
    if (!got.trials.length) fill(body, h("tr", {}, h("td", { colspan: Math.max(1, shownColumns.length), class: "soft" }, view.filter ? "No trial matches the filter." : "No trials yet.")));
    seen = new Set(got.trials.map((row) => `${row.trial}${row.state}`));
    const last = view.offset + got.trials.length;
    said.textContent = `${got.matching ? `${count(view.offset + 1)} to ${count(last)} of ` : ""}${count(got.matching)}${got.matching < got.total ? ` matching, ${count(got.total)} in all` : " trials"}`;
    previous.disabled = view.offset === 0;
    next.disabled = last >= got.matching;
    const parameters = new URLSearchParams({ ...(view.filter && { filter: view.filter }), sort: view.sort, descending: view.descending,
      columns: JSON.stringify(shownColumns.flatMap(inFile)) });
    file.href = `${of(study, "trials.csv")}?${parameters}`;
  }
  /** The columns of the file that belong to one of the table. */
  function inFile({ id, sort }) {
    const several = objectives.length > 1;
    const [kind, name] = [id.slice(0, 2), id.slice(2)];
    if (id === "value") return several ? [`objective.${sort}`, `deviation.${sort}`] : ["value", "deviation", "fidelity"];
    if (kind === "o:") return [`objective.${name}`, `deviation.${name}`];
    if (kind === "c:") return [`constraint.${name}`, `deviation.${name}`];
    if (kind === "p:") return [`param.${name}`];
    return { seconds: ["started", "finished"], attributes: ["attribute.*"] }[id] ?? [id];
  }
  void go;
  return { element, load };
}
