// What the page holds of each reply, by column. Texts of users are values here: never keys, selectors or markup.

const MINUS = "\u2212";
const NONE = "\u2013";
const ARROWS = new Map([[1, " \u2191"], [-1, " \u2193"], [0, ""]]);

async function readTurns() {
  const block = document.getElementById("turns");
  if (block.dataset.packed !== "gzip") return JSON.parse(block.textContent);
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This browser is too old to unpack the replies in this page (it has no DecompressionStream).");
  }
  const packed = new Blob([fromBase64(block.textContent)]).stream();
  block.textContent = "";
  return new Response(packed.pipeThrough(new DecompressionStream("gzip"))).json();
}

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

// A column is a number for every reply, NaN where it has none. `better` is 1 where more is better, -1 where less is,
// 0 where neither is.
function makeColumn(key, kind, said) {
  const values = Float64Array.from(said.values, (value) => (value === null ? NaN : value));
  return { better: 0, whole: -1, ...said, key, kind, values };
}

function makeModel(data) {
  const model = { ...data, count: data.ids.length, columns: new Map(), ranks: new Map() };
  const kinds = [["metrics", "m", "metric"], ["ratings", "r", "rating"], ["pushes", "p", "push"]];
  for (const [name, letter, kind] of kinds) {
    model[name] = data[name].map((said, place) => makeColumn(letter + place, kind, said));
    for (const column of model[name]) model.columns.set(column.key, column);
  }
  for (const column of model.ratings) column.better = 1;
  for (const column of model.pushes) [column.distance, column.name] = [column.name, `push on ${column.name}`];
  model.main = model.metrics.filter((metric) => metric.whole < 0);
  const add = (key, name, values) =>
    model.columns.set(key, makeColumn(key, "other", { name, values, decimals: 0 }));
  add("system", "system", data.system);
  if (data.kept) {
    add("context", "context", data.context);
    add("length", "characters", data.response.map((text) => data.texts[text].length));
  }
  return model;
}

// The column of a key; those that cost a sort are made when they are first asked for.
function columnOf(model, key) {
  if (!model.columns.has(key)) {
    if (key === "id") model.columns.set(key, idColumn(model));
    if (key === "apart" && directed(model).length > 1) model.columns.set(key, metricsApart(model));
    const [kind, metric, rating] = key.split(":");
    const pair = [model.columns.get(metric), model.columns.get(rating)];
    if (kind === "apart" && pair[0] && pair[1]) model.columns.set(key, peopleApart(model, key, ...pair));
  }
  return model.columns.get(key);
}

// Ids in the order of a reader: 9 before 10.
function idColumn(model) {
  const collator = new Intl.Collator("en", { numeric: true });
  const plain = model.ids.every((id) => /^\d{1,15}$/.test(id));
  const names = [...new Set(model.ids)].sort(plain ? (a, b) => a - b : collator.compare);
  const places = new Map(names.map((id, place) => [id, place]));
  return makeColumn("id", "other", { name: "id", values: model.ids.map((id) => places.get(id)), decimals: 0 });
}

function directed(model) {
  return model.main.filter((metric) => metric.better);
}

// From 0 for the worst reply of the page to 100 for the best; equal values have the mean of their ranks.
function ranksOf(model, column) {
  if (!model.ranks.has(column.key)) {
    const known = column.values.filter((value) => !Number.isNaN(value)).sort();
    const last = Math.max(known.length - 1, 1);
    model.ranks.set(column.key, column.values.map((value) => {
      if (Number.isNaN(value)) return NaN;
      const rank = (50 * (below(known, value, false) + below(known, value, true) - 1)) / last;
      return column.better < 0 ? 100 - rank : rank;
    }));
  }
  return model.ranks.get(column.key);
}

// How many of the sorted numbers are less than a value, or no more than it.
function below(sorted, value, orEqual) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value || (orEqual && sorted[middle] === value)) low = middle + 1;
    else high = middle;
  }
  return low;
}

// By how much the metrics differ about a reply: its highest rank less its lowest.
function metricsApart(model) {
  const ranks = directed(model).map((metric) => ranksOf(model, metric));
  const values = model.ids.map((_, turn) => {
    const own = ranks.map((rank) => rank[turn]).filter((rank) => !Number.isNaN(rank));
    return own.length > 1 ? Math.max(...own) - Math.min(...own) : NaN;
  });
  return makeColumn("apart", "apart", { name: "ranks apart", values, decimals: 0 });
}

function peopleApart(model, key, metric, rating) {
  const [ours, theirs] = [ranksOf(model, metric), ranksOf(model, rating)];
  const values = model.ids.map((_, turn) => Math.abs(ours[turn] - theirs[turn]));
  return makeColumn(key, "apart", { name: "ranks apart", values, decimals: 0 });
}

// Where a reply stands among those of its system: how many are better, how many as good, of how many.
function standing(model, column, turn) {
  const { system, corpus } = model;
  const value = column.values[turn] * (column.better || 1);
  const found = { better: 0, equal: 0, of: 0 };
  for (let other = 0; other < model.count; other++) {
    if (system[other] !== system[turn] || corpus[other] !== corpus[turn]) continue;
    const theirs = column.values[other] * (column.better || 1);
    if (Number.isNaN(theirs)) continue;
    found.of++;
    if (theirs > value) found.better++;
    else if (theirs === value) found.equal++;
  }
  return found;
}

// Replies to the same context; where none is known, those of the same id.
function sameContext(model, turn) {
  const found = [];
  const context = model.context[turn];
  for (let other = 0; other < model.count; other++) {
    if (model.corpus[other] !== model.corpus[turn] || model.context[other] !== context) continue;
    if (context !== 0 || model.ids[other] === model.ids[turn]) found.push(other);
  }
  return found.sort((a, b) => model.system[a] - model.system[b] || a - b);
}

function textsOf(model, group) {
  return model.groups[group].map((text) => model.texts[text]);
}

function shownNumber(value, decimals) {
  if (Number.isNaN(value)) return NONE;
  const text = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(text) !== 0 ? MINUS + text : text;
}

// Of ratings nobody says which way is better; they count as better when they are higher.
function arrowOf(column) {
  return column.kind === "rating" ? "" : ARROWS.get(column.better);
}

function grouped(count) {
  return count.toLocaleString("en");
}
