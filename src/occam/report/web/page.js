// Draws the tables and figures of a report from the data in the page, and switches between light and dark.
// Text from the data only ever becomes text nodes and attributes, never html.
"use strict";
(() => {
  const pass = document.currentScript.nonce;
  const { tables, figures } = JSON.parse(document.getElementById("data").textContent);
  const page = document.documentElement;

  // --- numbers -------------------------------------------------------------------------------------------

  const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
  const raised = (text) => text.replace("-", "⁻").replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);

  // As html.cpp writes them: "0.01234", "5,000", "1.20 × 10⁻⁵", "–" for none.
  function forPeople(number) {
    if (number === null || Number.isNaN(number)) return "–";
    const sign = number < 0 ? "−" : "";
    const size = Math.abs(number);
    if (size === Infinity) return sign + "∞";
    if (Number.isInteger(size) && size < 1e15) return sign + grouped.format(size);
    if (size >= 1e-4 && size < 1e6) return sign + String(Number(size.toPrecision(4)));
    const [digits, power] = size.toExponential(2).split("e");
    return `${sign}${digits} × 10${raised(power.replace("+", ""))}`;
  }

  // All numbers of a column with as many decimals as a typical one needs for four digits, at most three.
  function columnFormat(values) {
    const sizes = values.filter((value) => value !== null && Number.isFinite(value)).map(Math.abs);
    const sorted = sizes.filter((size) => size > 0).sort((a, b) => a - b);
    const typical = sorted[sorted.length >> 1];
    if (typical === undefined || typical >= 1e6 || sizes.every(Number.isInteger)) return forPeople;
    const decimals = Math.min(3, Math.max(0, 3 - Math.floor(Math.log10(typical))));
    const exact = new Intl.NumberFormat("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
    return (value) => value === null || !Number.isFinite(value) || (value !== 0 && Math.abs(value) < 10 ** -decimals)
      ? forPeople(value) : exact.format(value).replace("-", "−");
  }

  // --- tables --------------------------------------------------------------------------------------------

  const infinities = { Inf: Infinity, "-Inf": -Infinity };
  for (const table of Object.values(tables)) {
    for (const column of table.columns) {
      column.values = column.kind === "text" ? column.at.map((at) => column.words[at])
        : column.values.map((value) => (typeof value === "string" ? infinities[value] : value));
      if (column.kind === "number") column.format = columnFormat(column.values);
    }
  }

  function csvCell(value) {
    if (value === null) return "";
    if (typeof value === "number") return Number.isFinite(value) ? String(value) : value > 0 ? "Inf" : "-Inf";
    return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  }

  function csvOf(table, rows) {
    const line = (cells) => cells.map(csvCell).join(",") + "\n";
    return line(table.columns.map((column) => column.name)) +
      rows.map((row) => line(table.columns.map((column) => column.values[row]))).join("");
  }

  function save(blob, name) {
    const link = element("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // "anna" looks in all text cells; "n>50" and "p_flat<=0.1" compare numbers. All words have to hold.
  function condition(table, word) {
    const match = word.match(/^(.+?)(<=|>=|<|>|=)(-?[\d.]+(?:e-?\d+)?)$/i);
    const column = match && table.columns.find((candidate) =>
      [candidate.name, candidate.heading].some((name) => name.toLowerCase().replaceAll(" ", "") === match[1]));
    if (column && column.kind === "number") {
      const limit = Number(match[3]);
      const holds = { "<": (x) => x < limit, "<=": (x) => x <= limit, ">": (x) => x > limit,
        ">=": (x) => x >= limit, "=": (x) => x === limit }[match[2]];
      return (row) => column.values[row] !== null && holds(column.values[row]);
    }
    const texts = table.columns.filter((candidate) => candidate.kind === "text");
    return (row) => texts.some((candidate) => candidate.values[row].toLowerCase().includes(word));
  }

  function order(column, direction) {
    const compare = column.kind === "text"
      ? new Intl.Collator("en", { numeric: true }).compare : (a, b) => (a < b ? -1 : a > b ? 1 : 0);
    return (a, b) => {
      const x = column.values[a];
      const y = column.values[b];
      if (x === null || y === null) return (x === null) - (y === null) || a - b; // missing ones last, both ways
      return direction * compare(x, y) || a - b;
    };
  }

  function cellOf(column, row) {
    const value = column.values[row];
    if (column.kind === "text") return element("td", { class: value.length < 24 ? "short" : value.length < 50 ? "text" : "words" }, value);
    if (!column.share || value === null) return element("td", { class: "number" }, column.format(value));
    // Shares line up: always three digits, and none is shown as certain that is not.
    const text = value > 0.9995 && value < 1 ? ">.999" : value > 0 && value < 0.0005 ? "<.001" : value.toFixed(3);
    const bar = element("span", { class: "share" }, text);
    bar.style.setProperty("--part", Math.min(1, Math.max(0, value)));
    return element("td", { class: "number" }, bar);
  }

  const FIRST_ROWS = 25;
  const MORE_ROWS = 200;

  function fillTable(holder) {
    const table = tables[holder.dataset.table];
    const every = [...Array(table.rows).keys()];
    let rows = every;
    let shown = FIRST_ROWS;
    let sorted = null; // {column, direction}

    const body = element("tbody");
    const count = element("span", { class: "count", role: "status" });
    const more = element("button", { type: "button", class: "more", onclick: () => { shown += MORE_ROWS; draw(); } });
    const filter = element("input", { type: "search", class: "filter", placeholder: "a word, or a condition" });
    const heads = table.columns.map((column) => element("th", { scope: "col", "aria-sort": "none",
      class: column.kind === "number" ? "number" : undefined },
      element("button", { type: "button", title: column.meaning || undefined, onclick: () => sortBy(column) },
        column.heading)));

    function draw() {
      body.replaceChildren(...rows.slice(0, shown).map((row) =>
        element("tr", {}, ...table.columns.map((column) => cellOf(column, row)))));
      const left = rows.length - Math.min(shown, rows.length);
      more.hidden = left === 0;
      more.textContent = `Show ${forPeople(Math.min(MORE_ROWS, left))} more`;
      count.textContent = rows.length === table.rows
        ? (left > 0 ? `${forPeople(shown)} of ${forPeople(table.rows)} rows shown` : "")
        : `${forPeople(rows.length)} of ${forPeople(table.rows)} rows match`;
    }

    function update() {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean).map((word) => condition(table, word));
      rows = words.length === 0 ? [...every] : every.filter((row) => words.every((holds) => holds(row)));
      if (sorted) rows.sort(order(sorted.column, sorted.direction));
      shown = FIRST_ROWS;
      draw();
    }

    function sortBy(column) {
      const again = sorted && sorted.column === column;
      // Numbers are usually looked at from the largest down.
      sorted = { column, direction: again ? -sorted.direction : column.kind === "number" ? -1 : 1 };
      heads.forEach((head, at) => head.setAttribute("aria-sort",
        table.columns[at] !== column ? "none" : sorted.direction > 0 ? "ascending" : "descending"));
      update();
    }

    filter.addEventListener("input", update);
    if (table.note) holder.append(element("p", { class: "table-note" }, table.note));
    const example = table.columns.find((column) => column.kind === "number");
    if (example) filter.placeholder = `a word, or ${example.heading.toLowerCase().replaceAll(" ", "")}>0.5`;
    holder.append(
      element("div", { class: "tools" }, element("label", {}, "Filter", filter), count,
        element("span", { class: "space" }),
        element("button", { type: "button", class: "save-csv",
          onclick: () => save(new Blob([csvOf(table, rows)], { type: "text/csv" }), `${holder.dataset.table}.csv`) },
          "Save csv")),
      element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": table.title },
        element("table", { class: "data" }, element("thead", {}, element("tr", {}, ...heads)), body)),
      more);
    draw();
  }

  // Folded tables are made when they are first opened.
  for (const holder of document.querySelectorAll("details.table")) {
    if (holder.open) fillTable(holder);
    else holder.addEventListener("toggle", () => fillTable(holder), { once: true });
  }

  // --- figures -------------------------------------------------------------------------------------------

  const MANY_ROWS = 3000; // more marks than this are drawn as an image, not as shapes

  // Colours that most people can tell apart (Okabe and Ito 2008), lighter where the page is dark.
  const looks = {
    light: { ink: "#1a2230", soft: "#566072", line: "#d9dee6", paper: "#ffffff",
      category: ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c7a00", "#7a7f87"],
      steps: ["#a9cbe8", "#6ba3d6", "#3579b8", "#15508f", "#08264f"],
      ramp: ["#f3f7fc", "#c7dcf0", "#86b6dd", "#3f84bd", "#15508f", "#08264f"],
      diverging: ["#b35806", "#f1a340", "#fee0b6", "#f5f5f5", "#c6dcf2", "#5b9bd5", "#15508f"] },
    dark: { ink: "#e6eaf0", soft: "#a3adbd", line: "#323b49", paper: "#12161d",
      category: ["#5aa9e6", "#f0b03f", "#3fc79a", "#e39ac5", "#9ad3f5", "#f08a4b", "#d5c24a", "#a3adbd"],
      steps: ["#26517f", "#3877b5", "#5a9fdf", "#93c4f0", "#e3f1ff"],
      ramp: ["#1a212c", "#1d3a5c", "#2b6199", "#4f93d1", "#93c4f0", "#e3f1ff"],
      diverging: ["#f0b03f", "#b06a12", "#5c3c14", "#232b37", "#1d3f66", "#3f84bd", "#93c4f0"] },
  };

  function configuration(look, background, width) {
    const text = { labelColor: look.soft, titleColor: look.ink, labelFontSize: 11, titleFontSize: 12, titleFontWeight: 500 };
    const font = getComputedStyle(document.body).fontFamily;
    return {
      background, font, view: { stroke: "transparent" },
      axis: { ...text, domainColor: look.line, tickColor: look.line, gridColor: look.line, gridOpacity: 0.6, labelLimit: 150 },
      axisQuantitative: { tickCount: 6 }, header: text,
      legend: { ...text, labelLimit: 180, ...(width < 480 ? { columns: 2 } : {}) },
      title: { color: look.ink, subtitleColor: look.soft },
      text: { color: look.ink }, rule: { color: look.soft }, line: { color: look.category[0], strokeWidth: 2 },
      bar: { color: look.category[0] }, point: { color: look.category[0], filled: true, size: 45, opacity: 0.85 },
      area: { color: look.category[0] }, rect: { color: look.category[0] }, tick: { color: look.ink },
      circle: { color: look.category[0] }, errorband: { color: look.category[0] },
      range: { category: look.category, ordinal: look.steps, ramp: look.ramp, heatmap: look.ramp, diverging: look.diverging },
      // For marks that are not data, or lie on others.
      style: { ink: { color: look.ink }, soft: { color: look.soft }, "on-bar": { color: look.paper },
        "ink-dot": { color: look.ink, stroke: look.paper, strokeWidth: 1.5, opacity: 1 },
        "mean-dot": { color: look.category[1], stroke: look.ink, strokeWidth: 1.5, opacity: 1 } },
    };
  }

  function rowsOf(table, column, value) {
    const result = [];
    for (let row = 0; row < table.rows; ++row) {
      if (column && String(column.values[row]) !== value) continue;
      const object = {};
      for (const { name, values } of table.columns) {
        object[name] = typeof values[row] === "number" && !Number.isFinite(values[row]) ? null : values[row];
      }
      result.push(object);
    }
    return result;
  }

  const tip = element("div", { class: "tip", hidden: true });
  document.body.append(tip);
  function showTip(handler, event, item, value) {
    tip.hidden = value === null || value === undefined || value === "";
    if (tip.hidden) return;
    const entries = typeof value === "object" ? Object.entries(value) : [["", value]];
    tip.replaceChildren(...entries.map(([key, text]) => element("div", {}, element("span", {}, key),
      element("span", {}, typeof text === "number" ? forPeople(text) : String(text)))));
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)}px`;
  }

  // Figures never load anything, whatever a specification says.
  const refuse = () => Promise.reject(new Error("a report loads nothing"));
  const loader = { load: refuse, sanitize: refuse, http: refuse, file: refuse };

  const problems = [];
  const logger = { level: () => logger, error: (...texts) => { problems.push(texts.join(" ")); return logger; },
    warn: () => logger, info: () => logger, debug: () => logger };

  // A figure's specification as a Vega view; `width` in pixels where the specification has none.
  function viewOf(figure, theme, width, background, options) {
    const { parse, View, compile, expressionInterpreter } = window.occamFigures;
    const single = !["facet", "row", "column", "repeat", "concat", "hconcat", "vconcat"].some((key) =>
      key in figure.specification || key in (figure.specification.encoding ?? {}));
    const specification = { ...figure.specification, data: { values: figure.rows },
      ...(single ? { autosize: { type: "fit-x", contains: "padding" } } : {}) };
    if (single && (specification.width === undefined || specification.width === "container")) specification.width = width;
    const { spec } = compile(specification, { config: configuration(looks[theme], background, width), logger });
    return new View(parse(spec, undefined, { ast: true }), { expr: expressionInterpreter, loader, logger, ...options });
  }

  function drawFigure(figure) {
    figure.view?.finalize();
    // Large pages stay quick: many marks are painted, few are shapes that scale.
    const renderer = figure.rows.length > MANY_ROWS ? "canvas" : "svg";
    const width = Math.max(240, Math.floor(figure.plot.getBoundingClientRect().width));
    figure.view = viewOf(figure, figure.theme ?? page.dataset.theme, Math.min(width, 860), "transparent",
      { renderer, container: figure.canvas, hover: true, tooltip: showTip }).run();
  }

  function saveFigure(figure, kind) {
    const view = viewOf(figure, "light", 640, "#ffffff", { renderer: "none" });
    const name = `${figure.name}.${kind}`;
    if (kind === "svg") {
      return view.toSVG().then((text) => save(new Blob([text], { type: "image/svg+xml" }), name));
    }
    return view.toCanvas(2).then((canvas) => canvas.toBlob((blob) => save(blob, name), "image/png"));
  }

  // "Choose": a menu of the values of one column, and only the rows of the one chosen.
  function choiceFor(figure) {
    const column = tables[figure.table].columns.find((candidate) => candidate.name === figure.choose);
    const values = [...new Set(column.values.map(String))];
    const menu = element("select", { class: "choose" }, ...values.map((value) => element("option", { value }, value)));
    const pick = () => { figure.rows = rowsOf(tables[figure.table], column, menu.value); };
    menu.addEventListener("change", () => { pick(); drawFigure(figure); });
    pick();
    return element("div", { class: "tools" }, element("label", {}, `Choose ${column.heading.toLowerCase()}`, menu));
  }

  function prepareFigure(holder) {
    const figure = figures[Number(holder.dataset.figure)];
    figure.holder = holder;
    figure.plot = holder.querySelector(".plot");
    figure.canvas = element("div"); // Vega describes what it draws in; readers get our description
    figure.plot.append(figure.canvas);
    figure.rows = [];
    if (figure.choose) figure.plot.before(choiceFor(figure));
    else figure.rows = rowsOf(tables[figure.table]);
    const button = (kind) => element("button", { type: "button", class: `save-${kind}`,
      "aria-label": `Save this figure as ${kind.toUpperCase()}`, onclick: () => saveFigure(figure, kind) },
      `Save ${kind.toUpperCase()}`);
    holder.append(element("div", { class: "tools" }, button("svg"), button("png")));
  }

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  function leaveOut(why) {
    for (const plot of document.querySelectorAll(".plot")) {
      plot.replaceWith(element("p", { class: "left-out" }, `${why} ${plot.getAttribute("aria-label")}`));
    }
  }

  async function drawFigures() {
    const bundle = document.getElementById("figures");
    if (!bundle) return;
    if (typeof DecompressionStream === "undefined") {
      return leaveOut("Figures need a browser of 2023 or later; the tables hold their numbers.");
    }
    const code = element("script", { nonce: pass });
    code.textContent = await unpack(bundle.textContent);
    document.head.append(code);
    for (const holder of document.querySelectorAll("figure[data-figure]")) prepareFigure(holder);
    for (const figure of figures) {
      try {
        drawFigure(figure);
      } catch (error) {
        problems.push(`${figure.name}: ${error.message}`);
      }
      await new Promise((next) => setTimeout(next)); // lets the page answer in between
    }
    document.getElementById("licences")?.append(element("pre", {}, window.occamLicences));
    for (const problem of problems) console.error(problem);
    watchWidth();
  }

  const drawn = () => figures.filter((figure) => figure.view);

  function watchWidth() {
    let width = innerWidth;
    let waiting = 0;
    addEventListener("resize", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        if (innerWidth !== width) drawn().forEach(drawFigure);
        width = innerWidth;
      }, 150);
    });
    // On paper everything is light.
    const withTheme = (theme) => drawn().forEach((figure) => { figure.theme = theme; drawFigure(figure); });
    addEventListener("beforeprint", () => withTheme("light"));
    addEventListener("afterprint", () => withTheme(undefined));
  }

  // --- light and dark ------------------------------------------------------------------------------------

  const system = matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");

  function setTheme(theme) {
    page.dataset.theme = theme;
    const other = theme === "dark" ? "Light" : "Dark";
    button.textContent = `${theme === "dark" ? "☀" : "☾"} ${other}`;
    button.setAttribute("aria-label", `Switch to ${other.toLowerCase()} colours`);
    drawn().forEach(drawFigure);
  }

  button.hidden = false;
  button.addEventListener("click", () => setTheme(page.dataset.theme === "dark" ? "light" : "dark"));
  system.addEventListener("change", () => setTheme(system.matches ? "dark" : "light"));
  setTheme(system.matches ? "dark" : "light");

  drawFigures().catch((error) => {
    leaveOut("This figure could not be drawn.");
    console.error(error);
  }).finally(() => { page.dataset.ready = "true"; });
})();
