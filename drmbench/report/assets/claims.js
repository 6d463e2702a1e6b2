// Claims: filters, and the comparisons behind each when it is opened.

const makeClaims = (list) => {
  const claims = [...list.querySelectorAll(".claim")];
  const status = element("span", { role: "status" }, told(claims.length, claims.length, "claim"));
  const statuses = list.dataset.statuses.split(", ").map((name) => [name, name]);
  const form = element("form", { className: "tools", "aria-label": "Filters of the claims" },
    choice("Kind", "kind", [["", "all"], ["empirical", "empirical"], ["arithmetic", "arithmetic"]]),
    choice("The paper's protocol", "status", [["", "any"], ...statuses]),
    choice("Honest protocol", "honest", [["", "any"], ...statuses]),
    element("label", { htmlFor: "find-claim" }, "Find"),
    element("input", { type: "search", id: "find-claim", name: "q", autocomplete: "off" }),
    status);
  const update = () => {
    const said = Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ""));
    const asked = (said.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    for (const claim of claims) {
      const text = claim.textContent.toLowerCase();
      const matches = ["kind", "status", "honest"].every((key) => !said[key] || claim.dataset[key] === said[key]);
      claim.hidden = !(matches && asked.every((word) => text.includes(word)));
    }
    status.textContent = told(claims.filter((claim) => !claim.hidden).length, claims.length, "claim");
    return said;
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => settle("claims", update()));
  list.before(form);
  for (const claim of claims) {
    claim.addEventListener("toggle", () => {
      const place = claim.querySelector(".comparisons");
      if (claim.open && !place.children.length) {
        fill(place, load("claims").then((tables) => tables
          .filter((table) => table.claim === place.dataset.claim)
          .map(plainTable)));
      }
    });
  }
  return (query) => {
    for (const name of ["kind", "status", "honest", "q"]) form.elements[name].value = query[name] ?? "";
    update();
  };
};
