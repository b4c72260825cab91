// What the reader chooses, in the controls and in the address, and what follows from it.

const PAUSE = 80; // milliseconds of rest after a letter before a long list is searched
const FEW = 5000;
const START = "#replies?";
const byId = (id) => document.getElementById(id);

function start(model) {
  const section = byId("replies");
  const search = makeSearch(model);
  let choice = emptyChoice();
  let sorted = { key: "file", descending: false };
  const columns = new Set(firstColumns(model));
  let shown = new Uint32Array(0);
  let order = { name: "", turns: shown };
  let from = null; // what had the focus when a reply was opened elsewhere than in the list

  const list = makeList(model, { open: (place) => reply.show(shown[place]), sort });
  const reply = makeReply(model, {
    at: (place) => shown[place],
    placeOf: (turn) => shown.indexOf(turn),
    query: () => choice.query,
    count: () => shown.length,
    moved: (turn) => writeAddress(turn),
    closed: (place) => {
      writeAddress(-1);
      if (from) from.focus();
      else list.focus(place < 0 ? undefined : place);
      from = null;
    },
  });
  function sort(key, descending) {
    sorted = { key, descending };
    list.toTop();
    update();
  }

  function update() {
    const name = `${sorted.key} ${sorted.descending}`;
    if (order.name !== name) order = { name, turns: ordered(model, sorted.key, sorted.descending) };
    const fits = fitting(model, search, choice);
    shown = order.turns.filter((turn) => fits[turn]);
    list.update({ shown, columns: chosenColumns(), sorted, query: choice.query });
    tell();
    controls.show(choice, sorted, columns);
    if (!reply.isOpen()) writeAddress(-1);
  }

  // With the one that the list is sorted by.
  function chosenColumns() {
    const chosen = allNumbers(model).filter((column) => columns.has(column.key));
    const extra = columnOf(model, sorted.key);
    return extra && extra.kind !== "other" && !columns.has(extra.key) ? [extra, ...chosen] : chosen;
  }

  function tell() {
    const all = shown.length === model.count ? "" : `${grouped(shown.length)} of `;
    byId("replies-count").textContent = `${all}${grouped(model.count)} replies.`;
    byId("replies-view").replaceChildren(...explained(model, sorted));
    byId("replies-clear").hidden = !isNarrowed(choice);
    section.querySelector(".replies-empty").hidden = shown.length > 0;
    byId("replies-list").hidden = !shown.length;
    const end = byId("replies-end");
    end.hidden = list.reachable() === shown.length;
    const reached = grouped(list.reachable());
    end.textContent = `Scrolling reaches the first ${reached} of them: search or filter to see others.`;
  }

  function writeAddress(turn) {
    const address = toAddress(choice, sorted, turn);
    if (address === START && !location.hash.startsWith(START)) return;
    try {
      history.replaceState(null, "", address === START ? "#replies" : address);
    } catch {
      // Some browsers refuse many changes in a row: the address lags behind till the next.
    }
  }

  function readAddress() {
    if (!location.hash.startsWith(START)) return; // a link to another part of the page
    const given = new URLSearchParams(location.hash.slice(START.length));
    choice = choiceFrom(model, given);
    const key = given.get("sort") || "file";
    sorted = { key: columnOf(model, key) ? key : "file", descending: given.get("down") === "1" };
    update();
    section.scrollIntoView();
    const turn = given.has("open") ? Number(given.get("open")) : -1;
    if (Number.isInteger(turn) && turn >= 0 && turn < model.count) reply.show(turn);
  }

  function clear() {
    choice = emptyChoice();
    list.toTop();
    update();
    byId("replies-query").focus();
  }

  const narrowed = () => {
    list.toTop();
    update();
  };
  const controls = makeControls(model, {
    narrowed,
    sort,
    clear,
    choice: () => choice,
    sorted: () => sorted,
    column: (key, isShown) => {
      if (isShown) columns.add(key);
      else columns.delete(key);
      update();
    },
  });

  section.querySelector(".replies-wait").remove();
  for (const part of section.querySelectorAll(".replies-tools, .replies-list, .replies-keys")) part.hidden = false;
  byId("replies-query").disabled = false;
  if (location.hash.startsWith(START)) readAddress();
  else update();
  window.addEventListener("hashchange", readAddress);
  const openFrom = (turn, opener) => {
    from = opener;
    reply.show(turn);
  };
  setTimeout(() => makeScatter(model, { open: openFrom })); // the list comes first
  printing(model, section, () => ({ shown, words: explained(model, sorted), columns: chosenColumns() }));
}

function allNumbers(model) {
  return [...model.metrics, ...model.ratings, ...model.pushes];
}

// As many as fit beside the texts; the others can be chosen.
function firstColumns(model) {
  const others = [...model.ratings.slice(0, 2), ...model.pushes.slice(0, 1)];
  return [...model.main.slice(0, 6 - others.length), ...others].map((column) => column.key);
}

// What stands first in the list, in words.
function explained(model, { key, descending }) {
  const column = columnOf(model, key);
  if (key === "file" || !column) return ["In the order of the corpus."];
  const ranks = (best) => `A rank goes from 0 for the worst reply of this page to 100 for the ${best}.`;
  if (key === "apart") {
    const how = "the highest rank that a metric gives less the lowest";
    return [`First those about which metrics differ most: ${how}. ${ranks("best")}`];
  }
  if (column.kind === "apart") {
    const [, metric, rating] = key.split(":").map((part) => model.columns.get(part));
    const names = [userText(metric.name), " and people (", userText(rating.name), ")"];
    const how = ` differ most: the distance of the two ranks. ${ranks("best, or the highest rated")}`;
    return ["First those about which ", ...names, how];
  }
  if (column.kind === "push") {
    const by = " of its system would fall without the reply, to first order.";
    return [descending ? "Highest first: by how much " : "Lowest first: by how much ", userText(column.distance), by];
  }
  let words = ["Lowest", "Highest"];
  if (column.better) words = column.better > 0 ? ["Worst", "Best"] : ["Best", "Worst"];
  if (column.kind === "other") return ["By ", column.name, descending ? ", backwards." : "."];
  const people = column.kind === "rating" ? " as people rated: higher counts as better." : ".";
  return [words[Number(descending)], " first, by ", userText(column.name), people];
}

function toAddress(choice, sorted, turn) {
  const said = new URLSearchParams();
  if (choice.query) said.set("q", choice.query);
  if (choice.where !== EVERYWHERE) said.set("in", choice.where);
  for (const name of ["systems", "corpora", "flags"]) {
    if (choice[name].size) said.set(name, [...choice[name]].join("."));
  }
  for (const name of ["value", "rating"]) {
    const { key, low, high } = choice[name];
    if (isRange(choice[name])) said.set(name, [key, low, high].join("_"));
  }
  if (sorted.key !== "file") said.set("sort", sorted.key);
  if (sorted.descending) said.set("down", "1");
  if (turn >= 0) said.set("open", turn);
  return START + said;
}

function choiceFrom(model, given) {
  const choice = emptyChoice();
  choice.query = given.get("q") || "";
  const where = given.get("in");
  if (["reply", "context", "reference", "id"].includes(where)) choice.where = where;
  for (const [name, known] of [["systems", model.systems], ["corpora", model.corpora], ["flags", model.flags]]) {
    const places = (given.get(name) || "").split(".").filter(Boolean).map(Number);
    choice[name] = new Set(places.filter((place) => Number.isInteger(place) && place >= 0 && place < known.length));
  }
  for (const name of ["value", "rating"]) {
    const [key, low, high] = (given.get(name) || "").split("_");
    if (model.columns.has(key)) choice[name] = { key, low: parseFloat(low), high: parseFloat(high) };
  }
  return choice;
}

// Paper gets the first rows of the list as an ordinary table.
function printing(model, section, now) {
  const sheet = section.querySelector(".replies-print");
  const most = Number(section.dataset.printed);
  const fill = () => {
    const { shown, words, columns } = now();
    const turns = shown.slice(0, most);
    const table = element("table");
    const head = element("tr");
    head.append(...["system", "id", "reply"].map((name) => element("th", "", name)));
    head.append(...columns.map((column) => element("th", "replies-number", column.name + arrowOf(column))));
    table.append(element("thead"), element("tbody"));
    table.tHead.append(head);
    for (const turn of turns) table.tBodies[0].append(printedRow(model, columns, turn));
    const said = element("p", "", `The first ${turns.length} of ${grouped(shown.length)} replies in the list. `);
    said.append(...words);
    sheet.replaceChildren(said, table);
  };
  window.addEventListener("beforeprint", fill);
  window.addEventListener("afterprint", () => sheet.replaceChildren());
  window.matchMedia("print").addEventListener("change", (event) => event.matches && fill());
}

function printedRow(model, columns, turn) {
  const row = element("tr");
  const cells = [systemName(model, model.system[turn]), userText(model.ids[turn]), element("div")];
  if (model.kept) {
    const before = textsOf(model, model.context[turn]).slice(-1);
    cells[2].append(...before.map((text) => userText(text, "replies-before")));
    cells[2].append(userText(model.texts[model.response[turn]], "replies-reply"));
  }
  row.append(...cells.map((content) => {
    const cell = element("td");
    cell.append(content);
    return cell;
  }));
  for (const { values, decimals } of columns) {
    row.append(element("td", "replies-number", shownNumber(values[turn], decimals)));
  }
  return row;
}

if (byId("replies") && byId("turns")) {
  document.querySelector(".replies-wait").hidden = false;
  readTurns().then((data) => start(makeModel(data))).catch((error) => {
    document.querySelector(".replies-wait")?.replaceChildren(`The replies cannot be shown. ${error.message}`);
    throw error;
  });
}
