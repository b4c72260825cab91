// The controls above the list. They show what is chosen, and say when something else is.

function makeControls(model, hooks) {
  const byColumn = byId("replies-by");
  const against = byId("replies-against");
  const views = [...document.querySelectorAll(".replies-views button")];
  const filters = byId("replies-filters");
  const chips = [
    makeChips("replies-systems", "systems", model.systems.length, (place) => systemName(model, place)),
    makeChips("replies-corpora", "corpora", model.corpora.length, (place) => userText(model.corpora[place])),
    makeChips("replies-flags", "flags", model.flags.length, (place) => flagName(model.flags[place]), 1),
  ];
  const ranges = [
    makeRange("replies-value", "value", [...model.metrics, ...model.pushes]),
    makeRange("replies-rating", "rating", model.ratings),
  ];
  fillSelects();

  // A button for each of several things, of which any number can be chosen.
  function makeChips(id, name, count, content, fewest = 2) {
    byId(id).hidden = count < fewest;
    const buttons = Array.from({ length: count }, (_, place) => {
      const button = element("button", "chip");
      button.type = "button";
      button.append(content(place));
      button.addEventListener("click", () => {
        const chosen = hooks.choice()[name];
        if (!chosen.delete(place)) chosen.add(place);
        hooks.narrowed();
      });
      return button;
    });
    byId(id).querySelector(".replies-chips").append(...buttons);
    return (choice) =>
      buttons.forEach((button, place) => button.setAttribute("aria-pressed", String(choice[name].has(place))));
  }

  function makeRange(id, name, columns) {
    const [select, low, high] = byId(id).querySelectorAll("select, input");
    byId(id).hidden = !columns.length;
    select.append(...columns.map(option));
    const changed = () => {
      hooks.choice()[name] = { key: select.value, low: parseFloat(low.value), high: parseFloat(high.value) };
      hooks.narrowed();
    };
    select.addEventListener("change", changed);
    for (const input of [low, high]) input.addEventListener("input", changed);
    return (choice) => {
      const range = choice[name];
      if (range.key) select.value = range.key;
      if (columns.length) [low.placeholder, high.placeholder] = extremes(model.columns.get(select.value));
      showNumber(low, range.low);
      showNumber(high, range.high);
    };
  }

  // Not while it is being written: 0. is on its way to 0.5.
  function showNumber(input, number) {
    if (input !== document.activeElement) input.value = Number.isNaN(number) ? "" : String(number);
  }

  function option(column) {
    return new Option(column.name + arrowOf(column), column.key);
  }

  function fillSelects() {
    const numbers = [...model.metrics, ...model.ratings];
    const others = [["file", "order of the corpus"], ["id", "id"], ["system", "system"]];
    if (model.kept) others.push(["context", "context"], ["length", "length in characters"]);
    byId("replies-sort").append(...others.map(([key, name]) => new Option(name, key)));
    byId("replies-sort").append(...allNumbers(model).map(option));
    if (model.metrics.length && (model.ratings.length || directed(model).length > 1)) {
      byId("replies-sort").append(new Option("most disputed: ranks apart", "apart"));
    }
    const places = [["all", "all texts and ids"], ["reply", "replies"], ["context", "contexts"]];
    places.push(["reference", "references"], ["id", "ids"]);
    byId("replies-where").append(...places.map(([key, name]) => new Option(name, key)));
    byId("replies-where").parentElement.hidden = !model.kept;
    byColumn.append(...numbers.map(option));
    if (directed(model).length) byColumn.value = directed(model)[0].key;
    against.append(...model.ratings.map((rating) => new Option(`people: ${rating.name}`, rating.key)));
    if (directed(model).length > 1) against.append(new Option("each other: all metrics", ""));
    const there = new Map([
      ["best", numbers.length],
      ["worst", numbers.length],
      ["apart", against.options.length && model.metrics.length],
      ["push", model.pushes.length],
    ]);
    for (const button of views) button.hidden = there.get(button.dataset.view) === 0;
    const push = views.find((button) => button.dataset.view === "push");
    if (model.pushes.length) push.replaceChildren("Push ", userText(model.pushes[0].distance), " most");
    byId("replies-columns").querySelector("div").append(...allNumbers(model).map(columnBox));
  }

  function columnBox(column) {
    const label = element("label");
    const box = element("input");
    box.type = "checkbox";
    box.value = column.key;
    box.addEventListener("change", () => hooks.column(column.key, box.checked));
    label.append(box, userText(column.name));
    return label;
  }

  function chosenColumn() {
    return model.columns.get(byColumn.value);
  }

  function disputed() {
    if (!against.value) return "apart";
    const metric = chosenColumn().kind === "metric" ? byColumn.value : directed(model)[0]?.key || model.metrics[0].key;
    return `apart:${metric}:${against.value}`;
  }

  const goTo = new Map([
    ["file", () => hooks.sort("file", false)],
    ["best", () => hooks.sort(byColumn.value, chosenColumn().better >= 0)],
    ["worst", () => hooks.sort(byColumn.value, chosenColumn().better < 0)],
    ["apart", () => hooks.sort(disputed(), true)],
    ["push", () => hooks.sort(model.pushes[0].key, true)],
  ]);

  function viewOf({ key, descending }) {
    const column = columnOf(model, key);
    if (key === "file") return "file";
    if (!column || column.kind === "other") return "";
    if (column.kind === "apart") return "apart";
    if (column.kind === "push") return descending ? "push" : "";
    return descending === column.better >= 0 ? "best" : "worst";
  }

  function showViews(sorted) {
    const view = viewOf(sorted);
    for (const button of views) button.setAttribute("aria-pressed", String(button.dataset.view === view));
    const [, metric, rating] = sorted.key.split(":");
    const shownBy = metric || sorted.key;
    if (model.columns.has(shownBy) && ["best", "worst", "apart"].includes(view)) byColumn.value = shownBy;
    if (view === "apart") against.value = rating || "";
    byId("replies-by-label").hidden = !["best", "worst", "apart"].includes(view) || sorted.key === "apart";
    byId("replies-against-label").hidden = view !== "apart" || against.options.length < 2;
    const isDirected = !chosenColumn() || chosenColumn().better;
    for (const button of views) {
      if (button.dataset.view === "best") button.textContent = isDirected ? "Best" : "Highest";
      if (button.dataset.view === "worst") button.textContent = isDirected ? "Worst" : "Lowest";
    }
  }

  function show(choice, sorted, columns) {
    if (byId("replies-query") !== document.activeElement) byId("replies-query").value = choice.query;
    byId("replies-where").value = choice.where;
    for (const showOne of [...chips, ...ranges]) showOne(choice);
    const active = isNarrowed(choice) - (choice.query ? 1 : 0);
    byId("replies-active").textContent = active ? `${active} chosen` : "";
    byId("replies-sort").value = sorted.key.split(":")[0];
    byId("replies-direction").textContent = sorted.descending ? "\u2193 descending" : "\u2191 ascending";
    for (const box of byId("replies-columns").querySelectorAll("input")) box.checked = columns.has(box.value);
    showViews(sorted);
  }

  let waiting = 0;
  byId("replies-query").addEventListener("input", (event) => {
    clearTimeout(waiting);
    const look = () => {
      hooks.choice().query = event.target.value;
      hooks.narrowed();
    };
    if (model.count > FEW) waiting = setTimeout(look, PAUSE);
    else look();
  });
  byId("replies-where").addEventListener("change", (event) => {
    hooks.choice().where = event.target.value;
    hooks.narrowed();
  });
  for (const button of views) button.addEventListener("click", goTo.get(button.dataset.view));
  byColumn.addEventListener("change", () => (goTo.get(viewOf(hooks.sorted())) || goTo.get("best"))());
  against.addEventListener("change", goTo.get("apart"));
  byId("replies-sort").addEventListener("change", (event) => {
    if (event.target.value === "apart") return goTo.get("apart")();
    const column = columnOf(model, event.target.value);
    hooks.sort(event.target.value, Boolean(column) && column.kind !== "other");
  });
  byId("replies-direction").addEventListener("click", () => hooks.sort(hooks.sorted().key, !hooks.sorted().descending));
  byId("replies-clear").addEventListener("click", hooks.clear);
  document.querySelector(".replies-empty button").addEventListener("click", hooks.clear);
  document.querySelector(".replies-tools").addEventListener("submit", (event) => event.preventDefault());
  for (const details of [filters, byId("replies-columns")]) closesWithEscape(details);
  return { show };
}

// The lowest and the highest value there is, for the fields that ask for a range.
function extremes(column) {
  let [low, high] = [NaN, NaN];
  for (const value of column.values) {
    if (!(value >= low)) low = Number.isNaN(value) ? low : value;
    if (!(value <= high)) high = Number.isNaN(value) ? high : value;
  }
  return [low, high].map((value) => shownNumber(value, column.decimals));
}

function flagName(flag) {
  const made = element("span");
  made.append(userText(flag.name), element("small", "", ` ${grouped(flag.places.length)}`));
  return made;
}

function closesWithEscape(details) {
  details.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !details.open) return;
    details.open = false;
    details.querySelector("summary").focus();
  });
}
