// One reply: what it answers, as a chat; its numbers and where they stand in its system; and all replies to the same
// context side by side.

const MOST_BESIDE = 24; // replies to one context that are shown

function makeReply(model, { at, placeOf, count, query, moved, closed }) {
  const dialog = document.getElementById("reply");
  const title = document.getElementById("reply-title");
  const where = document.getElementById("reply-place");
  const body = dialog.querySelector(".reply-body");
  const [back, on, close] = ["reply-back", "reply-on", "reply-close"].map((id) => document.getElementById(id));
  let place = -1; // in the list; -1 for a reply that is not in it

  function show(turn) {
    place = placeOf(turn);
    title.replaceChildren(systemName(model, model.system[turn]), " ", userText(model.ids[turn], "reply-id"));
    const corpus = model.corpora.length ? `${model.corpora[model.corpus[turn]]}, ` : "";
    const position = place < 0 ? "not in the list as it is filtered" : `${grouped(place + 1)} of ${grouped(count())}`;
    where.replaceChildren(userText(corpus), `${position}`);
    back.disabled = place <= 0;
    on.disabled = place < 0 || place + 1 >= count();
    const columns = element("div", "reply-columns");
    columns.append(talk(model, turn, query()), numbersOf(model, turn));
    body.replaceChildren(columns, ...beside(model, turn, show));
    body.scrollTop = 0;
    if (!dialog.open) dialog.showModal();
    moved(turn);
  }

  const step = (by) => {
    const next = place + by;
    if (place >= 0 && next >= 0 && next < count()) show(at(next));
  };
  back.addEventListener("click", () => step(-1));
  on.addEventListener("click", () => step(1));
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowLeft") step(-1);
    else if (event.key === "ArrowRight") step(1);
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => closed(place));
  return { show, isOpen: () => dialog.open, close: () => dialog.close() };
}

function titled(name, ...content) {
  return [element("h3", "", name), ...content];
}

function talk(model, turn, query) {
  const made = element("div", "reply-talk");
  if (!model.kept) {
    made.append(element("p", "replies-note", "The texts of this reply were not kept."));
    return made;
  }
  const facts = textsOf(model, model.facts[turn]);
  const references = textsOf(model, model.references[turn]);
  if (facts.length) made.append(...titled("Facts at hand", textList(facts, "reply-texts", query)));
  made.append(...titled("Context and reply", chat(model, turn, query)));
  const many = references.length > 1 ? "References" : "Reference";
  if (references.length) made.append(...titled(many, textList(references, "reply-texts", query)));
  return made;
}

function textList(texts, className, query) {
  const list = element("ul", className);
  for (const text of texts) {
    const item = element("li");
    item.append(userText(text, "", query));
    list.append(item);
  }
  return list;
}

// Utterances change sides. The last before the reply stands across from it.
function chat(model, turn, query) {
  const list = element("ol", "chat");
  const context = textsOf(model, model.context[turn]);
  context.forEach((text, place) => {
    const item = element("li", (context.length - place) % 2 ? "chat-theirs" : "chat-ours");
    item.append(userText(text, "", query));
    list.append(item);
  });
  const item = element("li", "chat-ours chat-reply");
  const text = model.texts[model.response[turn]];
  item.append(systemName(model, model.system[turn]));
  item.append(text.trim() ? userText(text, "", query) : element("em", "", "(empty)"));
  list.append(item);
  return list;
}

function numbersOf(model, turn) {
  const made = element("div", "reply-numbers");
  const flags = model.flags.filter((flag) => flag.places.includes(turn)).map((flag) => flag.name);
  if (flags.length) made.append(...titled("Caveats", textList(flags, "reply-flags")));
  if (model.metrics.length) made.append(...titled("Values", numberTable(model, model.metrics, turn)));
  if (model.ratings.length) made.append(...titled("Ratings by people", numberTable(model, model.ratings, turn)));
  if (model.pushes.length) {
    const how = "By how much the distance of its system would fall without this reply, to first order.";
    made.append(...titled("Push on distances", element("p", "replies-keys", how)));
    made.append(numberTable(model, model.pushes, turn));
  }
  return made;
}

function numberTable(model, columns, turn) {
  const table = element("table", "reply-table");
  const head = element("tr");
  const names = ["", columns[0].kind === "rating" ? "mean" : "value", "rank in its system", "ahead of"];
  head.append(...names.map((name) => element("th", "", name)));
  for (const cell of head.children) cell.scope = "col";
  table.append(element("thead"), element("tbody"));
  table.tHead.append(head);
  table.tBodies[0].append(...columns.map((column) => numberRow(model, column, turn)));
  return table;
}

function numberRow(model, column, turn) {
  const row = element("tr", column.whole >= 0 ? "reply-part" : "");
  const name = element("th");
  name.scope = "row";
  name.append(userText(partName(model, column)), arrowOf(column));
  const value = element("td", "", shownNumber(column.values[turn], column.decimals));
  const given = column.kind === "rating" && column.given[turn] >= 0 ? column.lists[column.given[turn]] : [];
  if (given.length > 1) {
    const each = given.map((one) => (one === null ? NONE : String(one))).join(", ");
    value.append(element("small", "reply-given", `of ${each}`));
  }
  row.append(name, value, ...rankCells(standing(model, column, turn), column, turn));
  return row;
}

function partName(model, column) {
  return column.whole < 0 ? column.name : column.name.slice(model.metrics[column.whole].name.length + 1);
}

function rankCells(found, column, turn) {
  if (Number.isNaN(column.values[turn])) return [element("td", "", NONE), element("td")];
  const first = found.better + 1;
  const last = found.better + found.equal;
  const rank = first === last ? grouped(first) : `${grouped(first)}${NONE}${grouped(last)}`;
  const cell = element("td", "reply-bar-cell");
  if (found.of > 1) {
    const share = (100 * (found.of - found.better - (found.equal + 1) / 2)) / (found.of - 1);
    const bar = element("span", "reply-bar");
    const filled = element("span");
    filled.style.width = `${share}%`;
    bar.append(filled);
    cell.append(bar, element("span", "", `${share.toFixed(0)} %`));
  }
  return [element("td", "", `${rank} of ${grouped(found.of)}`), cell];
}

function beside(model, turn, open) {
  const all = sameContext(model, turn);
  if (all.length < 2) return [];
  const shown = all.slice(0, MOST_BESIDE);
  if (!shown.includes(turn)) shown[0] = turn;
  const left = all.length - shown.length;
  const made = element("section", "reply-beside");
  const what = model.context[turn] ? "The same context, side by side" : "The same turn, side by side";
  const cards = element("div", "reply-cards");
  cards.append(...shown.map((other) => card(model, other, turn, shown, open)));
  made.append(...titled(what, cards));
  if (left) made.append(element("p", "replies-note", `${grouped(left)} more replies answer the same.`));
  return [made];
}

function card(model, turn, current, all, open) {
  const made = element("article", turn === current ? "reply-card reply-card-open" : "reply-card");
  const head = element("header");
  head.append(systemName(model, model.system[turn]));
  if (turn !== current) {
    const button = element("button", "reply-open", "Open");
    button.type = "button";
    button.setAttribute("aria-label", `Open the reply of ${model.systems[model.system[turn]]}`);
    button.addEventListener("click", () => open(turn));
    head.append(button);
  }
  made.append(head);
  if (model.kept) made.append(userText(model.texts[model.response[turn]], "reply-card-text"));
  const list = element("dl");
  for (const column of [...model.main, ...model.ratings]) {
    const pair = element("div", isBest(column, turn, all) ? "reply-best" : "");
    const name = element("dt");
    name.append(userText(column.name), arrowOf(column));
    pair.append(name, element("dd", "", shownNumber(column.values[turn], column.decimals)));
    list.append(pair);
  }
  made.append(list);
  return made;
}

function isBest(column, turn, all) {
  const values = all.map((other) => column.values[other] * column.better).filter((value) => !Number.isNaN(value));
  return column.better !== 0 && values.length > 1 && column.values[turn] * column.better === Math.max(...values);
}
