// Elements without HTML: every text from a study is set as text, so that nothing in it can become markup.

const PROPERTIES = new Set(["value", "checked", "disabled", "selected", "hidden", "open"]);

/** An element with attributes, listeners (`onclick`) and children. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (PROPERTIES.has(name)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children.flat(3)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** Replaces all children. */
export function fill(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

/** A link inside the page. */
export function link(href, ...children) {
  return h("a", { href, "data-link": true }, ...children);
}

/** A table: heads are texts or elements; rows are lists of cells. A cell `{ number: … }` stands to the right. */
export function table(heads, rows, caption) {
  const cell = (tag, content) => {
    const number = content !== null && typeof content === "object" && "number" in content;
    const scope = tag === "th" ? "col" : undefined;
    return h(tag, { class: number ? "number" : undefined, scope }, number ? content.number : content);
  };
  return h("table", {},
    caption && h("caption", { class: "visually-hidden" }, caption),
    h("thead", {}, h("tr", {}, heads.map((head) => cell("th", head)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((content) => cell("td", content))))));
}

/** What scrolls where it is wider than the screen; `label` names it for those who do not see it. */
export function scrolling(label, ...children) {
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, ...children);
}

/** A card of the page. */
export function card(title, { note, tools, size = "" } = {}, ...children) {
  const id = `c${Math.random().toString(36).slice(2)}`;
  return h("section", { class: `card ${size}`, "aria-labelledby": id },
    h("header", {}, h("h2", { id }, title), note && h("span", { class: "note" }, note), tools), ...children);
}

/** Buttons of which one is pressed. */
export function choice(label, options, chosen, choose) {
  const group = h("div", { class: "group", role: "group", "aria-label": label });
  const draw = (now) => fill(group, options.map(([value, text]) => h("button", {
    type: "button", "aria-pressed": String(value === now), onclick: () => { draw(value); choose(value); },
  }, text)));
  draw(chosen);
  return group;
}

/** Names in backquotes as code. */
export function marked(text) {
  return text.split("`").map((part, i) => (i % 2 ? h("code", {}, part) : part));
}
