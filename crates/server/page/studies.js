// All studies, and some side by side.

import { get, of } from "./api.js";
import { card, choice, fill, h, link, scrolling, table } from "./dom.js";
import { ago, count, duration, short } from "./format.js";
import { Plot, isSteep, powers, ticks } from "./plot.js";

export async function studies(main, go) {
  const holder = h("div");
  fill(main, h("div", { class: "title" }, h("h1", {}, "Studies"), h("span", { class: "grow" }), link("/compare", "Compare")), holder);
  const load = async () => {
    const { studies: all, now } = await get("/api/studies");
    if (!all.length) {
      return fill(holder, h("div", { class: "message" }, h("strong", {}, "No studies yet"), "Run ", h("code", {}, "wimble run STUDY_FILE"), " with this storage, and they appear here."));
    }
    const line = (study) => {
      const finished = study.counts.valued + study.counts.failed + study.counts.infeasible;
      const done = study.budget ? Math.min(1, (finished - study.counts.imported) / study.budget) : 0;
      const left = study.rate && study.budget > finished ? (study.budget - finished) / study.rate * 60000 : null;
      return [
        h("div", {}, link(`/study/${encodeURIComponent(study.name)}`, study.name), study.trouble && h("div", { class: "wrong" }, study.trouble)),
        study.paused ? h("span", { class: "chip", "data-state": "paused" }, study.counts.running ? `paused, ${study.counts.running} running` : "paused")
          : h("span", { class: "chip", "data-state": study.alive ? "alive" : done >= 1 ? "complete" : "idle" }, study.alive ? `${study.counts.running} running` : done >= 1 ? "done" : "idle"),
        h("div", {}, `${count(finished)} of ${count(study.budget)}`, h("progress", { max: "1", value: String(done), "aria-label": `Progress of ${study.name}` })),
        { number: best(study) },
        { number: study.rate && study.alive ? `${short(Number(study.rate.toPrecision(3)))} / min${left ? `, ${duration(left)} left` : ""}` : "–" },
        { number: study.counts.failed ? count(study.counts.failed) : "–" },
        ago(study.last_sign, now),
      ];
    };
    const open = holder.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    fill(holder, h("section", { class: "card" }, scrolling("Studies", table(["Study", "State", "Progress", { number: "Best" }, { number: "Rate" }, { number: "Failed" }, "Last sign of life"], all.map(line), "Studies"))));
    if (open) [...holder.querySelectorAll("a")].find((a) => a.getAttribute("href") === open)?.focus();
  };
  await load();
  void go;
  const timer = setInterval(() => load().catch(() => {}), 1500);
  return () => clearInterval(timer);
}

/** The best value of a study; of several objectives it is that of the first, whose name is said. */
function best({ best, goal }) {
  if (!best) return "–";
  const note = [goal?.objectives?.length > 1 && goal.objectives[0].name, `trial ${best.trial}`].filter(Boolean).join(", ");
  return h("span", {}, short(best.value), " ", h("span", { class: "soft small" }, note));
}

/** The best so far of several studies in one figure. */
export async function compare(main) {
  const { studies: all } = await get("/api/studies");
  let by = "trial";
  // Null until somebody chooses: the values decide.
  let log = null;
  const given = new URLSearchParams(location.search).getAll("study");
  const chosen = new Set(given.length ? given : all.slice(0, 5).map((study) => study.name));
  let lines = [];
  const strokes = [[], [7, 4], [2, 3], [9, 3, 2, 3], [14, 5]];
  const plot = new Plot({
    label: "Best so far of several studies", height: 400, margin: { top: 26, bottom: 44 },
    paint(context) {
      const c = plot.colours;
      const shades = [c.accent, c.warm, c.good, c.bad, c.warn, c.ink, c.soft];
      const values = lines.flatMap((line) => line.best.y.slice(Math.floor(line.best.y.length / 4)));
      if (!values.length) return;
      logs.hidden = values.some((value) => value <= 0);
      const isLog = !logs.hidden && (log ?? isSteep(Math.min(...values), Math.max(...values)));
      logs.setAttribute("aria-pressed", String(isLog));
      const scaled = (value) => (isLog ? Math.log10(value) : value);
      const up = (value) => plot.up(scaled(Math.max(value, isLog ? 1e-300 : -Infinity)));
      const [low, high] = [scaled(Math.min(...values)), scaled(Math.max(...values))];
      const pad = (high - low) * 0.06 || 1;
      plot.y = { low: low - pad, high: high + pad };
      plot.x = { low: 0, high: Math.max(...lines.map((line) => line.all.high), 1) };
      plot.axes(context, { xText: by === "time" ? duration : count, xName: by === "time" ? "since each began" : "trial",
        yText: isLog ? (power) => short(10 ** power) : short, yTicks: isLog ? powers(plot.y, plot.area.height) : ticks(plot.y.low, plot.y.high, 6), yName: isLog ? "best so far, log scale" : "best so far" });
      plot.inside(context, () => lines.forEach((line, k) => {
        context.strokeStyle = shades[k % shades.length];
        context.setLineDash(strokes[Math.floor(k / shades.length) % strokes.length]);
        context.lineWidth = 2;
        context.beginPath();
        line.best.x.forEach((x, i) => {
          if (i) context.lineTo(plot.at(x), up(line.best.y[i - 1]));
          context.lineTo(plot.at(x), up(line.best.y[i]));
        });
        if (line.best.y.length) context.lineTo(plot.at(line.all.high), up(line.best.y.at(-1)));
        context.stroke();
        context.setLineDash([]);
      }));
      fill(legend, lines.map((line, k) => {
        const mark = h("i", { class: "line" });
        mark.style.background = shades[k % shades.length];
        return h("span", {}, mark, link(`/study/${encodeURIComponent(line.name)}`, line.name));
      }));
    },
    behind: () => table(["Study", { number: "Trials" }, { number: "Best" }], lines.map((line) => [line.name, { number: count(line.shown) }, { number: short(line.best.y.at(-1)) }]), "Best of each study"),
  });
  const legend = h("div", { class: "legend" });
  const load = async () => {
    lines = await Promise.all([...chosen].map(async (name) => ({ name, ...(await get(of(name, "history"), { width: 400, by })) })));
    plot.describe(lines.map((line) => `${line.name} ${short(line.best.y.at(-1))}`).join(", "));
    plot.draw();
    const line = (name) => all.find((study) => study.name === name);
    fill(beside, table(["Study", "Method", { number: "Best" }, { number: "Finished" }, { number: "Failed" }, { number: "Rate" }], [...chosen].map(line).filter(Boolean).map((study) => [
      link(`/study/${encodeURIComponent(study.name)}`, study.name), study.method ?? "–",
      { number: best(study) },
      { number: `${count(study.counts.valued + study.counts.failed + study.counts.infeasible)} of ${count(study.budget)}` },
      { number: count(study.counts.failed) }, { number: study.rate ? `${short(Number(study.rate.toPrecision(3)))} / min` : "–" }]), "Studies side by side"));
  };
  const beside = scrolling("Studies side by side");
  const over = choice("Over", [["trial", "Trials"], ["time", "Time"]], "trial", (now) => { by = now; load(); });
  const logs = h("button", { type: "button", hidden: true, onclick: () => { log = logs.getAttribute("aria-pressed") !== "true"; plot.draw(); } }, "Log scale");
  const boxes = h("div", { class: "legend" }, all.map((study) => h("label", {}, h("input", { type: "checkbox", checked: chosen.has(study.name), onchange: (event) => {
    if (event.target.checked) chosen.add(study.name);
    else chosen.delete(study.name);
    window.history.replaceState(null, "", `?${new URLSearchParams([...chosen].map((name) => ["study", name]))}`);
    load();
  } }), " ", study.name)));
  fill(main, h("div", { class: "title" }, h("h1", {}, "Studies side by side")), h("div", { class: "cards" }, card("Best so far", { tools: h("div", { class: "tools" }, over, logs) }, plot.element, legend), card("In numbers", {}, beside), card("Which studies", {}, boxes)));
  await load();
}
