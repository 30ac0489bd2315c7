// The module of web pages under node, as `occam page` embeds it: its probabilities beside those of the program on all
// built-in problems, and files changed at random, which may fail with a message and in no other way.
//   node module_test.mjs OCCAM [CHANGED-FILES]
// Exits with 77 (skipped) where this build has no page.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { runInThisContext } from "node:vm";
import { gunzipSync } from "node:zlib";

const [program, changes = "1000"] = process.argv.slice(2);
const occam = resolve(program);
const folder = mkdtempSync(join(tmpdir(), "occam-module-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const path = (name) => join(folder, name);
const run = (...words) => execFileSync(occam, words, { stdio: ["ignore", "pipe", "ignore"], cwd: folder, encoding: "utf8" });

const probe = spawnSync(occam, ["page", "-o", path("app.html")], { encoding: "utf8" });
if (/this build has no page/.test(probe.stderr)) {
  assert.equal(probe.status, 78);
  console.log("the module of web pages: SKIPPED, occam was built without emscripten");
  process.exit(process.env.CI === "true" ? 1 : 77);
}
assert.equal(probe.status, 0, probe.stderr);

const app = readFileSync(path("app.html"), "utf8");
const part = (id) => app.match(new RegExp(`id="${id}">([^]*?)</script>`))[1];
runInThisContext(part("worker").split("// The worker of the page")[0] + "\nglobalThis.occamHost = occamHost;");
const module = new WebAssembly.Module(gunzipSync(Buffer.from(part("module-bytes"), "base64")));
let csv = Buffer.alloc(0);
const start = () => occamHost(module, (offset, size) => csv.subarray(offset, offset + size), () => {});
const bytesOf = (value) => new TextEncoder().encode(JSON.stringify(value));

function read(host, name) {
  const { header, guess } = host.ask("data", { name });
  return { columns: guess.columns.map((at) => header[at]), factors: guess.factors, by: guess.by < 0 ? [] : [header[guess.by]] };
}

// --- the same answers ------------------------------------------------------------------------------------

let worst = 0;
function sameAnswers(name, theirs, mine) {
  assert.equal(mine.data_sets.length, theirs.data_sets.length);
  theirs.data_sets.forEach((set, at) => {
    const p = Object.keys(set).filter((key) => key.startsWith("p_"));
    for (const key of p) {
      const distance = Math.abs(set[key] - mine.data_sets[at][key]);
      worst = Math.max(worst, distance);
      assert.ok(distance < 1e-5, `${name}, data set ${at}: ${key} is ${mine.data_sets[at][key]}, of the program ${set[key]}`);
    }
    assert.equal(mine.data_sets[at].verdict, set.verdict, `${name}, data set ${at}`);
  });
}

function compareWith(name, training) {
  const file = name.replaceAll(":", "-");
  run("train", name, "-o", `${file}.occam`, "--iterations", "20", "--scope-reference", "100", "--scope-calibration", "100",
    "--quiet", ...training);
  run("simulate", name, "-o", `${file}.csv`, "--datasets", "12", "--quiet");
  run("compare", `${file}.occam`, `${file}.csv`, "-o", `${file}.json`, "--quiet");
  csv = readFileSync(path(`${file}.csv`));
  const host = start();
  const about = host.openNetwork(readFileSync(path(`${file}.occam`)));
  host.ask("compare", read(host, `${file}.csv`));
  sameAnswers(name, JSON.parse(readFileSync(path(`${file}.json`))), JSON.parse(new TextDecoder().decode(host.call("file", bytesOf({ format: "json" })))));
  // Another model prior: all of it on the first two models.
  const model_prior = about.models.map((_, j) => (j < 2 ? 0.5 : 0));
  run("compare", `${file}.occam`, `${file}.csv`, "-o", `${file}.json`, "--quiet", "--model-prior", about.models.slice(0, 2).map((model) => `${model}=0.5`).join(","));
  sameAnswers(name, JSON.parse(readFileSync(path(`${file}.json`))), JSON.parse(new TextDecoder().decode(host.call("file", bytesOf({ format: "json", model_prior })))));
  const { k, p } = host.ask("course", { set: 0 });
  assert.equal(k.length, p.length);
  // What is to be known of the network goes with every answer.
  const { warnings } = host.ask("compare", { ...read(host, `${file}.csv`), caution: "be careful" });
  assert.ok(warnings.includes("be careful"), `${name}: ${warnings}`);
  const noted = JSON.parse(new TextDecoder().decode(host.call("file", bytesOf({ format: "json" })))).data_sets;
  assert.ok(noted.every((set) => JSON.stringify(set).includes("be careful")), name);
}

const problems = JSON.parse(run("models", "--json")).map(({ name }) => name);
for (const name of problems) compareWith(name, []);
for (const head of ["softmax", "mc-dropout", "vae", "mmd-vae"]) compareWith("beta-binomial", ["--head", head]);
compareWith("beta-binomial", ["--ensemble", "2"]);
console.log(`ok    ${problems.length} problems, 5 kinds of network: probabilities differ from the program's by at most ${worst.toExponential(1)}`);

// --- changed files ---------------------------------------------------------------------------------------

// The same numbers in every run.
let state = 12345;
const random = (below) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};

function changed(original) {
  const bytes = Buffer.from(original);
  for (let edit = 1 + random(4); edit > 0; --edit) {
    const at = random(bytes.length);
    switch (random(4)) {
      case 0: bytes[at] = random(256); break;
      case 1: bytes[at] ^= 1 << random(8); break;
      case 2: bytes.copy(bytes, random(bytes.length), at, at + random(64)); break;
      default: bytes.write(["NaN", "1e309", "-1", "\"", "\n", ",,", "<b>", "9999999999", "\0", "é"][random(10)], at);
    }
  }
  return random(10) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes;
}

// The checksum in a network file, so that changes get past it.
function resealed(file) {
  const length = Number(file.readBigUInt64LE(0));
  let header;
  try {
    header = JSON.parse(file.subarray(8, 8 + length).toString("utf8"));
  } catch {
    return file;
  }
  const metadata = header.__metadata__;
  if (typeof metadata !== "object" || metadata === null) return file;
  let [low, high] = [0x84222325, 0xcbf29ce4]; // FNV-1a in two halves
  const add = (bytes) => {
    for (const byte of bytes) {
      low = (low ^ byte) >>> 0;
      const product = low * 0x1b3;
      high = (Math.imul(high, 0x1b3) + Math.floor(product / 2 ** 32) + (low << 8)) >>> 0;
      low = product >>> 0;
    }
  };
  const number = (value) => { const bytes = Buffer.alloc(8); bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value))); add(bytes); };
  const piece = (text) => { const bytes = Buffer.from(text); number(bytes.length); add(bytes); };
  const names = (object) => Object.keys(object).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  try {
    for (const key of names(metadata)) if (key !== "checksum") { piece(key); piece(metadata[key]); }
    for (const name of names(header).filter((key) => key !== "__metadata__")) {
      const { dtype, shape, data_offsets: [from, to] } = header[name];
      piece(name); piece(DTYPES[dtype] ?? dtype); number(shape.length);
      shape.forEach(number);
      add(file.subarray(8 + length + from, 8 + length + to));
    }
  } catch {
    return file;
  }
  const mix = (hash, factor) => BigInt.asUintN(64, (hash ^ (hash >> 33n)) * factor);
  let hash = (BigInt(high) << 32n) | BigInt(low);
  hash = mix(mix(hash, 0xff51afd7ed558ccdn), 0xc4ceb9fe1a85ec53n);
  hash ^= hash >> 33n;
  metadata.checksum = hash.toString(16).padStart(16, "0");
  let text = Buffer.from(JSON.stringify(header));
  text = Buffer.concat([text, Buffer.alloc((8 - (text.length % 8)) % 8, " ")]);
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([size, text, file.subarray(8 + length)]);
}
const DTYPES = { F32: "float32", F64: "float64", I64: "int64", I32: "int32", U8: "uint8", I8: "int8", I16: "int16", U16: "uint16", U32: "uint32", U64: "uint64" };

const network = readFileSync(path("beta-binomial.occam"));
const table = readFileSync(path("beta-binomial.csv"));
let host = start();
host.openNetwork(resealed(network)); // seals are made rightly
const counts = { taken: 0, refused: 0 };
let slowest = 0;
// Changes of the network are mostly to its header: the rest is numbers.
const headerEnd = 8 + Number(network.readBigUInt64LE(0));
for (let at = 0; at < Number(changes); ++at) {
  const begin = performance.now();
  const isNetwork = at % 2 === 0;
  const file = !isNetwork ? table
    : random(4) === 0 ? network : Buffer.concat([network.subarray(0, 8), changed(network.subarray(8, headerEnd)), network.subarray(headerEnd)]);
  const bytes = !isNetwork || file === network ? changed(file) : file;
  try {
    if (isNetwork) {
      host.openNetwork(random(3) === 0 ? bytes : resealed(bytes));
      csv = table.subarray(0, 4000);
    } else {
      csv = bytes;
    }
    host.ask("compare", { ...read(host, "x.csv"), missing: random(2) ? "drop" : "refuse" });
    host.ask("answers", { first: 0, count: 5 });
    ++counts.taken;
  } catch (error) {
    // What the module refuses it survives. Anything else is a fault of the module.
    if (error instanceof WebAssembly.RuntimeError || error instanceof WebAssembly.Exception || error instanceof RangeError) {
      console.log(`FAIL  change ${at} (${isNetwork ? "network" : "csv"}): ${error.stack}`);
      process.exit(1);
    }
    ++counts.refused;
  }
  if (isNetwork) host.openNetwork(network);
  slowest = Math.max(slowest, performance.now() - begin);
}
console.log(`ok    ${changes} changed files: ${counts.taken} taken, ${counts.refused} refused, the slowest took ${slowest.toFixed(0)} ms`);
