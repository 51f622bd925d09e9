"use strict";
// Add what screen readers and keyboards need and the theme lacks: names of the landmarks, levels of the headings, and a
// tab stop for each element that scrolls horizontally, but not for other elements.

for (const [landmark, name] of [[".sidebar-drawer", "Site"], [".toc-drawer", "This page"]])
  document.querySelector(landmark)?.setAttribute("aria-label", name);
for (const caption of document.querySelectorAll("[role=heading]:not([aria-level])")) caption.ariaLevel = "2";
// Sphinx writes deprecated ARIA roles for citations, and marks a table's empty corner cell as a heading.
for (const cited of document.querySelectorAll(".citation-list, .citation-list [role]")) cited.removeAttribute("role");
for (const corner of document.querySelectorAll("th:empty")) corner.setAttribute("role", "none");

// A chart has a minimum width, so that it stays readable. Its box scrolls, but its caption doesn't.
for (const image of document.querySelectorAll("figure > img")) {
  const box = Object.assign(document.createElement("div"), { className: "scrolls" });
  image.replaceWith(box);
  box.append(image);
}

const boxes = document.querySelectorAll("pre, .scrolls, .table-wrapper, #explorer-chart, #explorer-table");
function mark(box) {
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  else box.removeAttribute("tabindex");
  box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
}
const resized = new ResizeObserver((entries) => entries.forEach((entry) => mark(entry.target)));
for (const box of boxes) {
  resized.observe(box);
  box.addEventListener("scroll", () => mark(box), { passive: true });
}
