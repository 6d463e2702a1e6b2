// A cell: its splits, parameters, time and commit, and the command that makes it again.

// As a shell reads it: plain where that is safe, else within quotes.
const quoted = (word) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;

const term = (name, said) =>
  said ? element("div", {}, element("dt", {}, name), element("dd", {}, said)) : null;

const paramWords = (text) => {
  try {
    const pairs = Object.entries(JSON.parse(text));
    return pairs.map(([key, value]) => `${key} = ${value}`).join(", ") || "none";
  } catch {
    return text;
  }
};

const splitsTable = ({ experiment }, part) => {
  const { columns, failures, texts, metrics } = experiment;
  const rows = [];
  for (let at = part.start; at < part.start + part.splits; at += 1) {
    const done = columns.seconds[at] !== null;
    if (!done && !(at in failures)) continue;
    const figures = metrics.map((metric) => {
      const value = columns[metric][at];
      return value === null ? NO_FIGURE : (value / UNITS).toFixed(4);
    });
    rows.push([
      String(at - part.start + 1), ...figures,
      seconds(columns.seconds[at]), seconds(columns.predict[at]),
      done ? texts[columns.scaling[at]] : "",
      done ? paramWords(texts[columns.params[at]]) : failures[at],
    ]);
  }
  const numbers = [...metrics.map((name) => name.replaceAll("_", " ")), "select and fit [s]", "predict [s]"];
  const heads = [["split", true, ""], ...numbers.map((text) => [text, true, ""]),
    ["scaling", false, ""], ["parameters", false, ""]];
  const id = `splits-${part.mode}-${part.scaling}`;
  const title = `Mode ${part.mode}, scaling ${part.scaling}`;
  return plainTable({ id, title, columns: heads, rows, summaries: 0, notes: [] });
};

const cellContent = (cells, query) => {
  const found = findCell(cells, query);
  if (!found) return element("p", {}, `There is no cell of ${query.m} on ${query.d} in ${query.e}.`);
  const { experiment, dataset } = found;
  const wanted = found.parts.filter((part) => !query.mode || part.mode === query.mode);
  const command =
    `${experiment.command} --dataset ${quoted(dataset.name)} --method ${quoted(query.m)}`;
  const code = element("code", {}, command);
  const others = cells.filter((one) =>
    one.name !== experiment.name && findCell(cells, { ...query, e: one.name })?.parts.length);
  const links = others.flatMap((one) => [" ", element(
    "a", { href: address("cell", { e: one.name, d: query.d, m: query.m }) }, one.name)]);
  return [
    ...wanted.map((part) => splitsTable(found, part)),
    wanted.length ? null : element("p", {}, dataset.missing || "Not run."),
    element("dl", {},
      term("Experiment", [experiment.name, experiment.title].filter(Boolean).join(": ")),
      term("Data set", dataset.real === dataset.name ? dataset.name : `${dataset.real}, for ${dataset.name}`),
      term("Splits", experiment.split),
      term("Selection", experiment.selection),
      term("Commit", `${experiment.commit || "not known"} (drmbench ${experiment.version})`),
      term("Machine", experiment.machine)),
    element("p", {}, "The command that makes it again:"),
    element("pre", { tabIndex: 0, role: "region", "aria-label": "Command" }, code),
    others.length ? element("p", {}, "Also in:", ...links) : null,
  ].filter(Boolean);
};

const dialog = element("dialog", { id: "cell", "aria-labelledby": "cell-title" });
let before = { hash: "", focused: null };

const closeCell = () => {
  history.replaceState(null, "", before.hash || location.pathname);
  before.focused?.focus();
};

dialog.addEventListener("close", closeCell);

// The address that was there before comes back when the cell is closed.
const openCell = (query) => {
  if (!dialog.isConnected) document.body.append(dialog);
  const title = element("h2", { id: "cell-title", tabIndex: -1 }, `${query.m} on ${query.d}`);
  const close = element("button", { type: "button", className: "close" }, "Close");
  close.addEventListener("click", () => dialog.close());
  const place = element("div", {});
  dialog.replaceChildren(element("div", { className: "dialog-head" }, title, close), place);
  if (!dialog.open) dialog.showModal();
  title.focus();
  return fill(place, load("cells").then((cells) => cellContent(cells, query)));
};

const showCell = (query) => {
  if (!dialog.open) before = { hash: location.hash, focused: document.activeElement };
  history.pushState(null, "", address("cell", query));
  return openCell(query);
};
