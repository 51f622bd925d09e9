// What is added where scripts run: a setup can be highlighted in all charts and tables, the figure under the pointer is
// shown at once (without scripts, the drawings' own titles show it after a moment), and the keyboard stops only at what
// scrolls.
"use strict";

const group = document.getElementById("highlight");
const tip = document.getElementById("tip");
const buttons = [...group.querySelectorAll("button")];
const marked = [...document.querySelectorAll("[data-setup]")];

function highlight() {
  const chosen = new Set(buttons.filter((b) => b.ariaPressed === "true").map((b) => b.dataset.label));
  for (const element of marked) {
    element.classList.toggle("faded", chosen.size > 0 && !chosen.has(element.dataset.setup));
  }
}

group.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  button.ariaPressed = button.ariaPressed === "true" ? "false" : "true";
  highlight();
});
group.hidden = buttons.length < 2;

// The drawings' own titles would show a second time beside the tip.
for (const title of document.querySelectorAll("figure svg [data-setup] > title")) {
  title.parentNode.dataset.tip = title.textContent;
  title.remove();
}

document.addEventListener("pointermove", (event) => {
  const mark = event.target.closest("[data-tip]");
  tip.hidden = !mark;
  if (!mark) return;
  tip.textContent = mark.dataset.tip;
  const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  const above = event.clientY - tip.offsetHeight - 12;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${above > 0 ? above : event.clientY + 18}px`;
});

// A table that fits is no stop for the Tab key and no landmark; one that scrolls must be both.
const scrollers = [...document.querySelectorAll(".scroll")];
function markScrollers() {
  for (const element of scrollers) {
    const scrolls = element.scrollWidth > element.clientWidth;
    element.tabIndex = scrolls ? 0 : -1;
    element.role = scrolls ? "region" : null;
  }
}
markScrollers();
addEventListener("resize", markScrollers);
document.addEventListener("toggle", markScrollers, true);
