// Photographs a page of `occam page` with the answers for its example, in light colours.
//   node page_picture.mjs PAGE.html PICTURE.png
import { resolve } from "node:path";
import { launch, patience_ms } from "./browser.mjs";

const [address, picture] = process.argv.slice(2);
const browser = await launch();
const page = await browser.newPage({ viewport: { width: 860, height: 900 }, colorScheme: "light" });
page.setDefaultTimeout(patience_ms);
await page.goto(`file://${resolve(address)}`);
await page.waitForSelector("html[data-ready]", { state: "attached" });
await page.click("#example");
await page.waitForSelector("#preview table");
await page.click("#compare");
await page.waitForSelector("#one-table");
await page.screenshot({ path: picture, fullPage: true });
await browser.close();
