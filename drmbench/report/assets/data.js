// What is opened later: packed data in blocks at the end of the page.

const CANNOT_UNPACK =
  "This browser cannot unpack the data of this part (it has no DecompressionStream). " +
  "`drmbench tables` writes the same figures to files.";

const loaded = new Map();

const unpack = async (name) => {
  if (typeof DecompressionStream === "undefined") throw new Error(CANNOT_UNPACK);
  const letters = atob(byId(`data-${name}`).textContent);
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream();
  return new Response(stream.pipeThrough(new DecompressionStream("deflate"))).json();
};

// Each block is unpacked once.
const load = (name) => {
  if (!loaded.has(name)) loaded.set(name, unpack(name));
  return loaded.get(name);
};

// The values of a cell, over its splits, in each of its ways (mode and scaling).
const UNITS = 10000;

const findCell = (cells, query) => {
  const experiment = cells.find((one) => one.name === query.e);
  if (!experiment) return null;
  const method = experiment.methods.indexOf(query.m);
  let start = 0;
  for (const dataset of experiment.datasets) {
    const { splits } = dataset;
    const { ways } = experiment;
    if (dataset.name === query.d || dataset.real === query.d) {
      if (method < 0) return null;
      start += method * ways.length * splits;
      const parts = ways.map(([mode, scaling], index) => ({
        mode, scaling, start: start + index * splits, splits,
      }));
      return { experiment, dataset, parts: parts.filter((part) => hasRun(experiment, part)) };
    }
    start += experiment.methods.length * ways.length * splits;
  }
  return null;
};

const hasRun = (experiment, part) => {
  for (let at = part.start; at < part.start + part.splits; at += 1) {
    if (experiment.columns.seconds[at] !== null || at in experiment.failures) return true;
  }
  return false;
};

// The mean over splits in a mode; a failed split counts as 0 if another did not fail.
// In the mode paper the better scaling counts, as in the tables.
const cellMean = (found, metric, mode) => {
  const { columns, failures } = found.experiment;
  const means = found.parts.filter((part) => part.mode === mode).map((part) => {
    let [sum, done, fine] = [0, 0, 0];
    for (let at = part.start; at < part.start + part.splits; at += 1) {
      const value = columns[metric]?.[at] ?? null;
      if (value !== null) [sum, fine] = [sum + value / UNITS, fine + 1];
      if (value !== null || at in failures) done += 1;
    }
    return fine ? sum / done : null;
  });
  const known = means.filter((mean) => mean !== null);
  return known.length ? Math.max(...known) : null;
};
