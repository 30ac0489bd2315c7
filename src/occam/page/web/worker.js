// The worker of the page: it computes, so that the page stays responsive. Messages are {id, name, ...}; answers
// {id, result} or {id, error}; on the way {id, bytes, sets}.
"use strict";
(() => {
  let module, host, network;
  let data = new Blob([]);
  let piece = { from: 0, bytes: new Uint8Array() };
  let job = 0;
  let told = 0;

  // The csv is read in large pieces, whatever the module asks for.
  function readAt(offset, size) {
    const PIECE = 1 << 22;
    if (offset < piece.from || offset >= piece.from + piece.bytes.length) {
      if (offset >= data.size) return new Uint8Array();
      const buffer = new FileReaderSync().readAsArrayBuffer(data.slice(offset, offset + PIECE));
      piece = { from: offset, bytes: new Uint8Array(buffer) };
    }
    const from = offset - piece.from;
    return piece.bytes.subarray(from, from + size);
  }

  function progress(bytes, sets) {
    const now = performance.now();
    if (now - told < 100) return;
    told = now;
    postMessage({ id: job, bytes, sets, size: data.size });
  }

  function start() {
    host = occamHost(module, readAt, progress);
    if (network) host.openNetwork(network);
  }

  const work = {
    async module({ bytes }) {
      const whole = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
      module = await WebAssembly.compile(await whole.arrayBuffer());
      start();
      return {};
    },
    network({ bytes }) {
      network = undefined;
      const result = host.openNetwork(bytes);
      network = bytes;
      return result;
    },
    data({ blob, options }) {
      data = blob;
      piece = { from: 0, bytes: new Uint8Array() };
      return host.ask("data", options);
    },
    file: ({ options }) => host.call("file", new TextEncoder().encode(JSON.stringify(options))),
  };

  async function answer(message) {
    job = message.id;
    try {
      const own = work[message.name];
      const result = own ? await own(message) : host.ask(message.name, message.options);
      postMessage({ id: message.id, result });
    } catch (error) {
      // What the module threw it has survived; after anything else it begins anew.
      const broken = error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
      if (broken && module) start();
      postMessage({ id: message.id, broken, error: broken ? "The module broke off; what it was given is not usable." : error.message });
    }
  }

  // One after the other: what is asked while the module is being made waits for it.
  let last = Promise.resolve();
  onmessage = ({ data: message }) => { last = last.then(() => answer(message)); };
})();
