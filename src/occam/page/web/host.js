// Holds the module: hands bytes in and out, gives it the csv piece by piece, and nothing else. Runs in the page's
// worker and, for tests, in node.
"use strict";

// `readAt(offset, size)` returns bytes of the csv; `progress(bytes, sets)` is told how far a comparison has got.
function occamHost(module, readAt, progress) {
  const bytes = (at, size) => new Uint8Array(exports.memory.buffer, at, size);
  const known = {
    page_read(offset, to, size) {
      try {
        const part = readAt(offset, size);
        bytes(to, part.length).set(part);
        return part.length;
      } catch {
        return -1;
      }
    },
    page_progress: progress,
    emscripten_notify_memory_growth() {},
    clock_time_get(clock, precision, to) {
      new DataView(exports.memory.buffer).setBigUint64(to, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    environ_sizes_get(count, size) {
      const memory = new DataView(exports.memory.buffer);
      memory.setUint32(count, 0, true);
      memory.setUint32(size, 0, true);
      return 0;
    },
    environ_get: () => 0,
    proc_exit(code) { throw new WebAssembly.RuntimeError(`the module ended (${code})`); },
  };
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    (imports[from] ??= {})[name] = known[name];
  }
  const { exports } = new WebAssembly.Instance(module, imports);
  exports._initialize();

  // Calls a function of the module with some bytes; returns those of its result.
  function call(name, input) {
    const at = exports.page_take(Math.max(1, input.length));
    if (at === 0) throw new Error("this needs more memory than a page may take");
    bytes(at, input.length).set(input);
    const failed = exports[`page_${name}`](at, input.length);
    exports.page_drop(at);
    const result = bytes(exports.page_result(), exports.page_result_size()).slice();
    if (failed) throw new Error(new TextDecoder().decode(result));
    return result;
  }

  return {
    call,
    // With options and result as objects.
    ask: (name, options) => JSON.parse(new TextDecoder().decode(call(name, new TextEncoder().encode(JSON.stringify(options))))),
    openNetwork: (file) => JSON.parse(new TextDecoder().decode(call("network", file))),
  };
}
