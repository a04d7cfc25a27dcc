"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const COLORS = ["#3b76b5", "#d1495b", "#3f8f65", "#c98a1b", "#7a5ea8", "#2a9d9d", "#b5567f", "#6b7785", "#8a9a3b", "#a6613c"];
  const cursors = [], MOST = 8;
  const fetched = async (address) => new Blob([Uint8Array.from(atob(address.split(",")[1]), (c) => c.charCodeAt(0))], { type: "image/png" });

  /* Buttons in a figure's caption: its picture as SVG and PNG (or a picture that is there), its numbers as CSV and Parquet. */
  function exporter(host, title, svg, table, picture) {
    const save = (content, type, ending) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
      link.download = title.replace(/[^A-Za-z0-9]+/g, "-").replace(/-$/, "").toLowerCase() + "." + ending; link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    };
    const actions = {
      SVG: svg && (() => save(svg(), "image/svg+xml", "svg")),
      PNG: picture ? () => fetched(picture).then((blob) => save(blob, "image/png", "png")) : svg && (() => {
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
      }),
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
      if (!actions[name]) continue;
      const button = document.createElement("button");
      button.textContent = name; button.title = `save "${title}" as ${name}`; button.onclick = actions[name]; buttons.append(button);
    }
    host.querySelector("figcaption").append(buttons);
  }

  /* The recording has a player of its own; the curves' cursors follow its slider. */
  function scene() {
    const host = document.getElementById("scene-figure"), frame = document.getElementById("scene"), still = document.getElementById("still");
    const columns = ["time", "line", "kind", "x1", "y1", "z1", "x2", "y2", "z2"];
    /* One row an instant and a line of the figure: both of its ends. */
    const ends = () => {
      const table = columns.map((name) => ({ name, values: [] }));
      data.frames.forEach((row, i) => data.kinds.forEach((kind, k) =>
        [data.instants[i], k, kind, ...row.slice(6 * k, 6 * k + 6)].forEach((x, j) => table[j].values.push(x))));
      return table;
    };
    exporter(host, "animation", null, ends, still && still.src);
    let last = null;
    function follow() {
      const slider = frame.contentDocument && frame.contentDocument.querySelector("[role=slider]");
      const now = slider && Number(slider.getAttribute("aria-valuenow"));
      if (slider && now !== last) {
        last = now; host.dataset.time = now;
        cursors.forEach((move) => move(data.instants[0] + now));
      }
      requestAnimationFrame(follow);
    }
    if (frame && cursors.length) follow();
  }

  function ticks(low, high, count) {
    const span = high - low || 1, raw = span / count, power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) || raw, found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * span; k++) found.push(k * step);
    return found;
  }
  const short = (x) => (Math.abs(x) < 1e-12 ? "0" : Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3 ? x.toExponential(1) : String(Number(x.toPrecision(4))));

  /* Of more than eight curves the eight with the largest range are shown first; the others are a click away. */
  function rest(series) {
    const range = (s) => s.values.reduce((high, y) => Math.max(high, y ?? high), -Infinity) - s.values.reduce((low, y) => Math.min(low, y ?? low), Infinity);
    const order = series.map((s, k) => [range(s), k]).sort((a, b) => b[0] - a[0]).map(([, k]) => k);
    return order.slice(MOST);
  }

  function chart(host, given) {
    const W = 560, H = 250, L = 58, R = 12, T = 10, B = 34, time = given.x || data.time, hidden = new Set(rest(given.series));
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
      for (const s of visible) for (const y of s.values) { if (y === null) continue; if (y < low) low = y; if (y > high) high = y; }
      if (given.zero) { low = Math.min(low, 0); high = Math.max(high, 0); }
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
      add("text", { x: W - R, y: H - 4, "text-anchor": "end", "font-size": 11, fill: ink }, given.across);
      if (given.zero) add("line", { x1: L, x2: W - R, y1: y(0), y2: y(0), stroke: ink, "stroke-dasharray": "4 4" });
      add("text", { x: 4, y: H - 4, "font-size": 11, fill: ink }, "[" + given.unit + "]");
      given.series.forEach((s, k) => {
        if (hidden.has(k)) return;
        const points = s.values.map((v, i) => (v === null ? "" : x(time[i]).toFixed(2) + "," + y(v).toFixed(2))).filter(Boolean).join(" ");
        add("polyline", { points, fill: "none", stroke: COLORS[k % COLORS.length], "stroke-width": 1.6, "data-name": s.name });
      });
      if (given.mark) add("circle", { cx: x(given.mark[0]), cy: y(given.mark[1]), r: 4, fill: COLORS[1] });
      cursor = add("line", { x1: L, x2: L, y1: T, y2: H - B, stroke: ink, "stroke-dasharray": "3 3" });
    }
    const legend = document.createElement("div"), values = [];
    legend.className = "legend";
    given.series.forEach((s, k) => {
      const label = document.createElement("label"), swatch = document.createElement("i"), value = document.createElement("span");
      swatch.style.background = COLORS[k % COLORS.length];
      label.append(swatch, document.createTextNode(s.name + " "), value);
      label.classList.toggle("off", hidden.has(k));
      label.onclick = () => { hidden.has(k) ? hidden.delete(k) : hidden.add(k); label.classList.toggle("off"); draw(); };
      values.push(value); legend.append(label);
    });
    const own = [];
    (given.x ? own : cursors).push((t) => {
      cursor.setAttribute("x1", x(t)); cursor.setAttribute("x2", x(t));
      let k = 0;
      while (k + 1 < time.length && time[k + 1] <= t + 1e-9) k++;
      given.series.forEach((s, i) => { values[i].textContent = s.values[k] === null ? "" : short(s.values[k]); });
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
    if (hidden.size) {
      const note = document.createElement("span");
      note.className = "more"; note.textContent = `${hidden.size} more by a click`;
      legend.prepend(note);
    }
    svg.onpointermove = (e) => {
      const box = svg.getBoundingClientRect(), at = ((e.clientX - box.left) / box.width) * W;
      const t = time[0] + ((at - L) / (W - L - R)) * (time[time.length - 1] - time[0]);
      if (time.length > 1) (given.x ? own : cursors).forEach((move) => move(Math.max(time[0], Math.min(time[time.length - 1], t))));
    };
    const numbers = () => given.series.map((s) => ({ name: s.name, values: s.values.map((v) => v ?? NaN) }));
    exporter(host, given.title, alone, () => [{ name: given.across.split(" [")[0], values: time }, ...numbers()]);
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

  document.querySelectorAll("figure[data-chart]").forEach((host) => chart(host, JSON.parse(host.dataset.chart)));
  if (document.getElementById("scene-figure")) scene();
  if (document.getElementById("tree-figure")) tree();
  document.documentElement.dataset.ready = "yes";
})();
