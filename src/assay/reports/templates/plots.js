// Two plots in SVG: a histogram with given edges, and raw latencies in the order taken.
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
  const every = Math.ceil(edges.length / 8);
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
    if (i % every) return;
    const anchor = i === 0 ? "start" : i === edges.length - 1 ? "end" : "middle";
    const x = left + i * step + (i === 0 ? -left + 2 : i === edges.length - 1 ? left - 2 : 0);
    image.append(draw("text", { x, y: height - 8, "text-anchor": anchor }, edge));
  });
  return figure(`${caption}, counts on a log scale`, image);
}

function ticks(low, high, wanted) {
  const rough = (high - low) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step / 1e6; value += step) found.push(value);
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  return found.map((value) => [value, value.toFixed(digits)]);
}

function latencyPlot({ points, lines, count, stretch, batch }) {
  // Narrow screens get a narrow picture: scaled down, its text would be too small to read.
  const [width, right, side] = innerWidth < 640 ? [400, 84, 44] : [840, 96, 84];
  const [height, left, top, bottom] = [260, 58, 12, 34];
  const values = points.map(([, ms]) => ms);
  const [least, greatest] = [Math.min(...values), Math.max(...values)];
  const room = (greatest - least) * 0.06 || greatest * 0.05 || 1;
  const [low, high] = [Math.max(0, least - room), greatest + room];
  const image = picture(width, height, `Latency of ${count} calls at batch ${batch}, ${least} to ${greatest} ms. `
    + lines.map(([name, , text]) => `${name} ${text}`).join(", "));
  const edge = width - right - side;
  const x = (number) => left + 6 + (number / Math.max(1, count - 1)) * (edge - left - 12);
  const y = (ms) => top + ((high - ms) / (high - low)) * (height - top - bottom);
  for (const [value, text] of ticks(low, high, 5)) {
    image.append(draw("path", { class: "axis", d: `M${left} ${y(value)}H${edge}` }));
    image.append(draw("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, text));
  }
  image.append(draw("text", { x: left, y: height - 8 }, "call 1"));
  image.append(draw("text", { x: edge, y: height - 8, "text-anchor": "end" }, String(count)));
  image.append(draw("text", { x: 2, y: height - 8 }, "ms"));
  image.append(draw("path", { class: "dots", d: points.map(([n, ms]) => `M${x(n).toFixed(1)} ${y(ms).toFixed(1)}h0`).join("") }));
  // The same samples seen from the side.
  const bins = new Array(36).fill(0);
  for (const ms of values) bins[Math.min(35, Math.floor(((ms - low) / (high - low)) * 36))] += 1;
  const slot = (height - top - bottom) / 36;
  bins.forEach((found, i) => {
    const long = (found / Math.max(...bins)) * (side - 12);
    if (found) image.append(draw("rect", { class: "bar-mark", x: edge + 8, y: height - bottom - (i + 1) * slot + .5, width: Math.max(1, long), height: slot - 1 }));
  });
  let above = Infinity;
  for (const [name, ms, text] of [...lines].reverse()) {
    image.append(draw("path", { class: name, d: `M${left} ${y(ms)}H${edge + side}` }));
    let place = y(ms) + 4;
    if (Math.abs(place - above) < 13) place = above + 13;
    above = place;
    image.append(draw("text", { class: "line-name", x: edge + side + 5, y: place }, `${name} ${text.replace(" ms", "")}`));
  }
  const note = stretch > 1 ? `, least and greatest of every ${stretch} calls` : "";
  return figure(`Latency of each call in ms, batch ${batch}, ${count} calls in the order taken${note}`, image);
}
