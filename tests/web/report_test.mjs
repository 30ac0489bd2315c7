// Opens reports in a headless browser, without network, and uses them as a reader does.
//   node report_test.mjs FIXTURE-PROGRAM
// Exits with 77 (skipped) where the browser or its driver is missing; with CI=true that is a failure.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { browserPath, driver, launch, patience_ms, run as runTests } from "./browser.mjs";

const folder = mkdtempSync(join(tmpdir(), "occam-web-"));
execFileSync(process.argv[2], [folder], { stdio: "inherit" });

const missing = !browserPath ? "chromium is not installed"
  : !driver ? "playwright-core is not in tests/web/node_modules"
  : !readFileSync(join(folder, "check-6.html"), "utf8").includes('id="figures"') ? "occam was built without figures"
  : "";
if (missing) {
  rmSync(folder, { recursive: true });
  console.log(`reports in a browser: SKIPPED, ${missing} (\`scripts/setup.sh test\` fetches what is needed)`);
  process.exit(process.env.CI === "true" ? 1 : 77);
}

let browser;
const faults = []; // what no page may do: requests, errors

async function open(name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 }, acceptDownloads: true, ...options });
  context.setDefaultTimeout(patience_ms);
  await context.setOffline(true);
  const page = await context.newPage();
  const address = `file://${join(folder, name)}`;
  page.on("request", (request) => {
    if (request.url() !== address && !/^(data|blob):/.test(request.url())) faults.push(`${name} asks for ${request.url()}`);
  });
  page.on("pageerror", (error) => faults.push(`${name}: ${error.message}`));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(`${name}: ${message.text()}`);
  });
  page.on("dialog", (dialog) => { faults.push(`${name}: a dialog`); dialog.dismiss(); });
  await page.goto(address);
  await page.waitForSelector("html[data-ready]", { state: "attached" });
  return page;
}

// Every figure has marks: shapes in an svg, or painted pixels in a canvas.
async function assertDrawn(page, name) {
  const marks = await page.$$eval("figure[data-figure] .plot", (plots) => plots.map((plot) => {
    const svg = plot.querySelector("svg");
    if (svg) {
      return [...svg.querySelectorAll(".role-mark path, .role-mark rect, .role-mark text, .role-mark line")]
        .filter((mark) => (mark.getAttribute("d") ?? "x") !== "" && !mark.closest(".background")).length;
    }
    const canvas = plot.querySelector("canvas");
    if (!canvas) return 0;
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let painted = 0;
    for (let at = 3; at < pixels.length; at += 4) painted += pixels[at] > 0;
    return painted;
  }));
  assert.ok(marks.length > 0, `${name} has figures`);
  marks.forEach((count, at) => assert.ok(count > 0, `${name}: figure ${at} is empty`));
}

const column = (page, table, at) => page.$$eval(
  `[data-table="${table}"] tbody tr td:nth-child(${at})`, (cells) => cells.map((cell) => cell.textContent));
const plotColours = (page) => page.$eval(".plot svg", (svg) =>
  [...svg.querySelectorAll("text")].map((text) => text.getAttribute("fill")).join());

async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
  const path = join(folder, download.suggestedFilename());
  await download.saveAs(path);
  return { name: download.suggestedFilename(), bytes: readFileSync(path) };
}

const tests = {
  async "every report opens, draws all figures and fits its size"() {
    for (const name of ["check-3/report.html", "check-6.html", "check-400.html", "compare-3.html", "compare-400.html"]) {
      const page = await open(name);
      await assertDrawn(page, name);
      const limit = name.includes("400") ? 5e6 : 1.5e6;
      assert.ok(statSync(join(folder, name)).size < limit, `${name} is larger than ${limit} bytes`);
      await page.context().close();
    }
  },

  async "tables sort and filter"() {
    const page = await open("compare-400.html");
    assert.equal((await column(page, "answers", 1)).length, 25);
    await page.click('[data-table="answers"] .more');
    assert.equal((await column(page, "answers", 1)).length, 225);
    const sort = page.getByRole("button", { name: "n", exact: true });
    await sort.focus();
    await page.keyboard.press("Enter");
    assert.equal((await column(page, "answers", 2))[0], "120");
    await page.keyboard.press("Enter");
    assert.equal((await column(page, "answers", 2))[0], "1");
    assert.equal(await page.getAttribute('[data-table="answers"] th:nth-child(2)', "aria-sort"), "ascending");
    await page.fill('[data-table="answers"] .filter', "s4999");
    assert.deepEqual(await column(page, "answers", 1), ["s4999"]);
    await page.fill('[data-table="answers"] .filter', "n>=119 range");
    assert.deepEqual([...new Set(await column(page, "answers", 2))], ["119"]);
    assert.match(await page.textContent('[data-table="answers"] .count'), /^82 of 5,000 rows match$/);
    await page.fill('[data-table="answers"] .filter', "nobody");
    assert.match(await page.textContent('[data-table="answers"] .count'), /^0 of 5,000 rows match$/);
    assert.match(await page.textContent('[data-table="answers"] .table-note'), /first 5000 of 5200/);
    await page.context().close();
  },

  async "numbers are written for people"() {
    const page = await open("check-3/report.html");
    const values = await page.$$eval("#calibration .metrics td:nth-child(2)", (cells) => cells.map((cell) => cell.textContent));
    assert.deepEqual(values, ["0.0123", "1.23 × 10⁻⁷", "–", "∞"]);
    const first = await page.textContent("#in-short li");
    assert.match(first, /Serious.*Calibration: Something is badly wrong/s);
    await page.context().close();
  },

  async "dark and light, by the system and by hand, figures included"() {
    const page = await open("compare-2.html", { colorScheme: "dark" });
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = [await background(), await plotColours(page)];
    await page.click("#theme");
    const light = [await background(), await plotColours(page)];
    assert.notEqual(dark[0], light[0]);
    assert.notEqual(dark[1], light[1]);
    assert.equal(light[0], "rgb(255, 255, 255)");
    await page.context().close();
  },

  async "text has contrast enough, in both themes"() {
    const page = await open("check-3/report.html");
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      // The page hears of it in its own time.
      await page.waitForSelector(`html[data-theme=${colorScheme}]`);
      const poor = await page.evaluate(() => {
        const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
        const light = (colour) => channels(colour).slice(0, 3).map((c) => c / 255)
          .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
          .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
        const backdrop = (node) => {
          for (let at = node; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            if ((channels(colour)[3] ?? 1) > 0) return colour;
          }
          return "rgb(255, 255, 255)";
        };
        return [...document.querySelectorAll("main p, main h1, main h2, main a, main strong, main th, main td, main button, main dt, footer p")]
          .filter((node) => node.offsetParent !== null)
          .map((node) => {
            const [a, b] = [light(getComputedStyle(node).color), light(backdrop(node))];
            return [node.textContent.slice(0, 40), (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
          }).filter(([, ratio]) => ratio < 4.5);
      });
      assert.deepEqual(poor, [], colorScheme);
    }
    await page.context().close();
  },

  async "figures and tables are saved"() {
    const page = await open("compare-3.html", { colorScheme: "dark" });
    const svg = await saved(page, ".save-svg");
    assert.equal(svg.name, "probabilities.svg");
    assert.match(svg.bytes.toString(), /^<svg[^]*#ffffff[^]*<\/svg>$/);
    const png = await saved(page, ".save-png");
    assert.deepEqual([...png.bytes.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
    const csv = await saved(page, '[data-table="answers"] .save-csv');
    assert.match(csv.bytes.toString(), /^dataset,n,verdict,best,p_M1,p_M2,p_M3,scope_p,log_bf,strength,u,flag,note,explanation\nsubject 0,1,/);
    await page.context().close();
  },

  async "the data set of a figure can be chosen"() {
    const page = await open("compare-3.html");
    const drawn = () => page.$eval("#uncertainty .plot", (plot) => plot.innerHTML);
    const before = await drawn();
    await page.selectOption("#uncertainty .choose", "subject 5");
    assert.notEqual(await drawn(), before);
    await page.context().close();
  },

  async "hostile names stay names"() {
    const page = await open("hostile.html");
    for (const fold of await page.$$("details.table:not([open]) > summary")) await fold.click();
    await page.click("#licences > summary");
    await assertDrawn(page, "hostile.html");
    assert.match(await page.title(), /^<\/script><img src=x/);
    assert.equal(await page.$$eval("img", (images) => images.length), 0);
    assert.equal(await page.$$eval("body script", (scripts) => scripts.length), 3);
    assert.match(await page.textContent("#licences pre"), /vega-lite [\d.]+[^]*Redistribution and use/);
    await page.context().close();
  },

  async "a phone shows the page without scrolling sideways"() {
    for (const name of ["compare-400.html", "hostile.html"]) {
      const page = await open(name, { viewport: { width: 360, height: 740 } });
      await assertDrawn(page, name);
      const [wide, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(wide <= screen, `${name} is ${wide} pixels wide on a screen of ${screen}`);
      await page.context().close();
    }
  },

  async "every control has a name, every figure a description, headings are in order"() {
    const page = await open("compare-3.html");
    assert.deepEqual(await page.$$eval(".plot", (plots) => plots.filter((plot) =>
      plot.getAttribute("role") !== "img" || !plot.getAttribute("aria-label")).length), 0);
    assert.deepEqual(await page.$$eval("button, input, select", (controls) => controls.filter((control) =>
      !(control.textContent.trim() || control.getAttribute("aria-label") || control.labels?.length)).length), 0);
    const levels = await page.$$eval("h1, h2, h3", (heads) => heads.map((head) => Number(head.tagName[1])));
    levels.forEach((level, at) => assert.ok(at === 0 ? level === 1 : level <= levels[at - 1] + 1));
    await page.context().close();
  },

  async "on paper everything is light"() {
    const page = await open("compare-2.html", { colorScheme: "dark" });
    const dark = await plotColours(page);
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    assert.notEqual(await plotColours(page), dark);
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    assert.equal(await plotColours(page), dark);
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
    assert.ok((await page.pdf({ format: "A4" })).length > 10000);
    await page.context().close();
  },
};

let failed = 0;
try {
  browser = await launch();
  failed = await runTests(tests, faults, process.argv[3]);
} finally {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed === 0 ? 0 : 1);
