"""Pages in a headless browser, if one is installed."""
import json
import re
import shutil
import subprocess

BROWSER = next(filter(None, map(shutil.which, (
    "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))), None)

WIDTHS = (390, 1280)  # a phone, a desktop
PROBE = """<!doctype html><html><body><pre id="found">waiting</pre><script>
const source = {source}, found = {{}}, widths = {widths};
// Numbers and options of a command with the end of a line inside.
function split(page) {{
  const walker = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT), range = page.createRange(), found = [];
  while (walker.nextNode())
    for (const one of walker.currentNode.data.matchAll(/[\\d)]e-\\d+|--\\w/g)) {{
      range.setStart(walker.currentNode, one.index);
      range.setEnd(walker.currentNode, one.index + one[0].length);
      if (new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1) found.push(one.input.slice(0, 80));
    }}
  return found;
}}
for (const width of widths) {{
  const frame = document.createElement("iframe");
  frame.style = `width:${{width}}px;height:900px`;
  frame.srcdoc = source;
  frame.onload = () => {{
    const page = frame.contentDocument, root = page.documentElement;
    const wide = [...page.querySelectorAll("body *")].filter(e =>
      !e.closest(".scroll, .plot, pre") && e.getBoundingClientRect().right > width + 1);
    found[width] = {{
      broken: [...page.images].filter(i => !i.complete || !i.naturalWidth).length,
      cut: [...page.querySelectorAll(".scroll")].filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent.slice(0, 40)),
      height: root.scrollHeight, images: page.images.length, overflow: root.scrollWidth - root.clientWidth,
      wide: wide.slice(0, 3).map(e => e.outerHTML.slice(0, 80)),
      split: split(page),
      small: [...page.querySelectorAll("p, td, th, li, dd")].filter(e =>
        parseFloat(frame.contentWindow.getComputedStyle(e).fontSize) < 12).length}};
    if (Object.keys(found).length == widths.length)
      document.getElementById("found").textContent = JSON.stringify(found) + " END";
  }};
  document.body.append(frame);
}}
</script></body></html>"""


def in_browser(page, scratch):
    """The findings of the probe in a page of each width, and the lines of the browser's console."""
    probe = scratch / "probe.html"
    source = json.dumps(page.read_text(encoding="utf-8")).replace("</", "<\\/")
    probe.write_text(PROBE.format(widths=list(WIDTHS), source=source), encoding="utf-8")
    done = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0",
         "--disable-dev-shm-usage", f"--user-data-dir={scratch / 'profile'}",
         "--virtual-time-budget=20000", "--window-size=1600,1200", "--dump-dom", f"file://{probe}"],
        capture_output=True, text=True, timeout=1800)
    found = re.search(r'<pre id="found">(.*) END</pre>', done.stdout)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    if not found:
        raise AssertionError(f"the page did not load: {done.stdout[-300:]} {done.stderr[-500:]}")
    return json.loads(found.group(1).replace("&lt;", "<").replace("&gt;", ">")), console
