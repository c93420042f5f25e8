// Requests to the server, and its events.

/** What the server refused, in its words. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** The JSON at an address. The browser keeps answers by their tags: what did not change is not sent again. */
export async function get(path, parameters = {}, signal = undefined) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== "") query.set(name, value);
  }
  const text = query.toString();
  const response = await fetch(text ? `${path}?${text}` : path, { signal, credentials: "same-origin" });
  return answer(response);
}

/** Sends JSON. */
export async function post(path, body) {
  const headers = { "content-type": "application/json" };
  return answer(await fetch(path, { method: "POST", headers, body: JSON.stringify(body), credentials: "same-origin" }));
}

async function answer(response) {
  const body = await response.json().catch(() => ({ error: `status ${response.status}` }));
  if (!response.ok) throw new Refused(response.status, typeof body.error === "string" ? body.error : JSON.stringify(body.error));
  const loaded = response.headers.get("wimble-loaded");
  if (loaded !== null) Object.defineProperty(body, "loaded", { value: Number(loaded) });
  return body;
}

/** The address of something of a study. */
export function of(study, path) {
  return `/api/studies/${encodeURIComponent(study)}/${path}`;
}

/** Listens to a study. `change` gets each event; `state` gets "on" or "off". Returns a function that ends it. */
export function listen(study, change, state) {
  let source;
  let timer;
  const open = () => {
    source = new EventSource(of(study, "events"));
    source.addEventListener("open", () => state("on"));
    source.addEventListener("change", (event) => change(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      state("off");
      // A server that is restarted refuses connections for a while: the browser gives up, this does not.
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, 2000);
    });
  };
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
