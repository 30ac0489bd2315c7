// Photographs a report from its top to the end of its first figure, in light colours.
//   node picture.mjs REPORT.html PICTURE.png
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { chromium } from "playwright-core";

const [report, picture] = process.argv.slice(2);
const width = 1000;
const patience_ms = 120000; // machines may be busy
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: "light" });
page.setDefaultTimeout(patience_ms);
await page.goto(`file://${resolve(report)}`);
await page.waitForSelector("html[data-ready]", { state: "attached" });
const figure = page.locator("figure[data-figure]").first();
await figure.scrollIntoViewIfNeeded();
await figure.locator(".plot svg, .plot canvas").first().waitFor();
const bottom = await figure.evaluate((element) => element.getBoundingClientRect().bottom + window.scrollY);
await page.screenshot({ path: picture, fullPage: true, clip: { x: 0, y: 0, width, height: Math.ceil(bottom) + 20 } });
await browser.close();
