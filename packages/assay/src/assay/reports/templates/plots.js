// Plots in SVG: a histogram with given edges, raw latencies in the order taken, a figure against the batch size.
function draw(name, attributes = {}, text = null) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== null) element.textContent = text;
  return element;
}

function picture(width, height, label) {
  return draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
}

function figure(caption, image) {
  return make("figure", {}, make("figcaption", {}, caption), image);
}

function histogram(caption, { edges, counts }) {
  const [width, height, left, top, bottom] = [420, 170, 14, 18, 26];
  const label = counts.map((count, i) => `${edges[i]} to ${edges[i + 1]}: ${count}`).join("; ");
  const image = picture(width, height, `${caption}. ${label}`);
  const step = (width - 2 * left) / counts.length;
  const floor = height - bottom;
  // A logarithm, so that one bad element among millions is seen.
  const tall = Math.log1p(Math.max(...counts, 1));
  // As many edges are named as there is room for, at 6.7 units a character.
  const every = Math.ceil((Math.max(...edges.map((edge) => edge.length)) * 6.7 + 10) / step);
  counts.forEach((count, i) => {
    const high = count ? Math.max(2, (Math.log1p(count) / tall) * (floor - top)) : 0;
    const x = left + i * step;
    const bar = draw("rect", { class: "bar-mark", x: x + 1, y: floor - high, width: Math.max(1, step - 2), height: high });
    bar.append(draw("title", {}, `${edges[i]} to ${edges[i + 1]}: ${count}`));
    image.append(bar);
    if (count && counts.length <= 14) {
      image.append(draw("text", { x: x + step / 2, y: floor - high - 4, "text-anchor": "middle" }, String(count)));
    }
  });
  image.append(draw("path", { class: "axis", d: `M${left} ${floor}H${width - left}` }));
  edges.forEach((edge, i) => {
    if (i % every && i !== edges.length - 1) return;
    if (i !== edges.length - 1 && edges.length - 1 - i < every) return;
    const anchor = i === edges.length - 1 ? "end" : i === 0 ? "start" : "middle";
    const x = left + i * step + (i === edges.length - 1 ? left - 2 : i === 0 ? 2 - left : 0);
    image.append(draw("text", { x, y: height - 8, "text-anchor": anchor }, edge));
  });
  return figure(`${caption}, counts on a log scale`, image);
}

function ticks({ low, high, log }) {
  const found = [];
  if (log) {
    const factors = high / low > 1000 ? [1] : [1, 2, 5];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
      for (const factor of factors) found.push([factor * 10 ** power, String(Number((factor * 10 ** power).toPrecision(1)))]);
    }
    return found.filter(([value]) => value >= low && value <= high);
  }
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) found.push([value, value.toFixed(digits)]);
  return found;
}

function latencyPlot({ points, lines, count, stretch, batch, scale }) {
  // Narrow screens get a narrow picture: scaled down, its text would be too small to read.
  const [width, side] = innerWidth < 640 ? [400, 44] : [840, 84];
  const named = ([name, , text]) => `${name} ${text.replace(" ms", "")}`;
  const right = 10 + 6.9 * Math.max(...lines.map((line) => named(line).length));
  const [height, left, top, bottom] = [260, 58, 12, 34];
  const image = picture(width, height, `Latency of ${count} calls at batch ${batch}. `
    + lines.map(([name, , text]) => `${name} ${text}`).join(", "));
  const edge = width - right - side;
  const on = scale.log ? Math.log10 : (value) => value;
  const x = (number) => left + 6 + (number / Math.max(1, count - 1)) * (edge - left - 12);
  const y = (ms) => top + ((on(scale.high) - on(ms)) / (on(scale.high) - on(scale.low))) * (height - top - bottom);
  for (const [value, text] of ticks(scale)) {
    image.append(draw("path", { class: "axis", d: `M${left} ${y(value)}H${edge}` }));
    image.append(draw("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, text));
  }
  image.append(draw("text", { x: left, y: height - 8 }, "call 1"));
  image.append(draw("text", { x: edge, y: height - 8, "text-anchor": "end" }, String(count)));
  image.append(draw("text", { x: 2, y: height - 8 }, "ms"));
  image.append(draw("path", { class: "dots", d: points.map(([n, ms]) => `M${x(n).toFixed(1)} ${y(ms).toFixed(1)}h0`).join("") }));
  // The same samples seen from the side.
  const slot = (height - top - bottom) / scale.bins.length;
  const most = Math.max(...scale.bins);
  scale.bins.forEach((found, i) => {
    const long = Math.max(1, (found / most) * (side - 12));
    const at = height - bottom - (i + 1) * slot + 0.5;
    if (found) image.append(draw("rect", { class: "bar-mark", x: edge + 8, y: at, width: long, height: slot - 1 }));
  });
  let above = Infinity;
  for (const line of [...lines].reverse()) {
    const [name, ms] = line;
    image.append(draw("path", { class: name, d: `M${left} ${y(ms)}H${edge + side}` }));
    let place = y(ms) + 4;
    if (Math.abs(place - above) < 13) place = above + 13;
    above = place;
    image.append(draw("text", { class: "line-name", x: edge + side + 5, y: place }, named(line)));
  }
  const note = stretch > 1 ? `, least and greatest of every ${stretch} calls` : "";
  const kind = scale.log ? ", log scale" : "";
  return figure(`Latency of each call in ms${kind}, batch ${batch}, ${count} calls in the order taken${note}`, image);
}

// Resident memory, and what the C allocator holds and has in use: between the last two lie the holes.
function soakPlot({ calls, batches, lines }) {
  const [width, height, left, right, top, bottom] = [innerWidth < 640 ? 400 : 840, 220, 58, 14, 12, 34];
  const values = lines.flatMap(([, , read]) => read);
  const span = Math.max(...values) - Math.min(...values) || Math.max(...values);
  const scale = { low: Math.max(0, Math.min(...values) - 0.1 * span), high: Math.max(...values) + 0.1 * span, log: false };
  const last = Math.max(1, calls[calls.length - 1]);
  const image = picture(width, height, `Memory in ${last} calls. ${lines.map(([name, text]) => `${name} ${text} at the end`).join(", ")}`);
  const x = (call) => left + 6 + (call / last) * (width - left - right - 12);
  const y = (value) => top + ((scale.high - value) / (scale.high - scale.low)) * (height - top - bottom);
  for (const [value, text] of ticks(scale)) {
    image.append(draw("path", { class: "axis", d: `M${left} ${y(value)}H${width - right}` }));
    image.append(draw("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, text));
  }
  image.append(draw("text", { x: left, y: height - 8 }, "call 1"));
  image.append(draw("text", { x: width - right, y: height - 8, "text-anchor": "end" }, String(last)));
  image.append(draw("text", { x: 2, y: height - 8 }, "MB"));
  lines.forEach(([name, text, read], i) => {
    const d = read.map((value, n) => `${x(calls[n]).toFixed(1)} ${y(value).toFixed(1)}`).join("L");
    image.append(draw("path", { class: ["curve", "curve before", "curve least"][i], d: `M${d}` }));
    // The least line is named below, the others above where there is room: two lines may lie on one another.
    const end = y(read[read.length - 1]);
    const place = i === 2 || end < top + 18 ? end + 15 : end - 6;
    image.append(draw("text", { class: "line-name", x: width - right, y: place, "text-anchor": "end" }, `${name} ${text}`));
  });
  const turns = batches ? `, by turns at batch ${batches}` : "";
  return figure(`Memory in MB after so many calls${turns}: resident, held by the C allocator (dashed), and in use of that (dotted)`, image);
}

// Both axes are logarithmic: twice the batch is one step, and what scales with it is a straight line.
function curvePlot(caption, { points, before, knee }, column) {
  const [width, height, left, right, top, bottom] = [420, 200, 58, 14, 12, 34];
  const values = [...points, ...before].map((point) => point[column]);
  const room = (Math.max(...values) / Math.min(...values)) ** 0.08 * 1.05;
  const scale = { low: Math.min(...values) / room, high: Math.max(...values) * room };
  scale.log = scale.high > 3 * scale.low;
  const on = scale.log ? Math.log10 : (value) => value;
  const [first, last] = [Math.log2(points[0][0]), Math.log2(points[points.length - 1][0])];
  const x = (batch) => left + 8 + ((Math.log2(batch) - first) / (last - first)) * (width - left - right - 16);
  const y = (value) => top + ((on(scale.high) - on(value)) / (on(scale.high) - on(scale.low))) * (height - top - bottom);
  const told = points.map((point) => `batch ${point[0]}: ${Number(point[column].toPrecision(3))}`).join("; ");
  const image = picture(width, height, `${caption} against the batch size. ${told}${knee ? `; knee at ${knee}` : ""}`);
  for (const [value, text] of ticks(scale)) {
    image.append(draw("path", { class: "axis", d: `M${left} ${y(value)}H${width - right}` }));
    image.append(draw("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, text));
  }
  if (knee) {
    image.append(draw("path", { class: "p90", d: `M${x(knee)} ${top}V${height - bottom}` }));
    image.append(draw("text", { x: x(knee) + 4, y: top + 10, class: "line-name" }, "knee"));
  }
  const line = (list) => `M${list.map((point) => `${x(point[0]).toFixed(1)} ${y(point[column]).toFixed(1)}`).join("L")}`;
  if (before.length) image.append(draw("path", { class: "curve before", d: line(before) }));
  image.append(draw("path", { class: "curve", d: line(points) }));
  points.forEach((point) => {
    image.append(draw("circle", { class: "bar-mark", cx: x(point[0]), cy: y(point[column]), r: 3 }));
    image.append(draw("text", { x: x(point[0]), y: height - 8, "text-anchor": "middle" }, String(point[0])));
  });
  return figure(`${caption} against the batch size${before.length ? ", before dashed" : ""}`, image);
}

// One figure of every node, along the graph.
function graphPlot(caption, nodes, column, log) {
  const [width, height, left, right, top, bottom] = [420, 200, 58, 14, 12, 34];
  const shown = nodes.filter((node) => node[column] !== null && (!log || node[column] > 0));
  const values = shown.map((node) => node[column]);
  const scale = { low: Math.min(...values, log ? 1 : Infinity), high: Math.max(...values, log ? 1 : -Infinity), log };
  if (!log && scale.low === scale.high) [scale.low, scale.high] = [scale.low - 1, scale.high + 1];
  if (log) [scale.low, scale.high] = [scale.low / 1.3, scale.high * 1.3];
  const on = log ? Math.log10 : (value) => value;
  const last = Math.max(1, nodes[nodes.length - 1][0]);
  const x = (position) => left + 6 + (position / last) * (width - left - right - 12);
  const y = (value) => top + ((on(scale.high) - on(value)) / (on(scale.high) - on(scale.low))) * (height - top - bottom);
  const image = picture(width, height, `${caption}, ${shown.length} nodes in the order of the graph.`);
  for (const [value, text] of ticks(scale)) {
    image.append(draw("path", { class: "axis", d: `M${left} ${y(value)}H${width - right}` }));
    image.append(draw("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, text));
  }
  if (log) image.append(draw("path", { class: "p90", d: `M${left} ${y(1)}H${width - right}` }));
  shown.forEach((node) => {
    const dot = draw("circle", { class: "bar-mark", cx: x(node[0]), cy: y(node[column]), r: 2.5 });
    dot.append(draw("title", {}, `${node[0]} ${node[1]} (${node[2]}): ${node[column].toPrecision(3)}`));
    image.append(dot);
  });
  image.append(draw("text", { x: left, y: height - 8 }, "first node"));
  image.append(draw("text", { x: width - right, y: height - 8, "text-anchor": "end" }, "last"));
  return figure(caption, image);
}
