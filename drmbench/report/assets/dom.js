// Elements and words. Data only ever becomes text: nothing is parsed as HTML.

const element = (name, properties = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made && key !== "list") made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
};

const SVG = "http://www.w3.org/2000/svg";

const drawn = (name, attributes, ...children) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

const byId = (id) => document.getElementById(id);

const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

const told = (left, all, noun) =>
  left === all ? plural(all, noun) : `${left} of ${plural(all, noun)} shown`;

const NO_FIGURE = "–";

const fixed = (value, digits) =>
  value === null || Number.isNaN(value) ? NO_FIGURE : value.toFixed(digits);

const seconds = (value) =>
  value === null || Number.isNaN(value) ? NO_FIGURE : `${Number(value.toPrecision(2))}`;

// A select of [value, words] within its label.
const choice = (words, name, options) => {
  const made = options.map(([value, text]) => element("option", { value }, text));
  return element("label", { className: "field" }, words, element("select", { name }, ...made));
};

// Two numbers, the least and the most.
const range = (words, name) => {
  const box = (end, said) =>
    element("input", {
      type: "number", name: `${name}${end}`, min: "0", step: "any",
      "aria-label": `${words}, ${said}`, placeholder: said,
    });
  const text = element("span", {}, words);
  return element("span", { className: "field" }, text, box("from", "least"), box("to", "most"));
};
