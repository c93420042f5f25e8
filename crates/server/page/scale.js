// Places between 0 and 1 along a parameter, as the server gives them, and the values there.

/** The words of a parameter of choices; null for numbers. */
export function words(dimension) {
  if (dimension.type === "boolean") return ["false", "true"];
  return (dimension.choices ?? dimension.levels)?.map(String) ?? null;
}

/** The value at a place. */
export function at(dimension, place) {
  const list = words(dimension);
  if (list) return list[Math.min(list.length - 1, Math.floor(place * list.length))];
  const { low, high } = dimension;
  const value = dimension.scale === "log" ? Math.exp(Math.log(low) + (Math.log(high) - Math.log(low)) * place) : low + (high - low) * place;
  return dimension.type === "integer" ? Math.round(value) : value;
}

/** Places of ticks along a parameter, each with its text; of a part of it if one is given. */
export function ticks(dimension, wanted, text, between, part = { low: 0, high: 1 }) {
  const list = words(dimension);
  if (list) return list.map((word, i) => [(i + 0.5) / list.length, word]);
  if (part.low > 0 || part.high < 1) {
    const real = { ...dimension, type: "real" };
    const inside = { ...real, low: at(real, part.low), high: at(real, part.high) };
    return ticks(inside, wanted, text, between).map(([place, word]) => [part.low + place * (part.high - part.low), word]);
  }
  const { low, high } = dimension;
  if (dimension.scale !== "log") return between(low, high, wanted).map((value) => [(value - low) / (high - low || 1), text(value)]);
  const span = Math.log(high) - Math.log(low);
  const first = Math.floor(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first) / Math.max(1, wanted)));
  // Where there are few powers of ten, round numbers between them too.
  const steps = last - first > 2 ? [1] : [1, 2, 5];
  const found = [];
  for (let power = first; power <= last; power += every) for (const step of steps) {
    const value = step * 10 ** power;
    if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) found.push([(Math.log(value) - Math.log(low)) / span, text(value)]);
  }
  return found.length > 1 ? found : [[0, text(low)], [1, text(high)]];
}
