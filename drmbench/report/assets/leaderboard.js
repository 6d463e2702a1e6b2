// The leaderboard: filters over data sets, metric, mode and methods; ranks made again.

const ALL = "all";
const OWN = "own";

// The data sets of a view: of one group or of all, in a mode, by a metric or each
// group's own, that pass the filters.
const entriesOf = ({ boards, datasets, metrics }, query) => {
  const metric = query.metric || OWN;
  const wanted = boards.filter((board) =>
    [ALL, board.group].includes(query.data || ALL)
    && board.mode === query.mode
    && board.metric === (metric === OWN ? board.own : metric));
  const within = (value, name) =>
    (!query[`${name}from`] || (value !== null && value >= Number(query[`${name}from`])))
    && (!query[`${name}to`] || (value !== null && value <= Number(query[`${name}to`])));
  return wanted.flatMap((board) => board.datasets.map((index, line) => {
    const byMethod = (values) =>
      Object.fromEntries(board.methods.map((method, column) => [method, values[line][column]]));
    return {
      ...datasets[index], board, origin: board.origins[line], sign: metrics[board.metric].sign,
      scores: byMethod(board.scores), seconds: byMethod(board.seconds),
    };
  })).filter((one) =>
    within(one.n, "n") && within(one.p, "p") && within(one.classes, "classes")
    && within(one.ratio, "ratio") && (!query.source || one.source === query.source));
};

const whisker = ({ rank, low, high }, most) => {
  const at = (value) => 2 + (96 * (value - 1)) / Math.max(most - 1, 1);
  const made = drawn("svg", {
    class: "whisker", viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true",
  });
  if (!Number.isNaN(low)) made.append(drawn("line", { x1: at(low), x2: at(high), y1: 6, y2: 6 }));
  made.append(drawn("line", { class: "dot", x1: at(rank), x2: at(rank), y1: 6, y2: 6 }));
  return made;
};

const rankingTable = (ranked, entries, query, metrics) => {
  const drm = new Set(entries.flatMap((one) => one.board.drm));
  const pins = new Set(entries.map((one) => one.board.entry));
  const used = new Set(entries.map((one) => one.board.metric));
  const score = used.size === 1 ? `mean ${metrics[[...used][0]].title}` : "mean score";
  const most = ranked.filter((one) => one.rank).length;
  const columns = [
    { text: "method", value: (row) => row.method, show: (row) => row.method },
    { text: "place", number: true, show: (row) => String(row.place ?? "") },
    { text: "mean rank", number: true, value: (row) => row.rank, show: (row) => fixed(row.rank ?? null, 2) },
    {
      text: "95 %", number: true,
      show: (row) => (row.rank && !Number.isNaN(row.low) ? `${fixed(row.low, 1)}–${fixed(row.high, 1)}` : NO_FIGURE),
    },
    { text: "1 is best", show: (row) => (row.rank ? whisker(row, most) : "") },
    { text: score, number: true, value: (row) => row.score, show: (row) => fixed(row.score ?? null, 4) },
    { text: "wins", number: true, value: (row) => row.wins, show: (row) => fixed(row.wins ?? null, 1) },
    { text: "select and fit [s]", number: true, value: (row) => row.seconds, show: (row) => seconds(row.seconds ?? null) },
    { text: "data sets", number: true, value: (row) => row.sets, show: (row) => `${row.sets} of ${entries.length}` },
  ];
  const title = `${plural(most, "method")} ranked on ${plural(entries.length, "data set")}`
    + ` from ${plural(new Set(entries.map((one) => one.origin)).size, "origin")}`;
  const { region, lines } = sortable({ title, columns, rows: ranked, pinned: (row) => pins.has(row.method), className: "standings" });
  for (const [row, line] of lines) if (drm.has(row.method)) line.classList.add("drm");
  return region;
};

const figuresGrid = (entries, ranked, query) => {
  const byName = new Map(entries.map((one) => [one.name, one]));
  return grid({
    title: "Every figure: click a figure, or move by arrows and press Enter",
    corner: "data set",
    columns: ranked.map((one) => one.method),
    rows: entries.map((one) => one.name),
    text: (name, method) => fixed(byName.get(name).scores[method] ?? null, 3),
    open: async (name, method) => {
      const cells = await load("cells");
      const { board } = byName.get(name);
      const e = board.experiments.find((one) => findCell(cells, { e: one, d: name, m: method })?.parts.length);
      showCell({ e, d: name, m: method, mode: query.mode });
    },
  });
};

const leaderboardView = (data, query) => {
  const { boards, datasets, metrics, modes, titles } = data;
  const groups = new Map(boards.map((board) => [board.group, board.title]));
  const sources = [...new Set(datasets.map((one) => one.source))].filter(Boolean).sort();
  const methods = [...new Set(boards.flatMap((board) => board.methods))];
  const form = element("form", { className: "tools", "aria-label": "Filters of the leaderboard" },
    choice("Data", "data", [[ALL, "all kinds"], ...groups]),
    choice("Metric", "metric", [[OWN, "each kind's own"], ...Object.entries(metrics).map(([name, one]) => [name, one.title])]),
    choice("Mode", "mode", Object.entries(modes)),
    choice("Source", "source", [["", "any"], ...sources.map((name) => [name, name])]),
    range("n", "n"), range("p", "p"), range("classes", "classes"), range("imbalance", "ratio"),
  );
  const boxes = methods.map((method) => element("input", { type: "checkbox", value: method, checked: true }));
  const labels = boxes.map((box) => element("label", { title: titles[box.value] ?? "" }, box, ` ${box.value}`));
  const toggles = element("details", { className: "toggles" }, element("summary", {}, "Methods"),
    element("fieldset", { className: "tools" }, element("legend", {}, "Ranked are"), ...labels));
  form.append(toggles);
  form.addEventListener("submit", (event) => event.preventDefault());
  const status = element("p", { role: "status" });
  const place = element("div", {});
  const read = () => {
    const said = Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ""));
    const without = boxes.filter((box) => !box.checked).map((box) => box.value);
    if (said.data === ALL) delete said.data;
    if (said.metric === OWN) delete said.metric;
    return { ...said, without: without.join(" ") };
  };
  const show = () => {
    const now = read();
    const left = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const entries = entriesOf(data, now);
    const present = methods.filter((method) =>
      left.has(method) && entries.some((one) => (one.scores[method] ?? null) !== null));
    boxes.forEach((box, index) => {
      labels[index].hidden = !entries.some((one) => box.value in one.scores);
    });
    const ranked = rankMethods(entries, present);
    const any = ranked.some((one) => one.rank);
    status.textContent = any ? "" : entries.length
      ? "No method has a figure on all of these data sets; filter them."
      : "No data set passes these filters.";
    const parts = any ? [rankingTable(ranked, entries, now, metrics)] : [];
    if (entries.length && present.length) {
      const every = element("details", {}, element("summary", {}, `Every figure (${plural(entries.length, "data set")})`));
      every.addEventListener("toggle", () => {
        if (every.open && every.children.length === 1) every.append(figuresGrid(entries, ranked, now));
      });
      parts.push(every);
    }
    place.replaceChildren(...parts);
    return now;
  };
  for (const [name, value] of Object.entries(query)) {
    if (form.elements[name]) form.elements[name].value = value;
  }
  const without = new Set((query.without ?? "").split(" "));
  for (const box of boxes) box.checked = !without.has(box.value);
  form.addEventListener("change", () => settle("leaderboard", show()));
  show();
  return [form, status, place];
};

const openLeaderboard = (query) =>
  fill(openPart("leaderboard"), load("boards").then((data) => leaderboardView(data, query)));
