// Points of one number of each reply against another, on a canvas.

const MARGIN = { left: 58, right: 16, top: 14, bottom: 46 };
const MOST_LEVELS = 60; // different values with which a number counts as one in steps
const MANY_POINTS = 150;
const STEPS = " Points of equal values are drawn a little apart.";
const NEAR = 18; // pixels from which a point is taken to be meant
// Shapes of the systems' marks, on a square from -1 to 1, as in the style; the first is a disc.
const SHAPES = [
  null,
  [-0.85, -0.85, 0.85, -0.85, 0.85, 0.85, -0.85, 0.85],
  [0, -1, 1, 0.8, -1, 0.8],
  [0, -1.1, 1.1, 0, 0, 1.1, -1.1, 0],
  [0, 1, 1, -0.8, -1, -0.8],
  [-0.3, -1, 0.3, -1, 0.3, -0.3, 1, -0.3, 1, 0.3, 0.3, 0.3, 0.3, 1, -0.3, 1, -0.3, 0.3, -1, 0.3, -1, -0.3, -0.3, -0.3],
  [-1, -0.5, -0.5, -1, 0, -0.5, 0.5, -1, 1, -0.5, 0.5, 0, 1, 0.5, 0.5, 1, 0, 0.5, -0.5, 1, -1, 0.5, -0.5, 0],
  [-1, 0, -0.5, -0.87, 0.5, -0.87, 1, 0, 0.5, 0.87, -0.5, 0.87],
];

function makeScatter(model, { open }) {
  const root = document.getElementById("scatter");
  if (!root) return;
  const canvas = document.getElementById("scatter-canvas");
  const card = root.querySelector(".scatter-card");
  const [up, across] = ["scatter-up", "scatter-across"].map((id) => document.getElementById(id));
  const hidden = new Set();
  const columns = [...model.metrics, ...model.ratings];
  let points = []; // replies with both numbers
  let xs, ys; // where they stand, in pixels
  let chosen = -1; // the place among them of the one that was tapped
  let marked = -1; // and of the one with a ring
  const layer = document.createElement("canvas"); // all without the ring, so that hovering paints no point anew
  const orders = new Map();

  const named = (column) => new Option(column.name, column.key);
  up.append(...columns.map(named));
  across.append(...columns.map(named));
  across.value = columns[0].key;
  up.value = (model.ratings[0] || model.main[1] || columns[1]).key;
  const axes = () => [model.columns.get(across.value), model.columns.get(up.value)];

  function redraw() {
    const [x, y] = axes();
    points = [];
    for (let turn = 0; turn < model.count; turn++) {
      const both = !Number.isNaN(x.values[turn]) && !Number.isNaN(y.values[turn]);
      if (both && !hidden.has(model.system[turn])) points.push(turn);
    }
    chosen = marked = -1;
    orders.clear();
    const label = `${y.name} against ${x.name} of ${grouped(points.length)} replies`;
    canvas.setAttribute("aria-label", label);
    const steps = axes().some((column) => roomBetween(column, points)) ? STEPS : "";
    card.replaceChildren(element("p", "replies-keys", `${label}. Point at one to read it.${steps}`));
    paint();
  }

  function paint() {
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    if (!width) return;
    const sharp = window.devicePixelRatio || 1;
    layer.width = canvas.width = Math.round(width * sharp);
    layer.height = canvas.height = Math.round(height * sharp);
    const pen = layer.getContext("2d");
    pen.scale(sharp, sharp);
    const style = getComputedStyle(root);
    const colour = (name) => style.getPropertyValue(name).trim();
    const [x, y] = axes();
    const scales = [
      makeScale(x, points, MARGIN.left, width - MARGIN.right),
      makeScale(y, points, height - MARGIN.bottom, MARGIN.top),
    ];
    pen.font = `12px ${style.fontFamily}`;
    drawAxes(pen, scales, [x, y], { width, height, line: colour("--line"), muted: colour("--muted") });
    place(scales, [x, y]);
    drawPoints(pen, model.systems.map((_, system) => stamp(system, sharp, colour)));
    show();
  }

  function show() {
    const pen = canvas.getContext("2d");
    pen.resetTransform();
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(layer, 0, 0);
    const sharp = window.devicePixelRatio || 1;
    pen.scale(sharp, sharp);
    if (marked >= 0) drawRing(pen, getComputedStyle(root).getPropertyValue("--ink").trim());
  }

  // Points that would hide each other lie a little apart, the same ones wherever the page is opened.
  function place(scales, [x, y]) {
    const apart = ({ at, gap }, turn, step) => (at(gap) - at(0)) * (((turn * step) % 1) - 0.5);
    xs = Float32Array.from(points, (turn) => scales[0].at(x.values[turn]) + apart(scales[0], turn, 0.7548776662));
    ys = Float32Array.from(points, (turn) => scales[1].at(y.values[turn]) + apart(scales[1], turn, 0.569840291));
  }

  // The mark of a system. To copy it to each point is a hundred times as fast as to fill one path of all.
  function stamp(system, sharp, colour) {
    const size = points.length > 20000 ? 2 : points.length > 2000 ? 3 : 4.5;
    const made = document.createElement("canvas");
    made.width = made.height = Math.ceil(2.4 * size * sharp);
    const pen = made.getContext("2d");
    pen.scale(sharp, sharp);
    outline(pen, SHAPES[(system + Math.floor(system / SERIES)) % SERIES], 1.2 * size, 1.2 * size, size);
    pen.fillStyle = colour(`--series-${(system % SERIES) + 1}`);
    pen.globalAlpha = points.length > 20000 ? 0.3 : points.length > 2000 ? 0.5 : 0.75;
    pen.fill();
    return { made, size };
  }

  function drawPoints(pen, stamps) {
    for (let i = 0; i < points.length; i++) {
      const { made, size } = stamps[model.system[points[i]]];
      pen.drawImage(made, xs[i] - 1.2 * size, ys[i] - 1.2 * size, 2.4 * size, 2.4 * size);
    }
  }

  function drawRing(pen, ink) {
    pen.beginPath();
    pen.arc(xs[marked], ys[marked], 8, 0, 2 * Math.PI);
    pen.strokeStyle = ink;
    pen.lineWidth = 2;
    pen.stroke();
  }

  function nearest(x, y) {
    let found = -1;
    let least = NEAR * NEAR;
    for (let i = 0; i < points.length; i++) {
      const far = (xs[i] - x) ** 2 + (ys[i] - y) ** 2;
      if (far < least) [found, least] = [i, far];
    }
    return found;
  }

  function mark(i) {
    if (i === marked) return;
    marked = i;
    show();
    if (i >= 0) card.replaceChildren(...describe(points[i]));
  }

  function describe(turn) {
    const head = element("p", "scatter-who");
    head.append(systemName(model, model.system[turn]), " ", userText(model.ids[turn], "reply-id"));
    const numbers = element("p", "scatter-numbers");
    for (const column of axes()) {
      const one = element("span");
      one.append(userText(column.name), ` ${shownNumber(column.values[turn], column.decimals)}`);
      numbers.append(one);
    }
    const before = model.kept ? textsOf(model, model.context[turn]).slice(-1) : [];
    const texts = before.map((text) => userText(text, "replies-before"));
    if (model.kept) texts.push(userText(model.texts[model.response[turn]], "replies-reply"));
    const button = element("button", "", "Open the reply");
    button.type = "button";
    button.addEventListener("click", () => open(turn, canvas));
    return [head, numbers, ...texts, button];
  }

  // On to the next point in the order of one number.
  function walk({ key, values }, by) {
    if (!orders.has(key)) {
      orders.set(key, points.map((_, i) => i).sort((a, b) => values[points[a]] - values[points[b]] || a - b));
    }
    const order = orders.get(key);
    const now = marked < 0 ? (by > 0 ? -1 : order.length) : order.indexOf(marked);
    const next = order[Math.min(Math.max(now + by, 0), order.length - 1)];
    if (next !== undefined) mark(next);
  }

  const at = (event) => nearest(event.offsetX, event.offsetY);
  canvas.addEventListener("pointermove", (event) => {
    const found = at(event);
    canvas.classList.toggle("scatter-near", found >= 0);
    if (found >= 0) mark(found);
  });
  canvas.addEventListener("click", (event) => {
    const found = at(event);
    if (found < 0) return;
    const again = found === chosen || event.pointerType === "mouse";
    chosen = found;
    mark(found);
    if (again) open(points[found], canvas);
  });
  const keys = new Map([
    ["ArrowRight", () => walk(axes()[0], 1)],
    ["ArrowLeft", () => walk(axes()[0], -1)],
    ["ArrowUp", () => walk(axes()[1], 1)],
    ["ArrowDown", () => walk(axes()[1], -1)],
    ["Enter", () => marked >= 0 && open(points[marked], canvas)],
  ]);
  canvas.addEventListener("keydown", (event) => {
    if (!keys.has(event.key)) return;
    keys.get(event.key)();
    event.preventDefault();
  });
  for (const select of [up, across]) select.addEventListener("change", redraw);

  legend(root.querySelector(".scatter-legend"), model, hidden, redraw);
  for (const part of root.querySelectorAll("[hidden]")) part.hidden = false;
  card.setAttribute("aria-live", "polite");
  redraw();
  new ResizeObserver(paint).observe(canvas);
  onTheme(paint);
}

function legend(group, model, hidden, changed) {
  if (model.systems.length < 2) return;
  group.append(...model.systems.map((_, system) => {
    const button = element("button", "chip");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    button.append(systemName(model, system));
    button.addEventListener("click", () => {
      if (!hidden.delete(system)) hidden.add(system);
      button.setAttribute("aria-pressed", String(!hidden.has(system)));
      changed();
    });
    return button;
  }));
}

function outline(pen, shape, x, y, size) {
  if (!shape) {
    pen.moveTo(x + size, y);
    pen.arc(x, y, size, 0, 2 * Math.PI);
    return;
  }
  pen.moveTo(x + size * shape[0], y + size * shape[1]);
  for (let i = 2; i < shape.length; i += 2) pen.lineTo(x + size * shape[i], y + size * shape[i + 1]);
  pen.closePath();
}

// From values to pixels, with round numbers to write beside the axis.
function makeScale(column, points, from, till) {
  let low = Infinity;
  let high = -Infinity;
  for (const turn of points) {
    low = Math.min(low, column.values[turn]);
    high = Math.max(high, column.values[turn]);
  }
  if (!(low <= high)) [low, high] = [0, 1];
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const pad = (high - low) * 0.04;
  [low, high] = [low - pad, high + pad];
  const at = (value) => from + ((till - from) * (value - low)) / (high - low);
  const rough = (high - low) / Math.max(Math.abs(till - from) / 80, 2);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((times) => times * power >= rough);
  const decimals = Math.max(-Math.floor(Math.log10(step) + 1e-9), 0);
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) ticks.push(i * step);
  return { at, ticks, decimals, gap: roomBetween(column, points) };
}

// Where many points share few values, as ratings do: the room around each value that belongs to no other.
function roomBetween(column, points) {
  const levels = new Set();
  for (const turn of points) {
    levels.add(column.values[turn]);
    if (levels.size > MOST_LEVELS || points.length < MANY_POINTS) return 0;
  }
  const found = Float64Array.from(levels).sort();
  return 0.7 * found.reduce((least, level, i) => (i ? Math.min(least, level - found[i - 1]) : least), 1);
}

function drawAxes(pen, [across, up], [x, y], { width, height, line, muted }) {
  const bottom = height - MARGIN.bottom;
  pen.strokeStyle = line;
  pen.fillStyle = muted;
  pen.lineWidth = 1;
  pen.beginPath();
  for (const tick of across.ticks) {
    const at = Math.round(across.at(tick)) + 0.5;
    pen.moveTo(at, MARGIN.top);
    pen.lineTo(at, bottom);
  }
  for (const tick of up.ticks) {
    const at = Math.round(up.at(tick)) + 0.5;
    pen.moveTo(MARGIN.left, at);
    pen.lineTo(width - MARGIN.right, at);
  }
  pen.stroke();
  pen.textAlign = "center";
  for (const tick of across.ticks) pen.fillText(shownNumber(tick, across.decimals), across.at(tick), bottom + 18);
  pen.fillText(cutName(x), (MARGIN.left + width - MARGIN.right) / 2, height - 8);
  pen.textAlign = "right";
  for (const tick of up.ticks) pen.fillText(shownNumber(tick, up.decimals), MARGIN.left - 8, up.at(tick) + 4);
  pen.save();
  pen.translate(14, (MARGIN.top + bottom) / 2);
  pen.rotate(-Math.PI / 2);
  pen.textAlign = "center";
  pen.fillText(cutName(y), 0, 0);
  pen.restore();
}

function cutName(column) {
  const name = column.name.length > 40 ? `${column.name.slice(0, 39)}\u2026` : column.name;
  return name + arrowOf(column);
}

function onTheme(changed) {
  for (const media of ["(prefers-color-scheme: dark)", "print"]) {
    window.matchMedia(media).addEventListener("change", changed);
  }
  new MutationObserver(changed).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}
