// Uses pages of `occam page` as a reader does, in headless browsers without network, from file://, by mouse and
// keyboard; holds their answers against those of the program. Chromium goes through all of it, Firefox the whole way.
//   node page_test.mjs OCCAM EXAMPLES [PART-OF-A-NAME]
// Exits with 77 (skipped) where Chromium, its driver or emscripten is missing; with CI=true that is a failure, and so is
// a missing Firefox.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { browserPath, driver, firefoxPath, launch, launchFirefox, patience_ms, run as runTests } from "./browser.mjs";

const [occam, examples] = process.argv.slice(2, 4).map((word) => resolve(word));
const folder = mkdtempSync(join(tmpdir(), "occam-page-"));
const path = (name) => join(folder, name);
const run = (...words) => execFileSync(occam, words, { stdio: ["ignore", "pipe", "ignore"], cwd: folder });

const axe = (() => {
  try {
    return readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  } catch {
    return null;
  }
})();
const probe = spawnSync(occam, ["page", "-o", path("app.html")], { encoding: "utf8" });
const missing = /this build has no page/.test(probe.stderr) ? "occam was built without emscripten"
  : !browserPath ? "chromium is not installed"
  : !firefoxPath && process.env.CI === "true" ? "firefox is not installed"
  : !driver || !axe ? "playwright-core or axe-core is not in tests/web/node_modules" : "";
if (missing) {
  rmSync(folder, { recursive: true });
  console.log(`pages in a browser: SKIPPED, ${missing} (\`scripts/setup.sh test\` fetches what is needed)`);
  process.exit(process.env.CI === "true" ? 1 : 77);
}
assert.equal(probe.status, 0, probe.stderr);

// --- what is looked at -----------------------------------------------------------------------------------

const quick = ["--iterations", "150", "--batch", "16", "--warmup", "20", "--validation-datasets", "500",
  "--scope-reference", "200", "--scope-calibration", "200", "--quiet"];
run("train", "beta-binomial", "-o", "coins.occam", ...quick);
run("train", "decision-making", "-o", "times.occam", ...quick);
run("simulate", "decision-making", "-o", "times.csv", "--datasets", "60", "--n", "40", "--quiet");
writeFileSync(path("about.md"), "# What this is\nCoins & <b>tosses</b>.\n\n- one\n- two\n");
const tosses = join(examples, "coins", "tosses.csv");
run("page", "coins.occam", "-o", "coins.html", "--title", "Coins <i>", "--text", "about.md", "--example", tosses);
run("page", "times.occam", "-o", "times.html");
run("compare", "coins.occam", tosses, "--by", "coin", "-o", "coins.json", "--quiet");
run("compare", "times.occam", "times.csv", "-o", "times.json", "--quiet");

// A stranger's file, as a spreadsheet in another country saves it: semicolons, decimal commas, lines that end as in
// Windows, a byte order mark; other names, milliseconds, another order, rows without a value, html in names.
const hostileName = '<img src=x onerror="alert(1)">';
function strangersFile() {
  const [, ...rows] = readFileSync(path("times.csv"), "utf8").trim().split("\n").map((line) => line.split(","));
  const lines = rows.map(([set, , condition, response, rt], at) =>
    [`"${hostileName.replaceAll('"', '""')}${set}"`, at % 7 === 3 ? "NA" : (1000 * Number(rt)).toFixed(1).replace(".", ","), response, condition, set % 2 ? "old" : "young"].join(";"));
  writeFileSync(path("strange.csv"), `\uFEFF${["Subject;RT (ms);Resp;cond;diagnosis", ...lines].join("\r\n")}\r\n`);
}
strangersFile();

let chromium, browser; // the one in use
const faults = [];

async function open(name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 }, acceptDownloads: true, colorScheme: "light", ...options });
  context.setDefaultTimeout(patience_ms);
  await context.setOffline(true);
  const page = await context.newPage();
  const address = `file://${path(name)}`;
  page.on("request", (request) => {
    if (request.url() !== address && !/^(data|blob):/.test(request.url())) faults.push(`${name} asks for ${request.url()}`);
  });
  page.on("pageerror", (error) => faults.push(`${name}: ${error.message}`));
  page.on("console", (message) => faults.push(`${name}: ${message.text()}`));
  page.on("dialog", (dialog) => { faults.push(`${name}: a dialog`); dialog.dismiss(); });
  await page.goto(address);
  await page.waitForSelector("html[data-ready]", { state: "attached" });
  return page;
}

async function saved(page, button, name) {
  if (browser !== chromium) {
    const file = path(`home/${name}`);
    rmSync(file, { force: true });
    await page.click(button);
    const until = Date.now() + patience_ms;
    while (!existsSync(file) || statSync(file).size === 0) {
      assert.ok(Date.now() < until, `${name} was not saved`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return readFileSync(file, "utf8");
  }
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
  assert.equal(download.suggestedFilename(), name);
  await download.saveAs(path(name));
  return readFileSync(path(name), "utf8");
}

async function compared(page) {
  await page.click("#compare");
  await page.waitForSelector("#answers-section:not([hidden]) #answer-table tbody tr");
  await page.waitForSelector("#one-table");
}

function sameAnswers(mine, theirs) {
  assert.equal(mine.data_sets.length, theirs.data_sets.length);
  mine.data_sets.forEach((set, at) => {
    for (const [key, value] of Object.entries(theirs.data_sets[at])) {
      if (key.startsWith("p_")) assert.ok(Math.abs(set[key] - value) < 1e-5, `${key} of ${at}: ${set[key]} and ${value}`);
      if (["dataset", "n", "verdict"].includes(key)) assert.equal(set[key], value);
    }
  });
}

async function assertAccessible(page, where) {
  // The page's own policy lets no script in: the driver evaluates it.
  await page.evaluate(axe + "\n;0");
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const poor = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(poor.map(({ id, nodes }) => `${where}: ${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`), []);
}

const wholeWay = {
  async "from the example to answers, by mouse; the same as the program's"() {
    const page = await open("coins.html");
    assert.equal(await page.textContent("#title"), "Coins <i>");
    assert.match(await page.textContent("#text"), /Coins & <b>tosses<\/b>/);
    assert.match(await page.textContent("#network"), /flat, fair[^]*1 to 100 observations/);
    await page.click("#example");
    await page.waitForSelector("#preview table");
    await compared(page);
    const json = await saved(page, "#save-json", "tosses-answers.json");
    sameAnswers(JSON.parse(json), JSON.parse(readFileSync(path("coins.json"), "utf8")));
    assert.match(await saved(page, "#save-csv", "tosses-answers.csv"), /^dataset,n,best,p_flat,p_fair,alpha_flat/);
    await page.context().close();
  },

  async "the whole way by keyboard"() {
    const page = await open("coins.html");
    const focusOn = async (selector) => {
      for (let press = 0; press < 80; ++press) {
        await page.keyboard.press("Tab");
        if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
      }
      assert.fail(`${selector} is not reached with Tab`);
    };
    await focusOn("#example");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#preview table");
    await focusOn("#compare");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#one-table");
    await page.waitForFunction(() => document.activeElement.id === "answers-head");
    const before = await page.textContent("#in-short");
    await focusOn("#weight-0");
    for (let press = 0; press < 10; ++press) await page.keyboard.press("ArrowLeft");
    await page.waitForFunction((old) => document.getElementById("in-short").textContent !== old, before);
    assert.equal(await page.textContent("#prior-0"), "0.444");
    await focusOn(".pick");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement.matches("#one h3"));
    await page.context().close();
  },

  async "a stranger's csv: columns and units are guessed, rows left out are counted, names stay names"() {
    const page = await open("times.html");
    await page.setInputFiles("#data-file", path("strange.csv"));
    await page.waitForSelector("#preview table");
    const chosen = (id) => page.$eval(id, (select) => select.selectedOptions[0].textContent);
    assert.equal(await chosen("#column-0"), "cond");
    assert.equal(await chosen("#column-1"), "Resp");
    assert.equal(await chosen("#column-2"), "RT (ms)");
    assert.equal(await chosen("#unit-2"), "ms");
    assert.equal(await chosen("#by"), "Subject");
    // Another column brings its own unit.
    await page.selectOption("#column-2", { label: "cond" });
    assert.equal(await chosen("#unit-2"), "s");
    await page.selectOption("#column-2", { label: "RT (ms)" });
    assert.equal(await chosen("#unit-2"), "ms");
    // A wrong unit is noticed, and set right again.
    await page.selectOption("#unit-2", { label: "s" });
    await page.waitForSelector("#preview .warning");
    await page.selectOption("#unit-2", { label: "ms" });
    await page.waitForFunction(() => !document.querySelector("#preview .warning"));
    await page.selectOption("#group", { label: "diagnosis" });
    await compared(page);
    assert.match(await page.textContent("#read"), /60 data sets.*343 rows with missing values left out/);
    await page.click("#ask-population");
    await page.waitForSelector("#population-table");
    assert.equal(await page.$$eval("#population-table tbody tr", (rows) => rows.length), 12);
    await page.focus("#later");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector("#answers .tools span").textContent === "26 to 50 of 60");
    assert.equal(await page.evaluate(() => document.activeElement.id), "later");
    assert.equal(await page.$$eval("img", (images) => images.length), 0);
    await page.context().close();
  },

  async "probabilities of decision-making are the program's, and follow prior and subset"() {
    const page = await open("times.html");
    await page.setInputFiles("#data-file", path("times.csv"));
    await page.waitForSelector("#preview table");
    await compared(page);
    sameAnswers(JSON.parse(await saved(page, "#save-json", "times-answers.json")), JSON.parse(readFileSync(path("times.json"), "utf8")));
    run("compare", "times.occam", "times.csv", "-o", "subset.json", "--model-prior", "M1=0.5,M2=0.5", "--quiet");
    for (const j of [2, 3, 4, 5]) await page.uncheck(`#use-${j}`);
    await page.waitForFunction(() => /M3 0\.000/.test(document.getElementById("in-short").textContent));
    sameAnswers(JSON.parse(await saved(page, "#save-json", "times-answers.json")), JSON.parse(readFileSync(path("subset.json"), "utf8")));
    await page.uncheck("#use-0");
    await page.uncheck("#use-1");
    assert.match(await page.textContent("#prior-note"), /At least one model/);
    await page.click("#reset");
    await page.waitForFunction(() => !/M3 0\.000/.test(document.getElementById("in-short").textContent));
    await page.context().close();
  },
};

const furtherTests = {
  async "a network is dropped on the page without one; files that are none fail with a message"() {
    const page = await open("app.html");
    writeFileSync(path("none.occam"), "not a network");
    await page.setInputFiles("#network-file", path("none.occam"));
    await page.waitForSelector("#fault .serious");
    const drop = (bytes, name, selector) => page.evaluate(([base64, file, zone]) => {
      const content = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], file));
      document.querySelector(zone).dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }, [bytes.toString("base64"), name, selector]);
    await drop(readFileSync(path("coins.occam")), "coins.occam", "#network-drop");
    await page.waitForSelector("#data-section:not([hidden])");
    await page.click("#paste summary");
    await page.fill("#pasted", "a\tb\nno\tnumbers\n");
    await page.click("#take-pasted");
    await page.waitForSelector("#columns-section:not([hidden])");
    assert.equal(await page.isDisabled("#compare"), true);
    await page.fill("#pasted", "Person\tx\nanna\t1\nanna\t0\nbert\t1\n");
    await page.click("#take-pasted");
    await page.waitForFunction(() => document.querySelector("#by")?.selectedOptions[0].textContent === "Person");
    await page.waitForSelector("#preview table");
    await compared(page);
    assert.match(await page.textContent("#read"), /3 rows in 2 data sets/);
    await page.context().close();
  },

  async "nothing serious for axe-core, light and dark, wide and narrow"() {
    for (const colorScheme of ["light", "dark"]) {
      const page = await open("times.html", { colorScheme, viewport: { width: colorScheme === "dark" ? 360 : 1100, height: 800 } });
      if (colorScheme === "light") await assertAccessible(page, "start");
      await page.setInputFiles("#data-file", path("strange.csv"));
      await page.waitForSelector("#preview table");
      await compared(page);
      await page.click("#ask-population");
      await page.waitForSelector("#population-table");
      await assertAccessible(page, colorScheme);
      const [wide, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(wide <= screen, `${wide} pixels wide on a screen of ${screen}`);
      await page.context().close();
    }
  },

  async "the report stands by itself, without script"() {
    const page = await open("coins.html");
    await page.click("#example");
    await page.waitForSelector("#preview table");
    await compared(page);
    const report = await saved(page, "#save-report", "tosses-report.html");
    assert.doesNotMatch(report, /<script|<button|<input/);
    assert.match(report, /default-src 'none'[^]*Coins &lt;i&gt;[^]*Model prior: flat 0\.500, fair 0\.500/);
    const context = await browser.newContext({ colorScheme: "light" });
    const other = await context.newPage();
    other.on("console", (message) => faults.push(`report: ${message.text()}`));
    await other.goto(`file://${path("tosses-report.html")}`);
    assert.match(await other.textContent("#verdict"), /(decided|ambiguous|out-of-scope|outside-training)\./);
    await context.close();
    await page.context().close();
  },

  async "a csv of 100 MB leaves the page responsive, and can be stopped"() {
    const row = (at) => `${at % 1000},${at % 2},${"as it was written down ".repeat(4)}\n`;
    writeFileSync(path("large.csv"), "person,x,remark\n" + Array.from({ length: 1000000 }, (_, at) => row(at)).join(""));
    assert.ok(statSync(path("large.csv")).size > 9.5e7);
    const page = await open("coins.html");
    await page.setInputFiles("#data-file", path("large.csv"));
    await page.waitForSelector("#preview table");
    await page.evaluate(() => {
      window.longest = 0;
      let last = performance.now();
      setInterval(() => { const now = performance.now(); window.longest = Math.max(window.longest, now - last); last = now; }, 20);
    });
    const underWay = () => page.waitForFunction(() => document.getElementById("progress").value > 0.1);
    await page.click("#compare");
    await underWay();
    await page.click("#stop");
    await page.waitForFunction(() => document.getElementById("status").textContent === "Stopped.");
    await page.click("#compare");
    await underWay();
    // Compare may follow Stop before the worker has begun anew, and another file a comparison that is under way.
    await page.evaluate(() => new Promise((resolve) => {
      document.getElementById("stop").click();
      setTimeout(() => resolve(document.getElementById("compare").click()));
    }));
    await underWay();
    await page.click("#example");
    await page.waitForFunction(() => document.getElementById("taken").textContent.startsWith("tosses.csv"));
    await page.waitForSelector("#preview table");
    await compared(page);
    sameAnswers(JSON.parse(await saved(page, "#save-json", "tosses-answers.json")), JSON.parse(readFileSync(path("coins.json"), "utf8")));
    assert.equal(await page.textContent("#fault"), "");
    const longest = await page.evaluate(() => window.longest);
    console.log(`      the page was never silent for more than ${longest.toFixed(0)} ms`);
    await page.context().close();
  },

  async "the program part is at most 2.5 MB"() {
    const size = statSync(path("app.html")).size;
    console.log(`      app.html has ${size} bytes`);
    assert.ok(size <= 2.5e6);
  },
};

let failed = 0;
let firefox;
try {
  browser = chromium = await launch();
  failed = await runTests({ ...wholeWay, ...furtherTests }, faults, process.argv[4]);
  await chromium.close();
  if (firefoxPath) {
    mkdirSync(path("home"));
    // On a busy machine its first connection may be lost.
    browser = firefox = await launchFirefox(path("home")).catch(() => launchFirefox(path("home")));
    const named = Object.entries(wholeWay).map(([name, test]) => [`Firefox: ${name}`, test]);
    failed += await runTests(Object.fromEntries(named), faults, process.argv[4]);
  } else {
    console.log("Firefox: SKIPPED, it is not installed (`scripts/setup.sh test` installs it)");
  }
} finally {
  await chromium?.close();
  await firefox?.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed === 0 ? 0 : 1);
