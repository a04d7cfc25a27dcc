"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const COLORS = ["#3b76b5", "#d1495b", "#3f8f65", "#c98a1b", "#7a5ea8", "#2a9d9d", "#b5567f", "#6b7785", "#8a9a3b", "#a6613c"];
  const cursors = [];

  /* Four buttons in a figure's caption: its picture as SVG and PNG, its numbers as CSV and Parquet. */
  function exporter(host, title, svg, table) {
    const save = (content, type, ending) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
      link.download = title.replace(/[^A-Za-z0-9]+/g, "-").replace(/-$/, "").toLowerCase() + "." + ending; link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    };
    const actions = {
      SVG: () => save(svg(), "image/svg+xml", "svg"),
      PNG: () => {
        const image = new Image(), address = URL.createObjectURL(new Blob([svg()], { type: "image/svg+xml" }));
        image.onload = () => {
          const sheet = document.createElement("canvas");
          sheet.width = 2 * image.width; sheet.height = 2 * image.height;
          const pen = sheet.getContext("2d");
          pen.fillStyle = style("--paper"); pen.fillRect(0, 0, sheet.width, sheet.height); pen.drawImage(image, 0, 0, sheet.width, sheet.height);
          URL.revokeObjectURL(address);
          sheet.toBlob((blob) => save(blob, "image/png", "png"));
        };
        image.src = address;
      },
      CSV: () => {
        const cell = (x) => (typeof x === "number" ? String(x) : '"' + String(x).replace(/"/g, '""') + '"'), columns = table();
        const rows = columns[0].values.map((_, i) => columns.map((c) => cell(c.values[i])).join(","));
        save([columns.map((c) => cell(c.name)).join(","), ...rows].join("\n") + "\n", "text/csv", "csv");
      },
      Parquet: () => save(parquet(table()), "application/vnd.apache.parquet", "parquet"),
    };
    const buttons = document.createElement("span");
    buttons.className = "exports";
    for (const name in actions) {
      const button = document.createElement("button");
      button.textContent = name; button.title = `save "${title}" as ${name}`; button.onclick = actions[name]; buttons.append(button);
    }
    host.querySelector("figcaption").append(buttons);
  }

  function scene() {
    const canvas = document.getElementById("scene");
    if (!canvas || !data.frames.length) return;
    const slider = document.getElementById("instant"), button = document.getElementById("play"), clock = document.getElementById("clock");
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (const frame of data.frames) frame.forEach((x, k) => { const i = k % 3; if (x < low[i]) low[i] = x; if (x > high[i]) high[i] = x; });
    const centre = low.map((x, i) => (x + high[i]) / 2), size = Math.max(1e-6, Math.hypot(...high.map((x, i) => x - low[i])));
    const step = Math.pow(10, Math.floor(Math.log10(size / 3)));
    let turn = -1.05, lift = 0.3, zoom = 1, shown = 0, playing = false, since = 0;
    slider.max = data.frames.length - 1;

    function project(x, y, z, scale, w, h) {
      const c = Math.cos(turn), s = Math.sin(turn), X = x - centre[0], Y = y - centre[1], Z = z - centre[2];
      const right = -s * X + c * Y, away = c * X + s * Y;
      return [w / 2 + scale * right, h / 2 - scale * (Math.cos(lift) * Z - Math.sin(lift) * away)];
    }
    /* What is seen, as lines {p, q, color, width} in pixels: the canvas paints them, the SVG writes them down. */
    function lines(w, h) {
      const found = [], scale = (0.95 * Math.min(w, h * 1.3) / size) * zoom;
      const line = (a, b, color, width) => found.push({ p: project(...a, scale, w, h), q: project(...b, scale, w, h), color, width });
      const floor = Math.min(0, low[2]);
      for (let i = -10; i <= 10; i++) {
        const at = i * step, end = 10 * step;
        if (at >= low[0] - step && at <= high[0] + step) line([at, Math.max(-end, low[1] - step), floor], [at, Math.min(end, high[1] + step), floor], style("--line"), 1);
        if (at >= low[1] - step && at <= high[1] + step) line([Math.max(-end, low[0] - step), at, floor], [Math.min(end, high[0] + step), at, floor], style("--line"), 1);
      }
      const frame = data.frames[shown];
      data.kinds.forEach((kind, k) => {
        const at = 6 * k;
        line(frame.slice(at, at + 3), frame.slice(at + 3, at + 6), style("--" + kind), kind === "actuator" ? 4 : kind === "body" ? 3 : 2);
      });
      return found;
    }
    function draw() {
      const ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
      if (canvas.width !== w * ratio || canvas.height !== h * ratio) { canvas.width = w * ratio; canvas.height = h * ratio; }
      const pen = canvas.getContext("2d");
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.clearRect(0, 0, w, h);
      pen.lineCap = "round";
      for (const { p, q, color, width } of lines(w, h)) {
        pen.strokeStyle = color; pen.lineWidth = width;
        pen.beginPath(); pen.moveTo(...p); pen.lineTo(...q); pen.stroke();
      }
      pen.fillStyle = style("--soft"); pen.font = "12px system-ui, sans-serif";
      pen.fillText("grid " + step + " m; drag turns, wheel zooms", 10, h - 8);
      canvas.dataset.frame = shown;
    }
    function picture() {
      const w = canvas.clientWidth, h = canvas.clientHeight, xy = (at) => at.map((x) => x.toFixed(2));
      const drawn = lines(w, h).map(({ p, q, color, width }) => {
        const [x1, y1] = xy(p), [x2, y2] = xy(q);
        return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${color}" stroke-width="${width}"/>`;
      });
      return `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" stroke-linecap="round">${drawn.join("")}</svg>`;
    }
    /* One row an instant and a line of the figure: both of its ends. */
    function ends() {
      const columns = ["time", "line", "kind", "x1", "y1", "z1", "x2", "y2", "z2"].map((name) => ({ name, values: [] }));
      data.frames.forEach((frame, i) => data.kinds.forEach((kind, k) =>
        [data.instants[i], k, kind, ...frame.slice(6 * k, 6 * k + 6)].forEach((x, j) => columns[j].values.push(x))));
      return columns;
    }
    function show(k) {
      shown = Math.max(0, Math.min(data.frames.length - 1, k));
      slider.value = shown;
      clock.textContent = data.instants[shown].toFixed(2) + " s";
      cursors.forEach((move) => move(data.instants[shown]));
      draw();
    }
    function tick(now) {
      if (!playing) return;
      const first = data.instants[0], span = data.instants[data.instants.length - 1] - first;
      const t = first + (((now - since) / 1000) % Math.max(span, 1e-9));
      let k = 0;
      while (k + 1 < data.instants.length && data.instants[k + 1] <= t) k++;
      show(k);
      requestAnimationFrame(tick);
    }
    button.onclick = () => {
      playing = !playing;
      button.textContent = playing ? "pause" : "play";
      since = performance.now() - 1000 * (data.instants[shown] - data.instants[0]);
      if (playing) requestAnimationFrame(tick);
    };
    slider.oninput = () => { playing = false; button.textContent = "play"; show(Number(slider.value)); };
    let held = null;
    canvas.onpointerdown = (e) => { held = [e.clientX, e.clientY]; canvas.setPointerCapture(e.pointerId); };
    canvas.onpointermove = (e) => {
      if (!held) return;
      turn -= (e.clientX - held[0]) * 0.008; lift = Math.max(-1.5, Math.min(1.5, lift + (e.clientY - held[1]) * 0.008));
      held = [e.clientX, e.clientY]; draw();
    };
    canvas.onpointerup = () => { held = null; };
    canvas.addEventListener("wheel", (e) => { e.preventDefault(); zoom *= Math.exp(-e.deltaY * 0.001); draw(); }, { passive: false });
    window.addEventListener("resize", draw);
    exporter(document.getElementById("scene-figure"), "animation", picture, ends);
    show(0);
    if (data.frames.length > 1 && !matchMedia("(prefers-reduced-motion: reduce)").matches) button.onclick();
  }

  function ticks(low, high, count) {
    const span = high - low || 1, raw = span / count, power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) || raw, found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * span; k++) found.push(k * step);
    return found;
  }
  const short = (x) => (Math.abs(x) < 1e-12 ? "0" : Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3 ? x.toExponential(1) : String(Number(x.toPrecision(4))));

  function chart(host, given) {
    const W = 560, H = 250, L = 58, R = 12, T = 10, B = 34, time = data.time, hidden = new Set();
    const NS = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(NS, "svg");
    svg.setAttribute("viewBox", `0 0 ${W} ${H}`); svg.setAttribute("width", W); svg.setAttribute("height", H); svg.setAttribute("xmlns", NS); svg.setAttribute("font-family", "sans-serif");
    const add = (name, attributes, text) => {
      const e = document.createElementNS(NS, name);
      for (const key in attributes) e.setAttribute(key, attributes[key]);
      if (text !== undefined) e.textContent = text;
      svg.appendChild(e);
      return e;
    };
    let x = null, cursor = null;
    function draw() {
      svg.replaceChildren();
      const visible = given.series.filter((_, k) => !hidden.has(k));
      let low = Infinity, high = -Infinity;
      for (const s of visible) for (const y of s.values) { if (y < low) low = y; if (y > high) high = y; }
      if (!(low <= high)) { low = 0; high = 1; }
      const pad = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
      low -= pad; high += pad;
      const first = time[0], last = time[time.length - 1];
      x = (t) => L + ((W - L - R) * (t - first)) / (last - first || 1);
      const y = (v) => T + ((H - T - B) * (high - v)) / (high - low), grid = style("--line"), ink = style("--soft");
      for (const v of ticks(low, high, 5)) {
        add("line", { x1: L, x2: W - R, y1: y(v), y2: y(v), stroke: grid });
        add("text", { x: L - 6, y: y(v) + 4, "text-anchor": "end", "font-size": 11, fill: ink }, short(v));
      }
      for (const t of ticks(first, last, 6)) add("text", { x: x(t), y: H - B + 16, "text-anchor": "middle", "font-size": 11, fill: ink }, short(t));
      add("text", { x: W - R, y: H - 4, "text-anchor": "end", "font-size": 11, fill: ink }, "time [s]");
      add("text", { x: 4, y: H - 4, "font-size": 11, fill: ink }, "[" + given.unit + "]");
      given.series.forEach((s, k) => {
        if (hidden.has(k)) return;
        const points = s.values.map((v, i) => x(time[i]).toFixed(2) + "," + y(v).toFixed(2)).join(" ");
        add("polyline", { points, fill: "none", stroke: COLORS[k % COLORS.length], "stroke-width": 1.6, "data-name": s.name });
      });
      cursor = add("line", { x1: L, x2: L, y1: T, y2: H - B, stroke: ink, "stroke-dasharray": "3 3" });
    }
    const legend = document.createElement("div"), values = [];
    legend.className = "legend";
    given.series.forEach((s, k) => {
      const label = document.createElement("label"), swatch = document.createElement("i"), value = document.createElement("span");
      swatch.style.background = COLORS[k % COLORS.length];
      label.append(swatch, document.createTextNode(s.name + " "), value);
      label.onclick = () => { hidden.has(k) ? hidden.delete(k) : hidden.add(k); label.classList.toggle("off"); draw(); };
      values.push(value); legend.append(label);
    });
    cursors.push((t) => {
      cursor.setAttribute("x1", x(t)); cursor.setAttribute("x2", x(t));
      let k = 0;
      while (k + 1 < time.length && time[k + 1] <= t + 1e-9) k++;
      given.series.forEach((s, i) => { values[i].textContent = short(s.values[k]); });
    });
    /* The picture alone, without its page: with its title, and a legend below. */
    const alone = () => {
      const copy = svg.cloneNode(true), shown = given.series.map((s, k) => [s.name, COLORS[k % COLORS.length]]).filter((_, k) => !hidden.has(k));
      const height = 24 + H + 16 * Math.ceil(shown.length / 4) + 6;
      const labels = shown.map(([name, color], k) => {
        const x = 12 + (k % 4) * 138, y = H + 12 + 16 * Math.floor(k / 4), text = name.replace(/[&<>]/g, (c) => "&#" + c.charCodeAt(0) + ";");
        return `<path d="M${x} ${y - 4}h14" stroke="${color}" stroke-width="3"/><text x="${x + 18}" y="${y}" font-size="11" fill="${style("--ink")}">${text}</text>`;
      });
      copy.insertAdjacentHTML("beforeend", `<text x="12" y="-8" font-size="13" font-weight="bold" fill="${style("--ink")}">${given.title}</text>${labels.join("")}`);
      copy.setAttribute("viewBox", `0 -24 ${W} ${height}`); copy.setAttribute("height", height);
      return new XMLSerializer().serializeToString(copy);
    };
    exporter(host, given.title, alone, () => [{ name: "time", values: time }, ...given.series]);
    host.append(svg, legend);
    draw();
  }

  function tree() {
    const host = document.getElementById("tree-figure");
    const source = () => {
      const copy = host.querySelector("svg").cloneNode(true), [ink, soft, line, body] = ["--ink", "--soft", "--line", "--body"].map(style);
      copy.insertAdjacentHTML("afterbegin", `<style>text{font:12.5px sans-serif;fill:${ink}}.joint{fill:${soft}}path{fill:none;stroke:${line};stroke-width:1.5}circle{fill:${body}}</style>`);
      return new XMLSerializer().serializeToString(copy);
    };
    exporter(host, "kinematic tree", source, () => data.tree);
  }

  data.charts.forEach((given, k) => chart(document.getElementById("chart-" + k), given));
  scene();
  tree();
  document.documentElement.dataset.ready = "yes";
})();
