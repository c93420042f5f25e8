// Light, dark, or as the system has it.

const ORDER = ["system", "light", "dark"];
const SIGNS = { system: "◐", light: "☀", dark: "☾" };

/** Makes a button change the colours; `redraw` is called after every change. */
export function theme(button, redraw) {
  let now = localStorage.getItem("wimble-theme") ?? "system";
  const apply = () => {
    if (now === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = now;
    button.textContent = SIGNS[now];
    button.setAttribute("aria-label", `Colours: ${now === "system" ? "as the system" : now}`);
    redraw();
  };
  button.addEventListener("click", () => {
    now = ORDER[(ORDER.indexOf(now) + 1) % ORDER.length];
    localStorage.setItem("wimble-theme", now);
    apply();
  });
  // Paper is white, and figures are drawn before they are printed.
  addEventListener("beforeprint", () => { document.documentElement.dataset.theme = "light"; redraw(); });
  addEventListener("afterprint", apply);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  apply();
}
