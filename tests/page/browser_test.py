#!/usr/bin/env python3
"""The report as a reader meets it: in a browser, with and without its script, in both schemes."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    print("selenium is not installed (apt-get install python3-selenium)")
    sys.exit(77)
BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if not BROWSER or not DRIVER:
    print("chromium or its driver is not installed (apt-get install chromium chromium-driver)")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
FRAGBENCH = os.environ["FRAGBENCH"]
EVIL = "</pre><script>document.title='owned'</script><img src=http://127.0.0.1:1/x>"


def fragbench(*arguments):
    done = subprocess.run([FRAGBENCH, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def make_report(folder):
    """A real result of two parameter sets, in which some texts are a stranger's."""
    result = folder / "result"
    fragbench("run", ROOT / "workloads/size-shift.yaml", "-L", "first=70000,35000", "-L",
              "second=17000", "-a", "ptmalloc2", "-a", "other=" + preloadable(), "--layouts", "1", "-o", result)
    document = json.loads((result / "result.json").read_text())
    document["host"]["cpu"] = EVIL
    document["argv"].append(EVIL)
    (result / "result.json").write_text(json.dumps(document))
    fragbench("report", result)
    return result / "report.html"


def preloadable():
    """Any library with a malloc of its own; ours is always there."""
    return str(pathlib.Path(FRAGBENCH).with_name("libfragbench-budgeted.so"))


def luminance(color):
    channels = [int(color[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """WCAG 2.1, relative luminance."""
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.page = make_report(pathlib.Path(cls.folder.name))
        options = Options()
        options.binary_location = BROWSER
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--window-size=1200,1600"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        cls.driver = webdriver.Chrome(options=options, service=Service(DRIVER))

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()
        cls.folder.cleanup()

    def setUp(self):
        self.script(True)
        self.driver.get_log("browser")
        self.driver.get_log("performance")
        self.driver.get(self.page.as_uri())

    def script(self, on):
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not on})

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def column(self, table, name):
        headings = table.find_elements(By.CSS_SELECTOR, "thead th")
        at = next(i for i, th in enumerate(headings) if th.text.startswith(name))
        cells = [row.find_elements(By.CSS_SELECTOR, "th, td")[at]
                 for row in table.find_elements(By.CSS_SELECTOR, "tbody tr")]
        return headings[at], [float(cell.get_attribute("data-v")) for cell in cells]

    def test_nothing_is_wrong_and_nothing_is_asked_for(self):
        self.assertEqual(self.driver.get_log("browser"), [])
        urls = [json.loads(entry["message"])["message"]["params"]["request"]["url"]
                for entry in self.driver.get_log("performance")
                if '"Network.requestWillBeSent"' in entry["message"]]
        self.assertEqual([url for url in urls if url != self.page.as_uri()], [])

    def test_a_strangers_text_is_text(self):
        self.assertTrue(self.driver.title.startswith("fragbench: size-shift"))
        self.assertEqual(self.all("img"), [])
        self.assertIn("<img src=http", self.driver.find_element(By.TAG_NAME, "body").text)

    def test_a_table_sorts_both_ways_and_by_keyboard(self):
        table = self.all("table.sortable")[0]
        heading, _ = self.column(table, "peak RSS")
        button = heading.find_element(By.TAG_NAME, "button")
        button.click()
        heading, values = self.column(table, "peak RSS")
        self.assertEqual(heading.get_attribute("aria-sort"), "ascending")
        self.assertEqual(values, sorted(values))
        button.send_keys(Keys.ENTER)
        heading, values = self.column(table, "peak RSS")
        self.assertEqual(heading.get_attribute("aria-sort"), "descending")
        self.assertEqual(values, sorted(values, reverse=True))
        self.assertEqual(len(values), 2)

    def test_a_line_of_a_picture_can_be_hidden(self):
        bars = self.all("figure.lines-of .lines")
        if not shutil.which("gnuplot"):
            self.assertEqual(bars, [])
            self.skipTest("gnuplot is not installed")
        bar = next(b for b in bars if "live bytes" in b.text)
        figure = bar.find_element(By.XPATH, "..")
        names = [b.text for b in bar.find_elements(By.TAG_NAME, "button")]
        self.assertEqual(names, ["live bytes", "ptmalloc2", "other"])
        button = bar.find_elements(By.TAG_NAME, "button")[1]
        line = next(g for g in figure.find_elements(By.CSS_SELECTOR, "svg g[id*=_plot_]")
                    if g.find_element(By.TAG_NAME, "title").get_attribute("textContent").startswith("ptmalloc2: "))
        key = next(t for t in figure.find_elements(By.CSS_SELECTOR, "svg text")
                   if t.get_attribute("textContent").strip().startswith("ptmalloc2: "))
        faint = "svg [style*='opacity: 0.25']"
        self.assertNotEqual(line.value_of_css_property("visibility"), "hidden")
        button.click()
        self.assertEqual(line.value_of_css_property("visibility"), "hidden")
        self.assertEqual(button.get_attribute("aria-pressed"), "false")
        self.assertEqual(key.value_of_css_property("opacity"), "0.25")
        # The entry's text and its sample, and nothing of the others.
        self.assertEqual(sorted(e.tag_name for e in figure.find_elements(By.CSS_SELECTOR, faint)), ["path", "text"])
        button.send_keys(Keys.ENTER)
        self.assertNotEqual(line.value_of_css_property("visibility"), "hidden")
        self.assertEqual(figure.find_elements(By.CSS_SELECTOR, faint), [])

    def test_it_can_be_read_without_its_script(self):
        self.script(False)
        self.driver.get(self.page.as_uri())
        text = self.driver.find_element(By.TAG_NAME, "body").text
        for part in ("ptmalloc2", "peak RSS", "Memory at its peak", "Raw data"):
            self.assertIn(part, text)

    def test_headings_and_tables_are_told_to_a_screen_reader(self):
        self.assertEqual(len(self.all("h1")), 1)
        self.assertEqual(len(self.all("h2")), 3)
        for table in self.all("table"):
            self.assertEqual(len(table.find_elements(By.TAG_NAME, "caption")), 1)
            for row in table.find_elements(By.CSS_SELECTOR, "tbody tr"):
                self.assertEqual(len(row.find_elements(By.CSS_SELECTOR, "th[scope=row]")), 1)
        for picture in self.all("figure .picture"):
            self.assertGreater(len(picture.get_attribute("aria-label")), 20)
        ids = [element.get_attribute("id") for element in self.all("[id]")]
        self.assertEqual(len(ids), len(set(ids)))

    def test_the_csv_within_the_page_is_the_results(self):
        link = self.all("a[download]")[0].get_attribute("href")
        text = self.driver.execute_script(
            "return fetch(arguments[0]).then(r => r.text())", link)
        self.assertIn("peak_footprint_bytes", text.splitlines()[0])
        self.assertEqual(len(text.splitlines()), 1 + 4)

    def test_the_workload_is_there_as_it_was_run(self):
        text = (ROOT / "workloads/size-shift.yaml").read_text()
        self.assertIn(text, [pre.get_attribute("textContent") for pre in self.all("details pre")])

    def test_texts_contrast_with_their_ground_in_both_schemes(self):
        style = (ROOT / "src/report/page/style.css").read_text()
        schemes = re.findall(r":root \{([^}]*--paper: #[0-9a-f]{6}[^}]*)\}", style)
        self.assertEqual(len(schemes), 2)
        for scheme in schemes:
            color = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", scheme))
            for text in ("ink", "soft", "link", "good", "warn", "bad"):
                for ground in ("paper", "fill"):
                    self.assertGreaterEqual(contrast(color[text], color[ground]), 4.5, (text, ground))

    def test_the_dark_scheme_is_dark(self):
        for scheme, dark in (("light", False), ("dark", True)):
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                "features": [{"name": "prefers-color-scheme", "value": scheme}]})
            ground = self.driver.find_element(By.TAG_NAME, "body").value_of_css_property("background-color")
            red = int(re.search(r"\d+", ground).group())
            self.assertEqual(red < 128, dark, ground)


if __name__ == "__main__":
    unittest.main(verbosity=2)
