(function () {
  "use strict";

  var texts = JSON.parse(document.getElementById("texts").textContent);
  var said = document.getElementById("said");

  function all(selector, act) {
    Array.prototype.forEach.call(document.querySelectorAll(selector), act);
  }

  /* Copying. Where a browser keeps its clipboard from pages on disk, the old way still works. */
  function copyByHand(text) {
    var area = document.createElement("textarea");
    area.value = text;
    area.setAttribute("readonly", "");
    area.className = "unseen";
    document.body.appendChild(area);
    area.select();
    var done = document.execCommand("copy");
    area.remove();
    return done;
  }

  function copy(text) {
    if (!navigator.clipboard) { return Promise.resolve(copyByHand(text)); }
    return navigator.clipboard.writeText(text).then(
      function () { return true; },
      function () { return copyByHand(text); }
    );
  }

  function answer(button, word) {
    var before = button.dataset.words || button.textContent;
    button.dataset.words = before;
    button.textContent = word;
    said.textContent = word + ": " + (button.getAttribute("aria-label") || before);
    clearTimeout(Number(button.dataset.timer));
    button.dataset.timer = String(setTimeout(function () { button.textContent = before; }, 1600));
  }

  function save(text, name, kind) {
    var link = document.createElement("a");
    var address = URL.createObjectURL(new Blob([text], { type: kind + ";charset=utf-8" }));
    link.href = address;
    link.download = name;
    document.body.appendChild(link);
    link.click();
    link.remove();
    setTimeout(function () { URL.revokeObjectURL(address); }, 10000);
  }

  /* The pictures of a figure as one, side by side in up to three columns, on white with dark ink. */
  function asFile(figure) {
    var pictures = figure.querySelectorAll("svg.chart");
    var gap = 24, wide = 0, high = 0, x = gap, y = gap, row = 0;
    var whole = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    var ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    whole.appendChild(ground);
    Array.prototype.forEach.call(pictures, function (picture, place) {
      var copied = picture.cloneNode(true);
      var box = picture.viewBox.baseVal;
      if (place && place % 3 === 0) { x = gap; y += row + gap; row = 0; }
      copied.setAttribute("x", x);
      copied.setAttribute("y", y);
      copied.setAttribute("width", box.width);
      copied.setAttribute("height", box.height);
      whole.appendChild(copied);
      x += box.width + gap;
      row = Math.max(row, box.height);
      wide = Math.max(wide, x);
      high = y + row + gap;
    });
    whole.setAttribute("viewBox", "0 0 " + wide + " " + high);
    whole.setAttribute("width", wide);
    whole.setAttribute("height", high);
    whole.setAttribute("color", "#1b1f24");
    ground.setAttribute("width", wide);
    ground.setAttribute("height", high);
    ground.setAttribute("fill", "#ffffff");
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(whole) + "\n";
  }

  all(".tools", function (group) { group.hidden = false; });
  all("[data-copy]", function (button) {
    button.addEventListener("click", function () {
      copy(texts[button.dataset.copy]).then(function (done) { answer(button, done ? "Copied" : "Not copied"); });
    });
  });
  all("[data-save]", function (button) {
    button.addEventListener("click", function () {
      save(texts[button.dataset.save], button.dataset.save, "text/plain");
      answer(button, "Saved");
    });
  });
  all("[data-figure]", function (button) {
    button.addEventListener("click", function () {
      var figure = document.getElementById("figure-" + button.dataset.figure);
      save(asFile(figure), button.dataset.figure + ".svg", "image/svg+xml");
      answer(button, "Saved");
    });
  });

  /* Light, dark, or as the system has it. */
  var themes = { system: "Theme: system", light: "Theme: light", dark: "Theme: dark" };
  var order = Object.keys(themes);
  var theme = document.getElementById("theme");

  function stored(value) {
    try {
      if (value === undefined) { return localStorage.getItem("dialogauge-theme"); }
      localStorage.setItem("dialogauge-theme", value);
    } catch (refused) { /* pages on disk may have no memory */ }
    return null;
  }

  function show(name) {
    if (name === "system") { document.documentElement.removeAttribute("data-theme"); }
    else { document.documentElement.setAttribute("data-theme", name); }
    theme.dataset.now = name;
    theme.textContent = themes[name];
    document.dispatchEvent(new CustomEvent("themechange"));
  }

  var first = stored();
  show(order.indexOf(first) < 0 ? "system" : first);
  theme.hidden = false;
  theme.addEventListener("click", function () {
    var next = order[(order.indexOf(theme.dataset.now) + 1) % order.length];
    stored(next);
    show(next);
  });

  /* On paper, what can be opened is open, but for the long tables. */
  var opened = [];
  window.addEventListener("beforeprint", function () {
    all("details:not([open])", function (part) {
      if (part.closest("#pairs, #spreads, #replies, #scatter")) { return; }
      part.open = true;
      opened.push(part);
    });
  });
  window.addEventListener("afterprint", function () {
    opened.forEach(function (part) { part.open = false; });
    opened = [];
  });

  /* The section that is being read is marked in the list of sections. */
  if ("IntersectionObserver" in window) {
    var links = {};
    all("nav a", function (link) { links[link.getAttribute("href").slice(1)] = link; });
    var watcher = new IntersectionObserver(function (entries) {
      entries.forEach(function (entry) {
        if (!entry.isIntersecting) { return; }
        all("nav a[aria-current]", function (link) { link.removeAttribute("aria-current"); });
        if (links[entry.target.id]) { links[entry.target.id].setAttribute("aria-current", "true"); }
      });
    }, { rootMargin: "-20% 0px -70% 0px" });
    all("main > section[id]", function (section) { watcher.observe(section); });
  }
})();
