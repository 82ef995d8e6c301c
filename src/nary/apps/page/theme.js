/* Light or dark: the system setting, unless the user chose otherwise. A classic script, so that it runs before the
   first paint. */
(() => {
  const KEY = "nary-theme";
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const preferred = () => (system.matches ? "dark" : "light");
  let chosen = null;
  try {
    chosen = localStorage.getItem(KEY);
  } catch {
    // storage is blocked: the choice lasts until the page closes
  }
  const current = () => chosen ?? preferred();

  function apply() {
    root.dataset.theme = current();
    const button = document.getElementById("theme");
    if (button) button.textContent = current() === "dark" ? "Light mode" : "Dark mode";
  }

  function toggle() {
    const next = current() === "dark" ? "light" : "dark";
    chosen = next === preferred() ? null : next;
    try {
      if (chosen) localStorage.setItem(KEY, chosen);
      else localStorage.removeItem(KEY);
    } catch {
      // as above
    }
    apply();
  }

  apply();
  system.addEventListener("change", apply);
  addEventListener("DOMContentLoaded", () => {
    apply();
    document.getElementById("theme").addEventListener("click", toggle);
  });
})();
