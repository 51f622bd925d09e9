(() => {
  "use strict";
  const svg = document.currentScript.closest("svg");
  const width = svg.viewBox.baseVal.width;
  const letter = Number(svg.dataset.letter);
  const found = svg.querySelector(".found");
  const search = svg.querySelector(".search");
  const frames = [...svg.querySelectorAll(".frame")].map((element) => ({
    element,
    x: Number(element.dataset.x),
    w: Number(element.dataset.w),
    y: element.querySelector("rect").y.baseVal.value,
    label: element.dataset.label,
    text: element.querySelector("title").textContent,
  }));
  const slack = 1e-6;
  const inside = (one, other) => one.x >= other.x - slack && one.x + one.w <= other.x + other.w + slack;

  // Frames of the chosen one's callers and callees, stretched so that the chosen one fills the width.
  function widen(chosen) {
    for (const frame of frames) {
      const caller = frame.y < chosen.y && inside(chosen, frame);
      const shown = caller || (frame.y >= chosen.y && inside(frame, chosen));
      frame.element.style.display = shown ? "" : "none";
      frame.element.classList.toggle("around", caller);
      if (!shown) continue;
      const x = caller ? 0 : ((frame.x - chosen.x) / chosen.w) * width;
      const w = caller ? width : (frame.w / chosen.w) * width;
      const [rect, text] = [frame.element.querySelector("rect"), frame.element.querySelector("text")];
      rect.setAttribute("x", x);
      rect.setAttribute("width", w);
      text.setAttribute("x", x + 3);
      const room = Math.floor((w - 6) / letter);
      text.textContent = room >= frame.label.length ? frame.label : room >= 3 ? `${frame.label.slice(0, room - 1)}…` : "";
    }
  }

  function focus(frame) {
    if (!frame) return;
    for (const one of frames) one.element.tabIndex = one === frame ? 0 : -1;
    frame.element.focus();
  }

  const visible = () => frames.filter((frame) => frame.element.style.display !== "none");
  const beside = (frame, step) => {
    const row = visible().filter((one) => one.y === frame.y);
    return row[row.indexOf(frame) + step];
  };
  const moves = {
    ArrowLeft: (frame) => beside(frame, -1),
    ArrowRight: (frame) => beside(frame, 1),
    ArrowUp: (frame) => visible().filter((one) => one.y < frame.y && inside(frame, one)).pop(),
    ArrowDown: (frame) => visible().find((one) => one.y > frame.y && inside(one, frame)),
  };

  const of = (event) => frames.find((frame) => frame.element === event.target.closest?.(".frame"));
  svg.addEventListener("click", (event) => {
    const frame = of(event);
    if (frame) widen(frame);
  });
  svg.addEventListener("keydown", (event) => {
    const frame = of(event);
    if (event.key === "Escape") widen(frames[0]);
    if (!frame) return;
    if (event.key === "Enter") widen(frame);
    if (!(event.key in moves)) return;
    event.preventDefault();
    focus(moves[event.key](frame));
  });

  // A sample counts once, however many frames of its stack are hits.
  search.setAttribute("visibility", "visible");
  search.querySelector("input").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    svg.classList.toggle("searching", wanted !== "");
    let share = 0;
    const counted = [];
    for (const frame of frames) {
      const hit = wanted !== "" && frame.text.toLowerCase().includes(wanted);
      frame.element.classList.toggle("hit", hit);
      if (!hit || counted.some((one) => inside(frame, one))) continue;
      counted.push(frame);
      share += frame.w;
    }
    found.textContent = wanted === "" ? "" : `in ${(share * 100).toFixed(1)}% of the samples`;
  });
})();
