// Numbers, times and durations as people read them.

/** A number in about five digits. */
export function short(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(3).replace(/\.?0+e/, "e").replace("e+", "e");
  return String(Number(value.toPrecision(5)));
}

/** A whole number with thin spaces between thousands. */
export function count(value) {
  return value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en").replaceAll(",", "\u2009");
}

/** A value of a parameter. */
export function shown(value) {
  return typeof value === "number" ? (Number.isInteger(value) ? String(value) : short(value)) : String(value ?? "");
}

/** Milliseconds as a duration. */
export function duration(milliseconds) {
  if (!Number.isFinite(milliseconds)) return "–";
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${Number(seconds.toPrecision(2))} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${String(Math.floor(seconds % 60)).padStart(2, "0")} s`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${String(Math.floor(seconds / 60) % 60).padStart(2, "0")} min`;
  return `${Math.floor(seconds / 86400)} d ${Math.floor(seconds / 3600) % 24} h`;
}

/** How long ago. */
export function ago(then, now) {
  if (then === null || then === undefined) return "never";
  const gone = now - then;
  if (gone < 5000) return "just now";
  // The largest unit is enough.
  const [size, unit] = [[864e5, "d"], [36e5, "h"], [6e4, "min"], [1000, "s"]].find(([size]) => gone >= size);
  return `${Math.floor(gone / size)} ${unit} ago`;
}

/** A time of the day, with the date if it is not today. */
export function clock(milliseconds) {
  const then = new Date(milliseconds);
  const today = then.toDateString() === new Date().toDateString();
  return then.toLocaleString([], today ? { timeStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" });
}
