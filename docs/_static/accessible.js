"use strict";
// What the theme leaves out for screen readers and keyboards: names of its landmarks, levels of its headings, and a stop
// of the Tab key at whatever scrolls sideways, and at nothing that does not.

for (const [landmark, name] of [[".sidebar-drawer", "Site"], [".toc-drawer", "This page"]])
  document.querySelector(landmark)?.setAttribute("aria-label", name);
for (const caption of document.querySelectorAll("[role=heading]:not([aria-level])")) caption.ariaLevel = "2";
// Sphinx gives citations roles that ARIA has withdrawn, and takes a table's empty corner for a heading.
for (const cited of document.querySelectorAll(".citation-list, .citation-list [role]")) cited.removeAttribute("role");
for (const corner of document.querySelectorAll("th:empty")) corner.setAttribute("role", "none");

// A chart is not drawn smaller than it can be read, so its box scrolls and its caption does not.
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
