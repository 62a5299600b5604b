// Charts of a report, drawn as SVG from the data in the page. A script of our own: the page must work
// without network as one small file, and the chart libraries that Debian packages (D3, Plotly.js, Bokeh)
// are 0.3 to 4 MB each, for lines with bands and a legend. Labels are only ever set as text.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg", INK = "#1c1f24", GREY = "#59616d", LINE = "#dfe3e8";
  const data = JSON.parse(document.getElementById("charts").textContent);

  function make(parent, name, attributes = {}, text) {
    const svg = ["svg", "g", "path", "line", "text", "rect", "circle"].includes(name);
    const node = svg ? document.createElementNS(SVG, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  }

  // `beside`: a number next to which one that is left of rounding errors is 0.
  function number(v, beside) {
    if (v === null || v === undefined) return "–";
    if (v === 0 || Math.abs(v) < 1e-12 * Math.abs(beside)) return "0";
    const size = Math.abs(v);
    return size >= 1e5 || size < 1e-3 ? (+v.toPrecision(3)).toExponential().replace("e+", "e") : String(+v.toPrecision(4));
  }

  // What was chosen stays when the page is loaded again, as it is while a study runs.
  function kept(name, value) {
    try {
      const key = `regatta:${location.pathname}:${name}`;
      if (value !== undefined) sessionStorage.setItem(key, JSON.stringify(value));
      return JSON.parse(sessionStorage.getItem(key));
    } catch { return null; }
  }

  // ---- scales ----------------------------------------------------------------------------------

  function scale(low, high, from, to, log) {
    const f = log ? Math.log10 : v => v;
    const a = f(low), span = f(high) - a || 1;
    return v => from + (to - from) * (f(Math.max(v, low)) - a) / span;
  }

  function ticks(low, high, log, n) {
    const found = [];
    if (!log) {
      const raw = (high - low) / n || 1, ten = 10 ** Math.floor(Math.log10(raw));
      const step = ten * [1, 2, 5, 10].find(m => m * ten >= raw * 0.999);
      for (let k = Math.ceil(low / step - 1e-9); k * step <= high * (1 + 1e-9) + 1e-300; k++) found.push(+(k * step).toPrecision(12));
      return found;
    }
    const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high)), decades = last - first;
    const multiples = decades <= 1 ? [1, 2, 3, 4, 5, 7] : decades <= 3 ? [1, 2, 5] : [1];
    const every = Math.max(1, Math.ceil(decades / n));
    for (let k = first; k <= last; k += every)
      for (const m of multiples) if (m * 10 ** k >= low * 0.999 && m * 10 ** k <= high * 1.001) found.push(+(m * 10 ** k).toPrecision(3));
    return found;
  }

  // ---- one chart -------------------------------------------------------------------------------

  function chart(place, spec, name) {
    const was = kept(name) || {}, hidden = new Set(was.hidden || spec.hidden || []);
    const state = {panel: 0, measure: 0, axis: 0, logY: null, logX: null, at: null, ...was};
    state.panel = Math.min(state.panel, spec.panels.length - 1);
    const bar = make(place, "div", {class: "bar whole"});
    chooser(bar, "Panel", spec.panels, "panel");
    const buttons = make(place, "div", {class: "bar"});
    if (spec.measures.length > 1) group(buttons, spec.measures.map(m => m.short), "measure", "What is drawn");
    if (spec.axes.length > 1) group(buttons, spec.axes.map(a => a.short), "axis", "Horizontal axis");
    const toggles = make(buttons, "span", {class: "group"});
    const logs = ["logY", "logX"].map(key => {
      const button = make(toggles, "button", {type: "button"}, key === "logY" ? "log y" : "log x");
      button.addEventListener("click", () => { state[key] = !shownLog(key); draw(); });
      return [key, button];
    });
    const heading = make(place, "p", {class: "heading"});
    const frame = make(place, "div", {class: "drawing", tabindex: "0", role: "img"});
    const note = make(place, "p", {class: "note"});
    const reading = make(place, "p", {class: "reading", "aria-live": "polite"});
    const legend = make(place, "div", {class: "legend"});
    const both = make(place, "div", {class: "bar"});
    for (const [words, hide] of [["show all", false], ["hide all", true]])
      make(both, "button", {type: "button"}, words).addEventListener("click", () => {
        hidden.clear();
        if (hide) spec.series.forEach(s => hidden.add(s.name));
        draw();
      });

    function chooser(parent, words, names, key) {
      if (names.length < 2) return;
      const turn = by => () => { state[key] = (state[key] + by + names.length) % names.length; draw(); };
      make(parent, "button", {type: "button", "aria-label": `previous ${words.toLowerCase()}`}, "‹").addEventListener("click", turn(-1));
      const select = make(parent, "select", {"aria-label": words});
      names.forEach((text, k) => make(select, "option", {value: k}, text));
      select.addEventListener("change", () => { state[key] = +select.value; draw(); });
      make(parent, "button", {type: "button", "aria-label": `next ${words.toLowerCase()}`}, "›").addEventListener("click", turn(1));
      state.refresh = () => { select.value = state[key]; };
    }

    function group(parent, names, key, words) {
      const box = make(parent, "span", {class: "group", role: "group", "aria-label": words});
      const made = names.map((text, k) => make(box, "button", {type: "button"}, text));
      made.forEach((button, k) => button.addEventListener("click", () => {
        state[key] = k;
        state.at = null;
        state[key === "axis" ? "logX" : "logY"] = null;
        draw();
      }));
      (state.groups ||= []).push(() => made.forEach((b, k) => b.setAttribute("aria-pressed", k === state[key])));
    }

    function shownLog(key) {
      if (state[key] !== null) return state[key];
      return key === "logX" ? !!spec.axes[state.axis].log : !!(curves().some(c => c) && measured().log);
    }
    const measured = () => (spec.data[state.panel] || [])[state.measure] || {log: false, curves: []};
    const curves = () => measured().curves;
    const xs = c => c.x[state.axis];

    function extent(logX, logY) {
      const shown = curves().map((c, k) => [c, k]).filter(([c, k]) => c && !hidden.has(spec.series[k].name));
      let x = [], y = [], floored = false;
      for (const [c] of shown) xs(c).forEach((v, i) => {
        if (v === null || c.y[i] === null || (logX && v <= 0)) return;
        x.push(v);
        for (const u of [c.y[i], c.low[i], c.high[i]]) if (u !== null) y.push(u);
      });
      if (logY) {
        const positive = y.filter(v => v > 0);
        if (!positive.length) return {shown: [], empty: true};
        const centres = shown.flatMap(([c]) => c.y.filter(v => v > 0));
        const edges = shown.flatMap(([c]) => c.low.filter((v, i) => v > 0 && c.y[i] !== null)), least = Math.min(...centres);
        const bottom = Math.min(least, Math.max(Math.min(...edges), least / 10)) / 1.6;  // a decade for lower edges
        floored = shown.some(([c]) => c.y.some(v => v !== null && v <= 0));
        y = [floored ? bottom / 2 : bottom, Math.max(...positive) * 1.15];
      }
      if (!x.length || !y.length) return {shown: [], empty: true};
      const span = v => v.reduce(([a, b], u) => [Math.min(a, u), Math.max(b, u)], [Infinity, -Infinity]);
      let [x0, x1] = span(x), [y0, y1] = span(y);
      if (!logY) { if (y0 > 0 && y0 < 0.6 * y1) y0 = 0; const room = (y1 - y0 || Math.abs(y1) || 1) * 0.04; y1 += room; if (y0 !== 0) y0 -= room; }
      if (spec.axes[state.axis].words) [x0, x1] = [-0.5, spec.axes[state.axis].words.length - 0.5];
      if (x0 === x1) { x0 = logX ? x0 / 2 : x0 - 0.5; x1 = logX ? x1 * 2 : x1 + 0.5; }
      return {shown, x0, x1, y0, y1, floored};
    }

    function draw() {
      const {groups, refresh, ...plain} = state;
      kept(name, {...plain, hidden: [...hidden]});
      (groups || []).forEach(f => f());
      if (refresh) refresh();
      const axis = spec.axes[state.axis], words = axis.words;
      logs[1][1].hidden = !!words;
      const logY = shownLog("logY"), logX = !words && shownLog("logX");
      logs.forEach(([key, b]) => b.setAttribute("aria-pressed", key === "logY" ? logY : logX));
      heading.textContent = (spec.heads || spec.panels)[state.panel];
      frame.replaceChildren();
      const e = extent(logX, logY);
      const width = Math.max(frame.clientWidth, 200), height = Math.max(250, Math.min(430, width * 0.5));
      frame.setAttribute("aria-label", `${spec.measures[state.measure].name} against ${axis.name}: ` +
        `${spec.panels[state.panel]}. Arrow keys read the values.`);
      const svg = make(frame, "svg", {viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true"});
      if (e.empty) {
        make(svg, "text", {x: width / 2, y: height / 2, "text-anchor": "middle", fill: GREY}, logY && curves().some(c => c) ? "nothing positive to draw on a logarithmic axis" : "nothing to draw");
        note.textContent = "";
        return list(null);
      }
      const yTicks = ticks(e.y0, e.y1, logY, 6);
      const left = 14 + 7 * Math.max(...yTicks.map(v => number(v).length)) + 16, right = width - 14, top = 12, bottom = height - 46;
      const few = [...new Set(e.shown.flatMap(([c]) => xs(c).filter(v => v !== null && !(logX && v <= 0))))];
      const X = scale(e.x0, e.x1, left + 6, right - 6, logX), Y = scale(e.y0, e.y1, bottom, top, logY);
      for (const v of yTicks) {
        make(svg, "line", {x1: left, x2: right, y1: Y(v), y2: Y(v), stroke: LINE});
        make(svg, "text", {x: left - 6, y: Y(v) + 4, "text-anchor": "end", class: "tick"}, number(v));
      }
      for (const v of words ? words.map((_, k) => k) : few.length <= 6 ? few : ticks(e.x0, e.x1, logX, width < 500 ? 4 : 8)) {
        if (v < e.x0 || v > e.x1) continue;
        make(svg, "line", {x1: X(v), x2: X(v), y1: bottom, y2: bottom + 5, stroke: GREY});
        make(svg, "text", {x: X(v), y: bottom + 18, "text-anchor": "middle", class: "tick"}, words ? short(words[v], (right - left) / words.length / 7) : number(v));
      }
      make(svg, "line", {x1: left, x2: right, y1: bottom, y2: bottom, stroke: GREY});
      make(svg, "text", {x: (left + right) / 2, y: height - 8, "text-anchor": "middle", class: "label"}, short(axis.name, (right - left) / 7));
      make(svg, "text", {x: 0, y: 0, "text-anchor": "middle", class: "label", transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)`}, spec.measures[state.measure].name);
      // Over words, methods stand side by side.
      const aside = place => axis.apart ? (place - (e.shown.length - 1) / 2) * Math.min(14, (right - left) * 0.6 / words.length / e.shown.length) : 0;
      e.shown.forEach(([c, k], place) => lines(svg, c, spec.series[k], x => X(x) + aside(place), Y, logX, words, axis.apart, e.shown.length));
      const cursor = make(svg, "line", {y1: top, y2: bottom, stroke: INK, "stroke-dasharray": "3 3", visibility: "hidden"});
      const dots = make(svg, "g");
      note.textContent = spec.note + (e.floored ? " Zeros lie on the lower edge of the logarithmic axis." : "");
      const places = [...new Set(e.shown.flatMap(([c]) => xs(c).filter(v => v !== null && v >= e.x0 && v <= e.x1)))].sort((a, b) => a - b);
      function read(at) {
        state.at = at;
        dots.replaceChildren();
        cursor.setAttribute("visibility", at === null ? "hidden" : "visible");
        if (at !== null) {
          cursor.setAttribute("x1", X(at));
          cursor.setAttribute("x2", X(at));
          for (const [place, [c, k]] of e.shown.entries()) {
            const i = nearest(xs(c), at);
            if (i >= 0 && c.y[i] !== null) make(dots, "circle", {cx: X(xs(c)[i]) + aside(place), cy: Y(c.y[i]), r: 4, fill: spec.series[k].colour, stroke: "#fff"});
          }
        }
        list(at);
      }
      svg.addEventListener("pointermove", event => {
        const box = svg.getBoundingClientRect(), px = (event.clientX - box.left) * width / box.width;
        read(places.reduce((a, b) => Math.abs(X(b) - px) < Math.abs(X(a) - px) ? b : a));
      });
      frame.onkeydown = event => {
        const step = {ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10}[event.key];
        const ends = {Home: 0, End: places.length - 1}[event.key];
        if (event.key === "Escape") read(null);
        if (step === undefined && ends === undefined) return;
        event.preventDefault();
        const now = state.at === null ? (step > 0 ? -1 : places.length) : nearest(places, state.at);
        read(places[ends !== undefined ? ends : Math.max(0, Math.min(places.length - 1, now + step))]);
      };
      read(state.at === null || !places.length ? null : places[nearest(places, state.at)]);
    }

    function short(text, letters) {
      return text.length <= letters ? text : text.slice(0, Math.max(2, letters - 1)) + "…";
    }

    function nearest(values, at) {
      let best = -1;
      values.forEach((v, i) => { if (v !== null && (best < 0 || Math.abs(v - at) < Math.abs(values[best] - at))) best = i; });
      return best;
    }

    // Nothing lies between two words (`apart`), a single point has a bar too, and the bands of many methods together would only be grey.
    function lines(svg, c, series, X, Y, logX, words, apart, methods) {
      const good = i => xs(c)[i] !== null && c.y[i] !== null && !(logX && xs(c)[i] <= 0);
      const index = c.y.map((_, i) => i).filter(good);
      const at = (i, values, edge) => `${X(xs(c)[i]).toFixed(1)} ${Math.max(Y(values[i] === null ? edge : values[i]), 0).toFixed(1)}`;
      if (!index.length) return;
      const bar = (i, values, edge) => Math.max(Y(values[i] === null ? edge : values[i]), 0);
      if (apart || index.length === 1) for (const i of index)
        make(svg, "line", {x1: X(xs(c)[i]), x2: X(xs(c)[i]), y1: bar(i, c.low, -Infinity), y2: bar(i, c.high, Infinity), stroke: series.colour, "stroke-width": 2});
      const band = index.map(i => at(i, c.high, Infinity)).join("L") + "L" + [...index].reverse().map(i => at(i, c.low, -Infinity)).join("L");
      if (!apart && methods <= 12) make(svg, "path", {d: `M${band}Z`, fill: series.colour, opacity: 0.14});
      if (!apart) make(svg, "path", {d: "M" + index.map(i => at(i, c.y)).join("L"), fill: "none", stroke: series.colour, "stroke-width": 2, "stroke-dasharray": series.dash, "stroke-linejoin": "round"});
      if (words || index.length <= 12)
        for (const i of index) make(svg, "circle", {cx: X(xs(c)[i]), cy: Y(c.y[i]), r: 3.2, fill: series.colour});
    }

    // An edge that is missing beside a value is infinite. Where no interval is known, its edges are the value.
    function values(c, i) {
      if (c.y[i] !== null && c.low[i] === c.y[i] && c.high[i] === c.y[i]) return `${number(c.y[i])}, `;
      const [low, high] = [c.low[i] === null ? "−∞" : number(c.low[i], c.y[i]), c.high[i] === null ? "∞" : number(c.high[i], c.y[i])];
      return c.y[i] === null ? "" : `${number(c.y[i])} [${low}, ${high}], `;
    }

    const count = (c, i) => Array.isArray(c.n) ? c.n[i < 0 ? c.n.length - 1 : i] || "no trial" : c.n || "no trial";

    // The legend is the switchboard, and where the values under the cursor are read.
    function list(at) {
      const focused = legend.contains(document.activeElement) ? [...legend.children].indexOf(document.activeElement) : -1;
      const axis = spec.axes[state.axis];
      reading.textContent = at === null ? "Values at the end of each curve; point into the chart, or use the arrow keys in it, to read others."
        : `Values at ${axis.short}${axis.words ? "" : " ="} ${axis.words ? axis.words[at] : number(at)}:`;
      legend.replaceChildren();
      spec.series.forEach((s, k) => {
        const c = curves()[k], on = !hidden.has(s.name);
        const button = make(legend, "button", {type: "button", "aria-pressed": on, class: "entry"});
        const sample = make(button, "svg", {width: 30, height: 10, "aria-hidden": "true"});
        make(sample, "line", {x1: 1, x2: 29, y1: 5, y2: 5, stroke: s.colour, "stroke-width": 2.5, "stroke-dasharray": s.dash});
        make(button, "bdi", {class: "name"}, s.name);
        const last = c ? c.y.reduce((found, v, i) => v === null ? found : i, -1) : -1;
        const i = !c ? -1 : at === null ? last : nearest(xs(c), at);
        make(button, "span", {class: "value"}, !c ? "no trial" : `${i < 0 ? "" : values(c, i)}${count(c, i)}`);
        button.addEventListener("click", () => { on ? hidden.add(s.name) : hidden.delete(s.name); draw(); });
      });
      if (focused >= 0) legend.children[focused].focus();
    }

    draw();
    let width = frame.clientWidth;
    new ResizeObserver(() => { if (frame.clientWidth !== width) { width = frame.clientWidth; draw(); } }).observe(frame);
  }

  document.querySelectorAll(".chart").forEach((place, k) => {
    place.hidden = false;
    chart(place, data[k], `chart${k}`);
  });
  document.querySelectorAll("details.still").forEach(d => { d.open = false; });

  // On paper figures stand in place of the charts, and the names of settings that they use.
  const figures = [...document.querySelectorAll("details.pictures, details.printed")];
  let before = [];
  addEventListener("beforeprint", () => { before = figures.map(d => d.open); figures.forEach(d => { d.open = true; }); });
  addEventListener("afterprint", () => figures.forEach((d, k) => { d.open = before[k]; }));
})();
