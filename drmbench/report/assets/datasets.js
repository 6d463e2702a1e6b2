// Data sets, all figures on one of them, and all rows of an experiment.

const datasetsTable = ({ datasets }) => {
  const link = (row) => element("a", { href: address("dataset", { name: row.name }) }, row.name);
  const number = (text, key, show) => ({ text, number: true, value: (row) => row[key], show: show ?? ((row) => (row[key] ?? NO_FIGURE).toLocaleString("en")) });
  const words = (text, key) => ({ text, value: (row) => row[key], show: (row) => row[key] });
  const columns = [
    { text: "data set", value: (row) => row.name, show: link },
    number("n", "n"), number("p", "p"), number("classes", "classes"), number("imbalance", "ratio"),
    words("kind", "regime"), words("origin", "origin"), words("source", "source"),
    { text: "experiments", show: (row) => row.experiments.join(", ") },
  ].filter((column) => !column.text.startsWith("origin") || datasets.some((row) => row.origin));
  const { region, lines } = sortable({ title: plural(datasets.length, "data set"), columns, rows: datasets });
  const input = element("input", { type: "search", id: "find-dataset", autocomplete: "off" });
  const status = element("span", { role: "status" }, told(datasets.length, datasets.length, "data set"));
  input.addEventListener("input", () => {
    const asked = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const line of lines.values()) {
      line.hidden = !asked.every((word) => line.textContent.toLowerCase().includes(word));
      left += !line.hidden;
    }
    status.textContent = told(left, datasets.length, "data set");
  });
  const tools = element("div", { className: "tools" },
    element("label", { htmlFor: "find-dataset" }, "Find"), input, status);
  return element("div", {}, tools, region);
};

// What was measured on a data set: methods by experiment and mode.
const datasetView = (cells, name) => {
  const used = cells.flatMap((one) => {
    const modes = [...new Set(one.ways.map(([mode]) => mode))];
    const there = one.datasets.some((entry) => (entry.real === name || entry.name === name) && !entry.missing);
    return there ? modes.map((mode) => ({ one, mode, label: `${one.name}, ${mode}, ${one.metrics[0].replaceAll("_", " ")}` })) : [];
  });
  const byLabel = new Map(used.map((entry) => [entry.label, entry]));
  const methods = [...new Set(used.flatMap(({ one }) => one.methods))];
  const found = (method, label) => findCell(cells, { e: byLabel.get(label).one.name, d: name, m: method });
  return grid({
    title: `${name}: means over splits; click a figure, or move by arrows and press Enter`,
    corner: "method", columns: [...byLabel.keys()], rows: methods,
    text: (method, label) => {
      const cell = found(method, label);
      const { one, mode } = byLabel.get(label);
      return cell ? fixed(cellMean(cell, one.metrics[0], mode), 4) : NO_FIGURE;
    },
    open: (method, label) => {
      const { one, mode } = byLabel.get(label);
      showCell({ e: one.name, d: name, m: method, mode });
    },
  });
};

// The rows of an experiment: data sets by method.
const rowsView = (cells, query) => {
  const one = cells.find((entry) => entry.name === query.e);
  if (!one) return element("p", {}, `${query.e} has no rows that classify; its tables are in the appendix.`);
  const metric = one.metrics.includes(query.metric) ? query.metric : one.metrics[0];
  const modes = [...new Set(one.ways.map(([mode]) => mode))];
  const mode = modes.includes(query.mode) ? query.mode : modes[0];
  const form = element("form", { className: "tools", "aria-label": `Rows of ${one.name}` },
    choice("Metric", "metric", one.metrics.map((name) => [name, name.replaceAll("_", " ")])),
    choice("Mode", "mode", modes.map((name) => [name, name])));
  form.elements.metric.value = metric;
  form.elements.mode.value = mode;
  form.addEventListener("change", () => {
    const { metric: m, mode: o } = Object.fromEntries(new FormData(form));
    location.hash = address("rows", { e: one.name, metric: m, mode: o });
  });
  const table = grid({
    title: `${one.name}: means over splits; click a figure, or move by arrows and press Enter`,
    corner: "data set", columns: one.methods, rows: one.datasets.map((entry) => entry.name),
    text: (name, method) => fixed(cellMean(findCell(cells, { e: one.name, d: name, m: method }), metric, mode), 4),
    open: (name, method) => showCell({ e: one.name, d: name, m: method, mode }),
  });
  return [form, table];
};

// The table of data sets, and above it what was asked for.
const datasetsPart = async (title, promise) => {
  const data = await load("boards");
  if (!promise) return [datasetsTable(data)];
  const cells = await load("cells");
  const heading = element("h3", { id: "looked-at", tabIndex: -1 }, title);
  return [heading, ...[promise(cells)].flat(), element("h3", {}, "All data sets"), datasetsTable(data)];
};

const openDatasets = async (title, promise) => {
  await fill(openPart("datasets"), datasetsPart(title, promise));
  byId("looked-at")?.focus();
};
