"""A study of a million trials in a real browser: the first figure, interactions, and memory.

usage: large_1000000.py WIMBLE CHROMIUM FOLDER [TRIALS]

Makes the study in FOLDER, unless it is there; then starts `wimble serve`, looks at the page with Chromium, and prints what it took. With
`prepare` in the place of CHROMIUM, it only makes the study.
"""

import pathlib
import random
import re
import subprocess
import sys
import time
import urllib.request

from playwright.sync_api import expect, sync_playwright
from server import Server


def memory(pid):
    """The memory of a process and its children, in MB."""
    total = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rsplit(")", 1)[1].split()[1])
            if parent == pid or int(stat.parent.name) == pid:
                total += int(re.search(r"VmRSS:\s+(\d+)", (stat.parent / "status").read_text())[1])
        except (OSError, TypeError):
            pass
    return total / 1024


def weight(server):
    """All that the page is made of, as it is sent, in KB."""
    total = 0
    for name in ["/", *(f"/assets/{path.name}" for path in (pathlib.Path(__file__).resolve().parents[2] / "page").iterdir() if path.name != "index.html")]:
        request = urllib.request.Request(server.base + name, headers={"accept-encoding": "gzip"})
        with urllib.request.urlopen(request) as answer:
            total += len(answer.read())
    return round(total / 1000)


def renderer():
    """The largest memory of a process that draws pages, in MB; what it shares with others counts in part."""
    largest = 0
    for line in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"--type=renderer" in line.read_bytes():
                kept = (line.parent / "smaps_rollup").read_text()
                largest = max(largest, int(re.search(r"Pss:\s+(\d+)", kept)[1]))
        except (OSError, TypeError):
            pass
    return largest / 1024


def prepare(wimble, folder, trials):
    """Imports the trials."""
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "large.ready").exists():
        return
    server = Server(wimble, folder)
    server.create("large", method="random", budget=trials)
    server.stop()
    rows, draw = folder / "large.csv", random.Random(1)
    with rows.open("w") as out:
        out.write("state,value,param.heat,param.rate,param.minutes,param.steam\n")
        for i in range(trials):
            heat, minutes = draw.uniform(150, 280), draw.randint(10, 90)
            value = (heat - 236) ** 2 / 4000 + (minutes - 42) ** 2 / 900 + draw.random() * 3 * 0.5 ** (i / trials * 6)
            out.write(f"complete,{value!r},{heat!r},{10 ** draw.uniform(-4, 0)!r},{minutes},{draw.choice(['none', 'some', 'plenty'])}\n")
    start = time.time()
    subprocess.run([wimble, "import", str(rows), "--study", "large", "--storage", str(folder / "wimble.db")], check=True, stdout=subprocess.DEVNULL)
    print(f"{trials} trials imported in {time.time() - start:.0f} s")
    (folder / "large.ready").touch()


# The pause for typing of trials.js.
TYPING = 250
# Milliseconds from an event to the frame in which its answer is painted: `window.answered` is a promise of them. The answer is a change of an
# attribute, or of what is inside.
ANSWERED = """([event, selector, attribute]) => {
  const target = document.querySelector(selector);
  window.answered = new Promise((resolve) => addEventListener(event, () => {
    const start = performance.now();
    const seen = new MutationObserver(() => {
      seen.disconnect();
      requestAnimationFrame(() => { const after = new MessageChannel(); after.port1.onmessage = () => resolve(performance.now() - start); after.port2.postMessage(0); });
    });
    seen.observe(target.isConnected && attribute ? target : document.querySelector("#trials"), attribute ? { attributeFilter: [attribute] } : { childList: true, subtree: true });
  }, { once: true, capture: true }));
}"""


def told(what, times):
    """Prints the 95th percentile."""
    times.sort()
    print(f"{what} answered within {times[int(len(times) * 0.95)]:.0f} ms (95th percentile of {len(times)}, median {times[len(times) // 2]:.0f} ms)")


def measure(browser, server, folder, trials):
    """Looks at the study."""
    from page import drawn

    page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
    print(f"the page weighs {weight(server)} KB compressed")
    for visit in ["first visit, the server reads the study", "second visit"]:
        start = time.time()
        page.goto(f"{server.base}/study/large")
        drawn(page, "History")
        print(f"{visit}: first figure after {time.time() - start:.2f} s")
        if visit.startswith("first"):
            expect(page.locator(".loading")).to_be_hidden(timeout=300_000)
            print(f"the whole study was read after {time.time() - start:.1f} s")
    page.wait_for_timeout(3000)
    canvas = page.get_by_role("img", name=re.compile("^History"))
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    times = []
    for i in range(40):
        left = box["x"] + box["width"] * (0.2 + 0.01 * i)
        page.mouse.move(left, box["y"] + 100)
        page.mouse.down()
        page.mouse.move(left + 200, box["y"] + 100)
        page.evaluate(ANSWERED, ["pointerup", "canvas[aria-label^=History]", "aria-label"])
        page.mouse.up()
        times.append(page.evaluate("window.answered"))
        canvas.focus()
        page.evaluate(ANSWERED, ["keydown", "canvas[aria-label^=History]", "aria-label"])
        page.keyboard.press("Escape")
        times.append(page.evaluate("window.answered"))
    told("zooming", times)
    field = page.get_by_label("Filter")
    field.scroll_into_view_if_needed()
    page.wait_for_timeout(1500)
    times = []
    for i in range(40):
        page.evaluate(ANSWERED, ["input", "#trials tbody", None])
        field.fill(f"value < {0.5 + i / 100} and steam = some")
        times.append(page.evaluate("window.answered") - TYPING)
    told(f"filtering, after a pause of {TYPING} ms for typing,", times)
    times = []
    for i in range(40):
        page.evaluate(ANSWERED, ["click", "#trials tbody", None])
        page.locator("#trials thead button").nth(i % 4).click()
        times.append(page.evaluate("window.answered"))
    told("sorting", times)
    flat = memory(server.process.pid)
    grown = []
    for i in range(300):
        # Not faster than one client may ask.
        time.sleep(0.01)
        with urllib.request.urlopen(f"{server.base}/api/studies/large/history?from={i * 100}&to={trials - i}&width=300") as answer:
            answer.read()
        if i % 100 == 99:
            grown.append(f"{memory(server.process.pid):.0f}")
    print(f"server memory {flat:.0f} MB; after 100, 200 and 300 more pictures {', '.join(grown)} MB")
    page.screenshot(path=folder / "large.png", full_page=True)
    print(f"the process that draws the page uses {renderer():.0f} MB of its own")
    heap = page.evaluate("performance.memory.usedJSHeapSize") / 1e6
    print(f"the page's JavaScript uses {heap:.0f} MB; the server {memory(server.process.pid):.0f} MB")


def main(wimble, chromium, folder, trials="1000000"):
    folder, trials = pathlib.Path(folder), int(trials)
    prepare(wimble, folder, trials)
    if chromium == "prepare":
        return
    server = Server(wimble, folder)
    try:
        with sync_playwright() as play:
            options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
            browser = play.chromium.launch(executable_path=chromium, args=options)
            measure(browser, server, folder, trials)
            browser.close()
    finally:
        server.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
