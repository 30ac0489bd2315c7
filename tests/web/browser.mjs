// What tests in a browser share: where it is, how it is started, and how tests are run one after the other.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";

export const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
export const firefoxPath = ["/usr/bin/firefox-esr", "/usr/bin/firefox"].find(existsSync);
export const driver = await import("playwright-core").catch(() => null);
export const patience_ms = Number(process.env.OCCAM_PATIENCE_MS ?? 120000); // machines that test are busy

export const launch = () => driver.chromium.launch({ executablePath: browserPath, headless: true, args: ["--no-sandbox",
  "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
  "--disable-sync"], timeout: patience_ms });

// Firefox refuses to start where the home is somebody else's (under sudo), and writes into it: it gets one of its own,
// and nothing else of the environment. Its driver hears nothing of downloads: they lie in that folder.
export const launchFirefox = (home) => driver.firefox.launch({ channel: "moz-firefox", executablePath: firefoxPath,
  headless: true, timeout: patience_ms, env: { HOME: home, PATH: process.env.PATH },
  firefoxUserPrefs: { "browser.download.folderList": 2, "browser.download.dir": home } });

// Those whose names hold `wanted`. What gathers in `faults` meanwhile fails the test. How many failed.
export async function run(tests, faults, wanted = "") {
  let failed = 0;
  for (const [name, test] of Object.entries(tests).filter(([key]) => key.includes(wanted))) {
    const start = Date.now();
    try {
      await test();
      assert.deepEqual(faults.splice(0), []);
      console.log(`ok    ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
    } catch (error) {
      ++failed;
      console.log(`FAIL  ${name}\n${error.message}\n${faults.splice(0).join("\n")}`);
    }
  }
  return failed;
}
