"""The page in a real browser: what a user sees, clicks and types.

usage: page.py WIMBLE CHROMIUM PICTURES

Starts `wimble serve` on a throw-away storage, works on studies through its interface, and looks at the page with Chromium. Pictures go to
the folder PICTURES. large_1000000.py does the same with a study of a million trials, and prints times and memory.
"""

import os
import pathlib
import random
import re
import sys
import tempfile
import time
import urllib.parse

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright
from server import Server, bake

HOSTILE = "<img src=x onerror=window.hacked=1> & \"quotes\""


def tasks(server):
    """Studies with several objectives and a limit, with curves, and with a theorem."""
    draw = random.Random(5)
    square = {"dimensions": [{"name": name, "type": "real", "low": 0, "high": 1} for name in ["width", "depth"]]}
    server.create("oven", space=square, method="auto", batch_size=2, goal={
        "objectives": [{"name": "error", "direction": "minimise"}, {"name": "speed", "direction": "maximise"}],
        "constraints": [{"name": "memory", "bound": {"at-most": 8}}]})

    def oven(params):
        width, depth = params["width"], params["depth"]
        numbers = {"objectives": [{"value": width + depth ** 2}, {"value": 3 * width ** 0.5 + draw.random() * 0.1}], "constraints": [{"value": 12 * depth}]}
        return {"outcome": {"measured": numbers}}

    for i in range(40):
        server.trial("oven", oven, f"worker-{i % 2 + 1}")
    server.create("triple", space=square, method="random", goal={
        "objectives": [{"name": name, "direction": "minimise"} for name in ["error", "cost", "size"]]})
    for _ in range(40):
        server.trial("triple", lambda p: {"outcome": {"measured": {"objectives": [
            {"value": p["width"]}, {"value": p["depth"]}, {"value": (1 - p["width"]) * (1 - p["depth"])}]}}})
    server.create("train", space=square, method="auto", goal={
        "objectives": [{"name": "loss", "direction": "minimise"}], "fidelity": {"name": "epochs", "low": 1, "high": 27}})
    path = "/api/studies/train"
    for i in range(30):
        claim = server.post(path + "/ask", {"worker": f"gpu-{i % 4}", "key": f"train-{i}"}, server.work)["claims"][0]
        params, loss = claim["params"], None
        for epoch in range(1, 28):
            loss = abs(params["width"] - 0.4) + params["depth"] * 0.3 + 1.5 / epoch + draw.random() * 0.03
            verdict = server.post(path + "/report", {"token": claim["token"], "step": epoch, "value": loss}, server.work)["verdict"]
            # Some stop by the rule or by themselves, and the last two are running.
            if verdict == "stop" or (epoch == 9 and (i >= 28 or i % 4 == 3)):
                break
        if i >= 28:
            continue
        measured = {"objectives": [{"value": loss}], **({"fidelity": epoch} if epoch < 27 else {})}
        server.post(path + "/tell", {"token": claim["token"], "outcome": {"measured": measured}}, server.work)
    server.create("steep", space=square, method="random")
    for power in range(6):
        server.trial("steep", lambda p, power=power: {"value": 10.0 ** -power})
    method = ("bore++ level=0.1 norm-bound=2 threshold=0.5 rule=ascent classifier.hyper-parameters.fixed.kernel.profile=squared-exponential "
              "classifier.hyper-parameters.fixed.kernel.length-scales=[0.3] classifier.hyper-parameters.fixed.kernel.output-scale=1")
    server.create("proven", space={"dimensions": [{"name": "n", "type": "integer", "low": 0, "high": 40}], "repeats": True}, method=method)
    for _ in range(25):
        server.trial("proven", lambda p: {"value": (p["n"] / 40 - 0.3) ** 2 + draw.gauss(0, 0.1)}, "worker-1")


def more_figures(page, server, pictures):
    """Fronts with their hypervolume, curves, certificates: each draws, in light, dark and narrow."""
    figures = {"oven": ["Front", "Hypervolume"], "triple": ["Front", "Hypervolume"], "train": ["Curves"],
               "proven": ["Confidence width", "Information gain", "Bound on the regret"]}
    for name, wanted in figures.items():
        page.set_viewport_size({"width": 1400, "height": 900})
        page.emulate_media(color_scheme="light")
        page.goto(f"{server.base}/study/{name}")
        for figure in wanted:
            drawn(page, figure)
        page.get_by_role("heading", name="What is guaranteed").scroll_into_view_if_needed()
        if name == "proven":
            expect(page.get_by_text("Theorem 3 bounds").first).to_be_visible(timeout=20000)
            expect(page.get_by_text("norm of at most 2").first).to_be_visible()
        if name == "oven":
            # By keyboard along the front; a closer look at the last batch asks for a part of the landscape.
            figure = page.get_by_role("img", name=re.compile("^Front"))
            figure.focus()
            page.keyboard.press("ArrowRight")
            expect(figure.locator("xpath=..").locator("[aria-live]")).to_contain_text("error")
            page.get_by_role("heading", name="The last batch").scroll_into_view_if_needed()
            with page.expect_response(re.compile("/landscape.*x_from=0\\.")) as answered:
                page.get_by_role("button", name="Closer").click()
            assert answered.value.ok
            page.get_by_role("button", name="Closer").click()
            expect(page.get_by_text("no guarantee").first).to_be_visible(timeout=20000)
            expect(page.get_by_text("keep all constraints").first).to_be_visible()
        page.evaluate("scrollTo(0, 0)")
        page.wait_for_timeout(2500)
        page.screenshot(path=pictures / f"{name}.png", full_page=True)
        page.emulate_media(color_scheme="dark")
        page.set_viewport_size({"width": 360, "height": 780})
        page.wait_for_timeout(1200)
        over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert over <= 0, f"{name} is {over} pixels too wide at 360"
        page.screenshot(path=pictures / f"{name}-narrow-dark.png", full_page=True)
    page.set_viewport_size({"width": 1400, "height": 900})
    # Values that fall by powers of ten are seen on their scale at once.
    page.goto(f"{server.base}/study/steep")
    expect(page.get_by_role("button", name="Log scale")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".tile").first).to_contain_text("1e-5")
    # A step that is reported is drawn within a second or so, although no trial changed.
    page.emulate_media(color_scheme="light")
    page.goto(f"{server.base}/study/train")
    drawn(page, "Curves")
    expect(page.locator(".live")).to_have_text("live")
    with page.expect_response(re.compile("/curves"), timeout=5000):
        claim = server.post("/api/studies/train/ask", {"worker": "gpu-9", "key": "late"}, server.work)["claims"][0]
        server.post("/api/studies/train/report", {"token": claim["token"], "step": 1, "value": 2.5}, server.work)
    page.wait_for_timeout(1000)
    with page.expect_response(re.compile("/curves"), timeout=5000):
        server.post("/api/studies/train/report", {"token": claim["token"], "step": 2, "value": 2.25}, server.work)
    page.goto(f"{server.base}/study/train/trial/{claim['trial']}")
    drawn(page, "Curve of this trial")
    page.screenshot(path=pictures / "trial-curve.png", full_page=True)
    # On paper: white, without buttons, figures drawn anew.
    page.emulate_media(color_scheme="dark")
    page.goto(f"{server.base}/study/bake")
    drawn(page, "History")
    page.wait_for_timeout(2000)
    page.pdf(path=pictures / "print.pdf", format="A4")
    assert (pictures / "print.pdf").stat().st_size > 20_000
    page.emulate_media(color_scheme="light")


def changed_by_people(page, server, pictures):
    """Pause and resume, and a note on a trial, with the token for writing."""
    study = f"{server.base}/study/bake"
    page.goto(study)
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_text("Paused: no worker begins a trial")).to_be_visible()
    expect(page.locator(".title .chip")).to_have_text("paused")
    asked = server.post("/api/studies/bake/ask", {"worker": "late", "key": "paused"}, server.work)
    assert asked["claims"] == [] and asked["paused"], asked
    page.screenshot(path=pictures / "paused.png")
    page.get_by_role("button", name="Resume", exact=True).click()
    expect(page.get_by_text("The study goes on.")).to_be_visible()
    assert server.post("/api/studies/bake/ask", {"worker": "late", "key": "resumed"}, server.work)["claims"]
    page.goto(f"{study}/trial/3")
    page.get_by_label("Note on this trial").fill(HOSTILE + "\nsecond line")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Note on this trial")).to_have_value(HOSTILE + "\nsecond line")
    page.screenshot(path=pictures / "note.png", full_page=True)
    assert page.evaluate("window.hacked") is None


def drawn(page, name):
    """How many colours a figure shows: one that failed to draw shows none."""
    canvas = page.get_by_role("img", name=re.compile(f"^{name}"))
    expect(canvas.first).to_be_visible()
    canvas.first.scroll_into_view_if_needed()
    script = """element => { const { width, height } = element;
        const data = element.getContext('2d').getImageData(0, 0, width, height).data;
        const seen = new Set(); for (let i = 0; i < data.length; i += 4) if (data[i + 3]) seen.add(data.slice(i, i + 3).join());
        return seen.size; }"""
    start = time.time()
    while time.time() - start < 20:
        colours = canvas.first.evaluate(script)
        if colours > 5:
            return colours
        time.sleep(0.1)
    raise AssertionError(f"{name} is blank")


def main(wimble, chromium, pictures):
    pictures = pathlib.Path(pictures)
    pictures.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp())
    server = Server(wimble, folder)
    study = f"{server.base}/study/bake"
    try:
        server.create("bake", method="auto", batch_size=4)
        for i in range(90):
            server.trial("bake", bake, f"worker-{i % 3 + 1}")
        tasks(server)
        server.create(HOSTILE, method="random")
        for _ in range(3):
            server.trial(HOSTILE, lambda p: {"value": 1.0, "attributes": {HOSTILE: HOSTILE}}, HOSTILE)
        server.trial(HOSTILE, lambda p: {"failed": HOSTILE})

        with sync_playwright() as play:
            options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
            browser = play.chromium.launch(executable_path=chromium, args=options)
            context = browser.new_context(viewport={"width": 1400, "height": 900}, color_scheme="light")
            page = context.new_page()
            errors = []
            page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
            page.on("pageerror", lambda error: errors.append(str(error)))

            page.goto(server.base)
            expect(page.get_by_role("heading", name="Studies")).to_be_visible()
            expect(page.get_by_role("link", name=HOSTILE)).to_be_visible()
            page.screenshot(path=pictures / "studies.png")

            # By keyboard alone: to the study, along its history, to a trial.
            link = page.get_by_role("link", name="bake")
            for _ in range(30):
                page.keyboard.press("Tab")
                if link.evaluate("element => element === document.activeElement"):
                    break
            page.keyboard.press("Enter")
            expect(page.get_by_role("heading", name="bake")).to_be_visible()
            assert drawn(page, "History") > 5
            page.get_by_role("img", name=re.compile("^History")).focus()
            for key in ["ArrowRight", "ArrowRight", "Enter"]:
                page.keyboard.press(key)
            expect(page.get_by_role("heading", name="Trial 1")).to_be_visible()
            page.go_back()

            # Every figure draws.
            for name in ["History", "Values over heat", "Parallel coordinates", "The last batch", "Timeline of workers"]:
                drawn(page, name)
            expect(page.get_by_text("causes").or_(page.get_by_text("R²")).first).to_be_visible(timeout=20000)
            page.evaluate("scrollTo(0, 0)")
            page.wait_for_timeout(1500)
            page.screenshot(path=pictures / "study.png", full_page=True)

            # A new trial appears within a second.
            page.evaluate("scrollTo(0, 0)")
            expect(page.locator(".live")).to_have_text("live")
            start = time.time()
            best = server.trial("bake", lambda p: {"value": -5.25})
            told = time.time()
            expect(page.locator(".tile").first).to_contain_text("-5.25", timeout=5000)
            print(f"a new best value was seen {time.time() - told:.2f} s after it was told ({told - start:.2f} s to ask and tell)")
            assert time.time() - told < 1.5
            expect(page.locator(".tile").first).to_contain_text(f"trial {best}")

            # Brushing zooms; Escape shows all again.
            canvas = page.get_by_role("img", name=re.compile("^History"))
            box = canvas.bounding_box()
            page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 100)
            page.mouse.down()
            page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 120, steps=5)
            page.mouse.up()
            back = page.get_by_role("button", name="Show all").first
            expect(back).to_be_visible()
            page.screenshot(path=pictures / "zoomed.png")
            canvas.focus()
            page.keyboard.press("Escape")
            expect(back).to_be_hidden()

            # Filter, sort, a mistake, and a link that can be kept.
            field = page.get_by_label("Filter")
            field.fill("steam = some and value < 0.5")
            rows = page.locator("#trials tbody tr")
            status = page.locator("#trials [role=status]")
            expect(status).to_contain_text("matching")
            expect(rows.first).to_contain_text("some")
            field.fill("warmth > 3")
            expect(page.get_by_role("alert")).to_contain_text("there is no column `warmth`")
            field.fill("state = failed")
            expect(rows.first).to_contain_text("failed")
            assert "filter=state" in page.url
            page.reload()
            expect(page.get_by_label("Filter")).to_have_value("state = failed")
            page.get_by_label("Filter").fill("")
            page.get_by_role("button", name="value", exact=True).click()
            expect(rows.first).to_contain_text("-5.25")
            with page.expect_download() as download:
                page.get_by_role("link", name="CSV").click()
            lines = pathlib.Path(download.value.path()).read_text().splitlines()
            assert lines[0].startswith("trial,state,value") and lines[1].startswith(f"{best},complete,-5.25"), lines[:2]
            rows.first.get_by_role("link").click()
            expect(page.get_by_role("heading", name=f"Trial {best}")).to_be_visible()
            assert page.url == f"{study}/trial/{best}"
            page.reload()
            expect(page.get_by_role("heading", name="Nearest trials")).to_be_visible()
            page.screenshot(path=pictures / "trial.png")

            # What strangers wrote stays text.
            page.goto(f"{server.base}/study/{urllib.parse.quote(HOSTILE, safe='')}/trial/0")
            expect(page.get_by_text(HOSTILE).first).to_be_visible()
            page.goto(f"{server.base}/study/{urllib.parse.quote(HOSTILE, safe='')}")
            drawn(page, "History")
            assert page.evaluate("window.hacked") is None
            page.goto(f"{server.base}/compare")
            drawn(page, "Best so far")
            page.screenshot(path=pictures / "compare.png")

            # Dark, narrow and very wide.
            page.emulate_media(color_scheme="dark")
            page.goto(study)
            drawn(page, "History")
            page.wait_for_timeout(2500)
            page.screenshot(path=pictures / "dark.png", full_page=True)
            page.get_by_role("button", name=re.compile("^Colours")).click()
            page.wait_for_timeout(200)
            assert page.evaluate("document.documentElement.dataset.theme") == "light"
            page.evaluate("localStorage.clear()")
            for name, width, height in [("narrow", 360, 780), ("wide", 3840, 2160)]:
                page.set_viewport_size({"width": width, "height": height})
                page.goto(study)
                drawn(page, "History")
                page.wait_for_timeout(2500)
                over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert over <= 0, f"the page is {over} pixels too wide at {width}"
                page.screenshot(path=pictures / f"{name}.png", full_page=True)
                page.goto(f"{study}/trial/{best}")
                expect(page.get_by_role("heading", name="Nearest trials")).to_be_visible()
                over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert over <= 0, f"the page of a trial is {over} pixels too wide at {width}"
            page.set_viewport_size({"width": 1400, "height": 900})

            # With the token for writing, people may change the study.
            page.goto(server.write_link)
            assert "token" not in page.url
            page.goto(study)
            page.get_by_label("Trials that the study may have").fill("500")
            page.get_by_role("button", name="Change").click()
            expect(page.get_by_text("The study may have 500 trials.")).to_be_visible()

            changed_by_people(page, server, pictures)
            more_figures(page, server, pictures)

            # The mistake in the filter above was refused, and the browser notes that.
            errors = [error for error in errors if "status of 400" not in error]
            assert not errors, errors
            accessible(browser, server, study)
            restarted(page, server, wimble, folder)
            browser.close()
    finally:
        server.stop()


def accessible(browser, server, study):
    """No violation that axe-core finds, in light and dark."""
    for scheme in ["light", "dark"]:
        context = browser.new_context(bypass_csp=True, color_scheme=scheme, viewport={"width": 1400, "height": 900})
        page = context.new_page()
        others = [f"{server.base}/study/{name}" for name in ["oven", "train", "proven"]]
        for address in [server.base, study, f"{study}/trial/0", f"{server.base}/study/train/trial/0", *others, f"{server.base}/compare"]:
            page.goto(address)
            page.wait_for_timeout(2000)
            found = Axe().run(page)
            bad = [(v["id"], [node["html"][:120] for node in v["nodes"][:3]]) for v in found.response["violations"]]
            assert not bad, f"{address} in {scheme}: {bad}"
        context.close()


def restarted(page, server, wimble, folder):
    """A server that ends and comes back: the page says so, and goes on by itself."""
    page.goto(f"{server.base}/study/bake")
    lamp = page.locator(".live")
    expect(lamp).to_have_text("live")
    server.stop()
    expect(lamp).to_have_text("not connected", timeout=10000)
    again = Server(wimble, folder, server.port)
    server.process, server.stop = again.process, again.stop
    expect(lamp).to_have_text("live", timeout=15000)
    trial = server.trial("bake", lambda p: {"value": -6.5})
    expect(page.locator(".tile").first).to_contain_text(f"trial {trial}", timeout=5000)


if __name__ == "__main__":
    main(*sys.argv[1:])
    print("the page passed")
    os._exit(0)
