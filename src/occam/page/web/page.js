// The page: from a csv to answers, step by step. Whatever comes from files becomes text nodes and attributes, never
// html. All computing is the worker's (worker.js).
"use strict";
(() => {
  const root = document.documentElement;
  const at = (id) => document.getElementById(id);
  const about = JSON.parse(at("about").textContent);

  function shape(name, attributes = {}, ...children) {
    const result = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) result.setAttribute(key, value);
    result.append(...children);
    return result;
  }

  // --- light and dark ------------------------------------------------------------------------------------

  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  function setTheme(theme) {
    root.dataset.theme = theme;
    at("theme").textContent = theme === "dark" ? "Light" : "Dark";
  }
  setTheme(prefersDark.matches ? "dark" : "light");
  prefersDark.addEventListener("change", () => setTheme(prefersDark.matches ? "dark" : "light"));
  at("theme").addEventListener("click", () => setTheme(root.dataset.theme === "dark" ? "light" : "dark"));

  // --- numbers -------------------------------------------------------------------------------------------

  const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
  const count = (number, one, many = one + "s") => `${grouped.format(number)} ${number === 1 ? one : many}`;
  const raised = (text) => text.replace("-", "⁻").replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);

  function forPeople(number) {
    if (number === null || number === undefined) return "–";
    if (typeof number === "string") return number.replace("-Inf", "−∞").replace("Inf", "∞");
    const size = Math.abs(number);
    const sign = number < 0 ? "−" : "";
    if (Number.isInteger(size) && size < 1e15) return sign + grouped.format(size);
    if (size >= 1e-4 && size < 1e6) return sign + String(Number(size.toPrecision(4)));
    const [digits, power] = size.toExponential(1).split("e");
    return `${sign}${digits} × 10${raised(power.replace("+", ""))}`;
  }
  // None is shown as certain that is not.
  const share = (p) => (p > 0.9995 && p < 1 ? ">.999" : p > 0 && p < 0.0005 ? "<.001" : p.toFixed(3));

  // --- the worker ----------------------------------------------------------------------------------------

  function fromBase64(text) {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
    return bytes;
  }

  let worker;
  let waiting = new Map();
  let jobs = 0;
  const stopped = new Error("Stopped."); // what ends a job that was given up; no fault
  const workerCode = URL.createObjectURL(new Blob([at("worker").textContent], { type: "text/javascript" }));

  function ask(name, message = {}, onProgress) {
    const id = ++jobs;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject, onProgress });
      worker.postMessage({ id, name, ...message });
    });
  }

  async function startWorker() {
    worker?.terminate();
    for (const { reject } of waiting.values()) reject(stopped);
    waiting = new Map();
    worker = new Worker(workerCode);
    worker.onmessage = ({ data }) => {
      const job = waiting.get(data.id);
      if (!job) return;
      if (data.bytes !== undefined) return void job.onProgress?.(data);
      waiting.delete(data.id);
      if (data.error !== undefined) job.reject(new Error(data.error));
      else job.resolve(data.result);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      for (const { reject } of waiting.values()) reject(new Error("This browser cannot run the page's program (WebAssembly with SIMD and exceptions)."));
      waiting = new Map();
    };
    await ask("module", { bytes: fromBase64(at("module-bytes").textContent) });
  }

  function fail(error) {
    at("fault").replaceChildren(...(error ? [judgement("serious", error.message)] : []));
    if (error) at("fault").scrollIntoView({ block: "nearest" });
  }

  // Runs a step; what goes wrong is said at the top.
  function step(work) {
    return async (...values) => {
      fail(null);
      try {
        await work(...values);
      } catch (error) {
        if (error !== stopped) fail(error);
      }
    };
  }

  // --- parts ---------------------------------------------------------------------------------------------

  const words = { fine: ["✓", "Fine"], note: ["i", "Note"], warning: ["!", "Warning"], serious: ["×", "Serious"] };
  function judgement(kind, ...content) {
    const [mark, word] = words[kind];
    return element("div", { class: `judgement ${kind}` }, element("span", { class: "mark", "aria-hidden": "true" }, mark),
      element("p", {}, element("strong", { class: "word" }, `${word}. `), ...content));
  }

  function table(caption, heads, rows, attributes = {}) {
    return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
      element("table", { class: "data", ...attributes },
        element("thead", {}, element("tr", {}, ...heads.map((head, place) => element("th", { scope: "col",
          class: rows[0]?.children[place]?.classList.contains("number") ? "number" : undefined }, head)))),
        element("tbody", {}, ...rows)));
  }

  // Replaces the content of a part; a control that had the focus has it again, if there is one of its name.
  function show(id, ...content) {
    const focused = at(id).contains(document.activeElement) ? document.activeElement.id : "";
    at(id).replaceChildren(...content);
    if (focused) at(focused)?.focus({ preventScroll: true });
  }

  function bar(p) {
    const result = element("span", { class: "share" }, share(p));
    result.style.setProperty("--part", p);
    return result;
  }

  function save(content, name, type) {
    const link = element("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // Paragraphs, headings and lists of a plain text; nothing in it becomes html.
  function showText(text) {
    const blocks = text.replaceAll("\r", "").split(/\n{2,}/).map((block) => block.trim()).filter(Boolean);
    at("text").replaceChildren(...blocks.flatMap((block) => {
      const lines = block.split("\n");
      if (lines[0].startsWith("#")) {
        const rest = lines.slice(1).join(" ").trim();
        return [element("h2", {}, lines[0].replace(/^#+\s*/, "")), ...(rest ? [element("p", {}, rest)] : [])];
      }
      if (lines.every((line) => /^[-*] /.test(line))) return [element("ul", {}, ...lines.map((line) => element("li", {}, line.slice(2))))];
      return [element("p", {}, lines.join(" "))];
    }));
  }

  // --- the network ---------------------------------------------------------------------------------------

  let network; // what it says of itself
  let networkBytes;
  let weights; // {weight, used} of each model: the model prior that was asked for

  function needs(column) {
    const range = column.range;
    const texts = [column.meaning, column.design ? "set by the experimenter" : "", column.may_miss ? "may be missing" : ""];
    return element("tr", {}, element("th", { scope: "row" }, column.name),
      element("td", { class: "text" }, texts.filter(Boolean).join("; ") || "–"),
      element("td", {}, range ? `${forPeople(range[0])} to ${forPeople(range[1])}` : "–"));
  }

  function describeNetwork() {
    const [from, to] = network.n;
    const shown = network.models.length > 30 ? [...network.models.slice(0, 30), "…"] : network.models;
    at("network").replaceChildren(
      ...(network.description ? [element("p", { class: "summary" }, network.description)] : []),
      ...(network.doubt ? [judgement("serious", `Its answers mean nothing: ${network.doubt}`)] : []),
      ...(about.caution ? [judgement("warning", about.caution)] : []),
      element("p", {}, `It compares ${count(network.models.length, "model")}: ${shown.join(", ")}. `,
        `A data set has ${from === to ? grouped.format(from) : `${grouped.format(from)} to ${grouped.format(to)}`} observations`,
        network.ordered ? ", in order." : ", in any order.",
        network.scope ? "" : " It cannot tell data that no model makes: it was saved without a scope reference."),
      table("Columns that the network needs", ["column", "meaning", "values in training"], network.columns.map(needs)),
      element("details", { class: "measures" }, element("summary", {}, "How it was made"),
        element("dl", {}, ...[["problem", `${network.problem_name} (${network.fingerprint})`],
          ["training", `${count(network.record.steps ?? 0, "step")}, ${count(network.record.data_sets ?? 0, "data set")}, seed ${network.record.seed ?? "?"}, by ${network.record.program ?? "?"}`],
          ["network", `${network.members > 1 ? `${network.members} times ` : ""}${network.network.architecture ?? ""}, ${grouped.format(network.weights)} weights`]]
          .map(([key, value]) => element("div", {}, element("dt", {}, key), element("dd", {}, value)))),
        element("h3", {}, "The problem, as a file"),
        element("pre", { tabindex: "0" }, network.problem)));
  }

  async function takeNetwork(bytes) {
    for (const id of ["data-section", "columns-section", "answers-section"]) at(id).hidden = true;
    const ready = working ? startWorker() : null;
    [network] = await Promise.all([ask("network", { bytes }), ready]);
    networkBytes = bytes;
    weights = network.model_prior.map((p) => ({ weight: p, used: p > 0 }));
    if (!about.title) at("title").textContent = network.problem_name;
    describeNetwork();
    at("data").replaceChildren();
    at("data-section").hidden = false;
  }

  // --- data ----------------------------------------------------------------------------------------------

  let source; // {blob, name}
  let csv; // its header, first rows, and guesses

  async function takeData(blob, name) {
    at("answers-section").hidden = true;
    at("columns-section").hidden = true;
    source = { blob, name };
    csv = await openSource();
    at("data").replaceChildren(element("p", { id: "taken" }, `${name}: ${count(csv.header.length, "column")}`,
      csv.rows.length === 0 ? ", no rows." : "."), ...csv.notes.map((note) => judgement("note", note)));
    showColumns();
    at("columns-section").hidden = false;
  }

  // The worker reads the file from its beginning. One that compares is ended and begun anew, since it cannot be asked to
  // stop; it takes what it is asked in turn.
  async function openSource() {
    const ready = working ? [startWorker(), ask("network", { bytes: networkBytes })] : [];
    const [opened] = await Promise.all([ask("data", { blob: source.blob, options: { name: source.name } }), ...ready]);
    return opened;
  }

  // Units that differ by a factor; the first is the network's.
  const units = { s: [["s", 1], ["ms", 1e-3]], ms: [["ms", 1], ["s", 1e3]] };

  function select(id, label, options, chosen) {
    const control = element("select", { id }, ...options.map(([value, text]) =>
      element("option", { value, selected: value === chosen }, text)));
    return [element("label", { for: id }, label), control];
  }

  function showColumns() {
    const columns = csv.header.map((name, place) => [String(place), name]);
    const rows = network.columns.map((column, place) => {
      const guess = csv.guess.columns[place];
      const [label, control] = select(`column-${place}`, column.name, [["-1", "choose …"], ...columns], String(guess));
      const choices = units[column.unit] ?? [["as it is", 1], ["divided by 1000", 1e-3]];
      const [unitLabel, unit] = select(`unit-${place}`, `unit of ${column.name}`, choices.map(([text, factor]) => [String(factor), text]),
        String(csv.guess.factors[place]));
      control.addEventListener("change", () => { unit.value = String(csv.guess.factors_of[place][Number(control.value)] ?? 1); });
      unitLabel.className = "unseen";
      return element("div", { class: "field" }, label, control, unitLabel, unit, element("span", { class: "meaning" }, column.meaning));
    });
    const none = [["-1", "none: all rows are one data set"], ...columns];
    const field = (parts) => element("div", { class: "field" }, ...parts);
    at("columns").replaceChildren(...rows,
      field(select("by", "tells data sets apart", none, String(csv.guess.by))),
      field(select("by-too", "together with", [["-1", "no other column"], ...columns], String(csv.guess.by_too))),
      field(select("group", "groups of data sets", [["-1", "none"], ...columns], "-1")),
      field(select("missing", "rows with missing values", [["drop", "leave out and count"], ["refuse", "stop"]], "drop")),
      element("div", { id: "preview" }));
    for (const control of at("columns").querySelectorAll("select")) control.addEventListener("change", step(showPreview));
    step(showPreview)();
  }

  // How data are read, as chosen; null while a column is open.
  function reading() {
    const name = (id) => csv.header[Number(at(id).value)];
    const columns = network.columns.map((_, place) => name(`column-${place}`));
    if (columns.includes(undefined)) return null;
    return { columns, factors: network.columns.map((_, place) => Number(at(`unit-${place}`).value)),
      by: [...new Set([name("by"), name("by-too")])].filter((column) => column !== undefined), group: at("group").value === "-1" ? "" : name("group"),
      missing: at("missing").value, caution: about.caution };
  }

  async function showPreview() {
    const SHOWN = 6;
    const chosen = reading();
    at("compare").disabled = working || chosen === null;
    if (chosen === null) {
      const open = network.columns.filter((_, place) => at(`column-${place}`).value === "-1").map(({ name }) => name);
      at("preview").replaceChildren(judgement("note", `Which column is ${open.join(", which is ")}? Choose it above.`));
      return;
    }
    const { rows } = await ask("preview", { options: chosen });
    const outside = network.columns.map((column, place) => rows.filter(({ values }) => column.range && values[place] !== null &&
      (values[place] < column.range[0] || values[place] > column.range[1])).length);
    const notes = outside.map((number, place) => number * 2 > rows.length && judgement("warning",
      `Most values of ${network.columns[place].name} lie outside what the network was trained on. Is this the right column, and the right unit?`));
    const unread = rows.filter(({ fault }) => fault).slice(0, 1).map(({ fault }) => judgement("warning", fault));
    at("preview").replaceChildren(...notes.filter(Boolean), ...unread,
      element("h3", {}, "The first rows, as they were understood"),
      table("The first rows, as they were understood", ["line", "data set", ...network.columns.map(({ name }) => name)],
        rows.slice(0, SHOWN).map((row) => element("tr", {}, element("td", { class: "number" }, grouped.format(row.line)),
          element("td", { class: "text" }, chosen.by.length ? row.set : source.name),
          ...row.values.map((value) => element("td", { class: "number" }, value === null ? "missing" : forPeople(value)))))));
  }

  // --- answers -------------------------------------------------------------------------------------------

  const PAGE = 25;
  let read; // what was read, and warnings
  let answers; // rows shown, and counts over all
  let first = 0; // row of the table
  let chosenSet = 0;

  let working = false; // a comparison is under way

  async function compare() {
    const options = reading();
    if (!options) return;
    at("answers-section").hidden = true;
    busy(true, "Reading …");
    try {
      read = await ask("compare", { options }, ({ bytes, sets, size }) => {
        if (bytes > 0) at("progress").value = bytes / Math.max(1, size);
        at("status").textContent = sets > 0 ? `${count(sets, "data set")} …` : "Reading …";
      });
    } catch (error) {
      busy(false, error === stopped ? "Stopped." : "");
      throw error;
    }
    busy(false, "");
    first = 0;
    chosenSet = 0;
    showRead();
    showPrior();
    at("population").replaceChildren();
    at("answers-section").hidden = false;
    await showAnswers();
    if (read.sets > 1) showPopulationButton();
    at("answers-head").focus();
    at("status").textContent = `Done: ${count(read.sets, "data set")}.`;
  }

  function busy(on, status) {
    working = on;
    at("compare").disabled = on;
    at("stop").hidden = !on;
    at("progress").hidden = !on;
    at("progress").value = 0;
    at("status").textContent = status;
  }

  function showRead() {
    const [least, middle, most] = read.sizes;
    const lost = read.lost_sets.length;
    at("said").replaceChildren(
      element("p", { id: "read" }, `${count(read.rows, "row")} in ${count(read.sets, "data set")}`,
        least === most ? `, ${count(most, "row")} each.` : `, of ${grouped.format(least)} to ${grouped.format(most)} rows (median ${grouped.format(middle)}).`,
        read.dropped_rows > 0 ? ` ${count(read.dropped_rows, "row")} with missing values left out.` : ""),
      ...(lost > 0 ? [judgement("warning", `${count(lost, "data set")} had no row without a missing value: ${read.lost_sets.slice(0, 10).join(", ")}${lost > 10 ? ", …" : ""}.`)] : []),
      ...read.notes.map((text) => judgement("note", text)),
      ...read.warnings.map((text) => judgement("warning", text)));
  }

  // The prior as chosen: parts of the weights of those in use. Null: as trained.
  function modelPrior() {
    const used = weights.map(({ weight, used: on }) => (on ? weight : 0));
    const sum = used.reduce((a, b) => a + b, 0);
    if (sum <= 0) return undefined;
    const same = weights.every(({ weight, used: on }, j) => (on ? weight : 0) === network.model_prior[j]);
    return same ? null : used.map((weight) => weight / sum);
  }

  function showPrior() {
    // Half of the way is the largest weight in training.
    const unit = Math.max(...network.model_prior) / 50;
    const fields = network.models.map((model, j) => {
      const slider = element("input", { type: "range", min: 0, max: 100, id: `weight-${j}`, "aria-label": `Prior weight of ${model}`,
        disabled: network.model_prior[j] === 0, oninput: () => { weights[j].weight = Number(slider.value) * unit; priorChanged(); } });
      slider.value = Math.round(weights[j].weight / unit);
      const box = element("input", { type: "checkbox", id: `use-${j}`, disabled: network.model_prior[j] === 0,
        onchange: () => { weights[j].used = box.checked; priorChanged(); } });
      box.checked = weights[j].used;
      return element("div", { class: "field" }, element("label", { for: `use-${j}`, class: "model" }, box, model), slider,
        element("output", { id: `prior-${j}`, for: `weight-${j}` }));
    });
    const reset = element("button", { type: "button", id: "reset", onclick: () => {
      weights = network.model_prior.map((p) => ({ weight: p, used: p > 0 }));
      showPrior();
      priorChanged();
    } }, "As trained");
    show("prior", element("details", { class: "measures", open: network.models.length <= 8 },
      element("summary", {}, "Model prior, and which models take part"), ...fields, element("div", { class: "tools" }, reset),
      element("div", { id: "prior-note", role: "status" })));
    showPriorValues();
  }

  function showPriorValues() {
    const prior = modelPrior();
    (prior === null ? network.model_prior : prior ?? network.model_prior.map(() => 0)).forEach((p, j) => { at(`prior-${j}`).textContent = share(p); });
    at("prior-note").replaceChildren(...(prior === undefined ? [judgement("note", "At least one model has to take part.")] : []));
  }

  // One question at a time; of those that come meanwhile only the last is asked.
  let asking = false;
  let again = false;
  const priorChanged = step(async () => {
    showPriorValues();
    if (modelPrior() === undefined) return;
    if (asking) { again = true; return; }
    asking = true;
    try {
      do {
        again = false;
        await showAnswers();
      } while (again);
      if (at("population").querySelector("table")) showPopulationButton();
    } finally {
      asking = false;
    }
  });

  const cell = (row, name) => row[answers.columns.indexOf(name)];
  const verdictClass = { decided: "fine", ambiguous: "note", "out-of-scope": "serious", "outside-training": "serious" };

  async function showAnswers() {
    const model_prior = modelPrior();
    answers = await ask("answers", { options: { model_prior, first, count: PAGE } });
    const order = network.models.map((_, j) => j).sort((a, b) => answers.mean[b] - answers.mean[a]);
    const verdicts = Object.entries(answers.verdicts).sort((a, b) => b[1] - a[1])
      .map(([verdict, number]) => `${grouped.format(number)} ${verdict}`).join(", ");
    const scope = answers.columns.includes("scope_p");
    const heads = ["data set", "n", "verdict", "best", "probability", "next", "probability", ...(scope ? ["scope p"] : []), "notes"];
    const rows = answers.rows.map((row, place) => {
      const p = network.models.map((model) => cell(row, `p_${model}`));
      const [best, next] = p.map((_, j) => j).sort((a, b) => p[b] - p[a]);
      const pick = element("button", { type: "button", class: "pick", id: `pick-${first + place}`, onclick: step(() => pickSet(first + place)) }, String(cell(row, "dataset")));
      const notes = [cell(row, "flag"), cell(row, "note")].filter(Boolean).join("; ");
      return element("tr", { "data-verdict": cell(row, "verdict") }, element("th", { scope: "row", class: "text" }, pick),
        element("td", { class: "number" }, grouped.format(cell(row, "n"))), element("td", { class: "short" }, cell(row, "verdict")),
        element("td", { class: "short" }, network.models[best]), element("td", { class: "number" }, bar(p[best])),
        element("td", { class: "short" }, network.models[next]), element("td", { class: "number" }, bar(p[next])),
        ...(scope ? [element("td", { class: "number" }, forPeople(Number(cell(row, "scope_p").toPrecision(3))))] : []),
        element("td", { class: "text" }, notes || "–"));
    });
    const turn = (text, id, to) => element("button", { type: "button", id, disabled: to < 0 || to >= answers.total,
      onclick: step(async () => { first = to; await showAnswers(); }) }, text);
    const pages = answers.total <= PAGE ? [] : [element("div", { class: "tools" },
      turn("Earlier", "earlier", first - PAGE), turn("Later", "later", first + PAGE),
      element("span", {}, `${grouped.format(first + 1)} to ${grouped.format(first + rows.length)} of ${grouped.format(answers.total)}`))];
    show("answers",
      element("p", { id: "in-short", role: "status" }, `${count(answers.total, "data set")}: ${verdicts}. `,
        `Mean probabilities: ${order.slice(0, 6).map((j) => `${network.models[j]} ${share(answers.mean[j])}`).join(", ")}${order.length > 6 ? ", …" : ""}.`),
      stackedFigure(), table("Answers", heads, rows, { id: "answer-table" }), ...pages);
    if (chosenSet < first || chosenSet >= first + rows.length) chosenSet = first;
    await showOne();
  }

  // One bar per data set, parts are the probabilities of models.
  function stackedFigure() {
    const rowHeight = 20;
    const left = 120;
    const width = 720;
    const height = answers.rows.length * rowHeight + 24;
    const parts = answers.rows.flatMap((row, place) => {
      let from = 0;
      const y = place * rowHeight;
      const name = String(cell(row, "dataset"));
      return [shape("text", { x: left - 8, y: y + 14, "text-anchor": "end", class: "tick" }, name.length > 16 ? `${name.slice(0, 15)}…` : name),
        ...network.models.flatMap((model, j) => {
          const p = cell(row, `p_${model}`);
          const x = left + from * (width - left);
          from += p;
          if (p * (width - left) < 0.2) return [];
          return [shape("rect", { x, y: y + 2, width: p * (width - left), height: rowHeight - 4, class: `c${j % 8}` },
            shape("title", {}, `${name}: ${model} ${share(p)}`))];
        })];
    });
    const axis = [0, 0.25, 0.5, 0.75, 1].map((p) => shape("text", { x: left + p * (width - left) - (p === 1 ? 10 : 0), y: height - 6, "text-anchor": "middle", class: "tick" }, String(p)));
    const legend = element("ul", { class: "legend" }, ...network.models.slice(0, 16).map((model, j) =>
      element("li", {}, element("span", { class: `swatch c${j % 8}` }), model)));
    return element("figure", { class: "figure" },
      shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "stacked",
        "aria-label": `Model probabilities of ${count(answers.rows.length, "data set")}; the table below has the numbers.` }, ...parts, ...axis),
      element("figcaption", {}, legend, "Probability of each model, one bar per data set."));
  }

  async function pickSet(set) {
    chosenSet = set;
    await showOne();
    at("one-head").focus();
  }

  // One data set: verdict with its reason, all probabilities and Bayes factors, evidence over N.
  async function showOne() {
    const row = answers.rows[chosenSet - first];
    if (!row) return;
    const course = await ask("course", { options: { set: chosenSet, model_prior: modelPrior() } });
    const best = cell(row, "best");
    const order = network.models.map((model) => [model, cell(row, `p_${model}`)]).sort((a, b) => b[1] - a[1]);
    const scope = (model) => answers.columns.includes(`scope_p_${model}`) ? [element("td", { class: "number" }, forPeople(cell(row, `scope_p_${model}`)))] : [];
    const heads = ["model", "probability", `Bayes factor of ${best} against it`, ...(answers.columns.includes(`scope_p_${best}`) ? ["scope p of it alone"] : [])];
    const rows = order.map(([model, p]) => {
      const log = cell(row, `log_bf_${model}`);
      const factor = typeof log === "number" ? Math.exp(-log) : null;
      return element("tr", {}, element("th", { scope: "row" }, model), element("td", { class: "number" }, bar(p)),
        element("td", { class: "number" }, factor === null || !Number.isFinite(factor) ? "–" : forPeople(Number(factor.toPrecision(3)))), ...scope(model));
    });
    const notes = [cell(row, "flag"), cell(row, "note")].filter(Boolean);
    show("one", element("h3", { id: "one-head", tabindex: "-1" }, `Data set ${cell(row, "dataset")}`),
      element("div", { class: `judgement ${verdictClass[cell(row, "verdict")] ?? "note"}`, id: "verdict" },
        element("p", {}, element("strong", { class: "word" }, `${cell(row, "verdict")}. `), cell(row, "explanation"))),
      ...notes.map((note) => judgement("warning", note)),
      table(`Models for data set ${cell(row, "dataset")}`, heads, rows, { id: "one-table" }),
      ...courseFigure(course));
  }

  function courseFigure({ k, p, too_large }) {
    if (too_large) return [element("p", { class: "left-out" }, "Evidence over N is not shown: the data are too large to be kept.")];
    if (k.length < 3) return [];
    const [width, height, left, bottom] = [720, 240, 40, 30];
    const most = Math.log(k[k.length - 1] / k[0]) || 1;
    const x = (n) => left + (Math.log(n / k[0]) / most) * (width - left - 12);
    const y = (probability) => 8 + (1 - probability) * (height - bottom - 8);
    const lines = network.models.slice(0, 16).map((model, j) => shape("polyline", { class: `line c${j % 8}`,
      points: k.map((n, i) => `${x(n).toFixed(1)},${y(p[i][j]).toFixed(1)}`).join(" ") }, shape("title", {}, model)));
    const every = Math.ceil(k.length / 8);
    const ticks = k.filter((_, i) => (k.length - 1 - i) % every === 0).map((n) => shape("text", { x: x(n), y: height - 8, "text-anchor": "middle", class: "tick" }, grouped.format(n)));
    const levels = [0, 0.5, 1].map((level) => shape("text", { x: left - 6, y: y(level) + 4, "text-anchor": "end", class: "tick" }, String(level)));
    return [element("figure", { class: "figure" }, shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `Model probabilities after ${k[0]} to ${k[k.length - 1]} observations.` }, ...lines, ...ticks, ...levels),
      element("figcaption", {}, "Probabilities after so many observations, in the order of the file; colours as above.",
        k[0] < network.n[0] ? ` The network was trained on ${grouped.format(network.n[0])} observations or more: what it says of fewer is not to be relied on.` : ""))];
  }

  function showPopulationButton() {
    at("population").replaceChildren(element("h3", {}, "The population behind the data sets"),
      element("button", { type: "button", id: "ask-population", onclick: step(showPopulation) }, "How frequent is each model?"));
  }

  async function showPopulation() {
    at("ask-population").disabled = true;
    at("ask-population").textContent = "Computing …";
    const result = await ask("groups", { options: { model_prior: modelPrior() } }).catch((error) => { showPopulationButton(); throw error; });
    const number = (value) => element("td", { class: "number" }, value === null ? "–" : forPeople(Number(value.toPrecision(3))));
    const rows = result.groups.flatMap((group) => group.models.map((model) => element("tr", {},
      element("th", { scope: "row" }, `${group.group} (${group.n})`), element("td", {}, model.model),
      number(model.frequency), number(model.frequency_low), number(model.frequency_high), number(model.exceedance), number(model.protected_exceedance))));
    at("population").replaceChildren(element("h3", { tabindex: "-1" }, "The population behind the data sets"),
      ...(result.difference_sentence ? [element("p", {}, result.difference_sentence)] : []),
      element("p", { class: "table-note" }, result.effects_sentence),
      table("The population", ["group (data sets)", "model", "frequency", "from", "to", "exceedance", "protected"], rows, { id: "population-table" }));
    at("population").querySelector("h3").focus();
  }

  // --- saving --------------------------------------------------------------------------------------------

  const stem = () => source.name.replace(/\.[^.]*$/, "").replace(/[^\w-]+/g, "_") || "data";
  const saveFile = (format, type) => step(async () => {
    const bytes = await ask("file", { options: { format, model_prior: modelPrior() } });
    save(bytes, `${stem()}-answers.${format}`, type);
  });

  // The answers as they stand, as a page without any script.
  function saveReport() {
    const prior = modelPrior() ?? network.model_prior;
    const main = element("main", {}, element("h1", {}, at("title").textContent),
      element("p", {}, `Data: ${source.name}. Network: ${network.problem_name} (${network.fingerprint}).`),
      element("p", {}, `Model prior: ${network.models.map((model, j) => `${model} ${share(prior[j])}`).join(", ")}.`));
    for (const id of ["said", "answers", "one", "population"]) main.append(at(id).cloneNode(true));
    for (const control of main.querySelectorAll("button, input, select")) control.replaceWith(...control.childNodes);
    const title = element("title", {}, `${at("title").textContent}: ${source.name}`);
    save(`<!doctype html>
<html lang="en" data-theme="light"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
${title.outerHTML}<style>${document.querySelector("style").textContent}</style></head>
<body>${main.outerHTML}</body></html>
`, `${stem()}-report.html`, "text/html");
  }

  // --- events --------------------------------------------------------------------------------------------

  function acceptDrops(zone, take) {
    zone.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
    zone.addEventListener("dragleave", () => zone.classList.remove("over"));
    zone.addEventListener("drop", (event) => {
      event.preventDefault();
      zone.classList.remove("over");
      if (event.dataTransfer.files.length > 0) take(event.dataTransfer.files[0]);
    });
  }
  // A file dropped beside the mark does not replace the page.
  for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());

  const takeNetworkFile = step(async (file) => takeNetwork(new Uint8Array(await file.arrayBuffer())));
  const takeDataFile = step((file) => takeData(file, file.name));
  at("network-file").addEventListener("change", ({ target }) => target.files[0] && takeNetworkFile(target.files[0]));
  at("data-file").addEventListener("change", ({ target }) => target.files[0] && takeDataFile(target.files[0]));
  acceptDrops(at("network-drop"), takeNetworkFile);
  acceptDrops(at("data-drop"), takeDataFile);
  at("example").addEventListener("click", step(() => takeData(new Blob([fromBase64(at("example-bytes").textContent)]), about.example)));
  at("take-pasted").addEventListener("click", step(() => takeData(new Blob([at("pasted").value]), "pasted")));
  at("compare").addEventListener("click", step(compare));
  at("stop").addEventListener("click", step(openSource));
  at("save-csv").addEventListener("click", saveFile("csv", "text/csv"));
  at("save-json").addEventListener("click", saveFile("json", "application/json"));
  at("save-report").addEventListener("click", step(saveReport));

  step(async () => {
    at("title").textContent = about.title || "Compare models";
    showText(about.text);
    at("example").hidden = !about.example;
    await startWorker();
    at("network-section").hidden = false;
    const bytes = at("network-bytes").textContent;
    at("network-choice").hidden = Boolean(bytes);
    if (bytes) await takeNetwork(fromBase64(bytes));
  })().then(() => { root.dataset.ready = ""; });
})();
