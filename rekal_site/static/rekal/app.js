// Small helps on top of pages that work without any script.
"use strict";

const box = () => document.querySelector("[data-ask-box]");

// "/" jumps to the question box, unless one is typing already.
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = box();
  event.preventDefault();
  if (target) {
    target.focus();
    target.select();
  } else {
    window.location.assign("/");
  }
});

// A page that comes back from the browser's memory is asked for again: it may be somebody else's turn now.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) window.location.reload();
});

// Menus close when one looks elsewhere.
const closeMenus = (except) =>
  document.querySelectorAll("details.more-menu[open]").forEach((menu) => menu !== except && menu.removeAttribute("open"));
document.addEventListener("click", (event) => closeMenus(event.target.closest("details.more-menu")));
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const open = document.querySelector("details.more-menu[open]");
  closeMenus(null);
  open?.querySelector("summary").focus();
});

// Copying a link that is shown once.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const field = document.getElementById(button.dataset.copy);
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    say(button.dataset.copied);
    button.textContent = button.dataset.copied;
  } catch {
    document.execCommand("copy");
  }
});

// "Select all" on a list with checkboxes.
document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-select-all]")) return;
  document.querySelectorAll(`input[type=checkbox][form="${event.target.dataset.selectAll}"]`).forEach((one) => {
    one.checked = event.target.checked;
  });
});

// A form field that only matters for one of several choices.
const showChosen = () =>
  document.querySelectorAll("[data-shown-for]").forEach((part) => {
    const [name, value] = part.dataset.shownFor.split("=");
    const chosen = document.querySelector(`input[name="${name}"]:checked`);
    part.hidden = Boolean(chosen) && chosen.value !== value;
  });
document.addEventListener("change", showChosen);
document.addEventListener("DOMContentLoaded", showChosen);
document.addEventListener("htmx:afterSettle", showChosen);

// Buttons that need a script stay out of sight without one.
document.documentElement.classList.add("scripted");

function say(words) {
  document.getElementById("live").textContent = words;
}

// The undo offer goes when its minute is over.
document.addEventListener("htmx:load", fadeOffers);
document.addEventListener("DOMContentLoaded", fadeOffers);
function fadeOffers() {
  document.querySelectorAll("[data-gone-after]").forEach((offer) => {
    window.setTimeout(() => offer.remove(), Number(offer.dataset.goneAfter) * 1000);
    offer.removeAttribute("data-gone-after");
  });
}

// A form that takes a while says so until its reply is there; whoever comes back to it finds it ready again.
document.addEventListener("submit", (event) => setBusy(event.target, true));
window.addEventListener("pageshow", () => document.querySelectorAll("form[data-slow]").forEach((form) => setBusy(form, false)));
function setBusy(form, busy) {
  if (!form.matches("form[data-slow]")) return;
  form.querySelector("button[type=submit]").setAttribute("aria-busy", String(busy));
  form.querySelector("[data-while-busy]").hidden = !busy;
}

// Installed on a phone, the page says so when the house is out of reach.
if ("serviceWorker" in navigator) navigator.serviceWorker.register("/service-worker.js").catch(() => {});

// Nobody is signed in: the browser keeps nothing of who was.
document.addEventListener("DOMContentLoaded", () => {
  if (!document.body.classList.contains("signed-in")) window.sessionStorage.clear();
});

// The time zone of this device is a better guess than the server's.
document.addEventListener("DOMContentLoaded", () => {
  const field = document.querySelector("select[data-guess-zone]");
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (field && [...field.options].some((option) => option.value === here)) field.value = here;
});
