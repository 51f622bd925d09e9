// What is added where scripts run: a setup can be highlighted in all charts and tables, the figure under the pointer is
// shown at once (without scripts, the drawings' own titles show it after a moment), also by the keyboard in pictures over
// time, and the keyboard stops only at these and at what scrolls.
"use strict";

const group = document.getElementById("highlight");
const tip = document.getElementById("tip");
const buttons = [...group.querySelectorAll("button")];
const marked = [...document.querySelectorAll("[data-setup]")];

function highlight() {
  const chosen = new Set(buttons.filter((b) => b.ariaPressed === "true").map((b) => b.dataset.label));
  const around = (element) => element.closest("figure, table");
  // Where no chosen setup is, such as the baseline in a chart of ratios to it, nothing fades.
  const shown = new Set(marked.filter((element) => chosen.has(element.dataset.setup)).map(around));
  for (const element of marked) {
    element.classList.toggle("faded", shown.has(around(element)) && !chosen.has(element.dataset.setup));
  }
}

group.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  button.ariaPressed = button.ariaPressed === "true" ? "false" : "true";
  highlight();
});
group.hidden = buttons.length < 2;

// The drawings' own titles would show a second time next to the tip.
for (const title of document.querySelectorAll("figure svg [data-setup] > title")) {
  title.parentNode.dataset.tip = title.textContent;
  title.remove();
}

function show(text, x, y) {
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const left = Math.min(x + 14, innerWidth - tip.offsetWidth - 8);
  const above = y - tip.offsetHeight - 12;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${above > 0 ? above : y + 18}px`;
}

// A picture over time has a column for each moment, over its first panel: it speaks for all panels, wherever the pointer
// is at that moment; the arrow keys go from one to the next.
class Picture {
  constructor(svg) {
    this.svg = svg;
    this.columns = [...svg.querySelectorAll("[data-tip]")];
    this.at = -1;
    this.cursor = document.createElementNS(svg.namespaceURI, "line");
    this.cursor.classList.add("cursor");
    svg.tabIndex = 0;
    svg.addEventListener("keydown", (event) => this.key(event));
    svg.addEventListener("blur", () => this.leave());
  }

  /** Shows the moment that is so far to the right, if there is one. */
  point(x, y) {
    this.look(this.columns.findIndex((column) => {
      const box = column.getBoundingClientRect();
      return box.left <= x && x < box.right;
    }), y);
  }

  key(event) {
    const last = this.columns.length - 1;
    const to = { ArrowRight: this.at + 1, ArrowLeft: this.at - 1, Home: 0, End: last }[event.key];
    if (event.key === "Escape") this.leave();
    if (to === undefined) return;
    event.preventDefault();
    this.look(Math.max(0, Math.min(to, last)), this.columns[0].getBoundingClientRect().top);
  }

  look(at, y) {
    this.leave();
    const column = this.columns[at];
    if (!column) return;
    this.at = at;
    const box = column.getBoundingClientRect();
    const within = this.svg.getScreenCTM().inverse();
    const { x } = new DOMPoint((box.left + box.right) / 2, box.top).matrixTransform(within);
    const { height } = this.svg.viewBox.baseVal;
    for (const [name, value] of Object.entries({ x1: x, x2: x, y1: 0, y2: height })) {
      this.cursor.setAttribute(name, value);
    }
    this.svg.append(this.cursor);
    show(column.dataset.tip, box.right, y);
  }

  leave() {
    this.cursor.remove();
    show("");
  }
}

const pictures = new Map([...document.querySelectorAll("figure.seconds svg")].map((svg) => [svg, new Picture(svg)]));

document.addEventListener("pointermove", (event) => {
  const picture = pictures.get(event.target.closest("figure.seconds svg"));
  for (const other of pictures.values()) {
    if (other !== picture && other.cursor.isConnected) other.leave();
  }
  if (picture) {
    picture.point(event.clientX, event.clientY);
  } else {
    show(event.target.closest("[data-tip]")?.dataset.tip, event.clientX, event.clientY);
  }
});

// A table is sorted by a column at a click on its heading, within its groups; texts without a number are last.
function figureOf(row, place) {
  const text = row.cells[place].firstChild?.textContent.trim() ?? "";
  const number = parseFloat(text.replace(/^[^\d-]*/, "").replaceAll(",", ""));
  return [Number.isNaN(number) ? Infinity : number, text];
}
function sort(heading) {
  const table = heading.closest("table");
  const place = heading.cellIndex;
  const words = !heading.classList.contains("number");
  const sign = heading.ariaSort === "ascending" ? -1 : 1;
  for (const other of table.tHead.rows[0].cells) other.ariaSort = null;
  heading.ariaSort = sign > 0 ? "ascending" : "descending";
  for (const body of table.tBodies) {
    const rows = [...body.rows].filter((row) => row.cells.length === table.tHead.rows[0].cells.length);
    rows.sort((one, other) => {
      const [a, b] = [figureOf(one, place), figureOf(other, place)];
      if (words) return sign * a[1].localeCompare(b[1]);
      return a[0] === b[0] ? 0 : a[0] === Infinity || b[0] === Infinity ? a[0] - b[0] : sign * (a[0] - b[0]);
    });
    body.append(...rows);
  }
}
for (const heading of document.querySelectorAll("thead th")) {
  if (heading.closest("table").querySelectorAll("tbody tr").length < 3) continue;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "sort";
  button.append(...heading.childNodes);
  button.addEventListener("click", () => sort(heading));
  heading.append(button);
}

// A table that fits is no stop for the Tab key and no landmark; one that scrolls must be both.
const scrollers = [...document.querySelectorAll(".scroll")];
function markScrollers() {
  for (const element of scrollers) {
    const scrolls = element.scrollWidth > element.clientWidth;
    element.tabIndex = scrolls ? 0 : -1;
    element.role = scrolls ? "region" : null;
    markEnd(element);
  }
}
function markEnd(element) {
  element.classList.toggle("more", element.scrollLeft + element.clientWidth < element.scrollWidth - 1);
}
for (const element of scrollers) element.addEventListener("scroll", () => markEnd(element), { passive: true });
markScrollers();
addEventListener("resize", markScrollers);
document.addEventListener("toggle", markScrollers, true);
