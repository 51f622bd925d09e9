"use strict";
// The explorer of docs/results/explorer.rst shows a chart and a table of the selected figures, and stores the selection
// in the page's address.

const data = JSON.parse(document.getElementById("explorer-data").textContent);
const form = document.getElementById("explorer-form");
const part = (name) => document.getElementById(`explorer-${name}`);
const field = (name) => form.elements.namedItem(name);
const FIRST = Object.keys(data.runs).find((run) => run.endsWith("first-look"));
const CHOICES = { run: FIRST, test: "", metric: "", filter: "", sort: "value" };

/** Create an element with a text and attributes. */
function made(tag, text = "", attributes = {}) {
  const element = Object.assign(document.createElement(tag), attributes);
  element.append(text);
  return element;
}

/** Fill a select element from pairs of value and text. Select the wanted value, or else the first, and return it. */
function offer(name, pairs, wanted) {
  field(name).replaceChildren(...pairs.map(([value, text]) => made("option", text, { value })));
  field(name).value = pairs.some(([value]) => value === wanted) ? wanted : (pairs[0]?.[0] ?? "");
  return field(name).value;
}

const number = (value) =>
  value === null ? "–" : value.toLocaleString("en", value >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 });

/** Fill in the form with the wanted selection, and return the actual selection. */
function chosen(wanted) {
  const run = offer("run", Object.entries(data.runs).map(([name, one]) => [name, one.title]), wanted.run);
  const { rows, tests } = data.runs[run];
  const test = offer("test", Object.entries(tests).map(([name, [text]]) => [name, text]), wanted.test);
  const ofTest = rows.filter((row) => row.test === test);
  const names = Object.keys(data.metrics).filter((name) => ofTest.some((row) => name in row.figures));
  const metric = offer("metric", names.map((name) => [name, described(name)]), wanted.metric || tests[test][1]);
  field("filter").value = wanted.filter;
  field("sort").value = wanted.sort;
  const without = new Set(wanted.without);
  const boxes = ofTest.map((row) => {
    const box = made("input", "", { type: "checkbox", name: "setup", value: row.setup, checked: !without.has(row.setup) });
    const label = made("label", box, { style: "display: inline-block; margin-right: 1em" });
    label.append(` ${row.setup}`);
    return label;
  });
  part("setups").replaceChildren(...boxes);
  return { run, test, metric, filter: wanted.filter, sort: wanted.sort, without: wanted.without, rows: ofTest };
}

function described(name) {
  const [label, unit] = data.metrics[name];
  return unit ? `${label}, ${unit}` : label;
}

/** Return the rows to show, in the selected order. */
function shown({ rows, metric, filter, sort, without }) {
  const words = filter.toLowerCase().split(",").map((word) => word.trim()).filter(Boolean);
  const wanted = (row) => !words.length || words.some((word) => `${row.setup} ${row.interface}`.toLowerCase().includes(word));
  const found = rows.filter((row) => metric in row.figures && !without.includes(row.setup) && wanted(row));
  const better = data.metrics[metric]?.[2] ? -1 : 1;
  const byFigure = (a, b) => better * (a.figures[metric][0] - b.figures[metric][0]);
  if (sort === "value") return found.sort(byFigure);
  return found.sort((a, b) => (sort === "interface" && a.interface.localeCompare(b.interface)) || a.setup.localeCompare(b.setup));
}

const scheme = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => ({ light: false, dark: true })[document.body.dataset.theme] ?? scheme.matches;

/** Return the Vega-Lite specification of a chart with a bar and its interval below each setup's name. */
function chart(rows, metric) {
  const style = getComputedStyle(document.body);
  const ink = style.getPropertyValue("--color-foreground-primary").trim() || style.color;
  const grid = style.getPropertyValue("--color-background-border").trim() || "#dddddd";
  const values = rows.map((row) => {
    const [value, low, high] = row.figures[metric];
    return { setup: row.setup, interface: row.interface, value, low, high, end: high ?? value, text: number(value) };
  });
  const dark = Number(isDark());
  const names = Object.keys(data.colours).filter((name) => values.some((row) => row.interface === name));
  const scale = { domain: [0, Math.max(...values.map((row) => row.end)) * 1.25 || 1], nice: false };
  const x = { field: "value", type: "quantitative", scale, title: described(metric) };
  return {
    data: { values },
    width: Math.max(220, Math.min(560, part("chart").clientWidth - 30)),
    height: 34 * values.length,
    encoding: { y: { field: "setup", sort: null, axis: null } },
    layer: [
      {
        mark: { type: "bar", height: 9, yOffset: 7, tooltip: { content: "data" } },
        encoding: { x, color: { field: "interface", title: null, scale: { domain: names, range: names.map((name) => data.colours[name][dark]) } } },
      },
      { transform: [{ filter: "isValid(datum.high)" }], mark: { type: "rule", yOffset: 7, strokeWidth: 2, color: ink }, encoding: { x: { field: "low", type: "quantitative" }, x2: { field: "high" } } },
      { mark: { type: "text", align: "left", dy: -7, color: ink }, encoding: { x: { value: 0 }, text: { field: "setup" } } },
      { mark: { type: "text", align: "left", dx: 6, dy: 7, color: ink }, encoding: { x: { field: "end", type: "quantitative" }, text: { field: "text" } } },
    ],
    config: { background: null, view: { stroke: null }, legend: { orient: "bottom", labelColor: ink }, axis: { labelColor: ink, titleColor: ink, gridColor: grid, domainColor: ink, tickColor: ink } },
  };
}

function table(rows, metric) {
  const cells = (tag, texts) => texts.reduce((row, text) => (row.append(made(tag, text)), row), made("tr"));
  const lines = rows.map((row) => {
    const [value, low, high] = row.figures[metric];
    const ends = low === null || high === null ? "–" : `${number(low)} to ${number(high)}`;
    return cells("td", [row.setup, row.interface, number(value), ends, number(row.failed)]);
  });
  const found = made("table", made("caption", described(metric)), { className: "docutils" });
  found.append(made("thead", cells("th", ["setup", "interface", "figure", "95% interval", "failed"])));
  found.append(lines.reduce((all, line) => (all.append(line), all), made("tbody")));
  return found;
}

let picked;

/** Show the wanted selection. */
function show(wanted) {
  picked = chosen(wanted);
  const rows = shown(picked);
  const run = data.runs[picked.run];
  const link = made("a", run.title, { href: run.where });
  part("about").replaceChildren(link, `: ${run.tests[picked.test][0]}. ${run.machine}. ${rows.length} of ${picked.rows.length} setups.`);
  part("table").replaceChildren(rows.length ? table(rows, picked.metric) : "");
  part("chart").replaceChildren();
  if (rows.length) window.vegaEmbed(part("chart"), chart(rows, picked.metric), { actions: false, renderer: "svg" });
}

/** Return the selection in the page's address. */
function ofAddress() {
  const address = new URLSearchParams(location.hash.slice(1));
  return { ...CHOICES, ...Object.fromEntries(address), without: address.get("without")?.split(",") ?? [] };
}

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", (event) => {
  const read = Object.fromEntries(Object.keys(CHOICES).map((name) => [name, field(name).value]));
  const same = event.target.name !== "run" && event.target.name !== "test";
  if (!same) read.metric = ""; // select the default metric of the other test
  const without = same ? [...form.querySelectorAll("[name=setup]:not(:checked)")].map((box) => box.value) : [];
  const address = new URLSearchParams({ ...read, ...(without.length ? { without: without.join(",") } : {}) });
  history.replaceState(null, "", `#${address}`);
  const details = event.target.name === "setup" ? event.target.value : null;
  show({ ...read, without });
  if (details !== null) form.querySelector(`[name=setup][value="${CSS.escape(details)}"]`)?.focus();
});
addEventListener("hashchange", () => show(ofAddress()));
// Draw the chart again in the colours of a changed theme.
new MutationObserver(() => show({ ...picked })).observe(document.body, { attributeFilter: ["data-theme"] });
scheme.addEventListener("change", () => show({ ...picked }));
show(ofAddress());
