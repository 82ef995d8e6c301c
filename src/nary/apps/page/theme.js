/* Light or dark: the system setting, unless the user chose otherwise. A classic script, so that it runs before the
   first paint. */
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const preferred = () => (system.matches ? "dark" : "light");
  const current = () => localStorage.getItem("nary-theme") ?? preferred();

  function apply() {
    root.dataset.theme = current();
    const button = document.getElementById("theme");
    if (button) button.textContent = current() === "dark" ? "Light mode" : "Dark mode";
  }

  function toggle() {
    const next = current() === "dark" ? "light" : "dark";
    if (next === preferred()) localStorage.removeItem("nary-theme");
    else localStorage.setItem("nary-theme", next);
    apply();
  }

  apply();
  system.addEventListener("change", apply);
  addEventListener("DOMContentLoaded", () => {
    apply();
    document.getElementById("theme").addEventListener("click", toggle);
  });
})();
