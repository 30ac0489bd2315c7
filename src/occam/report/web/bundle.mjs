// Bundles figures.js with the packages it imports, adds their licences, compresses: text for a page to unpack.
//   node bundle.mjs OUTPUT
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const folder = dirname(fileURLToPath(import.meta.url));
const result = await build({
  absWorkingDir: folder,
  entryPoints: ["figures.js"],
  bundle: true,
  minify: true,
  format: "iife",
  globalName: "occamFigures",
  target: "es2020",
  legalComments: "none",
  metafile: true,
  write: false,
});

const packages = new Set();
for (const path of Object.keys(result.metafile.inputs)) {
  const match = path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//);
  if (match) packages.add(match[1]);
}

// Packages of one project share a text, which is said once.
const texts = new Map();
for (const name of [...packages].sort()) {
  const home = join(folder, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  const file = readdirSync(home).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file ? readFileSync(join(home, file), "utf8").trim() : `Licence: ${license}`;
  texts.set(text, [...(texts.get(text) ?? []), `${name} ${version}`]);
}
const licences = [...texts].map(([text, names]) => `${names.join(", ")}\n\n${text}\n`).join("\n\n");

const code = `${result.outputFiles[0].text}\nvar occamLicences = ${JSON.stringify(licences)};\n`;
writeFileSync(process.argv[2], gzipSync(code, { level: 9 }).toString("base64"));
