(() => {
  "use strict";
  const svg = document.currentScript.closest("svg");
  let width = svg.viewBox.baseVal.width;
  const height = svg.viewBox.baseVal.height;
  const letter = Number(svg.dataset.letter);
  const found = svg.querySelector(".found");
  const search = svg.querySelector(".search");
  const about = svg.querySelector(".about");
  const words = about.textContent.split(" ");
  const keys = [...svg.querySelectorAll(".key")];
  const top = 45; // of the legend, as it is drawn
  const frames = [...svg.querySelectorAll(".frame")].map((element) => ({
    element,
    x: Number(element.dataset.x),
    w: Number(element.dataset.w),
    y: element.querySelector("rect").y.baseVal.value,
    label: element.dataset.label,
    text: element.querySelector("title").textContent,
  }));
  let wide = frames[0];
  const slack = 1e-6;
  const inside = (one, other) => one.x >= other.x - slack && one.x + one.w <= other.x + other.w + slack;

  // Frames of the chosen one's callers and callees, stretched so that the chosen one fills the width.
  function widen(chosen) {
    wide = chosen;
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

  // Puts words below each other in lines that are no wider than the drawing; returns the last line's place.
  function wrap(y) {
    let line = null;
    about.replaceChildren();
    for (const word of words) {
      const before = line?.textContent ?? "";
      if (line) line.textContent = `${before} ${word}`;
      if (line && line.getComputedTextLength() <= width - 8) continue;
      if (line) [line.textContent, y] = [before, y + 15];
      line = document.createElementNS(svg.namespaceURI, "tspan");
      line.textContent = word;
      line.setAttribute("x", 4);
      line.setAttribute("y", y);
      about.append(line);
    }
    return y;
  }

  // As wide as there is room for; what stands above the frames takes more lines where there is little.
  function arrange() {
    width = Math.max(240, Math.floor(svg.parentElement?.clientWidth ?? innerWidth));
    const beside = width >= 700; // room for the search at the right of the title
    let y = wrap(35);
    search.setAttribute("x", beside ? width - 204 : 4);
    search.setAttribute("y", beside ? 4 : (y += 10));
    search.setAttribute("width", beside ? 200 : width - 8);
    if (!beside) y += 40;
    found.setAttribute("x", width - 4);
    found.setAttribute("y", beside ? 44 : y);
    let x = 4;
    y += beside ? 10 : 4;
    for (const key of keys) {
      const long = 34 + key.querySelector("text").getComputedTextLength();
      if (x > 4 && x + long > width) [x, y] = [4, y + 17];
      key.setAttribute("transform", `translate(${x} ${y})`);
      x += long;
    }
    const lower = y - top;
    svg.querySelector(".frames").setAttribute("transform", `translate(0 ${lower})`);
    svg.setAttribute("viewBox", `0 0 ${width} ${height + lower}`);
    svg.setAttribute("width", width);
    svg.setAttribute("height", height + lower);
    widen(wide);
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

  arrange();
  addEventListener("load", arrange); // what was added below may have brought a scroll bar
  addEventListener("resize", arrange);

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
