#!/usr/bin/env python3
"""browser_test.py PROGRAM: looks at pages of reports in headless Chromium at the width of a phone
and of a desktop, light and dark and printed: nothing is cut off or lies over another, text has
enough contrast, no text of others became an element, and nothing was fetched. TB_TEST_SHOTS names a
folder for pictures of the pages."""
import base64
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request
import zlib

PROGRAM = sys.argv.pop(1)
HOSTILE = 6
WIDTHS = {"phone": 360, "desktop": 1280}
LIMIT_S = 60

# Text that is cut off, or leaves the page.
OUTSIDE = """
const wide = document.documentElement.clientWidth, out = [];
if (document.documentElement.scrollWidth > wide) out.push('page: ' +
  document.documentElement.scrollWidth);
for (const element of document.querySelectorAll('body *')) {
  if (element.closest('svg') || !element.getClientRects().length) continue;
  const box = element.getBoundingClientRect();
  if (box.width && (box.right > wide + 1 || box.left < -1))
    out.push(element.tagName + ' ' + box.left + '..' + box.right + ' ' +
             element.textContent.slice(0, 40));
  if (element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display == 'block'
      && getComputedStyle(element).overflowX != 'visible')
    out.push('cut: ' + element.tagName + ' ' + element.textContent.slice(0, 40));
}
return out.slice(0, 10);
"""
# Labels of one axis that lie over each other; badges and numbers over their neighbours.
OVERLAPS = """
const out = [];
function over(a, b) {
  return a.width && b.width && a.left < b.right - 1 && b.left < a.right - 1 &&
    a.top < b.bottom - 1 && b.top < a.bottom - 1;
}
for (const group of document.querySelectorAll('.x, .y, tr, summary, figcaption, .key, nav')) {
  const boxes = [...group.children].filter(child => child.getClientRects().length)
    .map(child => [child, [...child.getClientRects()]]); // of each line
  for (let i = 0; i < boxes.length; i++)
    for (let k = i + 1; k < boxes.length; k++)
      if (boxes[i][1].some(a => boxes[k][1].some(b => over(a, b))))
        out.push(group.className + ' ' + group.tagName + ': ' + boxes[i][0].textContent + ' | ' +
                 boxes[k][0].textContent);
}
return out.slice(0, 10);
"""
# WCAG: 4.5 for text, 3 for what is drawn.
CONTRAST = """
const out = new Set(), canvas = [];
function parts(color) { return color.match(/[0-9.]+/g).map(Number); }
function light(color) {
  const [r, g, b] = parts(color).slice(0, 3).map(v => {
    v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function background(element) {
  for (; element; element = element.parentElement) {
    const color = getComputedStyle(element).backgroundColor, all = parts(color);
    if (all.length == 3 || all[3] == 1) return color;
  }
  return 'rgb(255,255,255)';
}
function ratio(a, b) {
  const [x, y] = [light(a), light(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}
for (const element of document.querySelectorAll('body *')) {
  if (!element.getClientRects().length) continue;
  const style = getComputedStyle(element);
  const has_text = [...element.childNodes].some(node => node.nodeType == 3 && node.data.trim());
  if (element.closest('svg')) {
    const name = element.getAttribute('class');
    const color = {m: style.stroke, o: style.stroke, j: style.stroke, s: style.fill}[name];
    if (color && ratio(color, background(element)) < 3) out.add('drawn ' + name + ' ' + color);
  } else if (has_text && ratio(style.color, background(element)) < 4.5) {
    out.add(element.tagName + '.' + element.className + ' ' + style.color);
  }
}
return [...out].slice(0, 10);
"""
HARMLESS = """
return {scripts: document.scripts.length, fetched: performance.getEntriesByType('resource').length,
        images: document.images.length, other: document.querySelectorAll(
          'iframe, object, embed, form, input, link, base, audio, video').length,
        title: document.title};
"""
OPEN_ALL = "for (const d of document.querySelectorAll('details')) d.open = arguments[0]; return 0;"


def pixels(png):
    """Rows of (red, green, blue) of a PNG with 8 bits, as the browser makes them."""
    at, data = 8, b""
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IHDR":
            width, _, depth, color = struct.unpack(">IIBB", png[at + 8:at + 18])
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + size]
        at += size + 12
    assert depth == 8 and color in (2, 6)
    step, data, rows = 3 if color == 2 else 4, zlib.decompress(data), []
    before = bytearray(width * step)
    for begin in range(0, len(data), width * step + 1):
        kind, line = data[begin], bytearray(data[begin + 1:begin + 1 + width * step])
        for i, value in enumerate(line):
            left = line[i - step] if i >= step else 0
            corner = before[i - step] if i >= step else 0
            guess = left + before[i] - corner
            near = min((left, before[i], corner), key=lambda v: abs(guess - v))
            line[i] = value + (0, left, before[i], (left + before[i]) // 2, near)[kind] & 255
        rows.append([tuple(line[i:i + 3]) for i in range(0, len(line), step)])
        before = line
    return rows


class Browser:
    def __init__(self):
        driver = shutil.which("chromedriver")
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.base = self.session = None
        watchdog = threading.Timer(LIMIT_S, self.process.kill)
        watchdog.start()
        for line in self.process.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                self.base = f"http://127.0.0.1:{found.group(1)}"
                break
        watchdog.cancel()
        if not self.base:
            self.close()
            raise RuntimeError("chromedriver did not start")
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--hide-scrollbars", f"--user-data-dir={self.folder.name}"]
        wanted = {"browserName": "chrome", "goog:chromeOptions": {"args": arguments}}
        self.session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.base += "/session/" + self.session["sessionId"]

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, method=method, data=data,
                                         headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
            return json.load(answer)["value"]

    def command(self, name, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def show(self, path, width, scheme):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=800,
                     deviceScaleFactor=1, mobile=width < 500)
        self.command("Emulation.setEmulatedMedia",
                     features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("POST", "/url", {"url": "file://" + path})

    def shot(self, path, width):
        height = min(self.run("return document.documentElement.scrollHeight"), 6000)
        picture = self.command("Page.captureScreenshot", captureBeyondViewport=True,
                               clip={"x": 0, "y": 0, "width": width, "height": height, "scale": 1})
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))

    def close(self):
        if self.session:
            try:
                self.call("DELETE", "")
            except OSError:
                pass
        self.process.terminate()
        self.process.wait(timeout=LIMIT_S)
        self.process.stdout.close()
        self.folder.cleanup()


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        subprocess.run([PROGRAM, cls.folder.name, os.environ.get("TB_TEST_SEED", "7"),
                        str(HOSTILE)], check=True, timeout=200)
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def look(self, name, width, scheme):
        self.browser.show(os.path.join(self.folder.name, name + ".html"), WIDTHS[width], scheme)
        shots = os.environ.get("TB_TEST_SHOTS")
        if shots:
            self.browser.shot(os.path.join(shots, f"{name}-{width}-{scheme}.png"), WIDTHS[width])

    def judge(self, name, width, scheme):
        with self.subTest(page=name, width=width, scheme=scheme):
            self.look(name, width, scheme)
            self.assertEqual(self.browser.run("return innerWidth"), WIDTHS[width])
            self.assertEqual(self.browser.run(CONTRAST), [])
            if name != "topics":
                self.browser.run(OPEN_ALL, True)
            self.assertEqual(self.browser.run(OUTSIDE), [])
            self.assertEqual(self.browser.run(OVERLAPS), [])

    def test_layout_and_contrast(self):
        for name in ("healthy", "faults", "topics", "short", "empty"):
            self.judge(name, "phone", "dark" if name == "faults" else "light")
            self.judge(name, "desktop", "light" if name == "faults" else "dark")

    def test_hostile_text_stays_in_its_place(self):
        for index in range(HOSTILE):
            name = f"hostile-{int(os.environ.get('TB_TEST_SEED', '7')) + index}"
            self.judge(name, "phone" if index % 2 else "desktop", "light")
            seen = self.browser.run(HARMLESS)
            self.assertTrue(seen.pop("title").endswith(" - timebase"))
            self.assertEqual(seen, {"scripts": 0, "fetched": 0, "images": 0, "other": 0})

    def test_many_topics_are_folded(self):
        self.look("topics", "desktop", "light")
        height = self.browser.run("return document.documentElement.scrollHeight")
        self.assertLess(height, 12000)

    def test_lines_keep_their_width(self):
        """A picture is stretched to the width of the page; its lines are not."""
        self.look("faults", "desktop", "light")
        box = self.browser.run(
            "const box = document.querySelector('#ages .g svg').getBoundingClientRect();"
            "return {x: box.x, y: box.y + scrollY, width: box.width, height: box.height, scale: 1}")
        picture = self.browser.command("Page.captureScreenshot", captureBeyondViewport=True,
                                       clip=box)
        color = self.browser.run(
            "return getComputedStyle(document.querySelector('.j')).stroke.match(/\\d+/g).map(Number)")
        rows = pixels(base64.b64decode(picture["data"]))
        widths = [len(run) for row in rows for run in
                  re.findall("j+", "".join("j" if sum(abs(a - b) for a, b in zip(pixel, color)) < 90
                                           else "." for pixel in row))]
        self.assertGreater(len(widths), 20)
        self.assertLessEqual(max(widths), 2)

    def test_print(self):
        """Everything that is folded is on paper, on white."""
        self.look("faults", "desktop", "dark")
        self.browser.command("Emulation.setEmulatedMedia", media="print")
        shown = self.browser.run(
            "return [getComputedStyle(document.body).backgroundColor,"
            " [...document.querySelectorAll('article')].every(e => e.checkVisibility()),"
            " getComputedStyle(document.querySelector('nav')).display]")
        self.browser.command("Emulation.setEmulatedMedia", media="")
        self.assertEqual(shown, ["rgb(255, 255, 255)", True, "none"])
        paper = base64.b64decode(self.browser.call("POST", "/print", {}))
        self.assertTrue(paper.startswith(b"%PDF"))


if __name__ == "__main__":
    if not shutil.which("chromedriver") or not shutil.which("chromium"):
        print("no chromium and chromedriver here")
        sys.exit(77)
    unittest.main()
