// Helps fingers: sliders, keys for answers, one form for two clicks. Everything works without it.
"use strict";
(() => {
  const form = document.querySelector("form.asked");
  const KEPT = "dialogauge-keys";

  for (const range of document.querySelectorAll("input[type=range][data-for]")) slide(range);
  for (const sent of document.forms) once(sent);
  if (form) answerByKeys();

  // A slider writes the number beside it, and only once it was moved: an untouched one says nothing.
  function slide(range) {
    const number = document.getElementById(range.dataset.for);
    const box = range.closest(".slider");
    const skip = range.closest(".question").querySelector("input[type=checkbox]");
    const show = () => {
      box.classList.toggle("untouched", number.value === "");
      range.value = number.value === "" ? (Number(range.min) + Number(range.max)) / 2 : number.value;
      range.setAttribute("aria-valuetext", number.value === "" ? "no answer yet" : number.value);
    };
    const chosen = () => {
      number.value = range.value;
      if (skip) skip.checked = false;
      show();
    };
    range.addEventListener("input", chosen);
    range.addEventListener("click", chosen); // the middle, where it stands already
    number.addEventListener("input", () => { if (skip) skip.checked = false; show(); });
    if (skip) skip.addEventListener("change", () => { if (skip.checked) { number.value = ""; show(); } });
    range.hidden = false;
    show();
  }

  // A second click while the first is under way sends nothing; later, or back in the page, it may be sent again.
  function once(sent) {
    let under_way = false;
    sent.addEventListener("submit", (event) => {
      if (under_way) event.preventDefault();
      under_way = true;
      setTimeout(() => { under_way = false; }, 5000);
    });
    window.addEventListener("pageshow", () => { under_way = false; });
  }

  function answerByKeys() {
    const questions = [...form.querySelectorAll(".question")];
    const help = form.querySelector(".keys");
    const wanted = help.querySelector("input");
    wanted.checked = kept() !== "off";
    wanted.addEventListener("change", () => keep(wanted.checked ? "on" : "off"));
    help.hidden = false;
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !wanted.checked) return;
      const at = document.activeElement;
      if (at && at.matches("input[type=number], textarea, select")) return;
      if (act(event.key, at)) event.preventDefault();
    });

    function act(key, at) {
      if (key === "Enter" && (!at || at === document.body || at.matches("input[type=range]"))) return goOn();
      if (key.length !== 1) return false;
      if (key.toLowerCase() === "u") return press(form.querySelector("a.undo"));
      const here = (at && at.closest(".question")) || questions.find((question) => !answered(question)) || questions[0];
      const choice = [...here.querySelectorAll("[data-key]")].find((input) => input.dataset.key === key.toLowerCase());
      if (!press(choice)) return false;
      const open = questions.find((question) => !answered(question));
      (open ? open.querySelector("input:not([hidden])") : form.querySelector("button")).focus();
      return true;
    }

    // Not where nothing is answered yet: that was a key pressed twice on the page before.
    function goOn() {
      if (!questions.some(answered)) return false;
      const link = form.querySelector(".explained a.go-on");
      if (link) link.click();
      else form.requestSubmit();
      return true;
    }
  }

  function press(element) {
    if (element) element.click();
    return Boolean(element);
  }

  function answered(question) {
    return Boolean(question.querySelector(":checked") || question.querySelector("input[type=number]")?.value);
  }

  // Storage may be forbidden; then keys work, and are forgotten.
  function kept() {
    try { return localStorage.getItem(KEPT); } catch { return null; }
  }
  function keep(value) {
    try { localStorage.setItem(KEPT, value); } catch { /* as it is */ }
  }
})();
