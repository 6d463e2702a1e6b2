// Tables that sort and filter, claims that filter, and details that open in print.
// The page is whole without this script: it only adds controls.
"use strict";

(() => {
  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  // ---- Sorting -------------------------------------------------------------------

  const NEXT = { none: "ascending", ascending: "descending", descending: "none" };
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  const number = (cell) => {
    const text = cell.dataset.value ?? cell.textContent.replaceAll(",", "").trim();
    return text === "" ? NaN : Number(text);
  };
  const isBlank = (cell) => cell.dataset.value === undefined && !cell.textContent.trim();

  // A column is sorted by number if it has one and all its other cells are without.
  const isNumeric = (cells) =>
    cells.some((cell) => cell.dataset.value !== undefined) ||
    (cells.some((cell) => !isBlank(cell)) &&
      cells.every((cell) => isBlank(cell) || !Number.isNaN(number(cell))));

  const compare = (numeric, sign) => (a, b) => {
    if (!numeric) {
      return sign * collator.compare(a.textContent.trim(), b.textContent.trim());
    }
    const [x, y] = [number(a), number(b)];
    if (Number.isNaN(x) || Number.isNaN(y)) {
      return Number.isNaN(x) - Number.isNaN(y); // without a number: last, both ways
    }
    return sign * (x - y);
  };

  const sortRows = (body, rows, column, order) => {
    const sorted = [...rows];
    if (order !== "none") {
      const numeric = isNumeric(rows.map((row) => row.cells[column]));
      const cells = compare(numeric, order === "ascending" ? 1 : -1);
      sorted.sort((a, b) => cells(a.cells[column], b.cells[column]));
    }
    body.append(...sorted);
  };

  const makeSortable = (table) => {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const headings = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    for (const heading of headings) {
      const button = element("button", { type: "button" }, ...heading.childNodes);
      heading.replaceChildren(button);
      heading.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const order = NEXT[heading.getAttribute("aria-sort")];
        for (const other of headings) other.setAttribute("aria-sort", "none");
        heading.setAttribute("aria-sort", order);
        sortRows(body, rows, heading.cellIndex, order);
      });
    }
  };

  // ---- Filtering -----------------------------------------------------------------

  const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

  const told = (left, all, noun) =>
    left === all ? plural(all, noun) : `${left} of ${plural(all, noun)} shown`;

  const addFilter = (table, index) => {
    const rows = [...table.tBodies[0].rows];
    const id = `filter-${index}`;
    const input = element("input", { type: "search", id, autocomplete: "off" });
    const label = element("label", { htmlFor: id }, "Filter rows");
    const caption = table.caption?.textContent.trim();
    if (caption) input.setAttribute("aria-label", `Filter rows: ${caption}`);
    const status = element("span", {}, told(rows.length, rows.length, "row"));
    status.setAttribute("role", "status");
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
      const left = rows.filter((row) => !row.hidden).length;
      status.textContent = told(left, rows.length, "row");
    });
    const tools = element("div", { className: "tools" }, label, input, status);
    (table.closest(".scroll") ?? table).before(tools);
  };

  const addClaimFilter = (list) => {
    const claims = [...list.querySelectorAll(".claim")];
    const status = element("span", {}, told(claims.length, claims.length, "claim"));
    status.setAttribute("role", "status");
    const box = (name) =>
      element("input", { type: "checkbox", checked: true, value: name });
    const verdicts = list.dataset.statuses.split(", ").map(box);
    const kinds = ["empirical", "arithmetic"].map(box);
    const boxes = [...kinds, ...verdicts];
    const counted = (test) => {
      const found = claims.filter(test);
      return kinds.map((kind) =>
        found.filter((claim) => claim.dataset.kind === kind.value).length);
    };
    const labels = [
      ...kinds.map((kind) => element("label", {}, kind, ` ${kind.value}`)),
      // Claims of the two kinds are never added up.
      ...verdicts.map((verdict) => {
        const counts = counted((claim) => claim.dataset.status === verdict.value);
        return element("label", {}, verdict, ` ${verdict.value} (${counts.join(" + ")})`);
      }),
    ];
    const update = () => {
      const wanted = new Set(boxes.filter((one) => one.checked).map((one) => one.value));
      for (const claim of claims) {
        const { kind, status: verdict } = claim.dataset;
        claim.hidden = !(wanted.has(kind) && wanted.has(verdict));
      }
      const left = claims.filter((claim) => !claim.hidden).length;
      status.textContent = told(left, claims.length, "claim");
    };
    for (const one of boxes) one.addEventListener("change", update);
    const legend = element("legend", {}, "Show claims that are (empirical + arithmetic)");
    const tools = element("fieldset", { className: "tools" }, legend, ...labels, status);
    list.before(tools);
  };

  // ---- Regions, details and print --------------------------------------------------

  // A region that does not scroll need not be a stop for the keyboard.
  const markScrollable = (region) => {
    const scrolls =
      region.scrollWidth > region.clientWidth || region.scrollHeight > region.clientHeight;
    if (scrolls) region.tabIndex = 0;
    else region.removeAttribute("tabindex");
  };

  const openWhilePrinting = () => {
    let opened = [];
    window.addEventListener("beforeprint", () => {
      opened = [...document.querySelectorAll("details:not([open])")];
      for (const part of opened) part.open = true;
    });
    window.addEventListener("afterprint", () => {
      for (const part of opened) part.open = false;
    });
  };

  document.querySelectorAll(".scroll table").forEach((table, index) => {
    if (table.tBodies[0]?.rows.length > 1) {
      makeSortable(table);
      addFilter(table, index);
    }
  });
  const list = document.getElementById("claim-list");
  if (list?.querySelector(".claim")) addClaimFilter(list);
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) markScrollable(target);
  });
  document.querySelectorAll(".scroll, .card, pre").forEach((region) => observer.observe(region));
  if (window.matchMedia("(max-width: 40rem)").matches) {
    document.querySelector("nav details")?.removeAttribute("open");
  }
  openWhilePrinting();
})();
