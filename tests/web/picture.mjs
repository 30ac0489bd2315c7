// Photographs the top of a report, in light colours.
//   node picture.mjs REPORT.html PICTURE.png [HEIGHT]
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { chromium } from "playwright-core";

const [report, picture, height = "1000"] = process.argv.slice(2);
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 900, height: Number(height) }, colorScheme: "light" });
await page.goto(`file://${resolve(report)}`);
await page.waitForSelector("html[data-ready]", { state: "attached", timeout: 120000 });
await page.screenshot({ path: picture, timeout: 120000 });
await browser.close();
