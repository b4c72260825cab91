// The list: of any number of replies, only the rows in sight are in the page.

const TALLEST = 16000000; // pixels that every browser can scroll through
const SPARE = 6; // rows beyond the edges of what is in sight
const SERIES = 8;

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

// A text of a user: it has a direction of its own and moves nothing around it.
function userText(text, className, query) {
  const made = element("bdi", className);
  made.dir = "auto";
  made.append(...(query ? marked(text, query) : [text]));
  return made;
}

function marked(text, query) {
  const [whole, wanted] = [text.toLowerCase(), query.toLowerCase()];
  if (whole.length !== text.length) return [text];
  const parts = [];
  let start = 0;
  for (let at = whole.indexOf(wanted); at >= 0; at = whole.indexOf(wanted, start)) {
    parts.push(text.slice(start, at), element("mark", "", text.slice(at, at + wanted.length)));
    start = at + wanted.length;
  }
  return [...parts, text.slice(start)];
}

function systemMark(system) {
  const shape = (system + Math.floor(system / SERIES)) % SERIES;
  const made = element("span", `mark mark-${shape + 1} series-${(system % SERIES) + 1}`);
  made.setAttribute("aria-hidden", "true");
  return made;
}

function systemName(model, system) {
  const made = element("span", "system-name");
  made.append(systemMark(system), userText(model.systems[system]));
  return made;
}

function makeList(model, { open, sort }) {
  const list = document.getElementById("replies-list");
  const [head, rows] = list.children;
  list.classList.toggle("replies-bare", !model.kept);
  const drawn = new Map(); // rows in the page, by their place in the list
  let shown = new Uint32Array(0);
  let columns = [];
  let active = 0;
  let height = 64;
  let query = "";

  function update(next) {
    ({ shown, columns, query } = next);
    active = Math.min(active, Math.max(shown.length - 1, 0));
    list.setAttribute("aria-rowcount", shown.length + 1);
    list.setAttribute("aria-colcount", columns.length + (model.kept ? 3 : 2));
    const names = model.kept ? "7rem 4.5rem minmax(16rem, 1fr)" : "minmax(7rem, 1fr) minmax(7rem, 2fr)";
    list.style.setProperty("--columns", names + " 5rem".repeat(columns.length));
    list.style.setProperty("--least", `${31 + 5.75 * columns.length}rem`);
    drawHead(next.sorted);
    redraw();
  }

  function redraw() {
    height = parseFloat(getComputedStyle(list).getPropertyValue("--row-height")) || height;
    rows.style.height = `${reachable() * height}px`;
    const focused = rows.contains(document.activeElement);
    for (const row of drawn.values()) row.remove();
    drawn.clear();
    draw();
    if (focused && drawn.has(active)) drawn.get(active).focus({ preventScroll: true });
  }

  // How many rows scrolling can reach.
  function reachable() {
    return Math.min(shown.length, Math.floor(TALLEST / height));
  }

  function draw() {
    const top = list.scrollTop;
    const first = Math.max(Math.floor(top / height) - SPARE, 0);
    const last = Math.min(Math.ceil((top + list.clientHeight) / height) + SPARE, reachable());
    for (const [place, row] of drawn) {
      if ((place < first || place >= last) && place !== active) {
        row.remove();
        drawn.delete(place);
      }
    }
    for (let place = first; place < last; place++) drawRow(place);
    if (reachable()) drawRow(active);
  }

  function drawRow(place) {
    if (drawn.has(place)) return drawn.get(place);
    const turn = shown[place];
    const row = element("div", "replies-row");
    row.setAttribute("role", "row");
    row.setAttribute("aria-rowindex", place + 2);
    row.tabIndex = place === active ? 0 : -1;
    row.style.transform = `translateY(${place * height}px)`;
    row.append(nameCell(turn), idCell(turn), ...(model.kept ? [replyCell(turn)] : []));
    row.append(...columns.map((column) => numberCell(column, turn)));
    row.addEventListener("click", () => {
      activate(place);
      open(place);
    });
    drawn.set(place, row);
    const after = [...drawn.keys()].filter((other) => other > place).sort((a, b) => a - b)[0];
    rows.insertBefore(row, after === undefined ? null : drawn.get(after));
    return row;
  }

  function cell(className, ...content) {
    const made = element("div", className);
    made.setAttribute("role", "gridcell");
    made.append(...content);
    return made;
  }

  function nameCell(turn) {
    return cell("replies-system", systemName(model, model.system[turn]));
  }

  function idCell(turn) {
    return cell("replies-id", userText(model.ids[turn], "", query));
  }

  function replyCell(turn) {
    const context = textsOf(model, model.context[turn]);
    const wanted = query.toLowerCase();
    const before = (wanted && context.findLast((said) => said.toLowerCase().includes(wanted))) || context.pop();
    const text = model.texts[model.response[turn]];
    const above = before === undefined ? [] : [userText(before, "replies-before", query)];
    const reply = text.trim() ? userText(text, "replies-reply", query) : element("em", "replies-reply", "(empty)");
    return cell("replies-text", ...above, reply);
  }

  function numberCell(column, turn) {
    const made = cell("replies-number", shownNumber(column.values[turn], column.decimals));
    made.dataset.label = column.name;
    return made;
  }

  function drawHead(sorted) {
    const row = element("div", "replies-row");
    row.setAttribute("role", "row");
    row.setAttribute("aria-rowindex", 1);
    const fixed = [["system", "system"], ["id", "id"], ["", "reply"]].slice(0, model.kept ? 3 : 2);
    const heads = [...fixed, ...columns.map((column) => [column.key, column.name, arrowOf(column)])];
    row.append(...heads.map(([key, name, arrow = ""], at) => headCell(key, name, arrow, at >= fixed.length, sorted)));
    head.replaceChildren(row);
  }

  function headCell(key, name, arrow, isNumber, sorted) {
    const made = element("div", isNumber ? "replies-number" : "");
    made.setAttribute("role", "columnheader");
    const isSorted = key === sorted.key;
    if (isSorted) made.setAttribute("aria-sort", sorted.descending ? "descending" : "ascending");
    if (!key) {
      made.append(name);
      return made;
    }
    const button = element("button");
    button.type = "button";
    button.title = `Sort by ${name}`;
    button.append(userText(name), arrow);
    button.addEventListener("click", () => sort(key, isSorted ? !sorted.descending : isNumber));
    made.append(button);
    return made;
  }

  function activate(place) {
    const before = drawn.get(active);
    if (before) before.tabIndex = -1;
    active = place;
    drawRow(place).tabIndex = 0;
  }

  // Brings a row into sight and gives it the focus.
  function focus(place) {
    activate(place);
    const top = head.offsetHeight;
    const [from, till] = [place * height, (place + 1) * height];
    if (from < list.scrollTop) list.scrollTop = from;
    else if (till > list.scrollTop + list.clientHeight - top) list.scrollTop = till - list.clientHeight + top;
    draw();
    drawRow(place).focus({ preventScroll: true });
  }

  const page = () => Math.max(Math.floor((list.clientHeight - head.offsetHeight) / height) - 1, 1);
  const moves = new Map([
    ["ArrowDown", () => active + 1],
    ["ArrowUp", () => active - 1],
    ["PageDown", () => active + page()],
    ["PageUp", () => active - page()],
    ["Home", () => 0],
    ["End", () => reachable() - 1],
  ]);

  rows.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") open(active);
    else if (moves.has(event.key)) focus(Math.min(Math.max(moves.get(event.key)(), 0), reachable() - 1));
    else return;
    event.preventDefault();
  });
  list.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
  new ResizeObserver(redraw).observe(list);

  return {
    update,
    reachable,
    focus: (place = active) => reachable() && focus(place),
    toTop: () => (list.scrollTop = 0),
  };
}
