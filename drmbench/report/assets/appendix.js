// The appendix: tables, figures and experiments, each built when it is opened.

const lazy = (id, title, build) => {
  const part = element("details", { id }, element("summary", {}, title));
  part.addEventListener("toggle", () => {
    if (part.open && part.children.length === 1) part.append(...[build()].flat());
  });
  return part;
};

const picture = ({ title, caption, svg }) => {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const frame = element("div", { className: "drawing", role: "region", "aria-label": title },
    document.importNode(parsed, true));
  scrollWatcher.observe(frame);
  return element("figure", {}, frame,
    element("figcaption", {}, element("strong", {}, `${title}. `), caption));
};

const bullets = (heading, items) =>
  items.length
    ? [element("h4", {}, heading), element("ul", {}, ...items.map((item) => element("li", {}, item)))]
    : [];

const code = (text, label) => {
  const made = element("pre", { role: "region", "aria-label": label }, element("code", {}, text));
  scrollWatcher.observe(made);
  return made;
};

const experimentView = (one) => [
  element("p", {}, [one.about, one.done].filter(Boolean).join(": "), ". ",
    element("a", { href: address("rows", { e: one.name }) }, "Its rows")),
  ...bullets("Deviations", one.deviations),
  ...bullets("Data that another set stood in for", one.substitutes),
  ...bullets("Not computed by one code", one.makers),
  ...one.tables.map(plainTable),
  element("p", {}, "The command that makes it again:"),
  code(one.command, `Command of ${one.name}`),
  ...(one.config ? [element("p", {}, "The configuration as it was run:"), code(one.config, `Configuration of ${one.name}`)] : []),
];

const appendixPart = async () => {
  const [tables, experiments, { figures, remarks }] =
    await Promise.all(["tables", "experiments", "figures"].map(load));
  return [
    element("h3", {}, "Figures"),
    ...figures.map((one) => lazy(one.id, one.title, () => picture(one))),
    ...remarks.map((remark) => element("p", {}, remark)),
    element("h3", {}, "Experiments"),
    ...experiments.map((one) => lazy(`experiment-${one.anchor}`, [one.name, one.title].filter(Boolean).join(": "), () => experimentView(one))),
    element("h3", {}, "Tables"),
    element("p", {}, "Tests, other metrics and times of every experiment are in the files that `drmbench tables` writes (results/tables)."),
    ...tables.map((table) => lazy(`table-${table.id}`, table.title, () => plainTable(table))),
  ];
};

// Open the appendix at a table, a figure or an experiment.
const openAppendix = async (id) => {
  const place = openPart("appendix");
  if (!place.children.length) await fill(place, appendixPart());
  if (!id) return;
  const target = byId(id);
  if (!target) {
    place.prepend(element("p", { role: "alert" }, "The page has no such table; `drmbench tables` writes all there are."));
    return;
  }
  target.open = true;
  target.firstElementChild.focus();
  target.scrollIntoView();
};
