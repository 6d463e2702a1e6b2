// Tables: with sort buttons, as a grid of cells to open, or as the appendix has them.

const NEXT = { none: "ascending", ascending: "descending", descending: "ascending" };
const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

// Without a value: last, both ways.
const compareValues = (a, b, sign) => {
  const [none, other] = [a ?? null, b ?? null].map((value) => value === null);
  if (none || other) return none - other;
  return sign * (typeof a === "number" ? a - b : collator.compare(a, b));
};

// A region that scrolls can be reached by keyboard; one that does not need not be.
const scrollWatcher = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const scrolls =
      target.scrollWidth > target.clientWidth + 1 || target.scrollHeight > target.clientHeight + 1;
    if (scrolls) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});

let regions = 0;

const scrolling = (table, title) => {
  regions += 1;
  const id = `caption-${regions}`;
  table.prepend(element("caption", { id }, element("span", {}, title)));
  const region = element("div", { className: "scroll", role: "region", "aria-labelledby": id }, table);
  scrollWatcher.observe(region);
  return region;
};

// Columns are {text, number, value(row), show(row)}; a column without `value` does not
// sort. Pinned rows stay first whatever the order is.
const sortable = ({ title, columns, rows, pinned = () => false, className = "" }) => {
  const heads = columns.map(({ text, number, value }) => {
    const head = element("th", { scope: "col", className: number ? "number" : "" });
    if (!value) head.append(text);
    else head.append(element("button", { type: "button" }, text));
    return head;
  });
  const lines = new Map(rows.map((row) => [row, element(
    "tr", { className: pinned(row) ? "pinned" : "" },
    ...columns.map(({ number, show }, index) => element(
      index ? "td" : "th",
      { className: number ? "number" : "", ...(index ? {} : { scope: "row" }) },
      show(row),
    )),
  )]));
  const body = element("tbody", {}, ...lines.values());
  columns.forEach(({ value }, index) => {
    if (!value) return;
    heads[index].setAttribute("aria-sort", "none");
    heads[index].firstChild.addEventListener("click", () => {
      const order = NEXT[heads[index].getAttribute("aria-sort")];
      for (const head of heads) if (head.hasAttribute("aria-sort")) head.setAttribute("aria-sort", "none");
      heads[index].setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const sorted = [...rows].sort((a, b) =>
        pinned(b) - pinned(a) || compareValues(value(a), value(b), sign));
      body.append(...sorted.map((row) => lines.get(row)));
    });
  });
  const first = [...rows].sort((a, b) => pinned(b) - pinned(a));
  body.append(...first.map((row) => lines.get(row)));
  const table = element("table", { className }, element("thead", {}, element("tr", {}, ...heads)), body);
  return { region: scrolling(table, title), lines };
};

// A grid of figures: one stop for the keyboard, click a figure, or move by arrows and press Enter a cell.
const grid = ({ title, corner, columns, rows, text, open }) => {
  const head = element("tr", {}, element("th", { scope: "col" }, corner),
    ...columns.map((column) => element("th", { scope: "col", className: "number" }, column)));
  const body = element("tbody", {}, ...rows.map((row) => element("tr", {},
    element("th", { scope: "row" }, row),
    ...columns.map((column) => {
      const shown = text(row, column);
      const cell = element("td", { className: "number", tabIndex: -1 }, shown);
      if (shown !== NO_FIGURE) cell.dataset.opens = "";
      return cell;
    }))));
  const table = element("table", { role: "grid", className: "grid" }, element("thead", {}, head), body);
  const cellAt = (r, c) => body.rows[r]?.cells[c];
  let current = cellAt(0, 1);
  if (current) current.tabIndex = 0;
  const focus = (cell) => {
    if (!cell || cell.tagName !== "TD") return;
    current.tabIndex = -1;
    current = cell;
    current.tabIndex = 0;
    current.focus();
  };
  const act = (cell) => {
    if (!cell || !("opens" in cell.dataset)) return;
    open(rows[cell.parentElement.sectionRowIndex], columns[cell.cellIndex - 1]);
  };
  table.addEventListener("click", ({ target }) => {
    const cell = target.closest("td");
    if (!cell) return;
    focus(cell);
    act(cell);
  });
  table.addEventListener("keydown", (event) => {
    const [r, c] = [current.parentElement.sectionRowIndex, current.cellIndex];
    const moves = {
      ArrowUp: [r - 1, c], ArrowDown: [r + 1, c], ArrowLeft: [r, c - 1], ArrowRight: [r, c + 1],
      Home: [r, 1], End: [r, columns.length],
    };
    if (event.key in moves) focus(cellAt(...moves[event.key]));
    else if (event.key === "Enter" || event.key === " ") act(current);
    else return;
    event.preventDefault();
  });
  return scrolling(table, title);
};

// A table of the appendix: cells are texts, or [text, bold, mark].
const plainTable = ({ id, title, columns, rows, summaries, notes }) => {
  const cell = (content, index) => {
    const [text, bold, mark] = Array.isArray(content) ? content : [content, false, ""];
    const long = text.length > 30 ? "long" : "";
    return element(
      index ? "td" : "th",
      { className: columns[index][1] ? "number" : long, ...(index ? {} : { scope: "row" }) },
      bold ? element("strong", {}, text) : text,
      mark ? element("sup", {}, mark) : null,
    );
  };
  const line = (row) => element("tr", {}, ...row.map(cell));
  const last = rows.length - summaries;
  const head = element("tr", {}, ...columns.map(([text, number, mark]) => element(
    "th", { scope: "col", className: number ? "number" : "" }, text, mark ? element("sup", {}, mark) : null)));
  const table = element("table", { id: `t-${id}` }, element("thead", {}, head),
    element("tbody", {}, ...rows.slice(0, last).map(line)));
  if (summaries) table.append(element("tfoot", {}, ...rows.slice(last).map(line)));
  const list = element("ul", { className: "notes" }, ...notes.map((note) => element("li", {}, note)));
  return element("div", {}, scrolling(table, title), notes.length ? list : null);
};
