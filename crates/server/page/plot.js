// A figure on a canvas: sharp on every screen, in the colours of the page, with a tip, a text for those who do not see it,
// and a table behind it.

import { fill, h } from "./dom.js";
import { short } from "./format.js";

const plots = new Set();
/** The colours of the page, until they change: to read them costs more than many a figure. */
let known = null;

/** Draws all figures again, after the colours changed. */
export function redraw() {
  known = null;
  for (const plot of plots) {
    if (plot.element.isConnected) plot.draw();
    else if (plot.seen) plots.delete(plot);
  }
}

/** The colours of the page, by name. */
function colours() {
  if (known) return known;
  const probe = document.createElement("canvas").getContext("2d");
  const of = (name) => {
    // light-dark() is resolved where a colour is used, not where it is declared.
    const holder = colours.holder ??= document.body.appendChild(h("span", { class: "visually-hidden", "aria-hidden": "true" }));
    holder.style.color = `var(--${name})`;
    probe.fillStyle = getComputedStyle(holder).color;
    return probe.fillStyle;
  };
  known = Object.fromEntries(["ink", "soft", "grid", "accent", "good", "bad", "warn", "warm", "card", "line", "tint"]
    .map((name) => [name, of(name)]));
  return known;
}

/** A colour with an opacity. */
export function faint(colour, opacity) {
  const [r, g, b] = channels(colour);
  return `rgba(${r}, ${g}, ${b}, ${opacity})`;
}

/** Red, green and blue of a colour as a canvas writes it. */
export function channels(colour) {
  if (colour.startsWith("#")) return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return colour.match(/[\d.]+/g).slice(0, 3).map(Number);
}

/** Round numbers between two numbers. */
export function ticks(low, high, wanted) {
  const raw = (high - low) / Math.max(1, wanted);
  if (!(raw > 0) || !Number.isFinite(raw)) return [];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= raw * 0.999) ?? 10 * power;
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step) found.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  return found;
}

/** Ticks of a logarithmic axis from one power of ten to another: powers, or round numbers between them where there are few. */
export function powers({ low, high }, height) {
  const steps = high - low > 2.5 ? [1] : high - low > 1 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8];
  const every = Math.max(1, Math.ceil((high - low) * 55 / height));
  const found = [];
  for (let power = Math.floor(low); power <= Math.ceil(high); power += every) for (const step of steps) found.push(power + Math.log10(step));
  return found.filter((at) => at >= low && at <= high);
}

/** Whether positive numbers lie so far apart that only their logarithms show them all. */
export function isSteep(low, high) {
  return low > 0 && high / low > 100;
}

/** A text cut to a width. */
export function clip(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let cut = text;
  while (cut.length > 1 && context.measureText(`${cut}…`).width > width) cut = cut.slice(0, -1);
  return `${cut}…`;
}

/** Bytes of base 64. */
export function bytes(text) {
  const raw = atob(text);
  const found = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) found[i] = raw.charCodeAt(i);
  return found;
}

export class Plot {
  /**
   * `label` names the figure; `height` is in pixels of an ordinary screen; `paint(context, plot)` draws it; `behind()` gives the table
   * behind it.
   */
  constructor({ label, height = 260, paint, behind, margin = {}, brush = false }) {
    this.paint = paint;
    this.label = label;
    this.height = height;
    this.margin = { left: 58, right: 12, top: 10, bottom: 28, ...margin };
    this.canvas = h("canvas", { role: "img", "aria-label": label, tabindex: 0, class: brush ? "brush" : undefined });
    this.canvas.style.height = `${height}px`;
    this.tip = h("div", { class: "tip", role: "presentation" });
    this.said = h("span", { class: "visually-hidden", "aria-live": "polite" });
    this.caption = h("figcaption");
    this.element = h("figure", {}, this.canvas, this.tip, this.said, this.caption);
    if (behind) {
      const inside = h("div", { tabindex: 0, role: "region", "aria-label": `${label}: table` });
      this.details = h("details", { class: "behind", ontoggle: () => this.details.open && fill(inside, behind()) },
        h("summary", {}, "Table"), inside);
      this.behind = () => this.details.open && fill(inside, behind());
      this.element.append(this.details);
    }
    this.x = { low: 0, high: 1 };
    this.y = { low: 0, high: 1 };
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    plots.add(this);
  }

  /** Draws the figure anew. */
  draw() {
    const width = this.canvas.clientWidth;
    if (!width) return;
    this.seen = true;
    const scale = devicePixelRatio || 1;
    // As the text of the page grows on very large screens, so do figures.
    this.text = parseFloat(getComputedStyle(document.documentElement).fontSize) * 0.8;
    const tall = Math.round(this.height * Math.max(1, this.text / 12));
    this.canvas.style.height = `${tall}px`;
    const [w, hgt] = [Math.round(width * scale), Math.round(tall * scale)];
    if (this.canvas.width !== w) this.canvas.width = w;
    if (this.canvas.height !== hgt) this.canvas.height = hgt;
    this.width = width;
    const { left, right, top, bottom } = this.margin;
    this.area = { left, top, width: Math.max(10, width - left - right), height: tall - top - bottom };
    const context = this.canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, tall);
    context.font = `${this.text}px ${getComputedStyle(document.body).fontFamily}`;
    context.lineJoin = "round";
    this.colours = colours();
    this.paint(context, this);
    if (this.walked) ring(context, ...this.walked, this.colours.ink);
    this.behind?.();
  }

  /** What somebody hears who does not see the figure. */
  describe(text) {
    this.canvas.setAttribute("aria-label", `${this.label}: ${text}`);
  }

  at(x) {
    return this.area.left + ((x - this.x.low) / (this.x.high - this.x.low)) * this.area.width;
  }

  up(y) {
    return this.area.top + (1 - (y - this.y.low) / (this.y.high - this.y.low)) * this.area.height;
  }

  /** The number under a pixel. */
  from(pixel) {
    return this.x.low + ((pixel - this.area.left) / this.area.width) * (this.x.high - this.x.low);
  }

  /** Lines and numbers along both axes, and their names: that of the upright one above it, that of the other below its end. */
  axes(context, { xText = short, yText = short, xTicks, yTicks, xName, yName } = {}) {
    const { left, top, width, height } = this.area;
    const c = this.colours;
    context.lineWidth = 1;
    context.strokeStyle = c.grid;
    context.fillStyle = c.soft;
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const y of yTicks ?? ticks(this.y.low, this.y.high, height / 55)) {
      const at = Math.round(this.up(y)) + 0.5;
      if (at < top - 1 || at > top + height + 1) continue;
      line(context, left, at, left + width, at);
      context.fillText(yText(y), left - 8, at);
    }
    context.textBaseline = "top";
    context.textAlign = "center";
    let end = -Infinity;
    for (const x of xTicks ?? ticks(this.x.low, this.x.high, Math.max(3, width / 90))) {
      const at = Math.round(this.at(x)) + 0.5;
      if (at < left - 1 || at > left + width + 1) continue;
      line(context, at, top, at, top + height);
      const text = xText(x);
      const half = context.measureText(text).width / 2;
      const middle = Math.min(Math.max(at, half), this.width - half);
      if (middle - half > end + 6) {
        context.fillText(text, middle, top + height + 8);
        end = middle + half;
      }
    }
    if (xName) {
      context.textAlign = "right";
      context.fillText(xName, left + width, top + height + 12 + this.text);
    }
    if (yName) {
      context.textAlign = "left";
      context.fillText(clip(context, yName, this.width - 10), 2, 2);
    }
  }

  /** Paints inside the area only, and a few pixels beyond it, so that dots at its edges are whole. */
  inside(context, work, beyond = 4) {
    const { left, top, width, height } = this.area;
    context.save();
    context.beginPath();
    context.rect(left - beyond, top - beyond, width + 2 * beyond, height + 2 * beyond);
    context.clip();
    work();
    context.restore();
  }

  /** A density grid of the server, in shades of a colour. */
  grid(context, grid, colour) {
    const shades = bytes(grid.cells);
    const image = new ImageData(grid.width, grid.height);
    const [r, g, b] = channels(colour);
    // A cell is four bytes: red, green, blue, and how dense it is.
    const cells = new Uint8Array(4 * 256);
    for (let shade = 1; shade < 256; shade++) cells.set([r, g, b, 40 + shade * 0.84], 4 * shade);
    const [colour32, pixels] = [new Uint32Array(cells.buffer), new Uint32Array(image.data.buffer)];
    for (let i = 0; i < shades.length; i++) pixels[i] = colour32[shades[i]];
    const small = new OffscreenCanvas(grid.width, grid.height);
    small.getContext("2d").putImageData(image, 0, 0);
    const { left, top, width, height } = this.area;
    context.imageSmoothingEnabled = false;
    context.drawImage(small, left, top, width, height);
  }

  /** Shows a tip at a pixel; without a text, none. */
  hint(text, x, y) {
    this.tip.style.visibility = text ? "visible" : "hidden";
    if (!text) return;
    this.tip.textContent = text;
    const left = Math.min(Math.max(0, x + 12), Math.max(0, this.width - this.tip.offsetWidth - 4));
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${Math.max(0, y - this.tip.offsetHeight - 10)}px`;
  }

  /** Calls `found(x, y)` with pixels under the pointer, and `found()` when it leaves. */
  hover(found) {
    this.canvas.addEventListener("pointermove", (event) => {
      const box = this.canvas.getBoundingClientRect();
      if (this.area) found(event.clientX - box.left, event.clientY - box.top);
    });
    this.canvas.addEventListener("pointerleave", () => found());
  }
}

/** A line between two points. */
export function line(context, x1, y1, x2, y2) {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}

/** A line of steps: each value holds until the next, the last one to the right edge. */
export function steps(context, plot, xs, ys, colour, up = (y) => plot.up(y), width = 2.2) {
  if (!xs.length) return;
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  context.moveTo(plot.at(xs[0]), up(ys[0]));
  for (let i = 1; i < xs.length; i++) {
    context.lineTo(plot.at(xs[i]), up(ys[i - 1]));
    context.lineTo(plot.at(xs[i]), up(ys[i]));
  }
  context.lineTo(plot.at(plot.x.high), up(ys.at(-1)));
  context.stroke();
}

/** A circle around a point. */
export function ring(context, x, y, colour) {
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.beginPath();
  context.arc(x, y, 6, 0, 7);
  context.stroke();
}

/** A filled circle. */
export function dot(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 7);
  context.fill();
}

/** The place of the nearest of some points to a pixel; -1 if none is near. */
export function nearest(xs, ys, x, y, reach = 14) {
  let best = -1;
  let least = reach * reach;
  for (let i = 0; i < xs.length; i++) {
    const distance = (xs[i] - x) ** 2 + (ys[i] - y) ** 2;
    if (distance < least) [best, least] = [i, distance];
  }
  return best;
}

/** Lets arrow keys walk along points, as `touch` has them, from left to right, and Enter open one. */
export function walk(plot, list) {
  let chosen = -1;
  const leave = () => {
    chosen = -1;
    plot.walked = null;
    plot.hint();
    plot.draw();
  };
  plot.canvas.addEventListener("keydown", (event) => {
    const all = list().sort((a, b) => a.x - b.x);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step && all.length) {
      chosen = chosen < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, chosen + step));
      const { x, y, text } = all[chosen];
      plot.walked = [x, y];
      plot.draw();
      plot.said.textContent = text().replaceAll("\n", ", ");
      plot.hint(text(), x, y);
    } else if (event.key === "Enter" && all[chosen]) all[chosen].open();
    else if (event.key === "Escape" && chosen >= 0) leave();
    else return;
    event.preventDefault();
  });
  plot.canvas.addEventListener("blur", () => chosen >= 0 && leave());
}

/** Points that say what they are under a pointer, open with a click, and can be walked along. `list()` gives `{ x, y, text(), open() }` of each, x and y in pixels. */
export function touch(plot, list, reach) {
  const under = (x, y) => {
    const all = list();
    return all[nearest(all.map((point) => point.x), all.map((point) => point.y), x, y, reach)];
  };
  plot.hover((x, y) => plot.hint(x === undefined ? undefined : under(x, y)?.text(), x, y));
  plot.canvas.addEventListener("click", (event) => {
    const box = plot.canvas.getBoundingClientRect();
    if (plot.area) under(event.clientX - box.left, event.clientY - box.top)?.open();
  });
  walk(plot, list);
}

/** Lets a pointer mark a part of a figure from left to right. `done(from, to)` gets numbers; a click calls `click(x, y)`. */
export function brush(plot, done, click) {
  let start = null;
  const place = (event) => event.clientX - plot.canvas.getBoundingClientRect().left;
  plot.canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    start = place(event);
    plot.canvas.setPointerCapture(event.pointerId);
  });
  plot.canvas.addEventListener("pointermove", (event) => {
    if (start === null) return;
    plot.brushed = [Math.min(start, place(event)), Math.max(start, place(event))];
    plot.draw();
  });
  plot.canvas.addEventListener("pointerup", (event) => {
    const marked = plot.brushed;
    plot.brushed = null;
    if (start !== null && marked && marked[1] - marked[0] > 6) done(plot.from(marked[0]), plot.from(marked[1]));
    else if (start !== null) click?.(start, event.clientY - plot.canvas.getBoundingClientRect().top);
    start = null;
  });
  plot.canvas.addEventListener("pointercancel", () => {
    start = plot.brushed = null;
    plot.draw();
  });
}

/** The marked part of a figure. */
export function drawBrush(context, plot) {
  if (!plot.brushed) return;
  context.fillStyle = faint(plot.colours.accent, 0.18);
  context.fillRect(plot.brushed[0], plot.area.top, plot.brushed[1] - plot.brushed[0], plot.area.height);
}
