// The page: what each address shows, and what opening a part does.

const list = byId("claim-list");
const filterClaims = list?.querySelector(".claim") ? makeClaims(list) : () => {};

const VIEWS = {
  leaderboard: openLeaderboard,
  datasets: () => openDatasets(),
  dataset: ({ name }) => openDatasets(name, (cells) => datasetView(cells, name)),
  rows: (query) => openDatasets(`Rows of ${query.e}`, (cells) => rowsView(cells, query)),
  cell: openCell,
  claims: (query) => filterClaims(query),
  appendix: () => openAppendix(),
  table: ({ id }) => openAppendix(`table-${id}`),
  figure: ({ id }) => openAppendix(`figure-${id}`),
  experiment: ({ id }) => openAppendix(`experiment-${id}`),
};

// The section of a view is where the page scrolls to.
const SECTIONS = { dataset: "datasets", rows: "datasets" };

const go = async () => {
  const { name, query } = readAddress();
  if (name !== "cell" && dialog.open) {
    dialog.removeEventListener("close", closeCell);
    dialog.close();
    dialog.addEventListener("close", closeCell);
  }
  if (Object.hasOwn(VIEWS, name)) {
    byId(SECTIONS[name] ?? name)?.scrollIntoView();
    await VIEWS[name](query);
  } else if (byId(name)?.matches("details")) {
    byId(name).open = true;
    byId(name).scrollIntoView();
  }
};

for (const part of document.querySelectorAll("details.part")) {
  part.addEventListener("toggle", () => {
    const place = part.querySelector(".filled");
    if (part.open && !place.dataset.asked) {
      if (readAddress().name !== part.id) settle(part.id, {});
      VIEWS[part.id]({});
    }
  });
}
document.querySelectorAll(".scroll, pre").forEach((region) => scrollWatcher.observe(region));
window.addEventListener("hashchange", go);
if (location.hash) window.addEventListener("load", go, { once: true });
