// Photographs a page of `occam page` with the answers for its example, in light colours.
//   node page_picture.mjs PAGE.html PICTURE.png
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { chromium } from "playwright-core";

const [address, picture] = process.argv.slice(2);
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 860, height: 900 }, colorScheme: "light" });
page.setDefaultTimeout(120000); // machines may be busy
await page.goto(`file://${resolve(address)}`);
await page.waitForSelector("html[data-ready]", { state: "attached" });
await page.click("#example");
await page.waitForSelector("#preview table");
await page.click("#compare");
await page.waitForSelector("#one-table");
await page.screenshot({ path: picture, fullPage: true });
await browser.close();
