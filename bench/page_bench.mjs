// Speed of the module of web pages beside one thread of the program limited to 128-bit lanes: 1,000 data sets of 100
// observations of decision-making, csv to answers, without a scope reference. Interleaved, the least of some repeats.
//   node bench/page_bench.mjs OCCAM PORTABLE-OCCAM [REPEATS]
//   node bench/page_bench.mjs OCCAM --before OTHER-OCCAM [REPEATS]
// PORTABLE-OCCAM is a program for any CPU (preset `package`), which can be told to use SSE4. With --before, the modules of
// two builds take turns instead. Both times hold reading the
// network and the csv and writing the answers; that of the program also the start of a process.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { runInThisContext } from "node:vm";
import { gunzipSync } from "node:zlib";

const words = process.argv.slice(2);
const twoModules = words[1] === "--before";
if (twoModules) words.splice(1, 1);
const [occam, portable] = words.slice(0, 2).map((word) => resolve(word));
const repeats = Number(words[2] ?? 7);
const folder = mkdtempSync(join(tmpdir(), "occam-page-bench-"));
const run = (words, env = {}, program = occam) => execFileSync(program, words, { cwd: folder, stdio: "ignore", env: { ...process.env, ...env } });

run(["train", "decision-making", "-o", "net.occam", "--iterations", "10", "--scope-reference", "0", "--quiet"]);
run(["simulate", "decision-making", "-o", "data.csv", "--datasets", "1000", "--n", "100", "--quiet"]);
function moduleOf(program) {
  run(["page", "-o", "app.html"], {}, program);
  const app = readFileSync(join(folder, "app.html"), "utf8");
  const part = (id) => app.match(new RegExp(`id="${id}">([^]*?)</script>`))[1];
  const host = runInThisContext(`(() => { ${part("worker").split("// The worker of the page")[0]}; return occamHost; })()`);
  return { host, module: new WebAssembly.Module(gunzipSync(Buffer.from(part("module-bytes"), "base64"))) };
}
const mine = moduleOf(occam), other = twoModules ? moduleOf(portable) : null;
const network = readFileSync(join(folder, "net.occam"));
const csv = readFileSync(join(folder, "data.csv"));

function inModule({ host: open, module }) {
  const host = open(module, (offset, size) => csv.subarray(offset, offset + size), () => {});
  const begin = performance.now();
  host.openNetwork(network);
  host.ask("data", { name: "data.csv" });
  host.ask("compare", { columns: ["condition", "response", "rt"], by: ["dataset"] });
  host.call("file", new TextEncoder().encode('{"format":"csv"}'));
  return performance.now() - begin;
}
function inProgram() {
  const begin = performance.now();
  run(["compare", "net.occam", "data.csv", "-o", "answers.csv", "--threads", "1", "--quiet"], { OCCAM_SIMD: "SSE4" }, portable);
  return performance.now() - begin;
}
let [web, native] = [Infinity, Infinity];
const compared = twoModules ? () => inModule(other) : inProgram;
inModule(mine);
compared();
for (let repeat = 0; repeat < repeats; ++repeat) {
  web = Math.min(web, inModule(mine));
  native = Math.min(native, compared());
}
rmSync(folder, { recursive: true });
console.log(`module ${web.toFixed(0)} ms, ${twoModules ? "the other" : "program with 128-bit lanes"} ${native.toFixed(0)} ms: ${(web / native).toFixed(2)} times as long`);
