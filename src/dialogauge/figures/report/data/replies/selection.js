// Which replies are shown, and in what order.

const EVERYWHERE = "all";

function emptyChoice() {
  return {
    query: "",
    where: EVERYWHERE,
    systems: new Set(),
    corpora: new Set(),
    flags: new Set(),
    value: { key: "", low: NaN, high: NaN },
    rating: { key: "", low: NaN, high: NaN },
  };
}

function isNarrowed(choice) {
  const ranges = [choice.value, choice.rating].filter((range) => isRange(range)).length;
  return (choice.query ? 1 : 0) + choice.systems.size + choice.corpora.size + choice.flags.size + ranges;
}

function isRange(range) {
  return !Number.isNaN(range.low) || !Number.isNaN(range.high);
}

// Looks for a text in every distinct text once. They are put into lower case while the browser is idle, or at the
// first search.
function makeSearch(model) {
  const lowered = [];
  const ids = [];
  const lowerTill = (end) => {
    while (lowered.length < Math.min(end, model.texts.length)) lowered.push(model.texts[lowered.length].toLowerCase());
    while (lowered.length === model.texts.length && ids.length < Math.min(end, model.count)) {
      ids.push(model.ids[ids.length].toLowerCase());
    }
  };
  const idle = window.requestIdleCallback || ((work) => setTimeout(work, 30));
  const lowerSome = () => {
    lowerTill((ids.length || lowered.length) + 5000);
    if (ids.length < model.count) idle(lowerSome);
  };
  idle(lowerSome);
  return (query, where) => {
    lowerTill(Infinity);
    const wanted = query.toLowerCase();
    const texts = flags(lowered, (text) => text.includes(wanted));
    const groups = flags(model.groups, (group) => group.some((text) => texts[text]));
    const found = new Uint8Array(model.count);
    const looks = (place) => where === EVERYWHERE || where === place;
    const [reply, context, reference, id] = ["reply", "context", "reference", "id"].map(looks);
    for (let turn = 0; turn < model.count; turn++) {
      found[turn] =
        (reply && texts[model.response[turn]]) ||
        (context && groups[model.context[turn]]) ||
        (reference && groups[model.references[turn]]) ||
        (id && ids[turn].includes(wanted));
    }
    return found;
  };
}

// 1 for each thing of which something is true. Uint8Array.from does the same three times as slowly.
function flags(things, isTrue) {
  const found = new Uint8Array(things.length);
  for (let i = 0; i < things.length; i++) if (isTrue(things[i])) found[i] = 1;
  return found;
}

// 1 for each reply that fits the choice.
function fitting(model, search, choice) {
  const found = choice.query ? search(choice.query, choice.where) : new Uint8Array(model.count).fill(1);
  const only = (fits) => {
    for (let turn = 0; turn < model.count; turn++) if (found[turn] && !fits(turn)) found[turn] = 0;
  };
  if (choice.systems.size) only((turn) => choice.systems.has(model.system[turn]));
  if (choice.corpora.size) only((turn) => choice.corpora.has(model.corpus[turn]));
  if (choice.flags.size) {
    const flagged = new Uint8Array(model.count);
    for (const flag of choice.flags) for (const turn of model.flags[flag].places) flagged[turn] = 1;
    only((turn) => flagged[turn]);
  }
  for (const { key, low, high } of [choice.value, choice.rating].filter(isRange)) {
    const { values } = model.columns.get(key);
    only((turn) => !Number.isNaN(values[turn]) && !(values[turn] < low) && !(values[turn] > high));
  }
  return found;
}

// All replies by a column, those without a value last, equal ones as in the file.
function ordered(model, key, descending) {
  const column = columnOf(model, key);
  const all = Uint32Array.from({ length: model.count }, (_, turn) => turn);
  if (!column) return all;
  const sign = descending ? -1 : 1;
  const { values } = column;
  return all.sort((a, b) => {
    const x = values[a];
    const y = values[b];
    if (x === y) return a - b;
    if (Number.isNaN(x)) return Number.isNaN(y) ? a - b : 1;
    if (Number.isNaN(y)) return -1;
    return sign * (x - y);
  });
}
